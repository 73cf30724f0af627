// The proof that the stores of a task are its box, each element once: backwards, in blocks of which the last
// has fewer rows, in loops without iterations.
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
bool is_covered(const std::string& index, const std::string& box) {
  for (const Obligation& o : verify(program_of(reversed(index, box))))
    if (o.what.find("each element once") != std::string::npos) return o.proved;
  ADD_FAILURE() << "no obligation";
  return false;
}

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
  for (const Obligation& o : verify(program_of(text)))
    if (o.what.find("each element once") != std::string::npos) return o.proved;
  ADD_FAILURE() << "no obligation";
  return false;
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

}  // namespace
}  // namespace axon::tile
