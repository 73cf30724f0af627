// Stores that go through their box backwards: the proof that each element is stored once.
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

}  // namespace
}  // namespace axon::tile
