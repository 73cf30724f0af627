// Solutions of conditions against brute force, in order and complete; and questions that nobody can answer
// end.
#include "shape/solutions.h"

#include <numeric>

#include "../sanitized.h"
#include "shape/candidates.h"
#include "shape/conditions.h"
#include "support.h"

namespace axon::shape {
namespace {

struct Equations {
  Scope scope;
  std::vector<Fact> facts;
  std::vector<Var> order;
  Equations(const std::string& names, const std::string& text) {
    for (auto name : split(names, ' ')) order.push_back(scope.var(name));
    facts = scope.facts(text);
  }
};

/// All values up to `high` for which the facts hold, in order.
std::vector<Solution> brute_force(const Equations& q, int64_t high) {
  std::vector<Solution> out;
  Solution values(q.order.size(), 0);
  for (;;) {
    Assignment assignment;
    for (size_t i = 0; i < values.size(); ++i) assignment[q.order[i]] = values[i];
    bool all = true;
    for (const Fact& fact : q.facts) all = all && holds(fact, assignment).value_or(false);
    if (all) out.push_back(values);
    size_t at = values.size();
    while (at > 0 && values[at - 1] == high) values[--at] = 0;
    if (at == 0) return out;
    ++values[at - 1];
  }
}

std::string text_of(const std::vector<Solution>& all) {
  std::string text;
  for (const Solution& one : all) {
    for (size_t i = 0; i < one.size(); ++i) text += (i == 0 ? "" : " ") + std::to_string(one[i]);
    text += "; ";
  }
  return text;
}

TEST(Solutions, AreThoseOfBruteForce) {
  const std::pair<const char*, const char*> questions[] = {
      {"a b", "a*b == 24; a < b"},
      {"a b", "a*b == a + b"},
      {"a b c", "a + b + c == 5; a <= b; b <= c"},
      {"a b c", "a*b*c == 30"},
      {"n", "n % 8 == 3; n % 12 == 7; n < 61"},
      {"n m", "n % 4 == 1; m == n / 2; m != 4; n <= 40"},
      {"a b", "max(a, b) == 7; 5 - a <= min(a, b); a <= 60"},
      {"a b", "a*a + b*b == 25"},
      {"n d", "n % d == 0; n == 12"},
      {"n d", "n / d == 3; n <= 12"},
      {"a b", "(a + 1)*(b + 1) == 36"},
      {"b a", "b == 16*a; b <= 60"},
      {"a b", "a < b; b < a"},
      {"a", "2*a == 7"},
      {"a b c d", "a + b == c; c + d == 4; a*d == b"},
  };
  for (const auto& [names, text] : questions) {
    const Equations q(names, text);
    const Solutions found = solutions_of(q.facts, q.order);
    EXPECT_EQ(found.end, Solutions::End::all) << text;
    EXPECT_EQ(text_of(found.found), text_of(brute_force(q, q.order.size() > 3 ? 12 : 60))) << text;
  }
}

/// Random conditions over values that bounds keep small.
TEST(Solutions, OfRandomConditionsAreThoseOfBruteForce) {
  const char* const signs[] = {"==", "!=", "<=", "<"};
  size_t with_solutions = 0;
  for (uint64_t seed = 0; seed < sampled(300u); ++seed) {
    RandomText random(seed, {"a", "b", "c"});
    std::string text = "a <= 7; b <= 7; c <= 7";
    for (int64_t i = random.number(1, 2); i > 0; --i)
      text += fmt::format("; {} {} {}", random.expr(2), signs[random.number(0, 3)], random.expr(1));
    const Equations q("a b c", text);
    SolutionLimits limits;
    limits.most = 2000;
    const Solutions found = solutions_of(q.facts, q.order, limits);
    const std::vector<Solution> expected = brute_force(q, 7);
    EXPECT_EQ(found.end, Solutions::End::all) << text;
    ASSERT_EQ(text_of(found.found), text_of(expected)) << text;
    with_solutions += expected.empty() ? 0 : 1;
  }
  EXPECT_GT(with_solutions, sampled_floor(100u));
}

TEST(Solutions, AsManyAsAreAskedForAreTheFirst) {
  const Equations q("a b", "3 <= a + b");
  SolutionLimits limits;
  limits.most = 3;
  const Solutions found = solutions_of(q.facts, q.order, limits);
  EXPECT_EQ(found.end, Solutions::End::most);
  EXPECT_EQ(text_of(found.found), "0 3; 0 4; 0 5; ");
  const Equations exact("a", "a < 3");
  EXPECT_EQ(solutions_of(exact.facts, exact.order, limits).end, Solutions::End::all);
}

/// All up to 2^62 are found; whether there are larger ones is not said where that is not known.
TEST(Solutions, OfLargeNumbers) {
  using End = Solutions::End;
  const std::tuple<const char*, const char*, End> questions[] = {
      {"n == 2305843009213693952", "2305843009213693952; ", End::all},
      {"n == 4611686018427387904", "4611686018427387904; ", End::all},
      {"n == 4611686018427387905", "", End::far},
      {"2305843009213693950 <= n; n <= 2305843009213693953",
       "2305843009213693950; 2305843009213693951; 2305843009213693952; 2305843009213693953; ", End::all},
      {"2305843009213693950 <= n",
       "2305843009213693950; 2305843009213693951; 2305843009213693952; 2305843009213693953; ", End::most},
      {"n % 2305843009213693951 == 0", "0; 2305843009213693951; 4611686018427387902; ", End::far},
      {"n % 1000000007 == 5; n % 998244353 == 7; 1000000000000000000 <= n",
       "1986657827906604703; 2984902187894315174; 3983146547882025645; ", End::far},
      {"n % 3 == 4", "", End::all},
      {"n < n", "", End::all}};
  for (const auto& [text, expected, end] : questions) {
    const Equations q("n", text);
    SolutionLimits limits;
    limits.most = 4;
    const Solutions found = solutions_of(q.facts, q.order, limits);
    EXPECT_EQ(text_of(found.found), expected) << text;
    EXPECT_EQ(found.end, end) << text;
  }
}

TEST(Solutions, AreFoundWhereTheyAreFarApart) {
  const std::pair<const char*, const char*> questions[] = {
      {"n % 1000003 == 5; n != 5", "1000008; 2000011; 3000014; "},
      {"1000000 <= n; n % 128 == 0", "1000064; 1000192; 1000320; "},
      {"n*n == 1000000000000", "1000000; "},
      {"n % 4096 == 0; n % 10000 == 96; 3 <= n", "1540096; 4100096; 6660096; "},
  };
  for (const auto& [text, expected] : questions) {
    const Equations q("n", text);
    SolutionLimits limits;
    limits.most = 3;
    EXPECT_EQ(text_of(solutions_of(q.facts, q.order, limits).found), expected) << text;
  }
  const Equations products("a b", "a*b == 16777216");
  EXPECT_EQ(solutions_of(products.facts, products.order).found.size(), 25u);
  EXPECT_EQ(solutions_of(products.facts, products.order).end, Solutions::End::all);
}

/// What is true of no numbers, of numbers that nobody finds, or of huge ones, ends.
TEST(Solutions, HostileQuestionsEnd) {
  const std::pair<const char*, const char*> questions[] = {
      {"a b", "a*a == 2*b*b; 1 <= a"},
      {"a b c", "a*a*a + b*b*b == c*c*c; 1 <= a; 1 <= b"},
      {"a b", "a*b == 1000000000000000003; 1 < a; 1 < b"},
      {"a b", "a*a - 61*b*b == 1; 1 <= b"},
      {"n", "n*n*n*n*n*n == 9223372036854775807"},
      {"a b", "a % (b + 1) == b; b*b*b == a*a + 7; 2 <= a"},
  };
  for (const auto& [names, text] : questions) {
    const Equations q(names, text);
    for (const Solution& one : solutions_of(q.facts, q.order).found) {
      Assignment assignment;
      for (size_t i = 0; i < one.size(); ++i) assignment[q.order[i]] = one[i];
      for (const Fact& fact : q.facts) EXPECT_TRUE(holds(fact, assignment).value_or(false)) << text;
    }
  }
}

TEST(Candidates, CongruencesAreMerged) {
  const auto both = in_both({8, 3}, {12, 7});
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(both->step, 24);
  EXPECT_EQ(both->first, 19);
  EXPECT_FALSE(in_both({8, 3}, {12, 4}).has_value());
  for (int64_t a = 1; a < 12; ++a)
    for (int64_t b = 1; b < 12; ++b)
      for (int64_t n = 0; n < 150; ++n) {
        const auto merged = in_both({a, n % a}, {b, n % b});
        ASSERT_TRUE(merged.has_value());
        EXPECT_EQ(n % merged->step, merged->first);
        EXPECT_EQ(merged->step, a / std::gcd(a, b) * b);
      }
}

TEST(Conditions, NeededFactsAreMinimal) {
  Scope s;
  const auto facts = s.facts("0 <= n; n % 8 == 0; m < n; n % 2 == 0; k == 3");
  const auto needed = needed_facts(facts, s.facts("n % 4 == 0"));
  ASSERT_EQ(needed.size(), 1u);
  EXPECT_EQ(needed[0], 1u);
  const auto contradictory = s.facts("a < b; c < 4; b < a");
  EXPECT_EQ(needed_facts(contradictory, {}), (std::vector<size_t>{0, 2}));
}

TEST(Conditions, AreSimplified) {
  Scope s;
  std::string text;
  for (const Fact& fact :
       simplified(s.facts("n % 8 == 0; n % 12 == 0; 0 < n - m; 1 <= n"), s.facts("0 <= m")))
    text += fact.str() + "; ";
  EXPECT_EQ(text, "n % 24 == 0; 0 < n - m; ");
}

}  // namespace
}  // namespace axon::shape
