// Predicted times against measured ones: the models of models.h are built for this machine, their kernels are
// measured one by one (`etcc calibrate`), and what their costs predict stands beside the medians of runs,
// with one worker and with all.
//
//   bench_predict ETCC [SECONDS]     for each kernel, 0.1 where it is not said
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>

#include "models.h"
#include "target/machine.h"

namespace {

using namespace axon::bench;

constexpr double most = 0.2;  ///< that a prediction may be off

/// Runs a command; its output, a line at a time, to `line`.
template <class Line>
bool run(const std::string& command, Line line) {
  FILE* const pipe = popen(command.c_str(), "r");
  if (!pipe) return false;
  char buffer[512];
  while (std::fgets(buffer, sizeof buffer, pipe)) line(std::string(buffer));
  return pclose(pipe) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "bench_predict ETCC [SECONDS]\n");
    return 2;
  }
  const std::string etcc = argv[1], seconds = argc > 2 ? argv[2] : "0.1";
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("axon_predict_{}", getpid());
  std::filesystem::create_directory(folder);
  double worst = 0;
  bool whole = true;
  fmt::print("{:24} {:>7} {:>12} {:>12} {:>9}\n", "entry", "workers", "predicted ms", "measured ms", "ratio");
  for (const Model& model : models) {
    const std::string bundle = (folder / fmt::format("{}.axb", model.file)).string();
    const auto ignore = [](const std::string&) {};
    whole &= std::filesystem::exists(bundle) ||
             run(fmt::format("{} build {} -o {} --level {}", etcc, path_of(model), bundle,
                             axon::target::native_machine().name),
                 ignore);
    whole &= run(fmt::format("{} calibrate {} {} {} --seconds {} --check", etcc, bundle, model.entry,
                             model.sizes, seconds),
                 [&](const std::string& line) {
                   if (line.starts_with("entry ")) return;
                   fmt::print("{:10} {}", model.file, line);
                   std::fflush(stdout);
                   worst = std::max(worst, std::abs(std::log(std::stod(line.substr(line.rfind(' ') + 1)))));
                 });
  }
  std::filesystem::remove_all(folder);
  fmt::print("the prediction that is farthest off: a factor of {:.2f}, asked: {:.2f}\n", std::exp(worst),
             1 + most);
  return whole ? 0 : 1;
}
