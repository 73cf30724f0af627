#include "support.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "random_graphs.h"
#include "task/placements.h"
#include "task/storage.h"

namespace axon::task {

using graph::Graph;

std::string read_file(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string data_folder() { return std::string(AXON_SOURCE_DIR) + "/tests/task/data/"; }

std::vector<std::string> example_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(data_folder()))
    if (entry.path().extension() == ".graph") names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

namespace {

shape::Assignment binding_of(const Graph& g, std::stringstream& words) {
  shape::Assignment binding;
  for (std::string word; words >> word;) {
    const size_t at = word.find('=');
    for (const auto& size : g.sizes)
      if (size.name == word.substr(0, at)) binding[size.var] = std::stoll(word.substr(at + 1));
  }
  return binding;
}

void read_settings(const std::string& text, Example& example) {
  std::stringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::stringstream words(line);
    std::string word;
    words >> word;
    if (word == "tiling") {
      target::Class& t = example.tiling;
      std::string rows, columns, panel, points;
      words >> rows >> t.rows >> columns >> t.columns >> panel >> t.panel_columns >> points >> t.points;
      EXPECT_TRUE(words && rows == "rows" && points == "points") << example.name << ": " << line;
      for (std::string name; words >> name;) words >> (name == "runs" ? t.runs : t.targets);
    } else if (word == "sizes") {
      example.bindings.push_back(binding_of(example.graph, words));
      EXPECT_EQ(example.bindings.back().size(),
                example.graph.sizes.size() - graph::data_sizes(example.graph).size())
          << example.name << ": " << line;
    } else if (word == "implied") {
      std::string consumer, producer;
      words >> consumer >> producer;
      example.implied.push_back(consumer + " " + producer);
    } else {
      EXPECT_TRUE(word.empty() || word[0] == '#') << example.name << ": " << line;
    }
  }
}

}  // namespace

ExamplePtr make_example(const std::string& name, const std::string& graph_text, const std::string& settings) {
  auto example = std::make_unique<Example>();
  example->name = name;
  std::string error;
  auto parsed = graph::parse(graph_text, error);
  if (!parsed) {
    ADD_FAILURE() << name << ": " << error << "\n" << graph_text;
    return nullptr;
  }
  example->graph = std::move(*parsed);
  const auto wrong = graph::verify(example->graph);
  EXPECT_TRUE(wrong.empty()) << name << ": " << (wrong.empty() ? "" : wrong[0]) << "\n" << graph_text;
  update_states(example->graph);
  for (const CopiedState& state : insert_copies(example->graph))
    example->copied_states.push_back(state.input);
  const auto wrong_after = graph::verify(example->graph);
  EXPECT_TRUE(wrong_after.empty()) << name << " with copies: " << (wrong_after.empty() ? "" : wrong_after[0]);
  read_settings(settings, *example);
  return example;
}

ExamplePtr random_example(uint64_t seed) {
  return make_example("random", random_graph(seed),
                      "tiling rows 2 columns 2 panel 2 points 4\n"
                      "sizes m=3 d=5 n=2 v=2\n"
                      "sizes m=5 d=2 n=3 v=1\n"
                      "sizes m=2 d=3 n=0 v=3\n");
}

ExamplePtr load_example(const std::string& name) {
  return make_example(name, read_file(data_folder() + name + ".graph"),
                      read_file(data_folder() + name + ".case"));
}

Program program_of(const Example& example) {
  const auto chosen = choose_placements({&example.graph}, example.tiling.panel_columns);
  Program program = from_graph(example.graph, placements_of(example.graph, chosen), {}, example.tiling);
  derive_events(program);
  return program;
}

std::vector<std::string> unproved(const Program& program) {
  std::vector<std::string> out;
  for (const Obligation& o : verify(program))
    if (!o.proved) out.push_back(o.what + " (" + o.by + ")");
  return out;
}

std::vector<graph::Tensor> inputs_for(const Graph& g, const shape::Assignment& sizes, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> real(-2.0, 2.0);
  std::vector<graph::Tensor> tensors;
  for (uint32_t i = 0; i < g.inputs.size(); ++i) {
    const auto& input = g.inputs[i];
    int64_t bound = 3, count = 1;
    for (const auto& check : g.checks)
      if (!check.fact && check.value.node.valid() && g.nodes[check.value.node].op == graph::NodeOp::input &&
          g.nodes[check.value.node].input == i)
        bound = *check.bound.evaluate(sizes);
    graph::Tensor t;
    t.elem = input.type.elem;
    for (const Dim& d : input.type.shape) {
      t.shape.push_back(*d.evaluate(sizes));
      count *= t.shape.back();
    }
    for (int64_t e = 0; e < count; ++e) {
      if (base::is_float(t.elem))
        t.floats.push_back(std::round(real(random) * 64) / 64);
      else
        t.integers.push_back(input.size ? sizes.at(*input.size)
                                        : std::uniform_int_distribution<int64_t>(0, bound - 1)(random));
    }
    tensors.push_back(std::move(t));
  }
  return tensors;
}

shape::Assignment parameters_of(const Graph& g, const shape::Assignment& sizes) {
  shape::Assignment parameters;
  for (const auto& size : g.sizes)
    if (size.from == graph::Size::From::parameter) parameters[size.var] = sizes.at(size.var);
  return parameters;
}

namespace {

bool close(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::abs(a - b) <= 1e-9 * std::max({1.0, std::abs(a), std::abs(b)});
}

std::string tensor_difference(const std::string& what, const graph::Tensor& a, const graph::Tensor& b) {
  if (a.shape != b.shape || a.elem != b.elem) return what + " has another type";
  if (a.floats.size() != b.floats.size() || a.integers.size() != b.integers.size())
    return what + " has another length";
  for (size_t i = 0; i < a.floats.size(); ++i)
    if (!close(a.floats[i], b.floats[i]))
      return fmt::format("{}[{}]: {} expected, {} found", what, i, a.floats[i], b.floats[i]);
  for (size_t i = 0; i < a.integers.size(); ++i)
    if (a.integers[i] != b.integers[i])
      return fmt::format("{}[{}]: {} expected, {} found", what, i, a.integers[i], b.integers[i]);
  return {};
}

}  // namespace

std::string difference(const graph::Outcome& expected, const graph::Outcome& actual) {
  if (!expected.error.empty()) return "the interpreter failed: " + expected.error;
  if (!actual.error.empty()) return actual.error;
  if (expected.results.size() != actual.results.size()) return "another number of results";
  for (size_t i = 0; i < expected.results.size(); ++i)
    if (auto text = tensor_difference("result " + std::to_string(i), expected.results[i], actual.results[i]);
        !text.empty())
      return text;
  if (expected.states.size() != actual.states.size()) return "another number of states";
  for (size_t i = 0; i < expected.states.size(); ++i)
    if (auto text = tensor_difference("state " + std::to_string(i), expected.states[i], actual.states[i]);
        !text.empty())
      return text;
  return {};
}

std::string text_of(const Graph& g, const shape::Assignment& sizes) {
  std::string text;
  for (const auto& size : g.sizes)
    if (size.from != graph::Size::From::data)
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", size.name, sizes.at(size.var));
  return text;
}

void expect_golden(const std::string& path, const std::string& text) {
  if (std::getenv("AXON_BLESS")) {
    std::ofstream(path) << text;
    return;
  }
  EXPECT_EQ(read_file(path), text) << path << ": set AXON_BLESS=1 to accept";
}

}  // namespace axon::task
