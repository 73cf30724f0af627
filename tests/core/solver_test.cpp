// The solver alone: constraints in, bindings, parked constraints and failures out.
#include <gtest/gtest.h>

#include "core/defaults.h"

namespace axon::core {
namespace {

using shape::Dim;

class SolverTest : public testing::Test {
 protected:
  Dim meta(const char* name) { return Dim(vars.dim(name)); }
  Dim rigid(const char* name) { return Dim(vars.dim(name, VarKind::rigid)); }
  Shape any(const char* name) { return {var_item(vars.shape(name))}; }
  static Shape cat(Shape a, std::initializer_list<Dim> dims) {
    for (const Dim& d : dims) a.push_back(dim_item(d));
    return a;
  }
  std::string text(const Shape& s) { return print_shape(vars.zonk(s), vars); }
  std::string parked() {
    std::string out;
    for (const Constraint& c : solver.parked()) out += print(c, vars) + "\n";
    return out;
  }

  TypeStore types;
  Vars vars{types};
  Solver solver{vars};
  WhyId why;
};

TEST_F(SolverTest, CancelsKnownSuffixesAndBindsTheRest) {
  const Dim m = meta("m"), n = rigid("n"), b = rigid("b");
  const Shape a = any("a");
  solver.equal(cat(a, {m}), cat({}, {b, n}), why);
  EXPECT_EQ(text(a), "[b]");
  EXPECT_EQ(vars.zonk(m), n);
}

TEST_F(SolverTest, SolvesRanksAsNumbers) {
  const Shape a = any("a");
  Shape twice = a;
  twice.push_back(a[0]);
  solver.equal(twice, cat({}, {Dim(2), Dim(3), Dim(2), Dim(3)}), why);
  EXPECT_EQ(text(a), "[2, 3]");
}

TEST_F(SolverTest, ParksWhatIsNotDetermined) {
  const Shape a = any("a"), b = any("b");
  Shape both = a;
  both.push_back(b[0]);
  solver.equal(both, cat({}, {Dim(2), Dim(3)}), why);
  EXPECT_EQ(parked(), "[..a, ..b] = [2, 3]\n");
  solver.equal(a, cat({}, {Dim(2)}), why);
  EXPECT_EQ(parked(), "");
  EXPECT_EQ(text(b), "[3]");
}

TEST_F(SolverTest, RefusesAShapeInsideItself) {
  const Shape a = any("a");
  solver.equal(a, cat(a, {Dim(2)}), why);
  EXPECT_EQ(solver.take_failures().size(), 1u);
}

TEST_F(SolverTest, DividesExactly) {
  const Dim h = meta("h"), k = meta("k");
  solver.equal(h * k, Dim(512), why);
  EXPECT_EQ(parked(), "h*k = 512\n");
  solver.equal(h, Dim(8), why);
  EXPECT_EQ(vars.zonk(k), Dim(64));
}

TEST_F(SolverTest, DividesBySymbols) {
  const Dim g = meta("g"), h = rigid("h"), k = rigid("k"), e = rigid("e");
  solver.equal(g * h * k, h * k * e, why);
  EXPECT_EQ(vars.zonk(g), e);
}

TEST_F(SolverTest, NamesThatStandForAnySizeDiffer) {
  solver.equal(rigid("n"), rigid("m"), why);
  EXPECT_EQ(solver.take_failures().size(), 1u);
}

TEST_F(SolverTest, AssumedEqualitiesAreUsed) {
  const Dim n = rigid("n"), m = rigid("m");
  solver.assume(shape::equal(n, m));
  solver.equal(n + 1, m + 1, why);
  EXPECT_TRUE(solver.take_failures().empty());
}

TEST_F(SolverTest, ABoundDifferenceMustNotBeNegative) {
  const Dim m = meta("m"), n = rigid("n");
  solver.equal(m + 1, n, why);
  EXPECT_EQ(vars.zonk(m), n - 1);
  EXPECT_EQ(parked(), "0 <= n - 1\n");
}

TEST_F(SolverTest, OnlyTheLiteralOneStretches) {
  const Dim n = rigid("n"), m = meta("m");
  const Shape r = any("r");
  solver.join(r, {cat({}, {Dim(3), Dim(1)}), cat({}, {n})}, why);
  EXPECT_EQ(text(r), "[3, n]");
  const Shape s = any("s");
  solver.join(s, {cat({}, {m}), cat({}, {n})}, why);
  EXPECT_EQ(vars.zonk(m), n);
  solver.join(any("t"), {cat({}, {Dim(3)}), cat({}, {Dim(4)})}, why);
  EXPECT_EQ(solver.take_failures().size(), 1u);
}

TEST_F(SolverTest, AJoinOfUnknownRanksWaits) {
  const Shape r = any("r"), a = any("a"), b = any("b");
  solver.join(r, {cat(a, {Dim(2)}), cat(b, {Dim(2)})}, why);
  EXPECT_EQ(parked(), "[..r] = [..a] | [..b]\n");
  solver.equal(b, {}, why);
  EXPECT_EQ(parked(), "");
  EXPECT_EQ(text(r), "[..a, 2]");
}

TEST_F(SolverTest, AnUnknownRankThatMeetsKnownAxesDefaultsToInto) {
  const Shape r = any("r"), c = any("c"), a = any("a");
  const Dim n = rigid("n");
  solver.join(r, {cat(a, {n}), c}, why);
  ASSERT_TRUE(Defaults(vars, solver).default_joins());
  EXPECT_EQ(text(r), "[..a, n]");
  EXPECT_EQ(parked(), "[..c] into [..a, n]\n");
  solver.equal(c, cat({}, {Dim(1)}), why);
  EXPECT_EQ(parked(), "");
}

TEST_F(SolverTest, TheSameOperandsHaveOneJoin) {
  const Shape r = any("r"), s = any("s"), a = any("a"), b = any("b");
  solver.join(r, {a, b}, why);
  solver.join(s, {b, a}, why);
  solver.equal(r, s, why);
  while (Defaults(vars, solver).default_joins()) {
  }
  EXPECT_TRUE(solver.take_failures().empty());
  EXPECT_EQ(solver.parked().size(), 1u);
}

}  // namespace
}  // namespace axon::core
