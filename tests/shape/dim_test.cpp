// Normal forms, printing, reading back, and the limits of Dim.
#include <thread>

#include "support.h"

namespace axon::shape {
namespace {

TEST(Dim, EqualNormalFormsAreOneNode) {
  Scope s;
  EXPECT_EQ(s.dim("n + m"), s.dim("m + n"));
  EXPECT_EQ(s.dim("(n + 1)*(n - 1)"), s.dim("n*n - 1"));
  EXPECT_EQ(s.dim("n - n"), Dim(0));
  EXPECT_EQ(s.dim("2*n*m + m*n"), s.dim("3*(n*m)"));
  EXPECT_NE(s.dim("n"), s.dim("m"));
}

TEST(Dim, DividesLargeNumbers) {
  EXPECT_EQ(cdiv(Dim(INT64_MAX), Dim(1)), Dim(INT64_MAX));
  EXPECT_EQ(cdiv(Dim(INT64_MAX), Dim(2)), Dim(int64_t{1} << 62));
  EXPECT_EQ(cdiv(Dim(INT64_MAX), Dim(INT64_MAX)), Dim(1));
}

TEST(Dim, PrintsSourceSyntax) {
  Scope s;
  for (const char* name : {"i", "j", "n", "m", "d", "a"}) s.named(name);
  const std::pair<const char*, const char*> cases[] = {
      {"n*2 + m/4", "2*n + m / 4"},
      {"1 - n", "1 - n"},
      {"-n - m", "-n - m"},
      {"(n + 31)/32", "cdiv(n, 32)"},
      {"(n + d - 1)/d", "cdiv(n, d)"},
      {"2*(n/4)", "2*(n / 4)"},
      {"n/(2*d)", "n / (2*d)"},
      {"n*m/d", "n*m / d"},
      {"(n - 1)%d", "(n - 1) % d"},
      {"min(32*a + 32, n) - 1", "min(n, 32*a + 32) - 1"},
      {"max(n - d + 1, 0)", "max(n - d + 1, 0)"},
      {"(-n)/d", "(-n) / d"},
      {"-(n/d)", "-(n / d)"},
      {"0 - n%d", "-(n % d)"},
      {"0 - n/d*m", "-m*(n / d)"},
      {"0 - 3*(n/d) - m%4", "-3*(n / d) - m % 4"},
      {"n%d%4", "n % d % 4"},
      {"32*(j/32) + j%32", "j"},
      {"(n - i)/4", "(n - i) / 4"},
      {"5*n/4", "n + n / 4"},
      {"0*n", "0"},
      {"-7", "-7"},
  };
  for (auto [text, printed] : cases) EXPECT_EQ(s.dim(text).str(), printed) << text;
}

TEST(Dim, ParserReportsWhereItFailed) {
  Scope s;
  auto only_n = [&](std::string_view name) {
    return name == "n" ? std::optional(s.named(name)) : std::nullopt;
  };
  const std::pair<const char*, size_t> cases[] = {
      {"n + ", 4}, {"n + q", 4}, {"(n", 2}, {"n n", 2}, {"foo(n)", 6}, {"99999999999999999999", 0}, {"", 0}};
  for (auto [text, offset] : cases) {
    DimParseError error;
    EXPECT_FALSE(parse_dim(text, only_n, &error)) << text;
    EXPECT_EQ(error.offset, offset) << text << ": " << error.message;
    EXPECT_FALSE(error.message.empty());
  }
  EXPECT_FALSE(parse_dim(std::string(1000000, '('), only_n));
  size_t position = 1;
  EXPECT_EQ(parse_dim_prefix("[n + 1, n]", position, only_n), s.dim("n + 1"));
  EXPECT_EQ(position, 6u);
}

TEST(Dim, LinearSplit) {
  Scope s;
  auto parts = s.dim("2*i*n + i + n/4").linear_in(s.var("i"));
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->first, s.dim("2*n + 1"));
  EXPECT_EQ(parts->second, s.dim("n/4"));
  EXPECT_FALSE(s.dim("i*i").linear_in(s.var("i")));
  EXPECT_FALSE(s.dim("i/n + i").linear_in(s.var("i")));
  EXPECT_FALSE(s.dim("i*(i%n)").linear_in(s.var("i")));
}

TEST(Dim, SubstituteNormalises) {
  Scope s;
  EXPECT_EQ(s.dim("(32*a + j)/32").substitute({{s.var("j"), s.dim("64 + 32*k")}}), s.dim("a + k + 2"));
  EXPECT_EQ(s.dim("min(n, m)").substitute({{s.var("m"), s.dim("n + 1")}}), s.dim("n"));
  EXPECT_EQ(s.dim("n + m").substitute({{s.var("n"), s.dim("m")}, {s.var("m"), s.dim("n")}}), s.dim("m + n"));
}

TEST(Dim, EvaluateIsCheckedFloorArithmetic) {
  Scope s;
  Assignment values{{s.var("n"), -7}, {s.var("m"), 4}, {s.var("z"), 0}, {s.var("h"), INT64_MAX}};
  EXPECT_EQ(s.dim("n / m").evaluate(values), -2);
  EXPECT_EQ(s.dim("n % m").evaluate(values), 1);
  EXPECT_EQ(s.dim("m % n").evaluate(values), -3);
  EXPECT_EQ(s.dim("n / z").evaluate(values), std::nullopt);
  EXPECT_EQ(s.dim("n % z").evaluate(values), std::nullopt);
  EXPECT_EQ(s.dim("h + m").evaluate(values), std::nullopt);
  EXPECT_EQ(s.dim("h * m").evaluate(values), std::nullopt);
  EXPECT_EQ(s.dim("n + q").evaluate(values), std::nullopt);
}

TEST(Dim, CollectsVariablesInOrderOfUse) {
  Scope s;
  Dim expr = s.dim("m*(n % d) + min(n, k)");
  EXPECT_TRUE(expr.contains(s.var("k")));
  EXPECT_FALSE(expr.contains(s.var("unused")));
  EXPECT_EQ(expr.vars().size(), 4u);
  EXPECT_EQ(expr.vars()[0], s.var("m"));
}

TEST(Dim, OverflowIsAValueNobodyKnows) {
  Scope s;
  Dim huge = s.dim("9223372036854775807*n") * 2, again = s.dim("9223372036854775807*n") * 2;
  EXPECT_TRUE(overflowed(huge));
  EXPECT_NE(huge, again);
  EXPECT_TRUE(overflowed(floor_div(huge + 1, 2)));
  EXPECT_FALSE(overflowed(s.dim("n")));
  EXPECT_EQ(huge.evaluate({{s.var("n"), 0}}), std::nullopt);
  EXPECT_TRUE(overflowed(Dim(INT64_MAX) + 1));
  EXPECT_TRUE(overflowed(-Dim(INT64_MIN)));
}

TEST(Dim, GrowthIsBounded) {
  Scope s;
  Dim power = s.dim("n + m + 1");
  for (int i = 0; i < 10; ++i) power = power * power;
  EXPECT_TRUE(overflowed(power));
  Dim shared = s.dim("n");  // the tree doubles at each step, the graph does not
  for (int i = 2; i < 60; ++i) shared = floor_div(shared, s.dim("m")) * mod(shared, s.dim("d")) + i;
  EXPECT_TRUE(overflowed(shared));
}

TEST(Dim, InternsFromManyThreads) {
  Scope s;
  Dim n = s.dim("n"), m = s.dim("m");
  std::vector<Dim> results(4);
  std::vector<std::thread> threads;
  for (Dim& result : results)
    threads.emplace_back([&result, n, m] {
      Dim sum;
      for (int i = 0; i < 2000; ++i)
        sum = floor_div(n * i + m, 1 + i % 7) + mod(sum, 1000) + Dim(fresh_var("t")) * 0;
      result = sum;
    });
  for (std::thread& thread : threads) thread.join();
  for (const Dim& result : results) EXPECT_EQ(result, results[0]);
}

}  // namespace
}  // namespace axon::shape
