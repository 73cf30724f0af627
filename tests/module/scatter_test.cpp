// Reductions that scatter, natively, against the interpreter: each term is looked at once, and reaches the
// element that an equation names.
#include "harness.h"

namespace axon::testing {
namespace {

/// Also with tiles of a few elements, so that most points belong to other tasks.
void check_scatter(const std::string& text, const Sizes& sizes, double tolerance = 2e-5) {
  std::vector<RunOptions> ways = every_level();
  for (const int64_t targets : {1, 6, 200}) {
    RunOptions& small = ways.emplace_back();
    small.workers = 3;
    small.tiling.targets = targets;
  }
  check_program(text, sizes, ways, tolerance);
}

/// Ids below zero, past the end and in between, with whole rows of values.
TEST(Scatter, ScatteredRows) {
  check_scatter(R"(graph "f"
  size m = axis 0 of 0 where m
  size d = axis 1 of 1 where d
  size n = axis 0 of 2 where n
  input "ids" argument i32[m]
  input "v" argument f32[m, d]
  input "x" argument f32[n, d]
  %0 = input 0
  %1 = input 1
  %2 = input 2
  %3 = compute [i < n, q < d] {
    local $0 "sums" [a < n, b < d] f32 = sum(j < m; select(i64(%0[j]) * 2 - 3 == {a}, %1[j, b] * %2[a, b], 0.0))
    out f32[n, d] = %2[i, q] + $0[i, q]
  }
  %4 = compute [i < n] {
    out i64[n] = sum(j < m; select(i64(%0[j] - 2_i32) == {i}, 1, 0))
  }
  %5 = compute [q < d, i < n] {
    out f32[d, n] = max(j < m; select({i} == i64(%0[j]), %1[j, q], -inf))
  }
  result "0" %3
  result "1" %4
  result "2" %5
)",
                {{{"m", 7}, {"d", 5}, {"n", 11}},
                 {{"m", 1}, {"d", 1}, {"n", 1}},
                 {{"m", 0}, {"d", 3}, {"n", 4}},
                 {{"m", 5}, {"d", 0}, {"n", 3}},
                 {{"m", 5}, {"d", 2}, {"n", 0}},
                 {{"m", 257}, {"d", 65}, {"n", 199}},
                 {{"m", 1031}, {"d", 1}, {"n", 601}}});
}

/// Equations that mention leading axes, more conditions before and behind, shifted and mirrored indices,
/// two indices at once, and values that depend on the index found.
TEST(Scatter, ScatteredUnderConditions) {
  check_scatter(R"(graph "f"
  size p = axis 0 of 0 where p
  size m = axis 1 of 0 where m
  size n = axis 0 of 1 where n
  input "place" argument i64[p, m]
  input "w" argument f32[n]
  input "mask" argument bool[m]
  %0 = input 0
  %1 = input 1
  %2 = input 2
  %3 = compute [r < p, i < n] {
    out i64[p, n] = sum(j < m; select(%0[r, j] == {i}, {j}, 0))
    out f32[p, n] = sum(j < m; select(%2[j] && %0[r, j] == {i - r} && {j} != {i}, %1[i], 0.0))
  }
  %4 = compute [i < n, r < p] {
    out i64[n, p] = min(j < m; select(%2[j], select({m - i} == %0[r, j], {j + i}, 9223372036854775807), 9223372036854775807))
    out bool[n, p] = any(j < m; %0[r, j] == {i} && %2[j])
    out bool[n, p] = all(j < m; select(%0[r, j] + 1 == {i}, %2[j], true))
    out f32[n, p] = prod(j < m; select(%0[r, j] == {i}, 1.5, 1.0))
  }
  %5 = compute [a < n, b < n] {
    out i64[n, n] = sum(r < p, j < m; i64(%0[r, j] == {a} && {b} == %0[r, j] * %0[r, j]))
    out i64[n, n] = sum(j < m; select({j + a} == {b}, {j}, 0))
  }
  result "0" %3
  result "1" %3.1
  result "2" %4
  result "3" %4.1
  result "4" %4.2
  result "5" %4.3
  result "6" %5
  result "7" %5.1
)",
                {{{"p", 3}, {"m", 7}, {"n", 11}},
                 {{"p", 1}, {"m", 1}, {"n", 1}},
                 {{"p", 2}, {"m", 0}, {"n", 3}},
                 {{"p", 0}, {"m", 4}, {"n", 3}},
                 {{"p", 2}, {"m", 4}, {"n", 0}},
                 {{"p", 13}, {"m", 97}, {"n", 41}},
                 {{"p", 2}, {"m", 300}, {"n", 17}}});
}

