// The proof that the stores of a task are its box, each element once: backwards, in blocks of which the last
// has fewer rows, in loops without iterations, along merged axes whose lengths are sizes.
#include <algorithm>

#include "support.h"

namespace axon::tile {
namespace {

/// y[n - 1 - x] for a row of x, in blocks of 8 inside of tasks of 64.
std::string reversed(const std::string& index, const std::string& box) {
  return "tiles reversed on x86-64-v3\n"
         "sizes n\n"
         "facts 0 <= n\n"
         "layout vector = S[8:1@v]\n"
         "grid i < max(cdiv(n, 64), 1)\n"
         "tensor x f32[n] align 4 reads [64*i : min(n, 64*i + 64)] at S[n:1]\n"
         "tensor y f32[n] align 4 writes [" +
         box +
         "] at S[n:1]\n"
         "registers t f32[8] as vector\n"
         "do\n"
         "  for b < cdiv(min(n - 64*i, 64), 8)\n"
         "    copy t[r] = x[64*i + 8*b + r] if 64*i + 8*b + r < n\n"
         "    copy t[r] to y[" +
         index + "] if 64*i + 8*b + r < n\n";
}
bool covers(const std::string& text) {
  for (const Obligation& o : verify(program_of(text)))
    if (o.what.find("each element once") != std::string::npos) return o.proved;
  ADD_FAILURE() << "no obligation";
  return false;
}
bool is_covered(const std::string& index, const std::string& box) { return covers(reversed(index, box)); }

TEST(Cover, BackwardsAsForwards) {
  for (const Obligation& o :
       verify(program_of(reversed("n - 1 - 64*i - 8*b - r", "max(n - 64*i, 64) - 64 : n - 64*i"))))
    EXPECT_TRUE(o.proved) << o.what;
  EXPECT_TRUE(is_covered("64*i + 8*b + r", "64*i : min(n, 64*i + 64)"));
}

TEST(Cover, NotPastTheBox) {
  EXPECT_FALSE(is_covered("n - 1 - 64*i - 8*b - r", "max(n - 64*i, 65) - 65 : n - 64*i"));
  EXPECT_FALSE(is_covered("n - 1 - 64*i - 8*b - r", "max(n - 64*i, 64) - 64 : n - 64*i + 1"));
  EXPECT_FALSE(is_covered("n - 1 - 64*i - 7*b - r", "max(n - 64*i, 64) - 64 : n - 64*i"));
  EXPECT_FALSE(is_covered("64*i + 8*b + r", "max(n - 64*i, 64) - 64 : n - 64*i"));
}

/// Digits of both signs, though these meet each element of a full task once.
TEST(Cover, NotInBothDirections) {
  EXPECT_FALSE(is_covered("64*i + 8*b + 7 - r", "64*i : min(n, 64*i + 64)"));
  EXPECT_FALSE(is_covered("64*i + 56 - 8*b + r", "64*i : min(n, 64*i + 64)"));
}

/// Rows of a task in blocks of 8, the last of which has what is left; `loops` are over g and h.
bool are_covered(const std::string& blocks, const std::string& rows) {
  const std::string text =
      "tiles ragged on x86-64-v3\n"
      "sizes m, n\n"
      "facts 0 <= m and 0 <= n\n"
      "layout vector = S[8:1@v]\n"
      "grid i < max(cdiv(m, 64), 1)\n"
      "tensor x f32[m, 8] align 4 reads [64*i : min(m, 64*i + 64), 0 : 8] at S[(m,8):(8,1)]\n"
      "tensor y f32[m, 8] align 4 writes [64*i : min(m, 64*i + 64), 0 : 8] at S[(m,8):(8,1)]\n"
      "registers t f32[8] as vector\n"
      "do\n"
      "  for g < " +
      blocks +
      "\n"
      "    for h < " +
      rows +
      "\n"
      "      copy t[c] = x[64*i + 8*g + h, c] if 64*i + 8*g + h < m\n"
      "      copy t[c] to y[64*i + 8*g + h, c] if 64*i + 8*g + h < m\n";
  return covers(text);
}

TEST(Cover, TheLastBlockMayHaveFewerRows) {
  EXPECT_TRUE(are_covered("cdiv(min(m - 64*i, 64), 8)", "min(m - 64*i - 8*g, 8)"));
  EXPECT_TRUE(are_covered("8", "8"));
  EXPECT_FALSE(are_covered("cdiv(min(m - 64*i, 64), 8)", "min(m - 64*i - 8*g, 7)"));
  EXPECT_FALSE(are_covered("cdiv(min(m - 64*i, 64), 8)", "min(m - 64*i - 8*g, 9)"));
  EXPECT_FALSE(are_covered("cdiv(min(m - 64*i, 64), 8)", "min(m - 64*i - 8*g - 1, 8)"));
  EXPECT_FALSE(are_covered("min(m - 64*i, 64) / 8", "min(m - 64*i - 8*g, 8)"));
}

/// What holds inside of a loop says nothing where it has no iterations.
TEST(Cover, LoopsWithoutIterationsStoreNothing) {
  EXPECT_FALSE(are_covered("0", "8"));
  EXPECT_FALSE(are_covered("min(cdiv(m, 8), 0)", "8"));
  EXPECT_FALSE(are_covered("8", "min(m - 64*i - 8*g, 0)"));
}

/// All of y[h*d] from x[h, d], in tasks of 4 rows; a row in blocks of 8.
struct Merged {
  std::string index = "4*d*i + d*j + 8*b + e", bound = "8*b + e < d", rows = "min(h - 4*i, 4)",
              blocks = "cdiv(d, 8)", box = "4*d*i : min(h*d, 4*d*i + 4*d)";
};
std::string merged(const Merged& m) {
  return "tiles merged on x86-64-v3\n"
         "sizes h, d\n"
         "facts 0 <= h and 0 <= d\n"
         "layout vector = S[8:1@v]\n"
         "grid i < max(cdiv(h, 4), 1)\n"
         "tensor x f32[h, d] align 4 reads [4*i : min(h, 4*i + 4), 0 : d] at S[(h,d):(d,1)]\n"
         "tensor y f32[h*d] align 4 writes [" +
         m.box +
         "] at S[h*d:1]\n"
         "registers t f32[8] as vector\n"
         "do\n"
         "  for j < " +
         m.rows +
         "\n"
         "    for b < " +
         m.blocks +
         "\n"
         "      copy t[e] = x[4*i + j, 8*b + e] if 8*b + e < d and 4*i + j < h fill 0\n"
         "      copy t[e] to y[" +
         m.index + "] if " + m.bound + "\n";
}
bool is_proved(const std::string& text) {
  const auto all = verify(program_of(text));
  return std::all_of(all.begin(), all.end(), [](const Obligation& o) { return o.proved; });
}
bool is_merged(const Merged& m) { return is_proved(merged(m)); }

TEST(Cover, RowsWhoseLengthIsASize) {
  for (const Obligation& o : verify(program_of(merged({})))) EXPECT_TRUE(o.proved) << o.what;
  EXPECT_TRUE(is_merged({.bound = "8*b + e < d and 4*i + j < h", .rows = "4"}));
  EXPECT_TRUE(is_merged({.blocks = "cdiv(d, 8) + 1"}));
}

TEST(Cover, NoOtherRadix) {
  EXPECT_FALSE(is_merged({.index = "4*d*i + (d - 1)*j + 8*b + e"}));  // an element twice
  EXPECT_FALSE(is_merged({.index = "4*d*i + (d + 1)*j + 8*b + e"}));  // gaps
  EXPECT_FALSE(is_merged({.index = "4*d*i + h*j + 8*b + e"}));
  EXPECT_FALSE(is_merged({.index = "4*d*i + d*j + 7*b + e"}));
  EXPECT_FALSE(is_merged({.index = "4*d*i + d*j + 9*b + e"}));
  EXPECT_FALSE(is_merged({.index = "4*d*i + d*j + 8*b + 2*e"}));
  EXPECT_FALSE(is_merged({.index = "3*d*i + d*j + 8*b + e"}));
  EXPECT_FALSE(is_merged({.index = "4*d*i + d*j - 8*b - e + d - 1"}));  // digits of both signs
}

TEST(Cover, NoOtherRangeOfDigits) {
  EXPECT_FALSE(is_merged({.bound = "8*b + e < d + 1"}));
  EXPECT_FALSE(is_merged({.bound = "8*b + e < d - 1"}));
  EXPECT_FALSE(is_merged({.bound = "8*b + e < h"}));
  EXPECT_FALSE(is_merged({.bound = "e < d"}));
  EXPECT_FALSE(is_merged({.blocks = "d / 8"}));
  EXPECT_FALSE(is_merged({.rows = "min(h - 4*i, 3)"}));
  EXPECT_FALSE(is_merged({.rows = "min(h - 4*i, 5)"}));
  EXPECT_FALSE(is_merged({.rows = "min(h - 4*i - 1, 4)"}));
  EXPECT_FALSE(is_merged({.box = "4*d*i : min(h*d, 4*d*i + 5*d)"}));
  EXPECT_FALSE(is_merged({.box = "4*d*i : h*d"}));
}

/// y[a*b*c] from nothing: three sizes, the first one cut into tasks.
bool are_merged(const std::string& index, const std::string& first = "min(a - 2*i, 2)",
                const std::string& second = "b") {
  return is_proved(
      "tiles merged on x86-64-v3\n"
      "sizes a, b, c\n"
      "facts 0 <= a and 0 <= b and 0 <= c\n"
      "layout vector = S[8:1@v]\n"
      "grid i < max(cdiv(a, 2), 1)\n"
      "tensor y f32[2*a*b*c] align 4 writes [4*b*c*i : min(2*a*b*c, 4*b*c*i + 4*b*c)] at S[2*a*b*c:1]\n"
      "registers t f32[8] as vector\n"
      "do\n"
      "  for j < " +
      first +
      "\n"
      "    for k < " +
      second +
      "\n"
      "      for l < 2\n"
      "        for m < cdiv(c, 8)\n"
      "          map t[e] = f32(0)\n"
      "          copy t[e] to y[4*b*c*i + " +
      index + "] if 8*m + e < c\n");
}

TEST(Cover, ThreeSizesAndANumber) {
  EXPECT_TRUE(are_merged("2*b*c*j + 2*c*k + c*l + 8*m + e"));
  EXPECT_TRUE(are_merged("2*b*c*j + b*c*l + c*k + 8*m + e"));
  EXPECT_FALSE(are_merged("2*b*c*j + 2*b*k + c*l + 8*m + e"));
  EXPECT_FALSE(are_merged("2*b*c*j + 2*c*k + b*l + 8*m + e"));
  EXPECT_FALSE(are_merged("2*b*c*j + c*k + c*l + 8*m + e"));
  EXPECT_FALSE(are_merged("b*c*j + 2*c*k + c*l + 8*m + e"));
  EXPECT_FALSE(are_merged("2*b*c*j + 2*c*k + c*l + 8*m + e", "min(a - 2*i, 2)", "b - 1"));
  EXPECT_FALSE(are_merged("2*b*c*j + 2*c*k + c*l + 8*m + e", "min(a - 2*i, 2)", "b + 1"));
  EXPECT_FALSE(are_merged("2*b*c*j + 2*c*k + c*l + 8*m + e", "min(a - 2*i, 2)", "2"));
}

/// Backwards, and what no index mentions.
TEST(Cover, MergedRowsBackwards) {
  EXPECT_TRUE(is_merged(
      {.index = "h*d - 1 - 4*d*i - d*j - 8*b - e", .box = "max(h*d - 4*d*i - 4*d, 0) : h*d - 4*d*i"}));
  EXPECT_FALSE(
      is_merged({.index = "h*d - 4*d*i - d*j - 8*b - e", .box = "max(h*d - 4*d*i - 4*d, 0) : h*d - 4*d*i"}));
  EXPECT_FALSE(is_merged({.index = "4*d*i + 8*b + e"}));
}

}  // namespace
}  // namespace axon::tile
