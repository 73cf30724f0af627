// Costs as formulas.
#include "page/cost.h"

#include "host/cost.h"
#include "page/cost_text.h"
#include "page/support.h"
#include "target/cost_model.h"
#include "task/names.h"

namespace axon::page {
namespace {

struct Formulas {
  std::string operations, bytes;
};

Formulas least(const Made& m) {
  const task::Names names(m.variant().program);
  const Cost cost = least_cost(m.variant().program);
  return {names(cost.operations), names(cost.bytes)};
}

TEST(Cost, OfAProduct) {
  const Made m = made("entry e (x : f32[m, k]) (y : f32[k, n]) = x @ y\n", "e");
  EXPECT_EQ(least(m).operations, "m*k*n + 64");
  EXPECT_EQ(least(m).bytes, "4*m*k + 4*m*n + 4*k*n");
}

TEST(Cost, WhatIsKeptInsideMovesNothing) {
  const Made m = made("entry e (x : f32[n, n]) = (x @ x) @ x\n", "e");
  EXPECT_EQ(least(m).bytes, "8*n*n");
  Cost sum{shape::Dim(0), shape::Dim(0)};
  const task::Program& p = m.variant().program;
  for (uint32_t t = 0; t < p.types.size(); ++t) {
    const Cost one = cost_of(p, task::TaskTypeId{t});
    sum = {sum.operations + one.operations, sum.bytes + one.bytes};
  }
  EXPECT_EQ(task::Names(p)(sum.bytes), "20*n*n");  // x and what is made of it twice, what is made of that
  EXPECT_EQ(task::Names(p)(sum.operations), least(m).operations);
}

TEST(Cost, OfRowsThatTheDataChooses) {
  const Made m = made("entry e (x : f32[v, d]) (t : i32[m]) = for i j => x[i64 t[i], j]\n", "e");
  EXPECT_EQ(least(m).bytes, "4*d*m + 4*m + 4*min(v*d, d*m)");
}

TEST(Cost, OfALoop) {
  // Each iteration has weights of its own, and what is carried stays inside.
  const Made m = made("entry e (x : f32[m, d]) (w : f32[n, d, d]) = fold (fn x w => x @ w) x w\n", "e");
  EXPECT_EQ(least(m).bytes, "4*d*d*n + 8*m*d");
}

std::string said(const char* text, const GivenSizes& sizes) {
  std::string problem;
  const std::string cost = cost_text(made(text, "e").variant(), sizes, problem);
  return problem.empty() ? cost : problem;
}

TEST(Cost, IsSaidInNumbersWhereSizesAreKnown) {
  const char* const product = "entry e (x : f32[m, k]) (y : f32[k, n]) = x @ y\n";
  EXPECT_EQ(
      said(product, {{"m", 1000}, {"k", 1000}, {"n", 1000}}),
      "operations  1,000,000,064\nbytes       12,000,000\nfloor       16.7 ms on one worker, set by its "
      "operations\n");
  EXPECT_NE(said(product, {{"m", 1}}).find("floor       the longer of"), std::string::npos);
  EXPECT_EQ(said(product, {{"q", 1}}), "`q` is no size of it; its sizes are `m`, `k`, `n`");
  EXPECT_EQ(said("entry e (x : f32[n]) where n >= 2 = x + x\n", {{"n", 1}}),
            "it refuses these sizes: `2 <= n` does not hold");
}

TEST(Cost, TheMachineIsThatOfTheRuntime) {
  const target::CostModel machine;
  const host::CostModel model;
  EXPECT_EQ(machine.operations, model.rate);
  EXPECT_EQ(machine.handoff, model.handoff);
}

TEST(Cost, TheFloorIsTheLongerOfTwo) {
  const target::CostModel machine;
  EXPECT_EQ(target::floor_time(machine, 1200, 20, 2), 10);
  EXPECT_EQ(target::floor_time(machine, 1200, 400, 2), 20);
}

}  // namespace
}  // namespace axon::page
