// Hard and huge questions end soon and with a verdict, the release of everything included.
#include <ctime>

#include "support.h"

namespace axon::shape {
namespace {

#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr double slower = 1;
#else
constexpr double slower = 10;  // unoptimised or instrumented
#endif

/// Processor time, so that a loaded machine does not fail the test.
class Stopwatch {
 public:
  double seconds() const { return static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC; }

 private:
  std::clock_t start_ = std::clock();
};

TEST(Budget, SumOfTenThousandVariables) {
  Stopwatch watch;
  Dim sum, fact_sum;
  for (int i = 0; i < 10000; ++i) sum = sum + Dim(fresh_var("x"));
  Answer answer = prove({at_least(sum, 1)}, at_least(sum, 0));
  EXPECT_EQ(answer.verdict, Verdict::unknown);
  EXPECT_EQ(answer.by, "too large");
  EXPECT_LT(watch.seconds(), 3.0 * slower);
}

TEST(Budget, SumOfDepthTenThousandOverFewVariables) {
  Stopwatch watch;
  Scope s;
  Dim n = s.dim("n"), sum;
  for (int i = 0; i < 10000; ++i) sum = sum + n + 1;
  EXPECT_EQ(prove(s.facts("0 <= n"), at_least(sum, 10000)).verdict, Verdict::proved);
  EXPECT_LT(watch.seconds(), 3.0 * slower);
}

TEST(Budget, NestOfDepthTenThousand) {
  Stopwatch watch;
  Scope s;
  Dim nest = s.dim("n");
  for (int i = 0; i < 10000; ++i) nest = floor_div(max(nest, s.dim("m")) * 3, s.dim("d"));
  EXPECT_EQ(prove({}, at_least(nest, 0)).verdict, Verdict::unknown);
  EXPECT_LT(watch.seconds(), 3.0 * slower);
}

TEST(Budget, SumOfCubes) {
  Stopwatch watch;
  Scope s;
  Answer answer = prove(s.facts("1 <= a; 1 <= b; 1 <= d"), s.fact("a*a*a + b*b*b != d*d*d"));
  EXPECT_EQ(answer.verdict, Verdict::unknown) << answer.by;
  EXPECT_EQ(answer.by.substr(0, 2), "z3");
  EXPECT_LT(watch.seconds(), 3.0 * slower);
}

TEST(Budget, LargestQuestionForZ3) {
  Stopwatch watch;
  Dim sum;
  for (int i = 0; i < 600; ++i) {
    Dim x = Dim(fresh_var("x"));
    sum = sum + x * x - 2 * x;
  }
  Answer answer = prove({}, at_least(sum, -600));  // true, a sum of squares: whatever is said must come soon
  EXPECT_NE(answer.verdict, Verdict::refuted);
  EXPECT_LT(watch.seconds(), 3.0 * slower);
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
  Stopwatch watch;
  constexpr int rounds = 1000;
  for (int i = 0; i < rounds; ++i) ASSERT_EQ(prove(facts, goal).verdict, Verdict::proved);
  EXPECT_LT(watch.seconds() / rounds, 500e-6 * slower);
}

}  // namespace
}  // namespace axon::shape
