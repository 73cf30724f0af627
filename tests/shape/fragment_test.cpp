// The fragment that prover.h states: linear expressions with floor, remainder and rounding up by numbers, min
// and max. Inside it every answer is proved or refuted, and is the one that trying all sizes 0..6 gives. The
// seeds are fixed.
#include "../sanitized.h"
#include "support.h"

namespace axon::shape {
namespace {

constexpr int64_t most = 6;
const std::vector<std::string> names{"a", "b", "c"};

/// Texts of expressions of the fragment.
class LinearText {
 public:
  explicit LinearText(unsigned seed) : random_(seed) {}

  int64_t number(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<unsigned>(high - low + 1));
  }

  std::string expr(int depth) {
    if (depth == 0) return number(0, 3) == 0 ? std::to_string(number(0, 7)) : names[number(0, 2)];
    const std::string x = expr(depth - 1);
    switch (number(0, 8)) {
      case 0:
      case 1:
        return fmt::format("({} + {})", x, expr(depth - 1));
      case 2:
        return fmt::format("({} - {})", x, expr(depth - 1));
      case 3:
        return fmt::format("({} * {})", number(2, 3), x);
      case 4:
        return fmt::format("({} / {})", x, number(2, 4));
      case 5:
        return fmt::format("({} % {})", x, number(2, 4));
      case 6:
        return fmt::format("cdiv({}, {})", x, number(2, 4));
      case 7:
        return fmt::format("min({}, {})", x, expr(depth - 1));
      default:
        return fmt::format("max({}, {})", x, expr(depth - 1));
    }
  }

  std::string statement(int depth) {
    const char* signs[] = {" <= ", " < ", " == ", " != "};
    return expr(depth) + signs[number(0, 3)] + expr(static_cast<int>(number(0, depth)));
  }

