// How long a session takes after an edit: every declaration of a file of 2,000 lines that uses the library,
// its body and its signature, on one core, and a signature that 100 declarations use. Memory after 100 and
// after 10,000 edits.
#include "session/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "generated.h"
#include "source/render.h"

namespace {

using axon::session::Session;

constexpr const char* file = "generated.axn";

double milliseconds_of_check(Session& session, const std::vector<std::string>& parts) {
  const std::string text = axon::bench::joined(parts);
  const auto begin = std::chrono::steady_clock::now();
  session.documents().open(file, text);
  const bool wrong = session.check(file).has_errors();
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
  if (wrong) {
    fmt::print("the generated program has errors\n{}\n",
               axon::source::render_short(session.check(file), session.sources(), {}));
    std::exit(1);
  }
  return taken.count();
}

void print(const std::string& what, std::vector<double> all) {
  std::sort(all.begin(), all.end());
  fmt::print("{:<44} {:>8.2f} {:>8.2f} {:>8.2f}\n", what, all[all.size() / 2], all[all.size() * 95 / 100],
             all.back());
}

double resident_mib() {
  std::ifstream statm("/proc/self/statm");
  double pages = 0;
  statm >> pages >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

void time_edits(Session& session, const std::vector<std::string>& parts) {
  std::vector<double> bodies, signatures, shared;
  for (size_t i = 0; i < parts.size(); ++i) {
    std::vector<std::string> edited = parts;
    if (const auto body = axon::bench::with_another_body(parts[i])) {
      edited[i] = *body;
      bodies.push_back(milliseconds_of_check(session, edited));
    }
    if (const auto signature = axon::bench::with_another_signature(parts[i])) {
      edited[i] = *signature;
      milliseconds_of_check(session, parts);
      signatures.push_back(milliseconds_of_check(session, edited));
    }
  }
  for (int i = 0; i < 6; ++i) {
    std::vector<std::string> edited = parts;
    if (i % 2 == 0) edited[0] = axon::bench::shared_with_another_signature();
    shared.push_back(milliseconds_of_check(session, edited));
  }
  print("the body of a declaration", bodies);
  print("the signature of a declaration", signatures);
  print(fmt::format("a signature that {} declarations use", axon::bench::users_of_shared(parts)), shared);
}

void measure_memory(Session& session, const std::vector<std::string>& parts, int edits) {
  double after_100 = 0;
  for (int i = 0; i < edits; ++i) {
    std::vector<std::string> edited = parts;
    edited[static_cast<size_t>(i) % parts.size()] += fmt::format("-- edit {}\n", i);
    milliseconds_of_check(session, edited);
    if (i + 1 == 100) after_100 = resident_mib();
  }
  if (edits >= 100)
    fmt::print("memory: {:.1f} MiB after 100 edits, {:.1f} after {}\n", after_100, resident_mib(), edits);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> parts = axon::bench::declarations();
  Session session({AXON_SOURCE_DIR "/stdlib"}, {});
  fmt::print("{:<44} {:>8} {:>8} {:>8}\n", fmt::format("{} declarations; milliseconds", parts.size()),
             "median", "p95", "most");
  print("the first check", {milliseconds_of_check(session, parts)});
  print("no edit", {milliseconds_of_check(session, parts)});
  time_edits(session, parts);
  measure_memory(session, parts, argc > 1 ? std::stoi(argv[1]) : 10'000);
}
