#include "support.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>

#include "graph/round.h"

namespace axon::stdlib {

void PrintTo(const Program& program, std::ostream* out) { *out << program.name; }

std::string read_file(const std::string& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in.good()) << path;
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

namespace {

const Fill* fill_of(const Program& program, const std::string& path) {
  for (const Fill& fill : program.fills)
    if (path == fill.path || path.ends_with("." + fill.path)) return &fill;
  return nullptr;
}

graph::Tensor content(const graph::Input& input, const std::vector<int64_t>& shape, const Fill* fill,
                      uint64_t seed) {
  std::mt19937_64 random(seed * 31 + std::hash<std::string>{}(input.path));  // entries share weights by path
  graph::Tensor t;
  t.elem = input.type.elem;
  t.shape = shape;
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> even(fill ? fill->low : 0, fill ? fill->high : 1);
  for (int64_t i = 0; i < t.count(); ++i) {
    if (base::is_float(t.elem)) {
      const double value = fill ? even(random) : std::clamp(normal(random), -3.0, 3.0);
      t.floats.push_back(graph::round_to(t.elem, value));
    } else if (fill && t.elem != base::Elem::boolean) {
      const auto range = static_cast<uint64_t>(fill->high - fill->low);
      t.integers.push_back(static_cast<int64_t>(fill->low) + static_cast<int64_t>(random() % range));
    } else {
      t.integers.push_back(static_cast<int64_t>(random() % 2));
    }
  }
  return t;
}

Inputs inputs_of(const Program& program, const graph::Graph& graph, const Sizes& sizes, uint64_t seed) {
  shape::Assignment values;
  for (const graph::Size& size : graph.sizes)
    if (size.from != graph::Size::From::data) values[size.var] = sizes.at(size.name);
  Inputs inputs;
  for (const graph::Input& input : graph.inputs) {
    if (input.size) {
      graph::Tensor t;
      t.elem = input.type.elem;
      t.integers.push_back(values.at(*input.size));
      inputs.push_back(std::move(t));
      continue;
    }
    std::vector<int64_t> shape;
    for (const auto& dim : input.type.shape) shape.push_back(dim.evaluate(values).value());
    inputs.push_back(content(input, shape, fill_of(program, graph.name + "." + input.path), seed));
  }
  return inputs;
}

}  // namespace

void expect_executors_agree(const Program& program) {
  const Compiled compiled(program.source, differential::for_levels());
  ASSERT_EQ(compiled.error(), "") << program.name;
  ASSERT_FALSE(compiled.compilation().entries.empty());
  uint64_t seed = 1;
  for (const Sizes& sizes : program.sizes) {
    std::map<std::string, Inputs> inputs;
    for (const CompiledEntry& e : compiled.compilation().entries)
      inputs[e.name] = inputs_of(program, compiled.meaning(e.name), sizes, seed);
    const differential::Loaded loaded(compiled, inputs);
    ASSERT_EQ(loaded.error(), "");
    for (const auto& [entry, tensors] : inputs) {
      std::string at = program.name + " " + entry;
      for (const auto& [name, value] : sizes) at += " " + name + "=" + std::to_string(value);
      EXPECT_EQ(differential::disagreement(compiled, {&loaded}, entry, tensors, seed), "") << at;
    }
    ++seed;
  }
}

}  // namespace axon::stdlib