TEST(Scatter, ScatteredNumbersOfEveryType) {
  struct Type {
    const char *name, *zero, *one;
    double tolerance;
  };
  for (const Type& type :
       {Type{"f64", "0.0_f64", "1.0_f64", 1e-13}, Type{"f16", "0.0_f16", "1.0_f16", 1e-2},
        Type{"bf16", "0.0_bf16", "1.0_bf16", 2e-2}, Type{"i32", "0_i32", "1_i32", 0},
        Type{"i8", "0_i8", "1_i8", 0}, Type{"u8", "0_u8", "1_u8", 0}, Type{"u32", "0_u32", "1_u32", 0}}) {
    SCOPED_TRACE(type.name);
    std::string text = R"(graph "f"
  size m = axis 0 of 0 where m
  size n = axis 0 of 2 where n
  input "ids" argument u8[m]
  input "v" argument TYPE[m]
  input "x" argument TYPE[n]
  %0 = input 0
  %1 = input 1
  %2 = input 2
  %3 = compute [i < n] {
    out TYPE[n] = sum(j < m; select(i64(%0[j]) % 7 == {i}, %1[j] * %2[i], ZERO))
    out TYPE[n] = prod(j < m; select(i64(%0[j]) % 7 == {i}, %1[j], ONE))
  }
  result "0" %3
  result "1" %3.1
)";
    for (const auto& [word, by] : {std::pair("TYPE", type.name), {"ZERO", type.zero}, {"ONE", type.one}})
      for (size_t at; (at = text.find(word)) != std::string::npos;) text.replace(at, strlen(word), by);
    check_scatter(text, {{{"m", 31}, {"n", 5}}, {{"m", 2}, {"n", 300}}}, type.tolerance);
  }
}

/// Binders that no index depends on, inside of those that one does.
TEST(Scatter, ScatteredSumsOfRows) {
  check_scatter(R"(graph "f"
  size m = axis 0 of 0 where m
  size c = axis 1 of 1 where c
  size d = axis 2 of 1 where d
  size n = axis 0 of 2 where n
  input "ids" argument i32[m]
  input "v" argument f32[m, c, d]
  input "x" argument f16[n]
  %0 = input 0
  %1 = input 1
  %2 = input 2
  %3 = compute [i < n] {
    local $0 "squares" [a < n] f32 = sum(j < m, r < c, q < d; select(i64(%0[j]) == {a}, %1[j, r, q] * %1[j, r, q], 0.0))
    out f32[n] = $0[i] + f32(%2[i])
    out f32[n] = max(j < m, r < c, q < d; select(i64(%0[j]) == {i}, %1[j, r, q], -inf))
    out bool[n] = any(j < m, r < c, q < d; i64(%0[j]) == {i} && 0.5 < %1[j, r, q])
  }
  result "0" %3
  result "1" %3.1
  result "2" %3.2
)",
                {{{"m", 7}, {"c", 3}, {"d", 5}, {"n", 11}},
                 {{"m", 1}, {"c", 1}, {"d", 1}, {"n", 1}},
                 {{"m", 3}, {"c", 0}, {"d", 3}, {"n", 4}},
                 {{"m", 3}, {"c", 2}, {"d", 0}, {"n", 4}},
                 {{"m", 31}, {"c", 2}, {"d", 129}, {"n", 17}}});
}

/// What guards a read guards it still, and what the plain loops never evaluate fails no check.
TEST(Scatter, ScatteredThroughCheckedIndices) {
  const char* const text = R"(graph "f"
  size m = axis 0 of 0 where m
  size n = axis 0 of 1 where n
  input "ids" argument i64[m]
  input "x" argument i64[n]
  %0 = input 0
  %1 = input 1
  %2 = compute [i < n] {
    out i64[n] = sum(j < m; select({j + 1} < {m} && %0[j + 1] == {i}, 1, 0))
    out i64[n] = sum(j < m; select(%1[{bounded(%0[j], n, 0)}] == {i}, {j}, 0))
  }
  check %0 < n : "`ids` index axis 0 of `x`"
  result "0" %2
  result "1" %2.1
)";
  check_scatter(text, {{{"m", 9}, {"n", 9}}, {{"m", 3}, {"n", 64}}, {{"m", 1}, {"n", 1}}});
  Native native(text, {});
  ASSERT_EQ(native.error(), "");
  graph::Tensor ids = random_tensor(base::Elem::i64, {2}, 1), x = random_tensor(base::Elem::i64, {3}, 1);
  ids.integers = {1, 3};
  EXPECT_NE(native.run({ids, x}).failed, 0u);
}

}  // namespace
}  // namespace axon::testing
