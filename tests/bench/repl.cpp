// How long the REPL takes: to start and to end, to type the first expression of a session, and to answer
// questions about shapes. Run it on one core: taskset -c 0 build/bin/bench_repl build/bin/etcc
#include "repl/repl.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

double milliseconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

void print(const std::string& what, std::vector<double> all) {
  std::sort(all.begin(), all.end());
  fmt::print("{:<48} {:>8.2f} {:>8.2f} {:>8.2f}\n", what, all[all.size() / 2], all[all.size() * 95 / 100],
             all.back());
}

void ask(axon::repl::Repl& repl, const std::string& phrase) {
  const axon::repl::Answer answer = repl.answer(phrase);
  if (!answer.failed()) return;
  fmt::print("{}\n{}", phrase, answer.text);
  std::exit(1);
}

void time_start(const std::string& etcc, int rounds, const std::string& input, const char* what) {
  std::vector<double> all;
  const std::string command = "echo '" + input + "' | " + etcc + " repl > /dev/null";
  for (int i = 0; i < rounds; ++i)
    all.push_back(milliseconds([&] {
      if (std::system(command.c_str()) != 0) std::exit(1);
    }));
  print(what, std::move(all));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_repl ETCC [ROUNDS]\n");
    return 2;
  }
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 50;
  fmt::print("{:<48} {:>8} {:>8} {:>8}\n", "milliseconds", "median", "95 %", "most");
  time_start(argv[1], rounds, "", "start and end");
  time_start(argv[1], rounds, ":type 1 + 2", "start, the type of an expression, end");
  axon::repl::Repl repl({std::string(AXON_SOURCE_DIR) + "/stdlib"}, nullptr);
  ask(repl, "fun dense x p = x @ p.w + p.b\nfun pairs (x : [n]) where n % 2 == 0 = x[:n / 2]");
  ask(repl, ":assume n % 8 == 0");
  for (const char* phrase :
       {":type fn x => softmax (x @ transpose x)", ":shape matmul [b, 128] [128, k]", ":shape pairs [n]",
        ":shape dense [t, d] {w : [d, n], b : [n]}", ":constraints rms_norm", ":prove n % 4 == 0",
        ":prove n % 16 == 0", ":solve a * b == 24, a < b", ":solve n % 12 == 0", ":solve a < b, b < a",
        ":why"}) {
    std::vector<double> all;
    for (int i = 0; i < rounds; ++i) all.push_back(milliseconds([&] { ask(repl, phrase); }));
    print(phrase, std::move(all));
  }
  return 0;
}
