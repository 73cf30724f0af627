// Questions about sizes do not depend on those before them, and hostile ones end.
#include <gtest/gtest.h>

#include "../sanitized.h"
#include "shape/arena.h"
#include "support.h"

namespace axon::repl {
namespace {

TEST(ShapeQuery, AnswersDependOnTheAssumptionsAlone) {
  Typing fresh;
  fresh.answer(":assume n % 8 == 0");
  const std::string expected = fresh.text(":prove n % 16 == 0");
  Typing used;
  for (const char* phrase :
       {":prove m == n", ":solve x * y == n", ":assume n == 3", ":why", ":forget", "1 + ",
        ":assume n % 8 == 0", ":prove q(", ":shape matmul [n, n] _", ":solve n < 100"})
    used.answer(phrase);
  EXPECT_EQ(used.text(":prove n % 16 == 0"), expected);
}

TEST(ShapeQuery, LeavesNothingBehind) {
  Typing repl;
  repl.answer(":assume n % 8 == 0");
  const size_t before = shape::Arena::current().size();
  for (int i = 0; i < sampled(100); ++i) {
    repl.answer(":prove n % 4 == 0, n * n >= n");
    repl.answer(":solve a * b == n, n <= 16");
    repl.answer(":why");
  }
  EXPECT_EQ(shape::Arena::current().size(), before);
}

TEST(ShapeQuery, AContradictionIsRefusedAndNotKept) {
  Typing repl;
  repl.answer(":assume a < b, b < c");
  const Answer refused = repl.answer(":assume c < a, d == 1");
  EXPECT_TRUE(refused.failed());
  EXPECT_EQ(repl.text(":facts"), "1  a < b\n2  b < c\n");
  EXPECT_NE(refused.text.find("`c < a`, `a < b` and `b < c` contradict each other"), std::string::npos)
      << refused.text;
}

TEST(ShapeQuery, MoreGoesOnWhereTheLastEnded) {
  Typing repl;
  const Answer first = repl.answer(":solve n % 2 == 1");
  ASSERT_EQ(first.table.rows.size(), 3u);
  int64_t expected = 1;
  for (const auto& row : first.table.rows) EXPECT_EQ(row[0], std::to_string(2 * (expected++) - 1));
  for (int i = 0; i < 3; ++i)
    for (const auto& row : repl.answer(":more").table.rows)
      EXPECT_EQ(row[0], std::to_string(2 * (expected++) - 1));
  EXPECT_EQ(expected, 64);
  repl.answer(":solve n < 3");
  EXPECT_TRUE(repl.answer(":more").failed());
}

TEST(ShapeQuery, FactsReachThroughSizesThatTheShapesDoNotName) {
  Typing repl;
  for (const char* fact : {":assume x == y, y == w", ":assume h == 8, h * d == 512", ":assume n == 4 * q"})
    EXPECT_FALSE(repl.answer(fact).failed()) << fact;
  repl.answer("fun pairs (x : [n]) where n % 2 == 0 = for (i < n / 2) => x[2*i]");
  EXPECT_EQ(repl.text(":shape add [x] [w]"), "add [x] [w] : 't[x]   where 't : num\n");
  EXPECT_EQ(repl.text(":shape add [d] [64]"), "add [d] [64] : 't[d]   where 't : num\n");
  EXPECT_EQ(repl.text(":shape pairs [n]"), "pairs [n] : 't[2*q]\n");
  EXPECT_TRUE(repl.answer(":shape add [x] [h]").failed());
}

TEST(ShapeQuery, HostileConditionsEnd) {
  std::string many = "a0 == 0", nested = "a", powers = "a";
  for (int i = 1; i < 200; ++i) many += ", a" + std::to_string(i) + " == 0";
  for (int i = 0; i < 300; ++i) nested = "(" + nested + " + 1)";
  for (int i = 0; i < 40; ++i) powers += " * a";
  Typing repl;
  for (const std::string& text :
       {many, nested + " == 3", powers + " == 5", std::string("a * a == 2 * b * b, 1 <= a"),
        std::string("a % b % c % d == 7 % a, a * b * c * d == 9223372036854775807"), std::string(100000, '('),
        std::string("a == -9223372036854775808"), std::string("a / b == 1, b / a == 1, a + b == 100000"),
        std::string("a == 1 fun f x = x"), std::string("é < 形"), std::string("max(a, b, c) == 1")})
    for (const char* command : {":prove ", ":solve ", ":assume ", ":shape transpose [n] where "})
      EXPECT_NE(repl.answer(command + text).text, "") << command << text.substr(0, 40);
}

TEST(ShapeQuery, ShapesHaveTheTypesOfTheLanguage) {
  Typing repl;
  EXPECT_EQ(repl.text(":shape matmul [b, 128] [128, k]"),
            "matmul [b, 128] [128, k] : 't[b, k]   where 't : num\n");
  EXPECT_TRUE(repl.answer(":shape matmul [b, 128] [100, k]").failed());
  // names of the query are no names of the program, and the other way round
  repl.answer("val query = 1.0\nval x = 2.0\nval b = 3.0");
  EXPECT_EQ(repl.text(":shape matmul [b, 128] [128, x]"),
            "matmul [b, 128] [128, x] : 't[b, x]   where 't : num\n");
  for (const char* wrong : {":shape matmul [", ":shape )", ":shape matmul 3", ":shape matmul [b] |> f",
                            ":shape [n]", ":shape matmul [b, 128", ":shape _ [n]", ":shape matmul nothing"})
    EXPECT_TRUE(repl.answer(wrong).failed()) << wrong;
}

}  // namespace
}  // namespace axon::repl
