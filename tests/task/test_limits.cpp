// A proof that is beyond the prover ends: the boxes of one task type may take a part of what an entry may.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/work.h"
#include "support.h"
#include "task/verify.h"

namespace axon::task {
namespace {

/// Five axes stored as one; a box that follows each of them to the end of its tile, or of its axis.
TEST(Limits, TheProofOfOneTypeEnds) {
  const auto example =
      make_example("merged",
                   R"(graph "merged"
  size a = axis 0 of 0 where a
  size b = axis 1 of 0 where b
  size c = axis 2 of 0 where c
  size d = axis 3 of 0 where d
  size e = axis 4 of 0 where e
  fact 0 <= a
  fact 0 <= b
  fact 0 <= c
  fact 0 <= d
  fact 0 <= e
  input "x" argument f32[a, b, c, d, e]
  %0 = input 0
  %1 = compute "merged" [i < a, j < b, k < c, l < d, m < e] {
    out f32[a*b*c*d*e] at [b*c*d*e*i + c*d*e*j + d*e*k + e*l + m] = %0[i, j, k, l, m]
  }
  result "" %1
)",
                   "tiling rows 2 columns 4 panel 2 points 4096\nsizes a=2 b=3 c=2 d=3 e=2\n");
  ASSERT_TRUE(example);
  Program p = program_of(*example);
  EXPECT_EQ(unproved(p), std::vector<std::string>{});
  TaskType& type = p.types[TaskTypeId{0}];
  const auto write =
      std::find_if(type.accesses.begin(), type.accesses.end(), [](const Access& a) { return a.write; });
  const auto& domain = example->graph.nodes[type.node].domain;
  Dim low(0), all(1);
  std::vector<Dim> ends{Dim(1)};
  for (size_t axis = domain.size(); axis-- > 0;) {
    const Coordinate& c = type.coordinates[axis];
    low = low + all * Dim(c.tile) * Dim(c.var);
    std::vector<Dim> longer;
    for (const Dim& end : ends) {
      longer.push_back(end + all * (Dim(c.tile) * Dim(c.var) + Dim(c.tile - 1)));
      longer.push_back(end + all * (domain[axis].extent - Dim(1)));
    }
    ends = std::move(longer);
    all = all * domain[axis].extent;
  }
  write->box[0] = {low, all};
  for (const Dim& end : ends) write->box[0].high = shape::min(write->box[0].high, end);

  const base::Allowance allowance(uint64_t{1} << 40);
  const auto open = unproved(p);
  ASSERT_FALSE(open.empty());
  EXPECT_NE(open[0].find("merged.0"), std::string::npos) << open[0];
  EXPECT_NE(open[0].find("takes too much work to prove"), std::string::npos) << open[0];
  EXPECT_LT(allowance.spent(), 44'000'000U);
}

}  // namespace
}  // namespace axon::task
