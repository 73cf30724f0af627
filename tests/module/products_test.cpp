// Products of matrices and what is made of them, natively, for sizes 0, 1, primes and tile edges, against the
// interpreter.

#include "harness.h"

namespace axon::testing {
namespace {

const Sizes matrix_sizes = {{{"m", 3}, {"k", 5}, {"n", 4}},     {{"m", 1}, {"k", 1}, {"n", 1}},
                            {{"m", 0}, {"k", 4}, {"n", 3}},     {{"m", 4}, {"k", 0}, {"n", 3}},
                            {{"m", 4}, {"k", 3}, {"n", 0}},     {{"m", 1}, {"k", 300}, {"n", 97}},
                            {{"m", 67}, {"k", 37}, {"n", 257}}, {{"m", 8}, {"k", 256}, {"n", 32}},
                            {{"m", 13}, {"k", 259}, {"n", 70}}};

TEST(Products, MatrixProducts) {
  for (const char* operands : {"argument f32[m, k] %0[i, a] argument f32[k, n] %1[a, j]",
                               "argument f32[m, k] %0[i, a] weight f32[k, n] %1[a, j]",
                               "argument f32[m, k] %0[i, a] argument f32[n, k] %1[j, a]",
                               "argument f32[k, m] %0[a, i] argument f32[k, n] %1[a, j]",
                               "argument f32[k, m] %0[a, i] argument f32[n, k] %1[j, a]"}) {
    SCOPED_TRACE(operands);
    std::istringstream in(operands);
    std::vector<std::string> w(std::istream_iterator<std::string>(in), {});
    // kind type[axes] load[indices] twice, each split at one space inside the brackets
    const std::string left = w[0] + " " + w[1] + " " + w[2], left_load = w[3] + " " + w[4];
    const std::string right = w[5] + " " + w[6] + " " + w[7], right_load = w[8] + " " + w[9];
    check_everywhere(R"(graph "f"
  size m = parameter
  size k = parameter
  size n = parameter
  input "x" )" + left + R"(
  input "y" )" + right + R"(
  input "bias" argument f32[n]
  %0 = input 0
  %1 = input 1
  %2 = input 2
  %3 = compute [i < m, j < n] {
    local $0 [i < m, j < n] f32 = sum(a < k; )" +
                         left_load + " * " + right_load + R"()
    out f32[m, n] = max($0[i, j] + %2[j], 0.0)
  }
  %4 = compute [i < m, j < n] {
    out f32[m, n] = sum(a < k; )" +
                         left_load + " * " + right_load + R"()
  }
  result "0" %3
  result "1" %4
)",
                     matrix_sizes, 1e-4);
  }
}

TEST(Products, MatrixTimesVector) {
  check_everywhere(R"(graph "f"
  size k = axis 0 of 0 where k
  size n = axis 1 of 1 where n
  input "x" argument f32[k]
  input "w" weight f32[k, n]
  input "v" weight f32[n, k]
  %0 = input 0
  %1 = input 1
  %2 = input 2
  %3 = compute [j < n] {
    local $0 [] f32 = sum(a < k; %0[a] * %0[a])
    local $1 [c < n] f32 = sum(a < k; %0[a] * rsqrt($0[] + 1.0) * %1[a, c])
    out f32[n] = $1[j] / (1.0 + exp(neg($1[j])))
  }
  %4 = compute [j < n] {
    out f32[n] = sum(a < k; %0[a] * %2[j, a])
  }
  result "0" %3
  result "1" %4
)",
                   {{{"k", 5}, {"n", 4}},
                    {{"k", 1}, {"n", 1}},
                    {{"k", 0}, {"n", 4}},
                    {{"k", 288}, {"n", 97}},
                    {{"k", 771}, {"n", 513}}},
                   1e-4);
}

TEST(Products, BatchedAndGroupedProducts) {
  check_everywhere(R"(graph "f"
  size h = axis 0 of 0 where h
  size g = axis 1 of 0 where g
  size m = axis 2 of 0 where m
  size d = axis 3 of 0 where d
  size n = axis 1 of 1 where n
  input "q" argument f32[h, g, m, d]
  input "k" argument f32[h, n, d]
  %0 = input 0
  %1 = input 1
  %2 = compute [a < h, b < g, i < m, j < n] {
    out f32[h, g, m, n] = sum(e < d; %0[a, b, i, e] * %1[a, j, e])
  }
  %3 = compute [a < h, i < m, j < n] {
    out f32[h, m, n] = sum(b < g, e < d; %0[a, b, i, e] * %1[a, j, e])
  }
  result "0" %2
  result "1" %3
)",
                   {{{"h", 2}, {"g", 3}, {"m", 5}, {"d", 8}, {"n", 7}},
                    {{"h", 1}, {"g", 1}, {"m", 1}, {"d", 64}, {"n", 129}},
                    {{"h", 3}, {"g", 2}, {"m", 70}, {"d", 33}, {"n", 40}},
                    {{"h", 2}, {"g", 0}, {"m", 5}, {"d", 8}, {"n", 7}}},
                   1e-4);
}

