// Programs made to take for ever: each is answered within two seconds of processor time and 512 MB, by a type
// or by an error that says what is too much. Each runs in a process of its own, so that a crash is a failure
// of one test.
#include "bombs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <set>

#include "../sanitized.h"
#include "core/harness.h"
#include "known.h"

namespace axon::corpus {

/// In the messages of GoogleTest.
void PrintTo(const Bomb& bomb, std::ostream* out) { *out << bomb.name; }

namespace {

#if defined(AXON_UNDER_SANITIZER) || !defined(NDEBUG)
constexpr double slower = 10;  // instrumented or unoptimised
#else
constexpr double slower = 1;
#endif
constexpr double seconds = 2;
#ifdef AXON_UNDER_SANITIZER
constexpr rlim_t memory = RLIM_INFINITY;  // sanitizers reserve more than any limit
#else
constexpr rlim_t memory = 512u << 20;
#endif

struct Outcome {
  bool ended = false;
  double spent = 0;
  std::string text;  ///< the codes reported, then the messages
};

Outcome run_alone(const std::string& program) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    const rlimit space{memory, memory}, time{60, 60}, no_core{0, 0};
    setrlimit(RLIMIT_AS, &space);
    setrlimit(RLIMIT_CPU, &time);
    setrlimit(RLIMIT_CORE, &no_core);
    std::string text;
    try {
      const core::Checked checked = core::check_text(program);
      for (const source::Diagnostic& d : checked.diagnostics->sorted())
        text += std::string(source::code_name(d.code)) + " ";
      text += "\n" + checked.errors().substr(0, 2000);
    } catch (const std::bad_alloc&) {
      _exit(1);
    }
    const ssize_t written = write(ends[1], text.data(), std::min<size_t>(text.size(), 4000));
    _exit(written < 0 ? 1 : 0);
  }
  close(ends[1]);
  Outcome out;
  char piece[512];
  for (ssize_t got; (got = read(ends[0], piece, sizeof piece)) > 0;)
    out.text.append(piece, static_cast<size_t>(got));
  close(ends[0]);
  int status = 0;
  rusage used{};
  wait4(child, &status, 0, &used);
  out.ended = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  out.spent = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
              1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  return out;
}

class Bombs : public testing::TestWithParam<Bomb> {};

/// Empty when the program is answered in time, with what is wanted.
std::string run(const Bomb& bomb) {
  const Outcome out = run_alone(bomb.program);
  if (!out.ended) return fmt::format("it did not come to an end by itself after {} s", out.spent);
  if (out.spent > seconds * slower) return fmt::format("it took {} s", out.spent);
  const std::string first = out.text.substr(0, out.text.find_first_of(" \n"));
  if (bomb.codes.empty()) return first.empty() ? "" : out.text;
  return bomb.codes.count(first) ? "" : fmt::format("wanted {}\n{}", fmt::join(bomb.codes, " or "), out.text);
}

TEST_P(Bombs, AreAnswered) { expect_as_known("bombs_test.cpp", GetParam().name, 1, run(GetParam())); }

INSTANTIATE_TEST_SUITE_P(Programs, Bombs, testing::ValuesIn(bombs()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace axon::corpus
