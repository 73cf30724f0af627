// bounds_of() and simplify() on the shapes that tiling, overlap and slicing produce.
#include "support.h"

namespace axon::shape {
namespace {

struct BoundsCase {
  const char *facts, *expr, *keep, *low, *high;  // "-": no bound
};

TEST(Bounds, EliminateVariables) {
  const BoundsCase cases[] = {
      {"0 <= a; 32*a <= j; j < 32*a + 32", "2*(j/2)", "a", "32*a", "32*a + 30"},
      {"0 <= a; 32*a <= j; j < 32*a + 32", "2*(j/2) + 1", "a", "32*a + 1", "32*a + 31"},
      {"0 <= a; 32*a <= j; j < min(32*a + 32, n)", "j", "a n", "32*a", "min(32*a + 32, n) - 1"},
      {"0 <= a; 32*a <= j; j < min(32*a + 32, n)", "j/4", "a n", "8*a", "(min(32*a + 32, n) - 1)/4"},
      {"32*a <= j; j < 32*a + 32; j < n", "2*j + 1", "a n", "64*a + 1", "2*min(32*a + 32, n) - 1"},
      {"0 <= i; i < n; 0 <= j; j < m; 0 <= m", "i*m + j", "n m", "0", "n*m - 1"},
      {"0 <= i; i < n; i <= j; j < i + 4", "j - i", "n", "0", "3"},
      {"0 <= i; i < n; i <= j; j < i + 4", "i + j", "n", "0", "2*n + 1"},
      {"0 <= a; 32*a <= j; j < 32*a + 32", "j % 32", "a", "0", "31"},
      {"0 <= j; j < n", "j % 4", "n", "0", "min(n - 1, 3)"},
      {"4*a <= j; j < 4*a + 4", "j/4", "a", "a", "a"},
      {"a <= j/4; j/4 < a + 2", "j", "a", "4*a", "4*a + 7"},
      {"0 <= i; i < 8", "i*i", "", "0", "49"},
      {"0 <= i; i < n", "n - 1 - i", "n", "0", "n - 1"},
      {"0 <= t; t < n - k + 1; 0 <= s; s < k", "t + s", "n k", "0", "n - 1"},
      {"1 <= d; d*a <= j; j < d*a + d", "j/d", "a d", "a", "a"},
      {"j == 2*a + 1", "3*j", "a", "6*a + 3", "6*a + 3"},
      {"0 <= i; i < 7", "min(i, 6 - i)", "", "0", "3"},
      {"0 <= i; i < 8", "min(i, 7 - i)", "", "0", "3"},
      {"0 <= i; i < 7", "max(2*i, 9 - i)", "", "6", "12"},
      {"0 <= i; i < 7", "min(i, 100 - i)", "", "0", "6"},
      {"0 <= i; i < 7; 0 <= j; j < 5", "min(i + j, 10 - i)", "", "0", "7"},
      {"0 <= i; i < m; 0 <= m", "min(i, m - 1 - i)", "m", "0", "(m - 1)/2"},
      {"0 <= i; i < m; 1 <= m", "n - min(i, m - 1 - i)", "m n", "n - (m - 1)/2", "n"},
      {"0 <= j", "j", "n", "0", "-"},
      {"", "j + n", "n", "-", "-"},
  };
  for (const BoundsCase& c : cases) {
    Scope s;
    for (auto name : split(c.keep, ' ')) s.named(name);
    auto keep = [&](Var var) {
      for (auto name : split(c.keep, ' '))
        if (s.var(name) == var) return true;
      return false;
    };
    Bounds bounds = bounds_of(s.dim(c.expr), s.facts(c.facts), keep);
    auto expect = [&](const std::optional<Dim>& got, const char* wanted) {
      std::string text = got ? got->str() : "-";
      EXPECT_EQ(text, std::string_view(wanted) == "-" ? "-" : s.dim(wanted).str())
          << c.expr << " under " << c.facts;
    };
    expect(bounds.low, c.low);
    expect(bounds.high, c.high);
  }
}

TEST(Simplify, UsesFacts) {
  struct Case {
    const char *facts, *expr, *result;
  };
  const Case cases[] = {
      {"0 <= i; i < n", "i % n", "i"},
      {"0 <= i; i < n", "(i*n + i)/n", "i"},
      {"32*a <= j; j < 32*a + 32", "j/32", "a"},
      {"32*a <= j; j < 32*a + 32", "j%32", "j - 32*a"},
      {"1 <= d", "n*d/d", "n"},
      {"0 <= d", "n*d/d", "n*d/d"},
      {"a <= n", "min(a, min(n, b))", "min(a, b)"},
      {"0 <= i; i < 32", "(64*n + i)/32", "2*n"},
      {"0 <= i; i < 32; 0 <= j; j < 4", "(32*j + i)/64", "j/2"},
      {"0 <= n", "max(n, 0)", "n"},
      {"1 <= n; 1 <= m", "(a*n*m + b*m)/(n*m)", "a + b/n"},
      {"0 <= n; 0 <= m", "max(n + m, n)", "n + m"},
      {"0 <= n; n <= 4", "min(n % 8, 7) + n/8", "n"},
  };
  for (const Case& c : cases) {
    Scope s;
    Dim result = simplify(s.dim(c.expr), s.facts(c.facts));
    EXPECT_EQ(result.str(), s.dim(c.result).str()) << c.expr << " under " << c.facts;
  }
}

}  // namespace
}  // namespace axon::shape
