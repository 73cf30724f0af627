// Values of a block, natively against the interpreter: quotients, remainders, minima and maxima of indices,
// expressions that are too large for one map, and quotients of floats, bit by bit.
#include <bit>
#include <cmath>
#include <random>

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

/// What is no integer of the type is the nearest one, a NaN 0: in blocks, and in what is left of a row.
TEST(Integers, OfFloatsAreTheNearest) {
  std::string text =
      "graph \"f\"\n  size n = axis 0 of 0 where n\n  input \"x\" argument f32[n]\n  %0 = input 0\n";
  std::string results;
  int node = 1;
  for (const std::string elem : {"i8", "u8", "i16", "i32", "u32", "i64"})
    for (const std::string value :
         {"%0[i] * 300.0", "%0[i] * 5e9", "%0[i] * 1e30", "f32({i}) / 0.0", "neg(f32({i})) / 0.0"}) {
      text += "  %" + std::to_string(node) + " = compute [i < n] { out " + elem + "[n] = " + elem + "(" +
              value + ") }\n";
      results += "  result \"" + std::to_string(node) + "\" %" + std::to_string(node) + "\n";
      ++node;
    }
  Sizes sizes;
  for (const int64_t n : {0, 1, 7, 64, 131}) sizes.push_back({{"n", n}});
  check_program(text + results, sizes, every_level(), 0);
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

/// Significands and exponents of all kinds, signs, zeros, what is denormal, infinite or no number.
std::vector<float> dividends(uint32_t seed) {
  std::vector<float> out;
  for (const uint32_t bits :
       {0U, 1U, 0x7fffffU, 0x800000U, 0x7f7fffffU, 0x7f800000U, 0x7fc00000U, 0x3f800000U})
    for (const uint32_t sign : {0U, 0x80000000U}) out.push_back(std::bit_cast<float>(bits | sign));
  std::mt19937 random(seed);
  while (out.size() < 4096) {
    const uint32_t bits = random();
    const uint32_t usual = (bits & 0x807fffffU) | ((100 + (bits >> 8) % 56) << 23);
    out.push_back(std::bit_cast<float>(out.size() % 64 < 48 ? usual : bits));  // vectors of usual ones, too
  }
  return out;
}

/// Where a vector is divided by one number, too, each quotient is the one that IEEE 754 says.
TEST(Quotients, ByOneNumberAreRoundedOnce) {
  const char* const text = R"(graph "f"
  size n = axis 0 of 0 where n
  input "x" argument f32[n]
  input "y" argument f32[]
  %0 = input 0
  %1 = input 1
  %2 = compute [i < n] { out f32[n] = %0[i] / %1[] }
  %3 = compute [i < n] { out f32[n] = %0[i] / sqrt(%1[]) }
  result "a" %2
  result "b" %3
)";
  std::vector<float> divisors = dividends(7);
  divisors.resize(60);
  for (const float usual : {1.0F, 3.0F, 0.1F, 8.0F, 11.3137085F, 1e9F, 1e-9F, 16777215.0F})
    divisors.push_back(usual);
  for (const RunOptions& way : every_level()) {
    Native native(text, way);
    ASSERT_EQ(native.error(), "");
    for (size_t d = 0; d < divisors.size(); ++d) {
      const std::vector<float> x = dividends(static_cast<uint32_t>(d));
      const graph::Tensor all{base::Elem::f32, {static_cast<int64_t>(x.size())}, {x.begin(), x.end()}, {}};
      const NativeOutcome got = native.run({all, {base::Elem::f32, {}, {divisors[d]}, {}}});
      ASSERT_EQ(got.error, "");
      for (size_t i = 0; i < x.size(); ++i) {
        const float by[] = {divisors[d], std::sqrt(divisors[d])};
        for (int r = 0; r < 2; ++r) {
          const float want = x[i] / by[r], is = static_cast<float>(got.results[r].floats[i]);
          if (std::isnan(want) ? !std::isnan(is)
                               : std::bit_cast<uint32_t>(want) != std::bit_cast<uint32_t>(is))
            FAIL() << way.level << ": " << x[i] << " / " << by[r] << " is " << is << ", not " << want;
        }
      }
    }
  }
}

}  // namespace
}  // namespace axon::testing
