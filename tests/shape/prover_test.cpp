// Statements of the kind that shape inference and event derivation ask, and who must answer them.
#include "support.h"

namespace axon::shape {
namespace {

struct Statement {
  const char *facts, *goals;
};

std::string describe(const Statement& statement, const Answer& answer) {
  std::string text = std::string(statement.facts) + " |- " + statement.goals + ", by " + answer.by;
  for (auto [var, value] : answer.counter_example)
    text += ", " + var_name(var) + " = " + std::to_string(value);
  return text;
}

TEST(Prover, ProvesWithoutZ3) {
  const Statement statements[] = {
      {"", "n == n"},
      {"0 <= n", "0 <= n + 1"},
      {"0 <= i; i < n", "1 <= n"},
      {"0 <= n; 0 <= m", "0 <= n*m"},
      {"0 <= i; i < n; 0 <= j; j < m", "i*m + j < n*m"},
      {"0 <= i; i < n; 0 <= j; j < m; 0 <= k; k < d", "(i*m + j)*d + k < n*m*d"},
      {"0 <= i; i < n; 0 <= j; j < m; 0 <= a; a < n; 0 <= b; b < m; i*m + j == a*m + b", "i == a"},
      {"32*a <= j; j < 32*a + 32; 32*b <= j; j < 32*b + 32", "a == b"},
      {"64*a <= i; i < 64*a + 64; 64*b <= i/2*2; i/2*2 < 64*b + 64", "a == b"},
      {"32*a <= i; i < 32*a + 32; 64*b <= i; i < 64*b + 64", "a/2 == b"},
      {"0 <= j; j < n", "j/32 < cdiv(n, 32)"},
      {"1 <= d", "n <= d*cdiv(n, d)"},
      {"1 <= d; 0 <= n", "d*cdiv(n, d) < n + d"},
      {"0 <= i; i < n", "i % n == i"},
      {"1 <= d; n % d == 0", "(n/d)*d == n"},
      {"0 <= a; a < cdiv(n, 32); 32*a <= j; j < min(32*a + 32, n)", "j < n"},
      {"a <= n; b <= n", "max(a, b) <= n"},
      {"", "min(a, b) + max(a, b) == a + b"},
      {"0 <= n", "n/2 + cdiv(n, 2) == n"},
      {"0 <= n", "max(n - 3, 0) <= n"},
      {"0 <= a; a <= 1; a != 0", "a == 1"},
      {"n == 2*a; n == 2*b + 1", "0 == 1"},
      {"", "a == b; a < b; b < a"},
      {"0 <= i; i < n; n <= 1024", "i*n < 1048576"},
      {"a < b; b < c", "a != c"},
      {"a == 0; 0 <= a; 0 <= b", "a*b == 0"},
      {"a == 0", "a*b == 0"},
      {"a == 0; 0 <= a; 0 <= b", "(a + 1)*b == b"},
      {"a == a + a; a/2 == a", "cdiv(a, 3) == min(a, 3)"},
      {"a == a - a", "(a + a) % 2 == a*a"},
      {"h*g*k == d; 1 <= h; 1 <= g; 1 <= k", "d % h == 0"},
      {"h*k == d; 1 <= k; 0 <= i; i < d", "i/k < h"},
      {"0 <= i; i < n; 0 <= j; j < m", "(i*m + j) % m == j"},
      {"32*a <= i; i < 32*a + 32; 32*e <= i; i < 32*e + 32; 0 <= m",
       "a*cdiv(m, 64) + b == e*cdiv(m, 64) + b"},
      {"0 <= w; w < p; 0 <= v; v < p; 0 <= s; s*w/p <= t; t < s*(w + 1)/p; s*v/p <= t; t < s*(v + 1)/p",
       "w == v"},
  };
  for (const Statement& statement : statements) {
    Scope s;
    Answer answer = prove_any(s.facts(statement.facts), s.facts(statement.goals));
    EXPECT_EQ(answer.verdict, Verdict::proved) << describe(statement, answer);
    EXPECT_EQ(answer.by.find("z3"), std::string::npos) << describe(statement, answer);
  }
}

TEST(Prover, ProvesWithZ3) {
  const Statement statements[] = {
      // sizes that occur only as a product are one size
      {"0 <= h; 0 <= w; 0 <= t; 0 <= u; u < max(cdiv(h*w, 64), 1); 64*u < min(4*t + 3, max(h*w, 1))",
       "u < max(cdiv(max(4*t, 1), 64), min(cdiv(min(4*t + 3, max(h*w, 1)), 64), max(cdiv(h*w, 64), 1)))"},
      // a product that is only a number to the goal
      {"0 <= f; 0 <= k; 0 <= d; k <= f*f + 2*f + 1; f*f + f <= 4611686018427387904; f <= 63; 0 <= t; 0 <= i; "
       "t < max(cdiv(d + (f*f + f)/2, 1024), 1); i < d + (f*f + f)/2; 1024*t <= i; i < 1024*t + 1024",
       "min(k, max(min((f*f + f)/2, max(1024*t - d, 0) + 1), 1)) <= "
       "min(k, max(min((f*f + f)/2, max(i - d, 0) + 1), 1))"},
      {"", "n*n != 2"},
      {"", "0 <= n*n + m*m - 2*n*m"},
      {"2 <= n; 2 <= m", "n + m <= n*m"},
  };
  for (const Statement& statement : statements) {
    Scope s;
    Answer answer = prove_any(s.facts(statement.facts), s.facts(statement.goals));
    EXPECT_EQ(answer.verdict, Verdict::proved) << describe(statement, answer);
  }
}

TEST(Prover, RefutesWithValues) {
  const Statement statements[] = {
      {"", "n == m"},
      {"", "3 == 4"},
      {"0 <= n", "1 <= n"},
      {"0 <= n; 0 <= m", "n*m == n + m"},
      {"0 <= a; a < cdiv(n, 32); 32*a <= j; j < 32*a + 32", "j < n"},
      {"0 <= n", "n/2*2 == n"},
      {"1 <= d", "n % d == 0"},
      {"0 <= i; i < n; 0 <= j; j < n", "i == j; i < j"},
      {"1000 <= n; n % 7 == 3; n % 11 == 5", "n < 1000"},
      {"h*k == d; 1 <= h; 1 <= k; 2 <= g", "d % g == 0"},
      {"0 <= a; 32*a <= j; j < 32*a + 32; 64*c <= j; j < 64*c + 64", "a == c"},
  };
  for (const Statement& statement : statements) {
    Scope s;
    auto facts = s.facts(statement.facts), goals = s.facts(statement.goals);
    Answer answer = prove_any(facts, goals);
    ASSERT_EQ(answer.verdict, Verdict::refuted) << describe(statement, answer);
    for (const Fact& fact : facts)
      EXPECT_TRUE(holds(fact, answer.counter_example).value_or(false)) << describe(statement, answer);
    for (const Fact& goal : goals)
      EXPECT_FALSE(holds(goal, answer.counter_example).value_or(false)) << describe(statement, answer);
  }
}

TEST(Prover, EmptyRegions) {
  Scope s;
  EXPECT_EQ(prove_empty(s.facts("32*a <= j; j < 32*a + 32; 32*a + 32 <= j")).verdict, Verdict::proved);
  Answer answer = prove_empty(s.facts("32*a <= j; j < 32*a + 32; 0 <= a"));
  EXPECT_EQ(answer.verdict, Verdict::refuted);
  EXPECT_EQ(prove_empty({}).verdict, Verdict::refuted);
  EXPECT_EQ(prove_empty(s.facts("1 == 2")).verdict, Verdict::proved);
}

TEST(Prover, NothingIsAssumedOfADivisorThatMayBeZero) {
  Scope s;
  EXPECT_NE(prove(s.facts("0 <= d"), s.fact("n*d/d == n + 1")).verdict, Verdict::proved);
  EXPECT_NE(prove({}, s.fact("0 <= n % d")).verdict, Verdict::proved);
  EXPECT_EQ(prove(s.facts("d < 0"), s.fact("n % d <= 0")).verdict, Verdict::proved);
}

TEST(Prover, SaysWhoAnswered) {
  Scope s;
  EXPECT_EQ(prove({}, s.fact("n <= n + 1")).by, "normal form");
  EXPECT_EQ(prove(s.facts("i < n"), s.fact("i <= n")).by, "fact");
  EXPECT_EQ(prove(s.facts("0 <= n; 0 <= m"), s.fact("0 <= n*m")).by, "interval");
  EXPECT_EQ(prove(s.facts("a <= b; b <= c"), s.fact("a <= c")).by, "linear");
  EXPECT_EQ(prove({}, s.fact("n*n != 2")).by.substr(0, 4), "z3 (");
}

TEST(Prover, FactsPrint) {
  Scope s;
  EXPECT_EQ(s.fact("i < n").str(), "i < n");
  EXPECT_EQ(at_least(s.dim("n"), 1).str(), "1 <= n");
}

}  // namespace
}  // namespace axon::shape
