// The second derivation of the boxes: what it accepts holds every element that a task touches, looked up by
// enumeration; what does not is refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "../sanitized.h"
#include "random_graphs.h"
#include "support.h"
#include "task/verify.h"
#include "touched.h"

namespace axon::task {
namespace {

/// The first obligation of the boxes that fails; "" when all are proved.
std::string refused(const Program& p) {
  Report report;
  verify_boxes(p, report);
  for (const Obligation& o : report.take())
    if (!o.proved) return o.what + ": " + o.by;
  return {};
}

std::vector<Concrete> grids_of(const Example& example, const Program& p) {
  std::vector<Concrete> grids;
  for (const auto& binding : example.bindings)
    for (uint64_t seed = 0; seed < 2; ++seed) grids.emplace_back(p, binding, seed);
  return grids;
}

std::string undeclared(const Example& example, const Program& p) {
  for (const Concrete& grid : grids_of(example, p))
    if (std::string found = undeclared(p, grid); !found.empty()) return found;
  return {};
}

void expect_right(const Example& example, const Program& p) {
  EXPECT_EQ(refused(p), "") << print(p);
  EXPECT_EQ(undeclared(example, p), "") << print(p);
}

struct Edit {
  std::string what;
  Program program;
};

/// Boxes of the program shorter by one at an end of an axis, and accesses taken away: `most` of them, spread
/// evenly over all.
std::vector<Edit> smaller(const Program& p, size_t most) {
  std::vector<Edit> edits;
  for (uint32_t t = 0; t < p.types.size(); ++t)
    for (size_t n = 0; n < p.types[TaskTypeId{t}].accesses.size(); ++n) {
      const auto add = [&](const std::string& how, const std::function<void(std::vector<Access>&)>& edit) {
        edits.push_back({fmt::format("{} access {} {}", p.types[TaskTypeId{t}].name, n, how), p});
        edit(edits.back().program.types[TaskTypeId{t}].accesses);
      };
      add("removed", [&](auto& list) { list.erase(list.begin() + static_cast<long>(n)); });
      for (size_t a = 0; a < p.types[TaskTypeId{t}].accesses[n].box.size(); ++a) {
        add(fmt::format("axis {} begins later", a),
            [&](auto& list) { list[n].box[a].low = list[n].box[a].low + Dim(1); });
        add(fmt::format("axis {} ends earlier", a),
            [&](auto& list) { list[n].box[a].high = list[n].box[a].high - Dim(1); });
      }
    }
  std::vector<Edit> out;
  const size_t count = std::min(most, edits.size());
  for (size_t n = 0; n < count; ++n) out.push_back(std::move(edits[n * edits.size() / count]));
  return out;
}

/// What the proofs accept, enumeration does; returns how many they refuse.
size_t expect_sound(const Example& example, const std::vector<Edit>& edits) {
  size_t count = 0;
  for (const Edit& edit : edits) {
    if (!refused(edit.program).empty())
      ++count;
    else
      EXPECT_EQ(undeclared(example, edit.program), "") << edit.what << "\n" << print(edit.program);
  }
  return count;
}

class Boxes : public testing::TestWithParam<std::string> {};

TEST_P(Boxes, HoldWhatTasksTouch) {
  const auto example = load_example(GetParam());
  ASSERT_TRUE(example);
  expect_right(*example, program_of(*example));
}

TEST_P(Boxes, SmallerOnesAreRefused) {
  const auto example = load_example(GetParam());
  ASSERT_TRUE(example);
  const auto edits = smaller(program_of(*example), 40);
  EXPECT_GE(4 * expect_sound(*example, edits), 3 * edits.size());
}

INSTANTIATE_TEST_SUITE_P(Tasks, Boxes, testing::ValuesIn(example_names()),
                         [](const auto& i) { return i.param; });

/// Channel i of a grouped convolution reads group i / o, of three.
TEST(QuotientBoxes, EndWithTheLastGroup) {
  const auto example = make_example("grouped",
                                    "graph \"grouped\"\n"
                                    "  size c = axis 0 of 0 where 3*c\n"
                                    "  size o = axis 0 of 1 where 3*o\n"
                                    "  fact 0 <= c\n"
                                    "  fact 0 <= o\n"
                                    "  input \"x\" argument f32[3*c]\n"
                                    "  input \"f\" argument f32[3*o, c]\n"
                                    "  %0 = input 0\n"
                                    "  %1 = input 1\n"
                                    "  %2 = compute [i < 3*o, s < c] {\n"
                                    "    out f32[3*o, c] = %0[c*(i / o) + s] * %1[i, s]\n"
                                    "  }\n"
                                    "  result \"\" %2\n",
                                    "tiling rows 2 columns 2 panel 2 points 4\n"
                                    "sizes c=5 o=2\n"
                                    "sizes c=3 o=1\n");
  ASSERT_TRUE(example);
  expect_right(*example, program_of(*example));
}

TEST(RandomBoxes, HoldWhatTasksTouch) {
  for (uint64_t seed = 500; seed < 500 + sampled(40u) && !testing::Test::HasFailure(); ++seed) {
    const auto example = random_example(seed);
    ASSERT_TRUE(example);
    const Program program = program_of(*example);
    SCOPED_TRACE(fmt::format("seed {}", seed));
    expect_right(*example, program);
    if (seed % 4 == 0) expect_sound(*example, smaller(program, 10));
  }
}

/// A box over the variables of the body, which no task has values for, says nothing.
TEST(Refused, BoxesOverIndexVariables) {
  const auto example = load_example("two_stage");
  ASSERT_TRUE(example);
  Program p = program_of(*example);
  TaskType& type = p.types[TaskTypeId{0}];
  for (Access& access : type.accesses)
    for (Interval& axis : access.box) {
      const Dim index(p.graph->nodes[type.node].domain.at(0).var);
      axis = {index, index + Dim(1)};
    }
  EXPECT_NE(refused(p).find("its boxes are over what its tasks know"), std::string::npos) << refused(p);
}

TEST(Refused, PanelsThatAreWritten) {
  const auto example = load_example("two_stage");
  ASSERT_TRUE(example);
  Program p = program_of(*example);
  for (Buffer& buffer : p.buffers) {
    Program wrong = p;
    wrong.buffers[BufferId{static_cast<uint32_t>(&buffer - &*p.buffers.begin())}].placement =
        layout::panels(buffer.shape.size(), 32);
    EXPECT_EQ(refused(wrong).empty(), buffer.kind == Buffer::Kind::weight) << buffer.name;
  }
}

}  // namespace
}  // namespace axon::task
