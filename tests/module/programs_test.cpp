// Small programs as graph text, run natively for sizes 0, 1, primes and tile edges, against the interpreter:
// every level that this machine has, by turns with one worker and with three.
// Products are in products_test.cpp, reductions that scatter in scatter_test.cpp.

#include "harness.h"

namespace axon::testing {
namespace {

// ---- pointwise ----

TEST(Programs, PointwiseOfTwoAxes) {
  check_everywhere(R"(graph "f"
  size n = axis 0 of 0 where n
  size m = axis 1 of 0 where m
  input "x" argument f32[n, m]
  input "y" argument f32[m]
  %0 = input 0
  %1 = input 1
  %2 = compute [i < n, j < m] {
    out f32[n, m] = exp(%0[i, j]) * %1[j] + 0.5
    out f32[m, n] at [j, i] = %0[i, j]
  }
  result "0" %2
  result "1" %2.1
)",
                   {{{"n", 3}, {"m", 5}},
                    {{"n", 0}, {"m", 5}},
                    {{"n", 1}, {"m", 1}},
                    {{"n", 7}, {"m", 1031}},
                    {{"n", 4099}, {"m", 1}}});
}

TEST(Programs, Functions) {
  check_everywhere(R"(graph "f"
  size n = axis 0 of 0 where n
  input "x" argument f32[n]
  %0 = input 0
  %1 = compute [i < n] {
    out f32[n] = sin(%0[i] * 30.0) + cos(%0[i]) * tanh(%0[i] * 2.0)
    out f32[n] = erf(%0[i]) + log(abs(%0[i]) + 0.001)
    out f32[n] = exp2(%0[i]) + sqrt(abs(%0[i])) + rsqrt(abs(%0[i]) + 1.0)
    out f32[n] = pow(abs(%0[i]) + 0.1, %0[i] * 3.0) + floor(%0[i] * 10.0)
    out f32[n] = (%0[i] * 10.0) % 0.7
    out f32[n] = max(%0[i], 0.25) - min(%0[i], log(%0[i]))
  }
  result "0" %1
  result "1" %1.1
  result "2" %1.2
  result "3" %1.3
  result "4" %1.4
  result "5" %1.5
)",
                   {{{"n", 1}}, {{"n", 97}}, {{"n", 1500}}});
}

TEST(Programs, FunctionsInDouble) {
  check_everywhere(R"(graph "f"
  size n = axis 0 of 0 where n
  input "x" argument f64[n]
  %0 = input 0
  %1 = compute [i < n] {
    out f64[n] = sin(%0[i] * 30.0_f64) + cos(%0[i]) * tanh(%0[i] * 2.0_f64)
    out f64[n] = erf(%0[i]) + log(abs(%0[i]) + 0.001_f64)
    out f64[n] = exp2(%0[i]) + exp(%0[i]) + pow(abs(%0[i]) + 0.1_f64, %0[i])
  }
  result "0" %1
  result "1" %1.1
  result "2" %1.2
)",
                   {{{"n", 97}}}, 1e-13);
}

TEST(Programs, Integers) {
  for (const char* elem : {"i64", "i32", "i16", "i8", "u8", "u32"}) {
    SCOPED_TRACE(elem);
    std::string text = R"(graph "f"
  size n = axis 0 of 0 where n
  input "x" argument E[n]
  input "y" argument E[n]
  %0 = input 0
  %1 = input 1
  %2 = compute [i < n] {
    out E[n] = (%0[i] - %1[i]) / (%1[i] + 1_E)
    out E[n] = (%1[i] - %0[i]) % (%0[i] + 1_E)
    out E[n] = abs(%0[i] - %1[i]) * 7_E
    out bool[n] = %0[i] - %1[i] < %1[i] && %0[i] != %1[i]
    out f32[n] = f32(%0[i] - %1[i])
    out E[n] = E(f32(%0[i]) * 3.5 - 100.0)
  }
  %3 = compute [] {
    out E[] = sum(i < n; %0[i])
    out E[] = max(i < n; %0[i] * %1[i])
    out bool[] = all(i < n; %0[i] < 99_E)
    out i64[] = argmax(i < n; %0[i])
  }
  result "0" %2
  result "1" %2.1
  result "2" %2.2
  result "3" %2.3
  result "4" %2.4
  result "5" %2.5
  result "6" %3
  result "7" %3.1
  result "8" %3.2
  result "9" %3.3
)";
    for (size_t at; (at = text.find('E')) != std::string::npos;) text.replace(at, 1, elem);
    check_everywhere(text, {{{"n", 1}}, {{"n", 259}}});
  }
}

