// Dimensions at run time: the grammar, floor semantics, overflow, limits.
#include <gtest/gtest.h>

#include "host/dim.h"

namespace axon::host {
namespace {

const std::vector<std::string> names{"n", "m", "head_dim", "n'"};

std::optional<int64_t> value(const std::string& text, std::vector<int64_t> sizes = {7, -3, 64, 5}) {
  const auto dim = Dim::parse(text, names);
  int64_t out = 0;
  if (!dim) {
    ADD_FAILURE() << Result<Dim>(dim).failure().text;
    return std::nullopt;
  }
  return dim->evaluate(sizes.data(), out) ? std::optional(out) : std::nullopt;
}

std::string problem(const std::string& text) {
  auto dim = Dim::parse(text, names);
  return dim ? "" : dim.failure().text;
}

TEST(Dim, Grammar) {
  EXPECT_EQ(value("1 + 2*3"), 7);
  EXPECT_EQ(value("(1 + 2)*3"), 9);
  EXPECT_EQ(value("10 - 3 - 2"), 5);
  EXPECT_EQ(value("n*head_dim + m"), 7 * 64 - 3);
  EXPECT_EQ(value("n'"), 5);
  EXPECT_EQ(value("min(n, 4) + max(m, 2)"), 6);
  EXPECT_EQ(value("min(n, 4, m)"), -3);
  EXPECT_EQ(value(" cdiv( n , 2 )"), 4);
  EXPECT_EQ(value("100/7/2"), 7);
}

TEST(Dim, DivisionFloorsAndMinusNegatesTheProduct) {
  EXPECT_EQ(value("m / 2"), -2);
  EXPECT_EQ(value("m % 2"), 1);
  EXPECT_EQ(value("n % m"), -2);
  EXPECT_EQ(value("n / m"), -3);
  EXPECT_EQ(value("-n / 2"), -3);
  EXPECT_EQ(value("-n / 2 + 10"), 7);
  EXPECT_EQ(value("(0 - n) / 2"), -4);
  EXPECT_EQ(value("cdiv(m, 2)"), -1);
}

TEST(Dim, OverflowAndDivisionByZeroHaveNoValue) {
  EXPECT_EQ(value("9223372036854775807 + n"), std::nullopt);
  EXPECT_EQ(value("0 - 9223372036854775807 - n"), std::nullopt);
  EXPECT_EQ(value("n*4611686018427387904"), std::nullopt);
  EXPECT_EQ(value("n / (n - 7)"), std::nullopt);
  EXPECT_EQ(value("n % (n - 7)"), std::nullopt);
  EXPECT_EQ(value("cdiv(n, n - 7)"), std::nullopt);
  EXPECT_EQ(value("(0 - 9223372036854775807 - 1) / (m + 2)"), std::nullopt);
  EXPECT_EQ(value("-n", {INT64_MIN, 0, 0, 0}), std::nullopt);
}

TEST(Dim, SumsAndProductsAreMadeIn128Bits) {
  const auto wide = [](const std::string& text, std::vector<int64_t> sizes) -> std::string {
    const auto dim = Dim::parse(text, names);
    Wide out = 0;
    return dim && dim->evaluate_wide(sizes.data(), out) ? wide_text(out) : "none";
  };
  EXPECT_EQ(wide("3*n", {6148914691236517206, 0, 0, 0}), "18446744073709551618");
  EXPECT_EQ(wide("-n", {INT64_MIN, 0, 0, 0}), "9223372036854775808");
  EXPECT_EQ(wide("0 - n*n", {INT64_MIN, 0, 0, 0}), "-85070591730234615865843651857942052864");
  EXPECT_EQ(wide("n*n*n", {INT64_MIN, 0, 0, 0}), "none");
  EXPECT_EQ(wide("min(3*n, m)", {6148914691236517206, 5, 0, 0}), "none");  // generated code has 64 bits
  EXPECT_EQ(wide("n*n / m", {1ll << 40, 5, 0, 0}), "none");
  EXPECT_EQ(value("n*n - m*m", {1ll << 40, 1ll << 40, 0, 0}), 0);
  EXPECT_EQ(value("cdiv(n, m)", {INT64_MAX, 2, 0, 0}), std::nullopt);
}

TEST(Dim, MaskSaysWhichSizesAreRead) {
  EXPECT_EQ(Dim::parse("n + head_dim*2", names)->mask(), 0b101u);
  EXPECT_EQ(Dim::parse("12", names)->mask(), 0u);
  EXPECT_EQ(Dim::parse("head_dim", names)->as_size(), 2);
  EXPECT_EQ(Dim::parse("head_dim + 0", names)->as_size(), -1);
}

TEST(Dim, MalformedTextIsRefused) {
  for (const char* text : {"",
                           "n +",
                           "+ n",
                           "n m",
                           "(n",
                           "n)",
                           "min(n)",
                           "min(n,",
                           "cdiv(n, 1, 2)",
                           "sqrt(n)",
                           "q",
                           "2n",
                           "n $ 1",
                           "9223372036854775808",
                           "*",
                           ",",
                           "n--m",
                           "1.5",
                           "\xff",
                           "n\n+ 1"})
    EXPECT_NE(problem(text), "") << text;
}

TEST(Dim, DepthIsBounded) {
  const std::string open(10'000, '(');
  EXPECT_NE(problem(open + "n" + std::string(10'000, ')')).find("nested too deeply"), std::string::npos);
  std::string right = "n";
  for (int i = 0; i < 100; ++i) right = "1 + (" + right + ")";
  EXPECT_NE(problem(right).find("nested too deeply"), std::string::npos);
  std::string flat = "n";
  for (int i = 0; i < 1000; ++i) flat += " + 1";
  EXPECT_EQ(value(flat), 1007);
}

}  // namespace
}  // namespace axon::host
