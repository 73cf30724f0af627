// Values of a block, natively against the interpreter: quotients, remainders, minima and maxima of indices,
// and expressions that are too large for one map.
#include "harness.h"

namespace axon::testing {
namespace {

std::string program() {
  const char* const values[] = {
      "{i / 2}",         "{i % 3}",           "{(i - 10) / 3}",      "{(5 - i) % 4}", "{i / 3 % 5}",
      "{(2*i + 1) / 5}", "{min(i, 5)}",       "{max(i - 3, 0) / 2}", "{(n - i) / 7}", "{i / 1000}",
      "{i * 3 % 7}",     "{i - 4 * (i / 4)}", "{(i % 6) / 2 + i}",   "{i % (n + 1)}", "{(n * i) / 2}",
  };
  std::string text =
      "graph \"f\"\n"
      "  size m = axis 0 of 0 where m\n"
      "  size n = axis 1 of 0 where n\n"
      "  input \"x\" argument i64[m, n]\n"
      "  %0 = input 0\n";
  std::string results;
  int node = 1;
  const auto add = [&](const std::string& body) {
    text += "  %" + std::to_string(node) + " = compute " + body + "\n";
    results += "  result \"" + std::to_string(node) + "\" %" + std::to_string(node) + "\n";
    ++node;
  };
  add("[i < n] { out f16[n] = f16({i}) }");
  add("[j < m, i < n] { out bf16[m, n] = bf16(%0[j, i] * 1234567890123_i64) }");
  add("[j < m, i < n] { out f16[m, n] = f16(i32(%0[j, i]) * 1001_i32) }");
  for (const std::string value : values) {
    add("[i < n] { out i64[n] = " + value + " }");
    add("[i < n] { out i32[n] = i32(" + value + ") }");
    add("[i < n] { out f32[n] = f32(" + value + ") }");
    add("[i < n] { out bf16[n] = bf16(" + value + ") }");
    add("[j < m] { out i64[m] = sum(i < n; %0[j, i] * " + value + ") }");
    add("[j < m, i < n] { out i64[m, n] = select(" + value + " < {j}, %0[j, i], 7_i64) }");
  }
  return text + results;
}

TEST(Indices, AreValues) {
  Sizes sizes;
  for (const auto& [m, n] : std::vector<std::pair<int64_t, int64_t>>{
           {0, 3}, {3, 0}, {1, 1}, {2, 7}, {5, 16}, {3, 33}, {7, 64}, {4, 131}, {2, 1031}})
    sizes.push_back({{"m", m}, {"n", n}});
  check_program(program(), sizes, every_level(), 0);
}

/// A tree of products and sums.
std::string tree(int depth, int64_t seed) {
  if (depth == 0) return seed % 3 == 0 ? "%1[i]" : "%0[i]";
  const std::string left = tree(depth - 1, 2 * seed), right = tree(depth - 1, 2 * seed + 1);
  return "(" + left + " * 0.5 " + (seed % 2 == 0 ? "+ " : "- ") + right + ")";
}

TEST(Expressions, AreAsLargeAsTheyAre) {
  const std::string large = tree(8, 1), half = tree(7, 1);
  const std::string text =
      "graph \"f\"\n"
      "  size n = axis 0 of 0 where n\n"
      "  input \"x\" argument f32[n]\n"
      "  input \"y\" argument f32[n]\n"
      "  %0 = input 0\n"
      "  %1 = input 1\n"
      "  %2 = compute [i < n] { out f32[n] = " +
      large +
      " }\n"
      "  %3 = compute [i < n] { out f32[n] = select(%0[i] < %1[i], " +
      half + ", exp(" + half +
      ")) }\n"
      "  %4 = compute [] { out f32[] = max(i < n; " +
      large +
      ") }\n"
      "  result \"2\" %2\n"
      "  result \"3\" %3\n"
      "  result \"4\" %4\n";
  check_program(text, {{{"n", 0}}, {{"n", 1}}, {{"n", 7}}, {{"n", 64}}, {{"n", 131}}}, every_level(), 1e-5);
}

}  // namespace
}  // namespace axon::testing
