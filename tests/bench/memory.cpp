// What memory temporaries take: for the models of examples/models, or any entry, the arena against what is
// live at once where most is, in program order (plan/footprint.h).
//
//   bench_memory                             the models, at the sizes of models.h; fails above `most`
//   bench_memory FILE ENTRY n=12 m=512 ..    one entry, and what is live where most is
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "models.h"
#include "plan/footprint.h"

namespace {

using namespace axon;
using namespace axon::bench;

constexpr double most = 1.15;

void print_live(const task::Program& p, const shape::Assignment& sizes) {
  const auto lives = plan::lives_of(p);
  const plan::Bytes bytes = plan::bytes_at(p, lives, sizes);
  for (const plan::Life& begins : lives) {  // most is live where one begins
    const auto is_live = [&](const plan::Life& life) {
      return life.first <= begins.first && begins.first <= life.last;
    };
    int64_t live = 0;
    for (size_t n = 0; n < lives.size(); ++n) live += is_live(lives[n]) ? bytes.of[n] : 0;
    if (live != bytes.live) continue;
    fmt::print("most is live at {}:\n", p.types[begins.tasks.front()].name);
    for (size_t n = 0; n < lives.size(); ++n)
      if (is_live(lives[n]))
        fmt::print("  {:12} {}, {} .. {}\n", bytes.of[n], p.buffers[lives[n].buffer].name,
                   p.types[lives[n].tasks.front()].name, p.types[lives[n].tasks.back()].name);
    return;
  }
}

/// The ratio of the arena and what is live.
double measure(const std::string& path, const std::string& entry, const std::string& sizes_text,
               bool details) {
  const auto c = planned(path, entry, plan::Schedule::events);
  const shape::Assignment sizes = parse_sizes(c->entries.front().graph, sizes_text);
  const plan::Variant& v = variant_for(*c, sizes);
  const auto [arena, live] = plan::footprint(v, sizes);
  const double ratio = static_cast<double>(arena) / static_cast<double>(std::max<int64_t>(live, 1));
  fmt::print("{:24} {:>14} {:>14} {:7.3f}\n", name_of(path, entry), arena, live, ratio);
  if (details) print_live(v.program, sizes);
  return ratio;
}

}  // namespace

int main(int argc, char** argv) {
  fmt::print("{:24} {:>14} {:>14} {:>7}\n", "entry", "arena bytes", "live bytes", "ratio");
  if (argc > 2) {
    measure(argv[1], argv[2], sizes_text(argc, argv), true);
    return 0;
  }
  double worst = 0;
  for (const Model& model : models)
    worst = std::max(worst, measure(path_of(model), model.entry, model.sizes, false));
  fmt::print("the largest ratio {:.3f}, at most {:.2f}\n", worst, most);
  return worst > most ? 1 : 0;
}
