// exact_range(): what it accepts never leaves i64, and its ends hold; what it must refuse.
#include "shape/exact.h"

#include <gtest/gtest.h>

#include <random>

#include "support.h"

namespace axon::shape {
namespace {

/// v and w are integers, everything else is a size.
class Exact : public ::testing::Test {
 protected:
  Scope s;
  std::optional<WideRange> range(const std::string& text) {
    return exact_range(s.dim(text), [&](Var v) {
      const std::string& name = var_name(v);
      return name == "v" || name == "w" ? integer_range() : size_range();
    });
  }
};

TEST_F(Exact, SizesAreExact) {
  for (const char* text : {"n", "n*m", "n*m*k", "2*n + 3*m - k", "min(n*m, 5)", "(n*m + k) / 7",
                           "(n - m) % k", "n*m - k*h", "n / m", "max(n - 1, 0)*4"})
    EXPECT_TRUE(range(text)) << text;
}

TEST_F(Exact, IntegersMayWrap) {
  for (const char* text : {"v + 1", "v - n", "3*v", "v*w", "-v", "n*v", "min(3*v, n)", "(v + 1) % n", "v / w",
                           "max(v*v, 0)", "40000*n", "9223372036854775807*n"})
    EXPECT_FALSE(range(text)) << text;
  for (const char* text :
       {"v", "min(v, n)", "max(v, 0)", "v % n", "v / 3", "v / n", "min(max(v, 0), n)*2 + m"})
    EXPECT_TRUE(range(text)) << text;
}

TEST_F(Exact, EndsHold) {
  EXPECT_EQ(range("min(v, n)")->high, largest_size);
  EXPECT_EQ(range("min(v, n)")->low, INT64_MIN);
  EXPECT_EQ(range("max(min(v, n), 0)")->low, 0);
  EXPECT_EQ(range("n*m")->high, largest_product);
  EXPECT_EQ(range("v % 7")->high, 6);
}

/// Random expressions at random values near the ends of their ranges: no value of an accepted one lies
/// outside of the range, nor does evaluating it in i64 overflow.
TEST_F(Exact, WhatIsAcceptedDoesNotOverflow) {
  std::mt19937_64 random(1);
  const auto pick = [&](size_t below) { return random() % below; };
  const std::function<std::string(int)> text = [&](int depth) -> std::string {
    static const char* const leaves[] = {"n", "m", "v", "w", "1", "3", "1000", "4611686018427387904"};
    if (depth == 0) return leaves[pick(8)];
    const std::string a = "(" + text(depth - 1) + ")", b = "(" + text(depth - 1) + ")";
    switch (pick(7)) {
      case 0:
        return a + " - " + b;
      case 1:
        return a + "*" + b;
      case 2:
        return a + " / 3";
      case 3:
        return a + " % 5";
      case 4:
        return "min(" + a + ", " + b + ")";
      case 5:
        return "max(" + a + ", " + b + ")";
      default:
        return a + " + " + b;
    }
  };
  const std::vector<int64_t> sizes{0, 1, 7, 100, 1 << 20, largest_size - 1, largest_size};
  const std::vector<int64_t> integers{INT64_MIN, INT64_MIN + 1, -1, 0, 1, 6148914691236517205, INT64_MAX};
  size_t accepted = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string source = text(3);
    const Dim d = s.dim(source);
    const auto known = range(source);
    if (!known) continue;
    ++accepted;
    for (int k = 0; k < 20; ++k) {
      Assignment values{{s.var("v"), integers[pick(integers.size())]},
                        {s.var("w"), integers[pick(integers.size())]}};
      // up to eight sizes are multiplied, and the product is a size of a tensor
      const size_t below = source.find('*') == std::string::npos ? sizes.size() : 4;
      for (const char* size : {"n", "m"}) values[s.var(size)] = sizes[pick(below)];
      const auto value = d.evaluate(values);
      const auto wide = d.evaluate_wide(values);
      ASSERT_TRUE(value && wide) << source << " is " << d.str();
      ASSERT_TRUE(*wide >= known->low && *wide <= known->high) << source;
      EXPECT_EQ(static_cast<Wide>(*value), *wide);
    }
  }
  EXPECT_GT(accepted, 300u);
}

}  // namespace
}  // namespace axon::shape
