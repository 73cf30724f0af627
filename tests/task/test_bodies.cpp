// The simulator with bodies of the caller (simulate.h): they have its memory, and its checks.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "support.h"
#include "task/simulate.h"

namespace axon::task {
namespace {

/// The example `while_loop`, whose types have bodies of the test's own where a name is given.
class Bodies : public testing::Test {
 protected:
  using Body = std::function<void(const std::function<int64_t(const char*)>& value, BodyMemory&)>;

  graph::Outcome run(const char* type, const Body& body) {
    const shape::Assignment sizes = example_->bindings[0];  // n = 6, m = 5
    SimulateOptions options;
    options.body = [&](TaskTypeId id, const shape::Assignment& values,
                       BodyMemory& memory) -> std::optional<std::string> {
      if (program_.types[id].name != type) return std::nullopt;
      ++tasks_;
      body([&](const char* name) { return value_of(values, id, name); }, memory);
      return "";
    };
    inputs_ = inputs_for(example_->graph, sizes, 7);
    return simulate(program_, inputs_, parameters_of(example_->graph, sizes), options);
  }
  std::string difference_from_meaning(const graph::Outcome& outcome) {
    const shape::Assignment parameters = parameters_of(example_->graph, example_->bindings[0]);
    return difference(graph::interpret(example_->graph, inputs_, parameters, graph::Precision::storage),
                      outcome);
  }
  BufferId buffer(const std::string& name) const {
    for (uint32_t b = 0; b < program_.buffers.size(); ++b)
      if (program_.buffers[{b}].name == name) return {b};
    ADD_FAILURE() << name;
    return {};
  }

  int64_t value_of(const shape::Assignment& values, TaskTypeId type, const std::string& name) const {
    if (name == "l") return values.at(program_.loops[program_.types[type].loops[0]].index);
    if (name == "t") return values.at(program_.types[type].coordinates[0].var);
    for (const graph::Size& size : example_->graph.sizes)
      if (size.name == name) return values.at(size.var);
    ADD_FAILURE() << name;
    return 0;
  }

  const ExamplePtr example_ = load_example("while_loop");
  const Program program_ = program_of(*example_);
  std::vector<graph::Tensor> inputs_;
  int tasks_ = 0;
};

TEST_F(Bodies, KnowTheirTaskAndComputeIt) {
  const BufferId x = buffer("x"), carried = buffer("copy.5");
  const auto outcome = run("mix.3", [&](const auto& value, BodyMemory& memory) {
    const int64_t n = value("n"), from = value("l") % 2, to = (value("l") + 1) % 2;
    for (int64_t i = 4 * value("t"); i < std::min(n, 4 * value("t") + 4); ++i)
      memory.write(carried, {to, i},
                   {memory.read(carried, {from, n - 1 - i}).real * 0.5 + memory.read(x, {i}).real, 0});
  });
  EXPECT_EQ(difference_from_meaning(outcome), "");
  EXPECT_EQ(tasks_, 6);  // three iterations of two tasks
}

TEST_F(Bodies, MayNotReadOutsideOfBoxes) {
  const BufferId x = buffer("x"), carried = buffer("copy.5");
  const auto outcome = run("mix.3", [&](const auto& value, BodyMemory& memory) {
    memory.read(x, {(4 * value("t") + 4) % value("n")});  // which no task writes
    if (value("t") == 0) memory.read(carried, {value("l") % 2, value("n") - 5});
  });
  EXPECT_NE(outcome.error.find("outside its declared box"), std::string::npos) << outcome.error;
}

TEST_F(Bodies, MayNotReadWhatNothingWrote) {
  const BufferId carried = buffer("copy.5");
  const auto outcome = run("mix.3", [&](const auto& value, BodyMemory& memory) {
    memory.read(carried, {(value("l") + 1) % 2, 4 * value("t")});
  });
  EXPECT_NE(outcome.error.find("which nothing has written"), std::string::npos) << outcome.error;
}

TEST_F(Bodies, MayNotWriteOutsideOfBoxesOrShapes) {
  const BufferId carried = buffer("copy.5");
  const auto inside = run("mix.3", [&](const auto& value, BodyMemory& memory) {
    memory.write(carried, {value("l") % 2, 4 * value("t")}, {});
  });
  EXPECT_NE(inside.error.find("outside its declared box"), std::string::npos) << inside.error;
  const auto outside = run("mix.3", [&](const auto& value, BodyMemory& memory) {
    memory.write(carried, {(value("l") + 1) % 2, value("n")}, {});
  });
  EXPECT_NE(outside.error.find("outside its shape"), std::string::npos) << outside.error;
}

TEST_F(Bodies, WriteAllThatOthersRead) {
  const auto outcome = run("mix.3", [](const auto&, BodyMemory&) {});
  EXPECT_NE(outcome.error.find("which nothing has written"), std::string::npos) << outcome.error;
}

TEST_F(Bodies, DecideAsTheInterpreterDoes) {
  const BufferId holds = buffer("holds.4");
  const auto outcome = run("holds.5", [&](const auto& value, BodyMemory& memory) {
    memory.write(holds, {(value("l") + 1) % 2}, {0, 0});
  });
  EXPECT_NE(outcome.error.find("decides otherwise than the interpreter"), std::string::npos) << outcome.error;
}

TEST_F(Bodies, SayWhatWentWrong) {
  SimulateOptions options;
  options.body = [](TaskTypeId, const shape::Assignment&, BodyMemory&) { return "it has no program"; };
  const shape::Assignment sizes = example_->bindings[0];
  const auto outcome = simulate(program_, inputs_for(example_->graph, sizes, 7),
                                parameters_of(example_->graph, sizes), options);
  EXPECT_NE(outcome.error.find("): it has no program"), std::string::npos) << outcome.error;
}

}  // namespace
}  // namespace axon::task
