// Costs as formulas.
#include "page/cost.h"

#include <functional>
#include <map>

#include "host/cost.h"
#include "page/cost_text.h"
#include "page/support.h"
#include "page/traffic.h"
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
    if (p.graph->nodes[p.types[task::TaskTypeId{t}].node].packs) continue;
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

double at(const shape::Dim& d, const shape::Assignment& sizes) {
  const auto value = d.evaluate(sizes);
  EXPECT_TRUE(value) << d.str();
  return static_cast<double>(value.value_or(-1));
}

/// All sizes of the entry, by name.
shape::Assignment numbers(const Made& m, const std::map<std::string, int64_t>& sizes) {
  shape::Assignment out;
  for (const graph::Size& size : m.variant().program.graph->sizes) out[size.var] = sizes.at(size.name);
  return out;
}

/// The least operations of all types together.
double arithmetic(const Made& m, const std::map<std::string, int64_t>& sizes) {
  const task::Program& p = m.variant().program;
  double sum = 0;
  for (uint32_t t = 0; t < p.types.size(); ++t)
    sum += at(least_of(p, task::TaskTypeId{t}).operations, numbers(m, sizes));
  return sum;
}

TEST(Least, OfAProductIsWhateverItsTiles) {
  const Made m = made("entry e (x : f32[m, k]) (y : f32[k, n]) = x @ y\n", "e");
  const task::Names names(m.variant().program);
  const Least packing = least_of(m.variant().program, task::TaskTypeId{0}),
              least = least_of(m.variant().program, task::TaskTypeId{1});
  for (const shape::Dim& none : {packing.operations, packing.bytes, packing.outside})
    EXPECT_EQ(names(none), "0");  // no product needs it
  EXPECT_EQ(names(least.operations), "m*k*n");
  EXPECT_EQ(names(least.bytes), "4*m*k + 4*m*n + 4*k*n");
  EXPECT_EQ(names(least.outside), names(least.bytes));
}

TEST(Least, WhatStaysInsideIsNotOutside) {
  const Made m = made("entry e (x : f32[n, n]) = (x @ x) @ x\n", "e");
  const task::Program& p = m.variant().program;
  shape::Dim bytes(0), outside(0);
  for (uint32_t t = 0; t < p.types.size(); ++t) {
    bytes = bytes + least_of(p, task::TaskTypeId{t}).bytes;
    outside = outside + least_of(p, task::TaskTypeId{t}).outside;
  }
  EXPECT_EQ(task::Names(p)(bytes), "20*n*n");
  EXPECT_EQ(task::Names(p)(outside), "12*n*n");  // x twice, and the result
}

TEST(Least, OfNothingIsNothing) {
  for (const char* body : {"sum x", "x + 1.0", "softmax x", "iterate 3 (fn s => flip s * 2.0) x", "sort x"}) {
    const Made m = made(std::string("entry e (x : f32[n]) = ") + body + "\n", "e");
    EXPECT_LE(arithmetic(m, {{"n", 0}}), 4) << body;  // of the numbers that a reduction gives
  }
}

TEST(Least, AShortReductionCountsItsSteps) {
  const Made m = made("entry e (x : f32[n]) = sum (x * x)\n", "e");
  for (int64_t n : {1, 5, 1000, 16384}) {
    EXPECT_GE(arithmetic(m, {{"n", n}}), static_cast<double>(n)) << n;
    EXPECT_LE(arithmetic(m, {{"n", n}}), static_cast<double>(n + 8)) << n;
  }
}

TEST(Least, OfAMaskIsWhatItLeaves) {
  const Made m = made(
      "entry e (q : f32[n, d]) (k : f32[n, d]) (v : f32[n, d]) =\n"
      "  softmax (causal 0 (q @ transpose k)) @ v\n",
      "e");
  const double half = arithmetic(m, {{"n", 1000}, {"d", 64}}) / (1000.0 * 1000 * 64);
  EXPECT_GT(half, 0.95);  // of two products, half of each
  EXPECT_LT(half, 1.15);
}

/// The bytes of all boxes of all tasks, one by one.
double enumerated(const task::Program& p, const task::TaskType& type, shape::Assignment values) {
  std::vector<std::pair<shape::Var, shape::Dim>> vars;
  for (task::LoopId loop : type.loops) vars.emplace_back(p.loops[loop].index, p.loops[loop].extent);
  for (const task::Coordinate& c : type.coordinates) vars.emplace_back(c.var, c.extent);
  double bytes = 0;
  const std::function<void(size_t)> nest = [&](size_t v) {
    if (v < vars.size()) {
      const double end = at(vars[v].second, values);
      for (int64_t i = 0; static_cast<double>(i) < end; ++i) {
        values[vars[v].first] = i;
        nest(v + 1);
      }
      return;
    }
    for (const task::Access& access : type.accesses) {
      double elements = 1;
      for (const task::Interval& i : access.box) elements *= std::max(at(i.high - i.low, values), 0.0);
      bytes += elements * static_cast<double>(base::elem_bytes(p.buffers[access.buffer].elem));
    }
  };
  nest(0);
  return bytes;
}

TEST(Traffic, IsTheBoxesOfAllTasks) {
  for (const char* text :
       {"entry e (x : f32[m, k]) (y : f32[k, n]) = x @ y\n",
        "entry e (x : f32[m, n, k]) = transpose x + 1.0\n",
        "entry e (x : f32[m, k]) (y : f32[k]) (n : i64) = iterate n (fn s => flip s * 0.5) (x + y)\n",
        "entry e (x : f16[m, n]) (t : i32[k]) = for i => x[i64 t[i]]\n",
        "entry e (x : f32[m, k]) (w : f32[n, k, k]) = fold (fn x w => softmax (x @ w)) x w\n"}) {
    const Made m = made(text, "e");
    const task::Program& p = m.variant().program;
    for (const auto& sizes : std::vector<std::map<std::string, int64_t>>{{{"m", 130}, {"k", 200}, {"n", 70}},
                                                                         {{"m", 1}, {"k", 1}, {"n", 1}},
                                                                         {{"m", 0}, {"k", 3}, {"n", 0}}})
      for (uint32_t t = 0; t < p.types.size(); ++t) {
        const auto values = numbers(m, sizes);
        const auto bytes = box_bytes(p, task::TaskTypeId{t}, values);
        ASSERT_TRUE(bytes) << text;
        EXPECT_EQ(*bytes, enumerated(p, p.types[task::TaskTypeId{t}], values)) << text << t;
      }
  }
}

TEST(Traffic, IsUnknownWithoutNumbers) {
  const Made m = made("entry e (x : f32[m, k]) (y : f32[k, n]) = x @ y\n", "e");
  EXPECT_FALSE(box_bytes(m.variant().program, task::TaskTypeId{0}, {}));
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
