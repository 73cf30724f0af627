#include "support.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>
#include <sstream>

#include "graph/passes/edit.h"
#include "graph/passes/passes.h"

namespace axon::graph::testing {

Graph read(const std::string& text) {
  std::string error;
  auto g = parse(text, error);
  if (!g) {
    ADD_FAILURE() << error << "\n" << text;
    return {};
  }
  for (const std::string& problem : verify(*g, Extents::dynamic)) ADD_FAILURE() << "input: " << problem;
  return std::move(*g);
}

std::string file_text(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void run(Graph& g, const std::string& name) {
  static const std::vector<Pass> others = {
      {"eliminate_dead_code", "", [](Graph& x) { eliminate_dead_code(x); }},
      {"fuse_epilogue", "",
       [](Graph& x) {
         while (fuse_epilogue(x)) {
         }
       }},
      {"rematerialise", "",
       [](Graph& x) {
         while (rematerialise(x)) {
         }
       }},
      {"fuse_siblings", "",
       [](Graph& x) {
         while (fuse_siblings(x)) {
         }
       }},
      {"fuse_multi_output", "",
       [](Graph& x) {
         while (fuse_multi_output(x)) {
         }
       }},
  };
  std::vector<Pass> passes;
  for (const Pass& p : graph_passes())
    if (name == p.name || name == "all" || (name == "whole" && p.name != std::string("split_attention")))
      passes.push_back(p);
  for (const Pass& p : others)
    if (name == p.name) passes.push_back(p);
  ASSERT_FALSE(passes.empty()) << "no pass " << name;
  for (const Pass& p : passes) {
    p.run(g);
    for (const std::string& problem : verify(g))
      ADD_FAILURE() << "after " << p.name << ": " << problem << "\n" << print(g);
    std::string text = print(g), error;
    auto again = parse(text, error);
    ASSERT_TRUE(again) << error << "\n" << text;
    EXPECT_EQ(print(*again), text) << "after " << p.name;
  }
}

namespace {

struct Trial {
  shape::Assignment sizes, parameters;
  std::vector<Tensor> inputs;
};

std::optional<Trial> make_trial(const Graph& g, std::mt19937& random, const std::vector<int64_t>& choices) {
  Trial t;
  for (const Size& s : g.sizes) {
    t.sizes[s.var] = choices[random() % choices.size()];
    if (s.from == Size::From::parameter) t.parameters[s.var] = t.sizes[s.var];
  }
  for (const Fact& f : g.facts)
    if (!holds(f, t.sizes).value_or(false)) return std::nullopt;
  for (const Input& input : g.inputs) {
    Tensor tensor;
    tensor.elem = input.type.elem;
    int64_t count = 1;
    for (const Dim& d : input.type.shape) {
      auto extent = d.evaluate(t.sizes);
      if (!extent || *extent < 0) return std::nullopt;
      tensor.shape.push_back(*extent);
      count *= *extent;
    }
    std::normal_distribution<double> normal;
    for (int64_t i = 0; i < count; ++i) {
      if (base::is_float(tensor.elem)) {
        tensor.floats.push_back(std::round(normal(random) * 64) / 64);  // short fractions, so few roundings
      } else {
        tensor.integers.push_back(input.size ? t.sizes[*input.size] : static_cast<int64_t>(random() % 2));
      }
    }
    t.inputs.push_back(std::move(tensor));
  }
  return t;
}

bool same_special(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Integers are equal; floats are within `allowed` of `reference`, and NaN and infinities stand where
/// `before` has them.
void expect_close(const Tensor& before, const Tensor& after, const Tensor& reference, double allowed,
                  const std::string& where) {
  ASSERT_EQ(before.shape, after.shape) << where;
  ASSERT_EQ(before.integers, after.integers) << where;
  ASSERT_EQ(before.floats.size(), after.floats.size()) << where;
  for (size_t i = 0; i < before.floats.size(); ++i) {
    double was = before.floats[i], is = after.floats[i], exact = reference.floats[i];
    if (same_special(was, is)) continue;
    if (std::isfinite(exact) && !std::isfinite(was)) continue;  // overflowed before any pass; float64 judges
    ASSERT_TRUE(std::isfinite(was) && std::abs(is - exact) <= allowed)
        << where << ": element " << i << ": " << was << " became " << is << ", exactly " << exact
        << ", allowed " << allowed;
  }
}

/// What a result may be away from the float64 meaning. In float64 itself: a few roundings. In storage
/// precision: a few times what the graph before was off in that tensor, because cancellation is a property of
/// the formula, not of a pass.
double allowed_error(const Tensor& before, const Tensor& reference, Precision precision) {
  double largest = 0, error = 0;
  for (size_t i = 0; i < reference.floats.size(); ++i) {
    if (!std::isfinite(reference.floats[i]) || !std::isfinite(before.floats[i])) continue;
    largest = std::max(largest, std::abs(reference.floats[i]));
    error = std::max(error, std::abs(before.floats[i] - reference.floats[i]));
  }
  return precision == Precision::f64 ? 1e-11 * (1 + largest) : 1e-6 * (1 + largest) + 8 * error;
}

void expect_all_close(const std::vector<Tensor>& before, const std::vector<Tensor>& after,
                      const std::vector<Tensor>& reference, Precision precision, const std::string& where) {
  ASSERT_EQ(before.size(), after.size()) << where;
  for (size_t r = 0; r < before.size(); ++r)
    expect_close(before[r], after[r], reference[r], allowed_error(before[r], reference[r], precision),
                 where + " result " + std::to_string(r));
}

}  // namespace

int expect_same_meaning(const Graph& before, const Graph& after, uint32_t seed,
                        const std::vector<int64_t>& choices) {
  std::mt19937 random(seed);
  int compared = 0;
  for (int attempt = 0; attempt < 400 && compared < 12; ++attempt) {
    static const std::vector<int64_t> usual = {0, 1, 2, 3, 5, 7};
    auto trial = make_trial(before, random, choices.empty() ? usual : choices);
    if (!trial) continue;
    Outcome exact = interpret(before, trial->inputs, trial->parameters, Precision::f64);
    for (Precision p : {Precision::f64, Precision::storage}) {
      Outcome a = interpret(before, trial->inputs, trial->parameters, p);
      Outcome b = interpret(after, trial->inputs, trial->parameters, p);
      std::string where = p == Precision::f64 ? "float64" : "storage";
      for (const Size& s : before.sizes) where += " " + s.name + "=" + std::to_string(trial->sizes[s.var]);
      EXPECT_EQ(a.error, b.error) << where;
      if (!a.error.empty() || !b.error.empty()) break;
      expect_all_close(a.results, b.results, exact.results, p, where);
      expect_all_close(a.states, b.states, exact.states, p, where + " states");
      if (::testing::Test::HasFailure()) return compared;
      compared += p == Precision::storage;
    }
  }
  EXPECT_GT(compared, 0) << "no sizes satisfy the facts";
  return compared;
}

int compute_nodes(const Graph& g) {
  RegionId region = g.root;
  for (NodeId id : g.regions[g.root].nodes)
    if (g.nodes[id].op == NodeOp::loop) region = g.nodes[id].body;
  int count = 0;
  for (NodeId id : g.regions[region].nodes) count += g.nodes[id].op == NodeOp::compute;
  return count;
}

std::string without_names(const std::string& text) {
  std::stringstream lines(text);
  std::string out, line;
  while (std::getline(lines, line)) {
    bool is_node = contains(line, " = compute") || contains(line, "local $");
    size_t open = is_node ? line.find('"') : std::string::npos;
    if (open != std::string::npos) {
      size_t close = line.find('"', open + 1);
      line.erase(open, close + 2 - open);
    }
    out += line + "\n";
  }
  return out;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace axon::graph::testing