TEST(Programs, NarrowFloats) {
  for (const char* elem : {"f16", "bf16", "f8e4m3", "f8e5m2"}) {
    SCOPED_TRACE(elem);
    std::string text = R"(graph "f"
  size n = axis 0 of 0 where n
  input "x" argument EL[n]
  %0 = input 0
  %1 = compute [i < n] {
    out EL[n] = neg(%0[i])
    out f32[n] = f32(%0[i]) * 3.0
    out EL[n] = EL(f32(%0[i]) * 1.7)
  }
  %2 = compute [] {
    out f32[] = sum(i < n; f32(%0[i]))
  }
  result "0" %1
  result "1" %1.1
  result "2" %1.2
  result "3" %2
)";
    for (size_t at; (at = text.find("EL")) != std::string::npos;) text.replace(at, 2, elem);
    check_everywhere(text, {{{"n", 1}}, {{"n", 1000}}});
  }
}

TEST(Programs, SelectReadsOnlyWhatItTakes) {
  check_everywhere(
      R"(graph "f"
  size n = axis 0 of 0 where n
  size m = axis 0 of 1 where m
  input "x" argument f32[n]
  input "y" argument f32[m]
  %0 = input 0
  %1 = input 1
  %2 = compute [i < n + m] {
    out f32[n + m] = select({i} < {n}, %0[i], %1[i - n])
  }
  %3 = compute [i < n] {
    out f32[n] = select({i} < 1, 9.0, %0[i - 1])
    out bool[n] = {1} <= {i} && %0[i - 1] < %0[i]
  }
  result "0" %2
  result "1" %3
  result "2" %3.1
)",
      {{{"n", 1}, {"m", 1}}, {{"n", 0}, {"m", 5}}, {{"n", 130}, {"m", 0}}, {{"n", 1500}, {"m", 33}}});
}

TEST(Programs, DivisionAndRemainderOfIndices) {
  check_everywhere(
      R"(graph "f"
  size n = axis 0 of 0 where n
  size m = axis 1 of 0 where m
  input "x" argument f32[n, m]
  %0 = input 0
  %1 = compute [i < n * m] {
    out f32[n * m] = %0[i / m, i % m]
  }
  %2 = compute [a < m, b < n] {
    out f32[m, n] = %1[(a * n + b) % (n * m)] + f32({a / 2}) + f32({b % 3})
  }
  result "0" %1
  result "1" %2
)",
      {{{"n", 3}, {"m", 5}}, {{"n", 0}, {"m", 5}}, {{"n", 65}, {"m", 97}}, {{"n", 1}, {"m", 4097}}});
}

TEST(Programs, Gather) {
  check_everywhere(
      R"(graph "f"
  size n = axis 0 of 0 where n
  size m = axis 1 of 0 where m
  size t = axis 0 of 1 where t
  input "x" argument f32[n, m]
  input "ids" argument i32[t]
  %0 = input 0
  %1 = input 1
  %2 = compute [i < t, j < m] {
    out f32[t, m] = %0[{bounded(i64(%1[i]), n, 0)}, j] * 2.0
  }
  check %1 < n : "ids index axis 0 of x"
  result "" %2
)",
      {{{"n", 3}, {"m", 5}, {"t", 7}}, {{"n", 65}, {"m", 97}, {"t", 0}}, {{"n", 10}, {"m", 300}, {"t", 33}}});
}

// ---- reductions ----

