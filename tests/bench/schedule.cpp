// What the order by events gains: for the models of examples/models, or any entry, the makespan of both
// schedules in the model of plan/makespan.cpp.
//
//   bench_schedule                             the models, at the sizes of the table below
//   bench_schedule FILE ENTRY n=12 m=512 ..    one entry
//
// Per number of workers: the makespan with a barrier after every segment and with events, their ratio, the
// floor under both (all work shared evenly, or the critical path, whichever is longer), and the efficiency:
// work / (workers * makespan of events). Times are milliseconds at `rate` operations a nanosecond and worker.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "pipeline.h"
#include "target/machine.h"

namespace {

using namespace axon;

struct Model {
  const char *file, *entry, *sizes;
};

/// Sizes of published models of these kinds, the sequences of ordinary length.
constexpr Model models[] = {
    {"llama", "prefill", "n=12 v=32000 d=768 f=2048 h=12 g=1 r=32 s=1024 m=512 pos=0"},
    {"llama", "decode", "n=12 v=32000 d=768 f=2048 h=12 g=1 r=32 s=1024 pos=511"},
    {"gpt2", "logits", "n=12 v=50257 s=1024 h=12 k=64 f=3072 m=512"},
    {"gpt2", "loss", "n=12 v=50257 s=1024 h=12 k=64 f=3072 m=512"},
    {"bert", "encode", "n=12 v=30522 s=512 c=2 h=12 k=64 f=3072 b=4 m=128"},
    {"moe", "logits", "n=8 v=32000 d=512 h=8 k=64 e=8 f=1024 top=2 m=256"},
    {"moe", "sparse_logits", "n=8 v=32000 d=512 h=8 k=64 e=8 f=1024 top=2 m=1"},
    {"lstm", "logits", "n=2 v=10000 d=512 b=16 t=64"},
    {"lstm", "next", "n=2 v=10000 d=512 b=16"},
    {"resnet", "classify", "n=3 m=3 c=3 d=64 e=128 r=1 o=1000 b=1 h=56 w=56"},
    {"ssm", "logits", "n=8 v=32000 d=512 e=1024 k=16 w=4 r=32 t=256"},
};

constexpr double rate = target::Machine{}.operations, handoff_ns = target::Machine{}.handoff;
constexpr int most_workers = 1 << 14;

[[noreturn]] void fail(const std::string& why) {
  fmt::print(stderr, "bench_schedule: {}\n", why);
  std::exit(1);
}

shape::Assignment parse_sizes(const graph::Graph& g, const std::string& text) {
  shape::Assignment sizes;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string item = text.substr(at, end - at);
    const size_t equals = item.find('=');
    if (equals == std::string::npos) fail("a size is written as n=12, not as " + item);
    for (const graph::Size& size : g.sizes)
      if (size.name == item.substr(0, equals)) sizes[size.var] = std::atoll(item.c_str() + equals + 1);
    at = end + 1;
  }
  for (const graph::Size& size : g.sizes)
    if (size.from != graph::Size::From::data && !sizes.contains(size.var))
      fail(g.name + " has a size " + size.name + ", which is not given");
  return sizes;
}

bool holds(const plan::Variant& v, const shape::Assignment& sizes) {
  return std::all_of(v.program.guard.begin(), v.program.guard.end(), [&](const shape::Fact& f) {
    return shape::holds(f.relation, *f.lhs.evaluate(sizes), *f.rhs.evaluate(sizes));
  });
}

const plan::Variant& variant_for(const Compilation& c, const shape::Assignment& sizes) {
  const auto& variants = c.entries.front().plan.variants;
  return *std::find_if(variants.begin(), variants.end(),
                       [&](const plan::Variant& v) { return holds(v, sizes); });
}

/// What one run of each task type is: its tasks, and how long one takes.
void print_types(const plan::Variant& v, const shape::Assignment& sizes) {
  fmt::print("{:32} {:>5} {:>8} {:>12}\n", "task type", "loops", "tasks", "ms per task");
  for (const task::TaskType& type : v.program.types) {
    int64_t tasks = 1;
    for (const auto& c : type.coordinates) tasks *= c.extent.evaluate(sizes).value_or(0);
    const auto work = type.work.evaluate(sizes);
    fmt::print("{:32} {:5} {:8} {:>12}\n", type.name, type.loops.size(), tasks,
               work ? fmt::format("{:.4f}", static_cast<double>(*work) / rate * 1e-6) : "varies");
  }
}

struct Sums {
  double logarithms = 0, worst = 0;
  int count = 0;
};

void measure(const std::string& path, const std::string& entry, const std::string& sizes_text,
             std::vector<std::pair<int, Sums>>& sums, bool types) {
  const auto planned = [&](plan::Schedule schedule) {
    CompileOptions options;
    options.library = {AXON_SOURCE_DIR "/stdlib"};
    options.entries = {entry};
    options.schedule = schedule;
    auto c = std::make_unique<Compilation>(options);
    const auto file = c->sources.load(path, c->diagnostics);
    if (!file) fail("cannot read " + path);
    c->file = *file;
    if (!run(*c, "plan")) fail(path + " does not compile");
    return c;
  };
  const auto events = planned(plan::Schedule::events), barrier = planned(plan::Schedule::barrier);
  const auto time = [&](const Compilation& c, int workers, double handoff) {
    const shape::Assignment sizes = parse_sizes(c.entries.front().graph, sizes_text);
    return plan::makespan(variant_for(c, sizes), sizes, workers, handoff) / rate * 1e-6;
  };
  if (types) {
    const shape::Assignment sizes = parse_sizes(events->entries.front().graph, sizes_text);
    print_types(variant_for(*events, sizes), sizes);
  }
  const double work = time(*events, 1, 0), path_length = time(*events, most_workers, 0);
  const std::string name = path.substr(path.rfind('/') + 1) + " " + entry;
  for (auto& [workers, sum] : sums) {
    const double handoff = handoff_ns * rate;
    const double e = time(*events, workers, handoff), b = time(*barrier, workers, handoff);
    fmt::print("{:24} {:7} {:10.3f} {:10.3f} {:6.3f} {:10.3f} {:10.0f} %\n", name, workers, b, e, e / b,
               std::max(work / workers, path_length), 100 * work / workers / e);
    sum.logarithms += std::log(e / b);
    sum.worst = std::max(sum.worst, e / b);
    ++sum.count;
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::pair<int, Sums>> sums;
  for (const int workers : {1, 2, 16, 132}) sums.push_back({workers, {}});
  fmt::print("{:24} {:>7} {:>10} {:>10} {:>6} {:>10} {:>12}\n", "entry", "workers", "barrier ms", "events ms",
             "ratio", "floor ms", "efficiency");
  if (argc > 2) {
    std::string sizes;
    for (int i = 3; i < argc; ++i) sizes += (i > 3 ? " " : "") + std::string(argv[i]);
    measure(argv[1], argv[2], sizes, sums, true);
    return 0;
  }
  for (const Model& model : models)
    measure(fmt::format("{}/examples/models/{}.axn", AXON_SOURCE_DIR, model.file), model.entry, model.sizes,
            sums, false);
  for (const auto& [workers, sum] : sums)
    fmt::print("{} workers: geometric mean of the ratios {:.3f}, the largest {:.3f}\n", workers,
               std::exp(sum.logarithms / sum.count), sum.worst);
}
