// Random small graphs mean the same after every pass and after all of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "../../sanitized.h"
#include "support.h"

namespace axon::graph::testing {
namespace {

/// Writes graphs over the sizes m, n, h, c (a matrix axis may be n = h * c split in two), with an optional
/// loop.
class Writer {
 public:
  explicit Writer(uint32_t seed) : random_(seed) {}

  std::string graph() {
    std::string text = R"(graph "random"
  size m = axis 0 of 0 where m
  size h = axis 0 of 2 where h
  size c = axis 1 of 2 where 2*c
  fact 0 <= m
  fact 0 <= h
  fact 1 <= c
  input "x" argument f32[m, 2*h*c]
  input "w" weight f32[2*h*c, 2*h*c]
  input "b" argument f32[h, 2*c]
  input "s" state f32[m, 2*h*c]
  input "start" argument f32[m, 2*h*c]
  %0 = input 0
  %1 = input 1
  %2 = input 2
  %3 = input 3
  %4 = input 4
)";
    values_ = {{"%0", "m", "2*h*c"}, {"%1", "2*h*c", "2*h*c"}, {"%2", "h", "2*c"}};
    next_ = 5;
    if (pick(2)) {
      int loop = next_;
      text += fmt::format(
          "  %{} = loop [l < 3] (f32[m, 2*h*c] = %4, f32[m, 2*h*c] = %3) {{\n"
          "    %{} = param\n",
          loop, loop + 1);
      next_ += 2;
      auto outside = values_;
      values_.push_back({fmt::format("%{}.0", loop + 1), "m", "2*h*c"});
      text += nodes();
      std::string result = full();
      text += fmt::format("  %{} = compute [i < m, j < 2*h*c] {{ out f32[m, 2*h*c] = {}[i, j] * 0.25 }}\n",
                          next_, result);
      text += fmt::format(
          "  %{} = compute [i < m, j < 2*h*c] {{ "
          "out f32[m, 2*h*c] of %{}.1 = {}[i, j] + %{}.1[i, j] }}\n",
          next_ + 1, loop + 1, full(), loop + 1);
      text += fmt::format("    yield (%{}, %{})\n  }}\n", next_, next_ + 1);
      next_ += 2;
      values_ = outside;
      text += fmt::format("  result \"s\" %{}.1\n", loop);
      values_.push_back({fmt::format("%{}.0", loop), "m", "2*h*c"});
      std::string after = nodes();
      size_t results = text.rfind("  result");
      text.insert(results, after);
    } else {
      text += nodes();
      text += fmt::format("  %{} = compute [i < m, j < 2*h*c] {{ out f32[m, 2*h*c] of %3 = {}[i, j] }}\n",
                          next_, full());
      text += fmt::format("  result \"s\" %{}\n", next_++);
    }
    text += fmt::format("  result \"x\" {}\n  result \"y\" {}\n", values_.back().name,
                        values_[values_.size() - 2].name);
    return text;
  }

 private:
  struct Tensor2 {
    std::string name, rows, columns;
  };
  std::mt19937 random_;
  std::vector<Tensor2> values_;
  int next_ = 0;

