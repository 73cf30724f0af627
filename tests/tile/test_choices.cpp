// What a choice does not take need not be an element: proved where the condition says so of indices.
#include <gtest/gtest.h>

#include <string>

#include "tile/tile.h"

namespace axon::tile {
namespace {

/// y[k] = x[k - 1], and 0 where there is none. `value` is the map's.
std::string shifted(const std::string& value) {
  return R"(tiles shifted on x86-64-v3
sizes n
facts 0 <= n
layout vectors = S[(1,8):(1,1@v)]
grid i < max(cdiv(n, 8), 1)
tensor x f32[n] align 4 reads [0 : n] at S[n:1]
tensor y f32[n] align 4 writes [8*i : min(n, 8*i + 8)] at S[n:1]
registers t f32[8] as vectors
do
  copy t[e] = x[8*i + e - 1] if 1 <= 8*i + e and 8*i + e < n fill 0
  map t[e] = )" +
         value + R"(
  copy t[e] to y[8*i + e] if 8*i + e < n
)";
}

/// "" or what is not proved.
std::string unproved(const std::string& text) {
  std::string error;
  const auto p = parse(text, error);
  if (!p) return error;
  std::string out;
  for (const Obligation& o : verify(*p))
    if (!o.proved) out += o.what + "\n";
  return out;
}

TEST(Choices, AreProvedWhereTheConditionSaysSo) {
  for (const char* value : {
           "select(le(i64(1), i64(index(8*i + e))), t[e], f32(0))",
           "select(lt(i64(0), i64(index(8*i + e))), t[e], f32(0))",
           "select(not(lt(i64(index(8*i + e)), i64(1))), t[e], f32(0))",
           "select(lt(i64(index(8*i + e)), i64(1)), f32(0), t[e])",
           "select(and(lt(f32(0), f32(1)), le(i64(1), i64(index(8*i + e)))), t[e], f32(0))",
           "add(f32(1), select(le(i64(1), i64(index(8*i + e))), mul(t[e], t[e]), f32(0)))",
       })
    EXPECT_EQ(unproved(shifted(value)), "") << value;
}

TEST(Choices, AreRefusedWhereItDoesNot) {
  for (const char* value : {
           "t[e]",
           "select(le(i64(0), i64(index(8*i + e))), t[e], f32(0))",
           "select(le(i64(1), i64(index(8*i + e))), f32(0), t[e])",
           "select(or(lt(f32(0), f32(1)), le(i64(1), i64(index(8*i + e)))), t[e], f32(0))",
           "select(le(i64(1), i64(index(n))), t[e], f32(0))",
           "select(lt(f32(0), t[e]), t[e], f32(0))",
           "add(t[e], select(le(i64(1), i64(index(8*i + e))), t[e], f32(0)))",
           "select(le(i8(1), i8(index(8*i + e))), t[e], f32(0))",
       })
    EXPECT_NE(unproved(shifted(value)).find("inside of bounds"), std::string::npos) << value;
}

}  // namespace
}  // namespace axon::tile