TEST(Programs, RowAndColumnReductions) {
  check_everywhere(R"(graph "f"
  size n = axis 0 of 0 where n
  size m = axis 1 of 0 where m
  input "x" argument f32[n, m]
  %0 = input 0
  %1 = compute [i < n] {
    out f32[n] = sum(j < m; %0[i, j])
    out f32[n] = min(j < m; %0[i, j])
  }
  %2 = compute [j < m] {
    out f32[m] = max(i < n; %0[i, j])
    out f32[m] = sum(i < n; %0[i, j] * %0[i, j])
  }
  %3 = compute [] {
    out f32[] = sum(i < n, j < m; %0[i, j])
    out bool[] = any(i < n, j < m; 0.999 < %0[i, j])
  }
  result "0" %1
  result "1" %1.1
  result "2" %2
  result "3" %2.1
  result "4" %3
  result "5" %3.1
)",
                   {{{"n", 3}, {"m", 5}},
                    {{"n", 0}, {"m", 5}},
                    {{"n", 5}, {"m", 0}},
                    {{"n", 17}, {"m", 1031}},
                    {{"n", 33}, {"m", 16}}},
                   1e-4);
}

TEST(Programs, LayerNormInOneNode) {
  check_everywhere(R"(graph "f"
  size n = axis 0 of 0 where n
  size m = axis 1 of 0 where m
  input "x" argument f32[n, m]
  input "w" weight f32[m]
  %0 = input 0
  %1 = input 1
  %2 = compute [i < n, j < m] {
    local $0 "mean" [a < n] f32 = sum(k < m; %0[a, k])
    local $1 "square" [a < n] f32 = sum(k < m; (%0[a, k] - $0[a] / f32({m})) * (%0[a, k] - $0[a] / f32({m})))
    out f32[n, m] = (%0[i, j] - $0[i] / f32({m})) * rsqrt($1[i] / f32({m}) + 0.00001) * %1[j]
  }
  result "" %2
)",
                   {{{"n", 3}, {"m", 5}}, {{"n", 1}, {"m", 768}}, {{"n", 33}, {"m", 1027}}}, 1e-4);
}

/// Short rows: below a vector, one more and one less than its multiples, tile edges.
TEST(Programs, ColumnSumsOfEveryLength) {
  for (const std::string type : {"f32", "f64", "bf16", "f16", "i8", "i64", "u8"}) {
    std::string text = R"(graph "f"
  size n = axis 0 of 0 where n
  size m = axis 1 of 0 where m
  input "x" argument TYPE[n, m]
  %0 = input 0
  %1 = compute [j < m] {
    out TYPE[m] = sum(i < n; %0[i, j])
    out TYPE[m] = max(i < n; %0[i, j])
  }
  result "0" %1
  result "1" %1.1
)";
    for (size_t at; (at = text.find("TYPE")) != std::string::npos;) text.replace(at, 4, type);
    Sizes sizes;
    for (const int64_t m : {0, 1, 3, 7, 8, 9, 16, 17, 31, 33, 127, 128, 129, 263})
      sizes.push_back({{"n", 5}, {"m", m}});
    for (const int64_t n : {0, 1, 8, 15, 16, 17}) sizes.push_back({{"n", n}, {"m", 130}});
    check_everywhere(text, sizes, type == "bf16" || type == "f16" ? 1e-2 : 2e-5);
  }
}

TEST(Programs, ArgmaxOfBlocks) {
  check_everywhere(R"(graph "f"
  size n = axis 0 of 0 where n
  size m = axis 1 of 0 where m
  input "x" argument f32[n, m]
  input "k" argument i32[n, m]
  %0 = input 0
  %1 = input 1
  %2 = compute [i < n] {
    out i64[n] = argmax(j < m; %0[i, j])
    out i64[n] = argmax(j < m; %1[i, j])
    out i64[n] = argmax(j < m; floor(%0[i, j] * 3.0))
    out i64[n] = argmax(j < m; select(%0[i, j] < 0.99, %0[i, j], log(%0[i, j] - 2.0)))
    out i64[n] = argmax(j < m; log(%0[i, j] * 0.0))
    out i64[n] = argmax(j < m; 100_i32 - %1[i, j])
  }
  result "0" %2
  result "1" %2.1
  result "2" %2.2
  result "3" %2.3
  result "4" %2.4
  result "5" %2.5
)",
                   {{{"n", 3}, {"m", 1}},
                    {{"n", 2}, {"m", 7}},
                    {{"n", 3}, {"m", 511}},
                    {{"n", 3}, {"m", 512}},
                    {{"n", 5}, {"m", 513}},
                    {{"n", 2}, {"m", 2053}}});
}