TEST(Products, ColumnsThroughALocal) {  // heads are cut out of the columns of a projection
  check_everywhere(R"(graph "f"
  size m = axis 0 of 0 where m
  size d = axis 1 of 0 where d
  size h = parameter
  size k = parameter
  input "x" argument f32[m, d]
  input "w" weight f32[d, h * k]
  %0 = input 0
  %1 = input 1
  %2 = compute [a < h, i < m, e < k] {
    local $0 [i < m, c < h * k] f32 = sum(b < d; %0[i, b] * %1[b, c])
    out f32[h, m, k] = $0[i, a * k + e] * 2.0 + $0[i, a * k + (e / 2) * 2]
  }
  result "" %2
)",
                   {{{"m", 3}, {"d", 5}, {"h", 2}, {"k", 8}},
                    {{"m", 1}, {"d", 64}, {"h", 8}, {"k", 8}},
                    {{"m", 65}, {"d", 48}, {"h", 3}, {"k", 34}},
                    {{"m", 1}, {"d", 288}, {"h", 6}, {"k", 48}}},
                   1e-4);
}

TEST(Products, NarrowContractions) {
  for (const char* elem : {"bf16", "f16", "f64"}) {
    SCOPED_TRACE(elem);
    std::string text = R"(graph "f"
  size m = axis 0 of 0 where m
  size k = axis 1 of 0 where k
  size n = axis 1 of 1 where n
  input "x" argument EL[m, k]
  input "w" weight EL[k, n]
  input "y" argument EL[n, k]
  %0 = input 0
  %1 = input 1
  %2 = input 2
  %3 = compute [i < m, j < n] {
    out EL[m, n] = sum(a < k; %0[i, a] * %1[a, j])
  }
  %4 = compute [i < m, j < n] {
    out EL[m, n] = sum(a < k; %0[i, a] * %2[j, a])
  }
  result "0" %3
  result "1" %4
)";
    for (size_t at; (at = text.find("EL")) != std::string::npos;) text.replace(at, 2, elem);
    check_everywhere(text, matrix_sizes, 1e-2);
  }
}

/// The left operand lies depth after depth, in every type that kernels widen.
TEST(Products, ProductsOfATransposedLeft) {
  for (const std::string type : {"f32", "f64", "bf16"}) {
    std::string text = R"(graph "f"
  size k = axis 0 of 0 where k
  size m = axis 1 of 0 where m
  size n = axis 1 of 1 where n
  input "x" argument TYPE[k, m]
  input "y" argument TYPE[k, n]
  %0 = input 0
  %1 = input 1
  %2 = compute [i < m, j < n] {
    out TYPE[m, n] = sum(a < k; %0[a, i] * %1[a, j])
  }
  result "0" %2
)";
    for (size_t at; (at = text.find("TYPE")) != std::string::npos;) text.replace(at, 4, type);
    check_everywhere(text,
                     {{{"k", 7}, {"m", 3}, {"n", 5}},
                      {{"k", 300}, {"m", 65}, {"n", 33}},
                      {{"k", 1}, {"m", 1}, {"n", 1}},
                      {{"k", 17}, {"m", 129}, {"n", 2}},
                      {{"k", 0}, {"m", 3}, {"n", 3}}},
                     type == "bf16" ? 1e-2 : 2e-5);
  }
}

TEST(Products, Convolution) {
  check_everywhere(R"(graph "f"
  size c = axis 0 of 0 where c
  size n = axis 1 of 0 where n
  size o = axis 0 of 1 where o
  size k = axis 2 of 1 where k
  fact k <= n + 1
  input "x" argument f32[c, n]
  input "w" argument f32[o, c, k]
  %0 = input 0
  %1 = input 1
  %2 = compute [j < o, t < n - k + 1] {
    out f32[o, n - k + 1] = sum(a < c, s < k; %0[a, t + s] * %1[j, a, s])
  }
  result "" %2
)",
                   {{{"c", 3}, {"n", 20}, {"o", 5}, {"k", 3}},
                    {{"c", 1}, {"n", 1}, {"o", 1}, {"k", 1}},
                    {{"c", 8}, {"n", 300}, {"o", 33}, {"k", 5}}},
                   1e-4);
}

}  // namespace
}  // namespace axon::testing
