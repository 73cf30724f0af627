// Convolutions as graph text, run natively for sizes around the edges of blocks, against the interpreter:
// every level that this machine has, one worker and three.
#include "harness.h"

namespace axon::testing {
namespace {

struct Convolution {
  std::string elem = "f32", weight = "argument";
  int64_t window = 3, stride = 1, dilation = 1, padding = 1;
  bool is_temporary = false, is_by_channel = false;
};

std::string replaced(std::string text, const std::vector<std::pair<std::string, std::string>>& words) {
  for (const auto& [from, to] : words)
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  return text;
}

/// An axis of n has the positions 0, stride, .. below n.
std::string program(const Convolution& c) {
  const auto number = [](int64_t n) { return std::to_string(n); };
  const auto index = [&](const std::string& position, const std::string& step) {
    return number(c.stride) + "*" + position + " + " + number(c.dilation) + "*" + step + " - " +
           number(c.padding);
  };
  const std::string y = index("i", "r"), x = index("j", "s");
  return replaced(
      R"(graph "f"
  size a = axis 0 of 0 where a
  size c = axis 1 of 0 where c
  size h = axis 2 of 0 where h
  size w = axis 3 of 0 where w
  size o = axis 0 of 1 where o
  input "x" argument ELEM[a, c, h, w]
  input "f" WEIGHT ELEM[o, DEPTH, K, K]
  input "b" argument ELEM[o]
  %0 = input 0
  %1 = input 1
  %2 = input 2
  %3 = compute [n < a, l < c, i < h, j < w] {
    out ELEM[a, c, h, w] = %0[n, l, i, j] + %0[n, l, i, j]
  }
  %4 = compute [n < a, p < o, i < HIGH, j < WIDE] {
    local $0 [n_2 < a, p_2 < o, i_2 < HIGH, j_2 < WIDE] ELEM = SUM
    out ELEM[a, o, HIGH, WIDE] = max($0[n, p, i, j] + %2[p], -4.0)
  }
  result "0" %4
)",
      {{"SUM",
        replaced("sum(m < DEPTH, r < K, s < K; select(0 <= {Y} && {Y} < {h} && (0 <= {X} && {X} < {w}), "
                 "FROM[n_2, CHANNEL, max(min(h, Y + 1), 1) - 1, max(min(w, X + 1), 1) - 1], 0.0) * "
                 "%1[p_2, m, r, s])",
                 {{"Y", replaced(y, {{"i", "i_2"}})}, {"X", replaced(x, {{"j", "j_2"}})}})},
       {"FROM", c.is_temporary ? "%3" : "%0"},
       {"CHANNEL", c.is_by_channel ? "p_2 + m" : "m"},
       {"DEPTH", c.is_by_channel ? "1" : "c"},
       {"HIGH", "cdiv(h, " + number(c.stride) + ")"},
       {"WIDE", "cdiv(w, " + number(c.stride) + ")"},
       {"K", number(c.window)},
       {"WEIGHT", c.weight},
       {"0.0)", c.elem == "f32" ? "0.0)" : "0.0_" + c.elem + ")"},
       {"-4.0)", c.elem == "f32" ? "-4.0)" : "-4.0_" + c.elem + ")"},
       {"ELEM", c.elem}});
}

Sizes edges(bool is_by_channel) {
  Sizes out;
  for (const auto& [a, c, h, w, o] : std::vector<std::array<int64_t, 5>>{{1, 0, 3, 5, 2},
                                                                         {0, 2, 3, 5, 2},
                                                                         {1, 2, 0, 5, 2},
                                                                         {1, 2, 3, 0, 2},
                                                                         {1, 2, 3, 5, 0},
                                                                         {1, 1, 1, 1, 1},
                                                                         {2, 3, 5, 7, 6},
                                                                         {1, 5, 4, 8, 7},
                                                                         {1, 7, 6, 17, 13},
                                                                         {1, 31, 3, 33, 5},
                                                                         {2, 4, 5, 65, 66},
                                                                         {1, 97, 2, 24, 67}})
    out.push_back({{"a", a}, {"c", is_by_channel ? o : c}, {"h", h}, {"w", w}, {"o", o}});
  return out;
}

void check(const Convolution& c, double tolerance) {
  SCOPED_TRACE(program(c));
  check_program(program(c), edges(c.is_by_channel), every_level(), tolerance);
}

TEST(Windows, OfArgumentsAndWeights) {
  check({}, 5e-5);
  check({.weight = "weight"}, 5e-5);
  check({.is_temporary = true}, 5e-5);
}

TEST(Windows, OfStridesAndDilations) {
  check({.stride = 2}, 5e-5);
  check({.window = 5, .stride = 2, .padding = 0}, 5e-5);
  check({.window = 4, .stride = 3, .padding = 2}, 5e-5);
  check({.dilation = 2, .padding = 2}, 5e-5);
  check({.window = 2, .dilation = 3}, 5e-5);
  check({.stride = 2, .dilation = 2}, 5e-5);
  check({.stride = 3, .dilation = 2}, 5e-5);
}

/// Some are too wide for lines that windows share, or have a single column.
TEST(Windows, OfSizes) {
  check({.window = 1, .padding = 0}, 5e-5);
  check({.window = 1, .stride = 2, .padding = 0}, 5e-5);
  check({.window = 7, .padding = 3}, 5e-5);
  check({.window = 4, .dilation = 7, .padding = 9}, 5e-5);
}

TEST(Windows, OfOtherTypes) {
  check({.elem = "f64"}, 1e-12);
  check({.elem = "f64", .stride = 2}, 1e-12);
  check({.elem = "bf16"}, 5e-2);
  check({.elem = "f16", .stride = 2}, 5e-3);
}

TEST(Windows, OfEachChannel) {
  check({.is_by_channel = true}, 5e-5);
  check({.weight = "weight", .window = 5, .stride = 2, .padding = 2, .is_by_channel = true}, 5e-5);
}

/// Lines whose windows have any number of steps.
TEST(Windows, OfOpenSizes) {
  check_program(R"(graph "f"
  size c = axis 0 of 0 where c
  size n = axis 1 of 0 where n
  size o = axis 0 of 1 where o
  size k = axis 2 of 1 where k
  fact 1 <= k
  fact k <= n
  input "x" argument f32[c, n]
  input "f" argument f32[o, c, k]
  %0 = input 0
  %1 = input 1
  %2 = compute [p < o, t < n - k + 1] {
    out f32[o, n - k + 1] = sum(m < c, s < k; %0[m, t + s] * %1[p, m, s])
  }
  %3 = compute [p < o, t < (n - k) / 2 + 1] {
    out f32[o, (n - k) / 2 + 1] = sum(m < c, s < k; %0[m, 2*t + s] * %1[p, m, s])
  }
  %4 = compute [p < o, t < n] {
    out f32[o, n] = sum(m < c, s < k; select(0 <= {t + s - k / 2} && {t + s - k / 2} < {n}, %0[m, max(min(n, t + s - k / 2 + 1), 1) - 1], 0.0) * %1[p, m, s])
  }
  result "0" %2
  result "1" %3
  result "2" %4
)",
                {{{"c", 1}, {"n", 1}, {"o", 1}, {"k", 1}},
                 {{"c", 5}, {"n", 40}, {"o", 7}, {"k", 3}},
                 {{"c", 3}, {"n", 131}, {"o", 65}, {"k", 5}},
                 {{"c", 90}, {"n", 70}, {"o", 6}, {"k", 8}},
                 {{"c", 2}, {"n", 90}, {"o", 13}, {"k", 9}},
                 {{"c", 0}, {"n", 9}, {"o", 3}, {"k", 2}},
                 {{"c", 2}, {"n", 90}, {"o", 5}, {"k", 90}}},
                every_level(), 5e-5);
}

}  // namespace
}  // namespace axon::testing