/// Conditions that hold for a run of a loop: steps of either sign, none of the run, all of it.
TEST(Programs, ReadsBeyondTheEdges) {
  check_everywhere(R"(graph "f"
  size n = axis 0 of 0 where n
  size m = axis 1 of 0 where m
  input "x" argument f32[n, m]
  %0 = input 0
  %1 = compute [i < n, j < m] {
    out f32[n, m] = select(0 <= {j - 1} && {j - 1} < {m}, %0[i, max(min(j, m), 1) - 1], 0.5) + %0[i, j]
    out f32[n, m] = select(3 <= {j + i}, %0[i, j], select({2*j} < {m}, %0[i, min(2*j, m - 1)], -1.0))
    out f32[n, m] = select(0 <= {m - 3*j} && {m - 3*j} < {m}, %0[i, max(min(m - 3*j, m - 1), 0)], 2.0)
    out f32[n, m] = select({i} < 2 && {j + 40} < {m}, %0[i, min(j + 40, m - 1)], %0[i, j] * 2.0)
  }
  %2 = compute [i < n] {
    out f32[n] = sum(j < m; select(2 <= {j} && {j + 2} < {m}, %0[i, j] * %0[i, max(j, 2) - 2], 0.25))
    out f32[n] = max(j < m; select({j + i} < {m}, %0[i, min(j + i, m - 1)], -3.0))
  }
  result "0" %1
  result "1" %1.1
  result "2" %1.2
  result "3" %1.3
  result "4" %2
  result "5" %2.1
)",
                   {{{"n", 3}, {"m", 1}},
                    {{"n", 5}, {"m", 2}},
                    {{"n", 3}, {"m", 17}},
                    {{"n", 4}, {"m", 41}},
                    {{"n", 3}, {"m", 67}},
                    {{"n", 2}, {"m", 1100}},
                    {{"n", 0}, {"m", 4}}});
}

/// The left operand is staged row after row, for several rows of the image.
TEST(Programs, WindowsOfShortRows) {
  check_everywhere(R"(graph "f"
  size c = axis 0 of 0 where c
  size h = axis 1 of 0 where h
  size w = axis 2 of 0 where w
  size o = axis 0 of 1 where o
  size r = axis 2 of 1 where r
  input "x" argument f32[c, h, w]
  input "p" argument f32[o, c, r, r]
  %0 = input 0
  %1 = input 1
  %2 = compute [q < o, i < h, j < w] {
    out f32[o, h, w] = sum(m < c, a < r, b < r; select(0 <= {i + a - 1} && {i + a - 1} < {h} && (0 <= {j + b - 1} && {j + b - 1} < {w}), %0[m, max(min(h, i + a), 1) - 1, max(min(w, j + b), 1) - 1], 0.0) * %1[q, m, a, b])
  }
  %3 = compute [q < o, i < cdiv(h, 2), j < cdiv(w, 2)] {
    out f32[o, cdiv(h, 2), cdiv(w, 2)] = sum(m < c, a < r, b < r; select({2*i + a} < {h} && {2*j + b} < {w}, %0[m, min(2*i + a, h - 1), min(2*j + b, w - 1)], 0.0) * %1[q, m, a, b])
  }
  result "0" %2
  result "1" %3
)",
                   {{{"c", 3}, {"h", 5}, {"w", 5}, {"o", 4}, {"r", 3}},
                    {{"c", 1}, {"h", 1}, {"w", 1}, {"o", 1}, {"r", 1}},
                    {{"c", 2}, {"h", 9}, {"w", 67}, {"o", 33}, {"r", 3}},
                    {{"c", 33}, {"h", 7}, {"w", 2}, {"o", 70}, {"r", 5}},
                    {{"c", 0}, {"h", 3}, {"w", 4}, {"o", 2}, {"r", 2}},
                    {{"c", 2}, {"h", 3}, {"w", 0}, {"o", 2}, {"r", 2}}});
}

