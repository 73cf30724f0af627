// Hard and huge questions end soon and with a verdict. What they take is counted (base/work.h).
#include "base/work.h"
#include "support.h"

namespace axon::shape {
namespace {

/// Steps of work since it began.
class Work {
 public:
  uint64_t steps() const { return all_.spent(); }

 private:
  base::Allowance all_{uint64_t{1} << 40};
};

constexpr uint64_t one_question = 20'000'000;

TEST(Budget, SumOfTenThousandVariables) {
  Work work;
  Dim sum, fact_sum;
  for (int i = 0; i < 10000; ++i) sum = sum + Dim(fresh_var("x"));
  Answer answer = prove({at_least(sum, 1)}, at_least(sum, 0));
  EXPECT_EQ(answer.verdict, Verdict::unknown);
  EXPECT_EQ(answer.by, "too large");
  EXPECT_LT(work.steps(), one_question);
}

TEST(Budget, SumOfDepthTenThousandOverFewVariables) {
  Work work;
  Scope s;
  Dim n = s.dim("n"), sum;
  for (int i = 0; i < 10000; ++i) sum = sum + n + 1;
  EXPECT_EQ(prove(s.facts("0 <= n"), at_least(sum, 10000)).verdict, Verdict::proved);
  EXPECT_LT(work.steps(), one_question);
}

TEST(Budget, NestOfDepthTenThousand) {
  Work work;
  Scope s;
  Dim nest = s.dim("n");
  for (int i = 0; i < 10000; ++i) nest = floor_div(max(nest, s.dim("m")) * 3, s.dim("d"));
  EXPECT_EQ(prove({}, at_least(nest, 0)).verdict, Verdict::unknown);
  EXPECT_LT(work.steps(), one_question);
}

TEST(Budget, SumOfCubes) {
  Work work;
  Scope s;
  Answer answer = prove(s.facts("1 <= a; 1 <= b; 1 <= d"), s.fact("a*a*a + b*b*b != d*d*d"));
  EXPECT_EQ(answer.verdict, Verdict::unknown) << answer.by;
  EXPECT_EQ(answer.by.substr(0, 2), "z3");
  EXPECT_LT(work.steps(), one_question);
}

TEST(Budget, LargestQuestionForZ3) {
  Work work;
  Dim sum;
  for (int i = 0; i < 600; ++i) {
    Dim x = Dim(fresh_var("x"));
    sum = sum + x * x - 2 * x;
  }
  Answer answer = prove({}, at_least(sum, -600));  // true, a sum of squares: whatever is said must come soon
  EXPECT_NE(answer.verdict, Verdict::refuted);
  EXPECT_LT(work.steps(), one_question);
}

TEST(Budget, VerdictsDoNotDependOnHistory) {
  Scope s;
  auto facts = s.facts("1 <= a; 1 <= b; 1 <= d");
  ProverLimits small;
  small.z3_rlimit = 20000;
  Answer first = prove(facts, s.fact("a*a*a + b*b*b != d*d*d"), small);
  Answer square = prove({}, s.fact("0 <= n*n + m*m - 2*n*m"));
  EXPECT_EQ(prove(facts, s.fact("a*a*a + b*b*b != d*d*d"), small).by, first.by);
  EXPECT_EQ(prove({}, s.fact("0 <= n*n + m*m - 2*n*m")).by, square.by);
  EXPECT_EQ(square.verdict, Verdict::proved) << square.by;
}

TEST(Budget, QuestionsThatDifferInNamesGetOneAnswer) {
  const char* facts = "1 <= n; 1 <= k; 64 <= n * k; n * k <= 70; 3 * n + 7 * k == 3 * (n - k) + 80";
  Scope one, other;
  other.named("k");  // numbered in another order
  ProverLimits limits;
  for (Scope* s : {&one, &other, &one}) {
    const Fact denied = s->fact("n * k < n * n");
    const Answer answer = prove(s->facts(facts), denied, limits);
    ASSERT_EQ(answer.verdict, Verdict::refuted) << answer.by;
    for (const Fact& fact : s->facts(facts))
      EXPECT_EQ(holds(fact, answer.counter_example), true) << fact.str();
    EXPECT_EQ(holds(denied, answer.counter_example), false);
  }
}

TEST(Budget, ModelsOfIndependentFactsAreFoundOneByOne) {
  Scope s;
  std::vector<Fact> facts;
  for (const char* part : {"0 <= a{0}", "0 <= b{0}", "(a{0} * a{0} + 3 * b{0} * b{0}) % 16 == 13"})
    for (int i = 0; i < 12; ++i) facts.push_back(s.fact(fmt::format(fmt::runtime(part), i)));
  const Answer answer = prove(facts, s.fact("c < 0"));
  EXPECT_EQ(answer.verdict, Verdict::refuted);
  EXPECT_EQ(answer.by, "example");
}

TEST(Budget, TrivialGoalsAreCheap) {
  Scope s;
  auto facts = s.facts("0 <= i; i < n; 0 <= j; j < m; 32*a <= i; i < 32*a + 32");
  Fact goal = s.fact("0 <= n");
  Work work;
  constexpr int rounds = 1000;
  for (int i = 0; i < rounds; ++i) ASSERT_EQ(prove(facts, goal).verdict, Verdict::proved);
  EXPECT_LT(work.steps() / rounds, 1000U);
}

/// Where seven axes become one, elimination has thousands of rows: with nothing left to spend nothing goes
/// on.
TEST(Budget, NothingGoesOnWithoutWork) {
  Scope s;
  std::string text = "0 <= p; p < a*b*c*d*e*f*g";
  for (const char* n : {"a", "b", "c", "d", "e", "f", "g"})
    text += fmt::format("; 1 <= {0}; 0 <= i{0}; i{0} < {0}; 0 <= j{0}; j{0} < {0}", n);
  const std::vector<Fact> facts = s.facts(text.c_str());
  const Fact goal = s.fact(
      "(((((ia*b + ib)*c + ic)*d + id)*e + ie)*f + if)*g + ig != (((((ja*b + jb)*c + jc)*d + jd)*e + je)*f + "
      "jf)*g + jg");
  ProverLimits without_solver;
  without_solver.z3_rlimit = 0;
  Work work;
  EXPECT_NE(prove(facts, goal, without_solver).verdict, Verdict::proved);
  EXPECT_LT(work.steps(), one_question);
}

}  // namespace
}  // namespace axon::shape