  uint32_t pick(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  const Tensor2& any() { return values_[pick(static_cast<uint32_t>(values_.size()))]; }
  std::string full() {  // an [m, 2*h*c] tensor, preferably a late one
    for (size_t i = values_.size(); i-- > 0;)
      if (values_[i].rows == "m" && values_[i].columns == "2*h*c" && (i == 0 || pick(3)))
        return values_[i].name;
    return "%0";
  }

  /// Some more nodes, each reading earlier values.
  std::string nodes() {
    std::string text;
    for (uint32_t left = 4 + pick(6); left-- > 0;) text += node();
    return text;
  }

  std::string define(const std::string& domain, const std::string& rows, const std::string& columns,
                     const std::string& body) {
    std::string name = fmt::format("%{}", next_++);
    values_.push_back({name, rows, columns});
    return fmt::format("  {} = compute [{}] {{ out f32[{}, {}] = {} }}\n", name, domain, rows, columns, body);
  }

  std::string matrix(const std::string& body) { return define("i < m, j < 2*h*c", "m", "2*h*c", body); }
  std::string column(const std::string& body) { return define("i < m, j < 1", "m", "1", body); }

  std::string node() {
    const Tensor2 a = any();
    const std::string domain = fmt::format("i < {}, j < {}", a.rows, a.columns), x = a.name + "[i, j]";
    const std::string f = full();
    switch (pick(16)) {
      case 0:
        return define(domain, a.rows, a.columns, fmt::format("{} * 0.5 + 1.0", x));
      case 1:
        return define(domain, a.rows, a.columns, fmt::format("tanh({})", x));
      case 2:
        return matrix(fmt::format("{}[i, j] * %2[j/(2*c), j%(2*c)]", f));
      case 3:
        return define(fmt::format("j < {}, i < {}", a.columns, a.rows), a.columns, a.rows, x);
      case 4:
        return matrix(fmt::format("sum(k < 2*h*c; {}[i, k] * %1[k, j])", f));
      case 5:
        return column(fmt::format("sum(k < 2*h*c; {}[i, k] * {}[i, k])", f, f));
      case 6:
        return matrix(
            fmt::format("select({{j % 2}} == 0, {0}[i, 2*(j/2)] - {0}[i, 2*(j/2) + 1], "
                        "{0}[i, 2*(j/2)] * 0.5)",
                        f));
      case 7: {
        std::string rows = column(fmt::format("sum(k < 2*h*c; {}[i, k])", f));
        std::string name = values_.back().name;
        return rows + matrix(fmt::format("{}[i, j] * rsqrt(abs({}[i, 0]) + 1.0)", f, name));
      }
      case 8: {
        std::string text = column(fmt::format("max(k < 2*h*c; {}[i, k])", f));
        std::string max = values_.back().name;
        text += matrix(fmt::format("exp({}[i, j] - {}[i, 0])", f, max));
        std::string e = values_.back().name;
        text += column(fmt::format("sum(k < 2*h*c; {}[i, k])", e));
        text += matrix(fmt::format("{}[i, j] / {}[i, 0]", e, values_.back().name));
        return text;
      }
      case 9:
        return matrix(fmt::format("sum(k < 2*h*c; {}[i, k] * (0.5 * %1[j, k]) * %2[j/(2*c), j%(2*c)])", f));
      case 10:
        return define(domain, a.rows, a.columns, fmt::format("select({{i}} <= {{j}}, {0}, 0.0 - {0})", x));
      case 11:
        return matrix(fmt::format("{}[i, j] + {}[i, j]", f, full()));
      case 12: {  // a projection, split into heads, rotated in pairs, joined again
        std::string text = matrix(fmt::format("sum(k < 2*h*c; {}[i, k] * %1[k, j])", f));
        std::string whole = values_.back().name, heads = fmt::format("%{}", next_++);
        values_.pop_back();
        text += fmt::format(
            "  {0} = compute [p < h, i < m, e < 2*c] {{ out f32[h, m, 2*c] = "
            "select({{e % 2}} == 0, {1}[i, 2*c*p + 2*(e/2)] * %2[p, e] - "
            "{1}[i, 2*c*p + 2*(e/2) + 1], {1}[i, 2*c*p + e] * 0.5) }}\n",
            heads, whole);
        return text + matrix(heads + "[j/(2*c), i, j%(2*c)] * 0.5");
      }
      case 13: {  // rows scaled by a statistic inside a contraction
        std::string text = column(fmt::format("sum(k < 2*h*c; {}[i, k] * 0.125)", f));
        std::string scale = values_.back().name;
        return text + matrix(fmt::format("sum(k < 2*h*c; {}[i, k] * {}[i, 0] * %1[k, j])", f, scale));
      }
      case 14: {  // attention over the rows of w
        std::string text = matrix(fmt::format("sum(k < 2*h*c; {}[i, k] * %1[j, k])", f));
        std::string s = values_.back().name;
        text += column(fmt::format("max(k < 2*h*c; {}[i, k] * 0.25)", s));
        std::string max = values_.back().name;
        text += matrix(fmt::format("exp({}[i, j] * 0.25 - {}[i, 0])", s, max));
        std::string e = values_.back().name;
        text += column(fmt::format("sum(k < 2*h*c; {}[i, k])", e));
        std::string sum = values_.back().name;
        return text + matrix(fmt::format("sum(k < 2*h*c; {}[i, k] / {}[i, 0] * %1[k, j])", e, sum));
      }
      default:
        return define(domain, a.rows, a.columns, "f32({i + 2*j}) * 0.125");
    }
  }
};

class RandomGraph : public ::testing::TestWithParam<uint32_t> {};

TEST_P(RandomGraph, KeepsItsMeaning) {
  std::string text = Writer(GetParam()).graph();
  Graph before = read(text);
  ASSERT_FALSE(HasFailure()) << text;
  Graph after = before;
  for (const char* pass : {"simplify", "inline_pointwise", "merge_online", "factor", "fuse"}) {
    run(after, pass);
    EXPECT_GE(expect_same_meaning(before, after, GetParam(), {0, 1, 2, 3}), 4);
    ASSERT_FALSE(HasFailure()) << pass << "\n" << text << print(after);
  }
}
INSTANTIATE_TEST_SUITE_P(Passes, RandomGraph, ::testing::Range(0u, sampled(60u)));

TEST(RandomGraph, ResultsAreReproducible) {
  for (uint32_t seed = 0; seed < sampled(60u); ++seed) {
    std::string text = Writer(seed).graph();
    Graph one = read(text), two = read(text);
    run(one, "all");
    run(two, "all");
    EXPECT_EQ(print(one), print(two)) << text;
  }
}

}  // namespace
}  // namespace axon::graph::testing