TEST(Programs, TransposesOfEveryEdge) {
  check_everywhere(R"(graph "f"
  size n = axis 0 of 0 where n
  size m = axis 1 of 0 where m
  size b = axis 2 of 0 where b
  input "x" argument f32[n, m, b]
  %0 = input 0
  %1 = compute [q < b, j < m, i < n] {
    out f32[b, m, n] = %0[i, j, q] * 2.0
  }
  result "0" %1
)",
                   {{{"n", 3}, {"m", 5}, {"b", 7}},
                    {{"n", 17}, {"m", 1}, {"b", 257}},
                    {{"n", 16}, {"m", 2}, {"b", 256}},
                    {{"n", 0}, {"m", 2}, {"b", 3}}});
}

// ---- online reductions ----

TEST(Programs, Softmax) {
  check_everywhere(R"(graph "f"
  size n = axis 0 of 0 where n
  size m = axis 1 of 0 where m
  input "x" argument f32[n, m]
  %0 = input 0
  %1 = compute [i < n] {
    out f32[n] = proj(0, (t0 := online(k < m; e, 1.0; %0[i, k] * 10.0, %0[i, k]))) + log(proj(1, t0))
    out f32[n] = proj(2, (t1 := online(k < m; e, 1.0; %0[i, k] * 10.0, %0[i, k]))) / proj(1, t1)
  }
  %2 = compute [i < n] {
    out f32[n] = proj(1, online(k < m; 2, 0.5; select({k} < {i}, %0[i, k], -inf)))
  }
  result "0" %1
  result "1" %1.1
  result "2" %2
)",
                   {{{"n", 3}, {"m", 5}},
                    {{"n", 1}, {"m", 1}},
                    {{"n", 3}, {"m", 0}},
                    {{"n", 5}, {"m", 513}},
                    {{"n", 40}, {"m", 1300}}},
                   1e-4);
}

TEST(Programs, Attention) {
  check_everywhere(attention,
                   {{{"h", 2}, {"g", 3}, {"m", 5}, {"d", 8}, {"n", 7}, {"e", 6}},
                    {{"h", 1}, {"g", 1}, {"m", 1}, {"d", 64}, {"n", 1}, {"e", 64}},
                    {{"h", 2}, {"g", 2}, {"m", 1}, {"d", 48}, {"n", 1100}, {"e", 48}},
                    {{"h", 1}, {"g", 2}, {"m", 70}, {"d", 16}, {"n", 600}, {"e", 33}},
                    {{"h", 1}, {"g", 1}, {"m", 4}, {"d", 8}, {"n", 2}, {"e", 8}},  // rows with nothing to see
                    {{"h", 1}, {"g", 0}, {"m", 4}, {"d", 8}, {"n", 2}, {"e", 8}}},
                   1e-4);
}

// ---- loops and updates ----

TEST(Programs, LoopWithStackedWeights) {
  check_everywhere(R"(graph "f"
  size l = axis 0 of 1 where l
  size d = axis 0 of 0 where d
  input "x" argument f32[d]
  input "w" weight f32[l, d, d]
  %0 = input 0
  %1 = input 1
  %2 = loop "layers" [t < l] (f32[d] = %0) {
    %3 = param
    %4 = compute [j < d] {
      local $0 [c < d] f32 = sum(a < d; %3[a] * %1[t, a, c])
      out f32[d] = tanh($0[j]) + %3[j]
    }
    yield (%4)
  }
  result "" %2
)",
                   {{{"l", 0}, {"d", 5}}, {{"l", 1}, {"d", 97}}, {{"l", 4}, {"d", 130}}}, 1e-4);
}

TEST(Programs, StateUpdatedInPlace) {
  check_everywhere(R"(graph "f"
  size n = axis 0 of 0 where n
  size d = axis 1 of 0 where d
  size p = scalar 2
  fact p < n
  input "s" state f32[n, d]
  input "x" argument f32[d]
  input "p" scalar i64[] 
  %0 = input 0
  %1 = input 1
  %2 = compute [j < d] {
    out f32[n, d] of %0 at [p, j] = %1[j] * 2.0
  }
  %3 = compute [i < n] {
    out f32[n] = sum(j < d; %2[i, j])
  }
  result "s" %2
  result "t" %3
)",
                   {{{"n", 5}, {"d", 3}, {"p", 2}}, {{"n", 1}, {"d", 100}, {"p", 0}}});
}

}  // namespace
}  // namespace axon::testing
