// Happens-before, the certificate and the waits against brute force on small concrete grids.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "../sanitized.h"
#include "brute_force.h"
#include "random_graphs.h"
#include "support.h"
#include "task/happens_before.h"
#include "task/verify.h"
#include "touched.h"

namespace axon::task {
namespace {

class Order : public testing::TestWithParam<std::string> {};

/// All tasks of `producer` that stand at the distance from a task.
bool is_at(const Program& p, const Distance& d, const Instance& later, const Instance& earlier) {
  const size_t common = common_loops(p, later.type, earlier.type);
  for (size_t b = 0; b < std::min(d.level, common); ++b)
    if (later.iteration[b] != earlier.iteration[b]) return false;
  if (d.iterations == 0) return true;
  const int64_t back = later.iteration[d.level] - earlier.iteration[d.level];
  return d.or_more ? back >= d.iterations : back == d.iterations;
}

/// Whatever chains of waits are said to order is ordered.
void expect_chains(const Program& p, const Concrete& grid) {
  const HappensBefore happens_before(p);
  const auto order = program_order(p);
  for (const auto& [later, position] : order)
    for (const auto& [earlier, other] : order) {
      const size_t common = common_loops(p, later, earlier);
      std::vector<Distance> distances;
      if (other < position) distances.push_back({common, 0, false, 0});
      for (size_t level = 0; level < common; ++level)
        for (const Distance& d :
             {Distance{level, 1, false, 0}, Distance{level, 2, false, 0}, Distance{level, 3, true, 0}})
          distances.push_back(d);
      for (const Distance& d : distances)
        for (const Chain& chain : happens_before.chains(later, earlier, d))
          for (size_t at : grid.of_type(later)) {
            const auto speaks_of = [&, at = at](const Instance& i) {
              return is_at(p, d, grid.instances()[at], i);
            };
            const auto& tasks = grid.of_type(earlier);
            if (std::none_of(tasks.begin(), tasks.end(),
                             [&](size_t t) { return speaks_of(grid.instances()[t]); }))
              continue;
            EXPECT_EQ(grid.contradicts(at, earlier, chain.ranges(), speaks_of), "")
                << p.types[later].name << " after " << p.types[earlier].name << " by "
                << fmt::format("{}", chain.waits.size()) << " waits, level " << d.level << " iterations "
                << d.iterations;
          }
    }
}

void expect_right(const Program& p, const shape::Assignment& binding) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    const Concrete grid(p, binding, seed);
    ASSERT_LT(grid.instances().size(), 3000u);
    EXPECT_EQ(grid.broken(), "");
    EXPECT_EQ(grid.unordered(), "");
    EXPECT_EQ(shared(p, grid), "");
    for (size_t n = 0; n < p.certificate.size(); ++n)
      EXPECT_EQ(grid.contradicts(p.certificate[n]), "") << "known " << n;
    expect_chains(p, grid);
    if (graph::conditional_loops(*p.graph).empty()) break;
  }
}

TEST_P(Order, OfSmallGrids) {
  const auto example = load_example(GetParam());
  ASSERT_TRUE(example);
  const Program program = program_of(*example);
  for (const auto& binding : example->bindings) {
    SCOPED_TRACE(text_of(example->graph, binding) + "\n" + print(program));
    expect_right(program, binding);
  }
}

/// A wait names the tasks whose boxes its consumer's box meets, if there are any, and no other.
TEST_P(Order, WaitsNameWhatTheyNeed) {
  const auto example = load_example(GetParam());
  ASSERT_TRUE(example);
  const Program program = program_of(*example);
  for (const auto& binding : example->bindings)
    for (const std::string& wait : Concrete(program, binding, 1).needless()) ADD_FAILURE() << wait;
}

INSTANTIATE_TEST_SUITE_P(Tasks, Order, testing::ValuesIn(example_names()),
                         [](const auto& i) { return i.param; });

TEST(RandomOrder, OfSmallGrids) {
  for (uint64_t seed = 100; seed < 100 + sampled(40u) && !HasFailure(); ++seed) {
    const auto example = random_example(seed);
    ASSERT_TRUE(example);
    const Program program = program_of(*example);
    for (const auto& binding : example->bindings) {
      SCOPED_TRACE(fmt::format("seed {}, {}\n{}", seed, text_of(example->graph, binding), print(program)));
      expect_right(program, binding);
    }
  }
}

/// A loop that steps a stencil and then measures what it made, in every second iteration in the slot that the
/// first value was put in. Two waits order that while they stand, and no chain is found when one is dropped.
TEST(DroppedWaits, AreReplacedWhereNoChainIsFound) {
  for (const char* ahead : {"1", "2", "3", "n"})
    for (const char* steps : {"1", "3", "m"}) {
      const std::string graph = fmt::format(R"(graph "measured_step"
  size n = axis 0 of 0 where n
  size m = axis 0 of 1 where m
  input "u" argument f32[n]
  input "x" argument f32[m]
  %0 = input 0
  %1 = input 1
  %2 = compute "zero" [] {{
    out f32[] = 0.0
  }}
  %3 = loop "iterate" [l < {steps}] (f32[n] = %0, f32[] = %2) {{
    %4 = param
    %5 = compute "v" [i < n] {{
      out f32[n] = %4.0[i] + select({{i + {ahead}}} < {{n}}, %4.0[min(n, i + {ahead} + 1) - 1], 0.0)
    }}
    %6 = compute "sum" [] {{
      out f32[] = sum(i < n; %5[i])
    }}
    yield (%5, %6)
  }}
  result "u" %3.0
  result "total" %3.1
)",
                                            fmt::arg("ahead", ahead), fmt::arg("steps", steps));
      const auto example = make_example("measured_step", graph,
                                        "tiling rows 2 columns 4 panel 2 points 2\n"
                                        "sizes n=7 m=3\nsizes n=1 m=2\nsizes n=0 m=4\n");
      ASSERT_TRUE(example);
      const Program program = program_of(*example);
      SCOPED_TRACE(print(program));
      for (const std::string& obligation : unproved(program)) ADD_FAILURE() << obligation;
      for (const auto& binding : example->bindings) expect_right(program, binding);
    }
}

/// The boxes of tasks over a merged axis meet: what is read is the element that is stored, or refused.
TEST(Siblings, ReadNothingThatAnotherStores) {
  const auto example = load_example("merged_update");
  ASSERT_TRUE(example);
  const Program program = program_of(*example);
  graph::Graph& g = example->graph;
  const auto update = std::find_if(program.types.begin(), program.types.end(),
                                   [](const TaskType& type) { return type.name == "update.1"; });
  ASSERT_NE(update, program.types.end());
  graph::ScalarId& body = g.nodes[update->node].outputs[0].body;
  const graph::ScalarId right = body;
  for (const size_t axis : {0, 1}) {
    body = rewrite_loads(g, right, [&](graph::ScalarId id) {
      graph::Scalar load = g.scalars[id];
      if (load.args.size() == 2) load.args[axis] = index_of(g, Dim(1));
      return make_scalar(g, load);
    });
    Report report;
    verify_order(program, report);
    std::string refused;
    for (const Obligation& o : report.take())
      if (!o.proved) refused += o.what;
    EXPECT_TRUE(refused.starts_with("update.1: tasks of one iteration do not touch each other's s"))
        << refused;
    EXPECT_NE(shared(program, Concrete(program, example->bindings.back(), 1)), "");
  }
}

}  // namespace
}  // namespace axon::task
