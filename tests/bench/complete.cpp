// How much processor time an answer of completion takes: at every name of a file of 2,000 lines that uses the
// library, with the name taken away, on one core. With the number of a name, the same one again and again,
// for a profile.
#include "query/complete.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "generated.h"
#include "query/tokens.h"

namespace {

constexpr const char* file = "generated.axn";

using axon::query::ContextCounts;
using axon::session::Session;

/// Of this thread, so that other programs do not count.
double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
}

double milliseconds(const Session& session, uint32_t at, ContextCounts& counts) {
  const auto begin = now();
  axon::query::complete(session, file, at, counts);
  return now() - begin;
}

void print(const char* what, std::vector<double> all) {
  std::sort(all.begin(), all.end());
  fmt::print("{:<24} {:>6} {:>8.2f} {:>8.2f} {:>8.2f}\n", what, all.size(), all[all.size() / 2],
             all[all.size() * 95 / 100], all.back());
}

}  // namespace

/// bench_complete [every n-th name [the one to repeat]]
int main(int argc, char** argv) {
  const size_t step = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1;
  Session session({AXON_SOURCE_DIR "/stdlib"}, {});
  const std::string text = axon::bench::joined(axon::bench::declarations());
  session.documents().open(file, text);
  session.check(file);
  session.check_visible(file);
  ContextCounts counts;
  counts.update(session);
  std::vector<axon::source::Span> names;
  for (const axon::query::Token& t : axon::query::tokens(session, file))
    if (!t.declares) names.push_back(t.span);
  std::vector<double> without, in_middle;
  for (size_t i = 0; i < names.size(); i += step) {
    const size_t which = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : i;
    std::string edited = text;
    edited.erase(names[which].begin, names[which].size());
    session.documents().open(file, edited);
    without.push_back(milliseconds(session, names[which].begin, counts));
    session.documents().open(file, text);
    in_middle.push_back(milliseconds(session, names[which].begin + 1, counts));
  }
  fmt::print("{:<24} {:>6} {:>8} {:>8} {:>8}   milliseconds\n", "", "", "p50", "p95", "most");
  print("a name taken away", without);
  print("behind its first letter", in_middle);
  return 0;
}