 private:
  std::mt19937 random_;
};

struct Question {
  Scope scope;
  std::string text;
  std::vector<Fact> facts;
  Fact goal;
};

Question question(LinearText& random, const std::string& ranges) {
  Question q;
  for (const std::string& name : names) q.scope.named(name);
  std::string facts = ranges;
  for (int64_t i = random.number(0, 2); i > 0; --i) facts += "; " + random.statement(1);
  const std::string goal = random.statement(static_cast<int>(random.number(1, 2)));
  q.text = facts + " |- " + goal;
  q.facts = q.scope.facts(facts);
  q.goal = q.scope.fact(goal);
  return q;
}

/// Sizes 0..most that satisfy the facts and break the goal.
std::optional<Assignment> breaking(Question& q) {
  for (int64_t a = 0; a <= most; ++a)
    for (int64_t b = 0; b <= most; ++b)
      for (int64_t c = 0; c <= most; ++c) {
        const Assignment values{{q.scope.var("a"), a}, {q.scope.var("b"), b}, {q.scope.var("c"), c}};
        if (all_hold(q.facts, values) && !holds(q.goal, values).value_or(false)) return values;
      }
  return std::nullopt;
}

TEST(Fragment, IsDecidedAsTryingAllSizesDecides) {
  LinearText random(31);
  int proved = 0, refuted = 0;
  for (int round = 0; round < sampled(4000); ++round) {
    Question q = question(random, "0 <= a; a <= 6; 0 <= b; b <= 6; 0 <= c; c <= 6");
    const Answer answer = prove(q.facts, q.goal);
    ASSERT_NE(answer.verdict, Verdict::unknown) << q.text << " by " << answer.by;
    ASSERT_EQ(answer.verdict == Verdict::refuted, breaking(q).has_value()) << q.text << " by " << answer.by;
    ++(answer.verdict == Verdict::proved ? proved : refuted);
  }
  EXPECT_GT(proved, sampled_floor(300));
  EXPECT_GT(refuted, sampled_floor(300));
}

TEST(Fragment, IsDecidedForAllSizes) {
  LinearText random(32);
  int proved = 0, refuted = 0;
  for (int round = 0; round < sampled(4000); ++round) {
    Question q = question(random, "0 <= a; 0 <= b; 0 <= c");
    const Answer answer = prove(q.facts, q.goal);
    ASSERT_NE(answer.verdict, Verdict::unknown) << q.text << " by " << answer.by;
    if (answer.verdict == Verdict::proved) {
      ++proved;
      ASSERT_FALSE(breaking(q)) << q.text << " by " << answer.by;
    } else {
      ++refuted;
      Assignment values = answer.counter_example;
      for (const std::string& name : names) values.try_emplace(q.scope.var(name), 0);
      ASSERT_TRUE(all_hold(q.facts, values)) << q.text << " by " << answer.by;
      ASSERT_FALSE(holds(q.goal, values).value_or(false)) << q.text << " by " << answer.by;
    }
  }
  EXPECT_GT(proved, sampled_floor(200));
  EXPECT_GT(refuted, sampled_floor(300));
}

TEST(Fragment, ContradictionsAreFound) {
  LinearText random(33);
  int contradictory = 0;
  for (int round = 0; round < sampled(800); ++round) {
    Question q = question(random, "0 <= a; a <= 6; 0 <= b; b <= 6; 0 <= c; c <= 6");
    q.facts.push_back(q.goal);
    const Answer answer = prove_empty(q.facts);
    q.goal = q.scope.fact("0 < 0");
    const bool possible = breaking(q).has_value();
    contradictory += !possible;
    ASSERT_EQ(answer.verdict, possible ? Verdict::refuted : Verdict::proved) << q.text << " by " << answer.by;
  }
  EXPECT_GT(contradictory, sampled_floor(80));
}

/// A session answers as no session does; what it has answered costs nothing, and what is spent stays spent.
TEST(Session, AnswersAreTheSame) {
  LinearText random(34);
  for (int round = 0; round < sampled(200); ++round) {
    Question q = question(random, "0 <= a; 0 <= b; 0 <= c");
    const Answer alone = prove(q.facts, q.goal);
    ProverSession session;
    for (int twice = 0; twice < 2; ++twice) {
      const Answer answer = prove(q.facts, q.goal);
      ASSERT_EQ(answer.verdict, alone.verdict) << q.text;
      ASSERT_EQ(answer.by, alone.by) << q.text;
      ASSERT_EQ(answer.counter_example, alone.counter_example) << q.text;
    }
  }
}

TEST(Session, AllowanceIsShared) {
  Scope s;
  const auto facts = s.facts("1 <= a; 1 <= b; 1 <= d");
  ProverSession session(50000);
  EXPECT_EQ(prove(facts, s.fact("a*a*a + b*b*b != d*d*d")).by.substr(0, 2), "z3");
  EXPECT_EQ(prove(facts, s.fact("a*a*a + b*b*b != 2*d*d*d + 1")).by, "not decided without z3");
  {
    ProverSession inner(50000);
    EXPECT_EQ(prove(facts, s.fact("a*a*a + b*b*b != 2*d*d*d + 1")).by.substr(0, 2), "z3");
  }
  EXPECT_EQ(prove(facts, s.fact("a*a*a + b*b*b != 3*d*d*d + 1")).by, "not decided without z3");
  EXPECT_EQ(prove(facts, s.fact("2 <= a + b")).verdict, Verdict::proved);
}

TEST(Complexity, HasLimits) {
  Dim sum, product = 1;
  for (int i = 0; i < 256; ++i) sum = sum + Dim(fresh_var("x"));
  EXPECT_FALSE(too_complex(sum));
  EXPECT_TRUE(too_complex(sum + Dim(fresh_var("x"))));
  EXPECT_TRUE(too_complex(floor_div(sum + Dim(fresh_var("x")), 3)));
  for (int i = 0; i < 8; ++i) product = product * Dim(fresh_var("x"));
  EXPECT_FALSE(too_complex(product));
  EXPECT_TRUE(too_complex(product * Dim(fresh_var("x"))));
  EXPECT_TRUE(too_complex(Dim(INT64_MAX) + 1));
  const Dim n(fresh_var("n")), m(fresh_var("m"));
  Dim nested = n;
  for (int i = 0; i < 32; ++i) nested = floor_div(nested * 3 + n, m);
  EXPECT_FALSE(too_complex(nested));
  EXPECT_TRUE(too_complex(min(nested, m)));
  Dim branching = n;
  for (int i = 1; i < 12; ++i) branching = floor_div(branching, m + i) + mod(branching, m + i);
  EXPECT_FALSE(overflowed(branching));
  EXPECT_TRUE(too_complex(branching));
}

}  // namespace
}  // namespace axon::shape
