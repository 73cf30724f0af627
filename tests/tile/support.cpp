#include "support.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace axon::tile {

std::string text_of(const std::string& program) {
  std::ifstream file(std::string(AXON_TEST_DIR) + "/programs/" + program + ".tiles");
  std::stringstream out;
  out << file.rdbuf();
  EXPECT_FALSE(out.str().empty()) << program;
  return out.str();
}

std::vector<std::string> all_programs() {
  std::vector<std::string> out;
  for (const auto& file : std::filesystem::directory_iterator(std::string(AXON_TEST_DIR) + "/programs"))
    out.push_back(file.path().stem());
  std::sort(out.begin(), out.end());
  return out;
}

Program program_of(const std::string& text) {
  std::string error;
  auto out = parse(text, error);
  EXPECT_TRUE(out) << error;
  return out ? std::move(*out) : Program();
}

std::string difference(const Program& p, const Sizes& sizes, const Sample& sample,
                       const RunOptions& options) {
  const RunResult run = interpret(p, sizes, sample.given, options);
  return run.error.empty() ? difference(p, run.tensors, sample) : run.error;
}

std::string difference(const Program& p, const std::vector<TensorData>& tensors, const Sample& sample) {
  uint32_t t = 0;
  for (const Tensor& tensor : p.tensors) {
    const TensorData& got = tensors[t++];
    const auto wanted = sample.wanted.find(tensor.name);
    if (wanted == sample.wanted.end()) continue;
    if (got.shape != wanted->second.shape) return tensor.name + " has another shape";
    for (size_t i = 0; i < got.values.size(); ++i) {
      if (!got.defined[i]) return fmt::format("{}: element {} was not written", tensor.name, i);
      const Number have = got.values[i], want = wanted->second.values[i];
      const double off = std::fabs(have.real - want.real);
      if (have.integer != want.integer ||
          !(have.real == want.real || off <= sample.tolerance * std::max(1.0, std::fabs(want.real))))
        return fmt::format("{}: element {} is {} and has to be {}", tensor.name, i,
                           base::is_float(tensor.elem) ? have.real : static_cast<double>(have.integer),
                           base::is_float(tensor.elem) ? want.real : static_cast<double>(want.integer));
    }
  }
  return "";
}

}  // namespace axon::tile
