// Long rows of prefixes in parts, natively, against the interpreter on the rows as they were: parts of a few
// elements, at the edges of parts and groups, by several workers with the same bits.
#include "graph/passes/passes.h"
#include "harness.h"

namespace axon::testing {
namespace {

const char* const inputs_of_rows = R"(graph "f"
  size n = axis 0 of 0 where n
  fact 0 <= n
  input "x" argument f32[n]
  input "y" argument f32[3, n]
  input "m" argument f32[n, 16]
  input "d" argument f64[n]
  input "i" argument i32[n]
  input "l" argument i64[n]
  %0 = input 0
  %1 = input 1
  %2 = input 2
  %3 = input 3
  %4 = input 4
  %5 = input 5
)";

/// Groups of 4 parts of 128 bytes, of rows of 1024 bytes at least.
constexpr graph::PrefixLimits few_elements{4, 64, 1024, 128, 4};

graph::Graph rows_of(const std::string& text, bool split) {
  std::string error;
  auto g = graph::parse(inputs_of_rows + text, error);
  EXPECT_TRUE(g) << error;
  if (!split) return std::move(*g);
  const size_t nodes = g->nodes.size();
  graph::split_prefixes(*g, few_elements);
  EXPECT_GT(g->nodes.size(), nodes) << text;
  return std::move(*g);
}

/// At every level with 1 to 3 workers, whose results have the same bits.
void check_split(const std::string& text, double tolerance) {
  const graph::Graph before = rows_of(text, false);
  std::vector<std::vector<std::unique_ptr<Native>>> levels;
  for (RunOptions way : every_level()) {
    levels.emplace_back();
    for (const int workers : {1, 2, 3}) {
      way.workers = workers;
      levels.back().push_back(std::make_unique<Native>(rows_of(text, true), way));
      ASSERT_EQ(levels.back().back()->error(), "") << text;
    }
  }
  for (const int64_t n : {0, 1, 7, 31, 32, 127, 128, 255, 256, 257, 261, 287, 384, 389, 517}) {
    std::string error;
    const auto inputs = random_inputs(before, {{"n", n}}, static_cast<uint32_t>(n));
    const auto solved = graph::solve_sizes(before, inputs, {}, error);
    ASSERT_TRUE(solved) << error;
    const auto reference = graph::interpret(before, inputs, *solved, graph::Precision::storage);
    const std::string where = "n = " + std::to_string(n) + ", " + text;
    for (const auto& by_workers : levels) {
      const auto first = by_workers[0]->run(inputs);
      ASSERT_EQ(first.error, "");
      for (size_t r = 0; r < reference.results.size(); ++r)
        expect_close(first.results[r], reference.results[r], tolerance, tolerance, where);
      for (size_t w = 1; w < by_workers.size(); ++w) {
        const auto other = by_workers[w]->run(inputs);
        ASSERT_EQ(other.error, "");
        for (size_t r = 0; r < first.results.size(); ++r)
          expect_close(other.results[r], first.results[r], 0, 0, where);
      }
    }
  }
}

TEST(SplitPrefixes, OfEveryType) {
  check_split(R"(
  %6 = compute [l < n] { out f32[n] = sum(k < n; select({k} <= {l}, %0[k] * %0[k] - 0.25, 0.0)) }
  %7 = compute [l < n] { out f64[n] = sum(k < n; select({k} < {l}, %3[k], 0.0_f64)) }
  result "a" %6
  result "b" %7)",
              1e-4);
  check_split(R"(
  %6 = compute [l < n] { out i32[n] = prod(k < n; select({k} <= {l}, %4[k] + %4[k] + 1_i32, 1_i32)) }
  %7 = compute [l < n] { out i64[n] = min(k < n; select({k} <= {l}, %5[k], 9223372036854775807)) }
  %8 = compute [l < n + 1] { out i64[n + 1] = sum(k < n; select({k} < {l}, %5[k], 0)) }
  result "a" %6
  result "b" %7
  result "c" %8)",
              0);
}

TEST(SplitPrefixes, OfRowsAndColumns) {
  check_split(R"(
  %6 = compute [r < 3, l < n] { out f32[3, n] = sum(k < n; select({k} <= {l}, %1[r, k], 0.0)) }
  %7 = compute [l < n, c < 16] { out f32[n, 16] = sum(k < n; select({k} <= {l}, %2[k, c] * %0[k], 0.0)) }
  result "a" %6
  result "b" %7)",
              1e-4);
}

TEST(SplitPrefixes, InALoop) {
  check_split(R"(
  %6 = loop "fold" [i < 3] (f32[n] = %0) {
    %7 = param
    %8 = compute [l < n] { out f32[n] = sum(k < n; select({k} <= {l}, %7[k], 0.0)) }
    %9 = compute [l < n] { out f32[n] = min(k < n; select({k} <= {l}, %8[k], inf)) }
    %10 = compute [l < n] { out f32[n] = %8[l] * 0.125 - %9[l] }
    yield (%10)
  }
  result "" %6)",
              1e-3);
}

}  // namespace
}  // namespace axon::testing
