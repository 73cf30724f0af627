// Random programs over vectors, against plain counting with every pair of sizes 0..8.
//
// A program slices, joins, pads, adds and steps through two vectors of sizes n and m. What is said of it once
// and for all sizes must be what happens for each: where its `where` holds, nothing goes wrong and the size
// of the result is the one in its type; where it is refused, some sizes break it. The seed is fixed, and a
// failure shows the program.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "../sanitized.h"
#include "core/harness.h"

namespace axon::corpus {
namespace {

constexpr int64_t most = 8, far = 24;

using Size = std::optional<int64_t>;  ///< nothing: something went wrong on the way

struct Sizes {
  int64_t n, m;
};

/// A program text with what it computes for given sizes.
struct Part {
  std::string text;
  std::function<Size(const Sizes&)> size;
  bool linear =
      true;  ///< no product of two sizes: the fragment in which nothing may be refused that nothing breaks
};

const std::string definitions =
    "fun plus (a : [k]) (b : [k]) = for i => a[i] + b[i]\n"
    "fun pad_to (k : i64) (a : [j]) : [k] where j <= k = for (i < k) => a[i else 0]\n"
    "fun halve (a : [2*k]) : [k] = for (i < k) => a[2*i] + a[2*i + 1]\n"
    "fun products (a : [j]) (b : [k]) : [j*k] = rearrange (for p q => a[p] * b[q]) [j, k] => [j*k]\n"
    "fun pairs (a : [k]) = for (i < k / 2) => a[2*i] + a[2*i + 1]\n"
    "fun windows (k : i64) (a : [j]) where 1 <= k, k <= j = for (i < j - k + 1) => sum (a[i:i + k])\n";

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  Part program(int depth) {
    linear_ = true;
    Part result = vector(depth);
    result.linear = linear_;
    return result;
  }

 private:
  Part vector(int depth) {
    if (depth == 0)
      return pick(2) ? part("x", [](const Sizes& s) { return Size(s.n); })
                     : part("y", [](const Sizes& s) { return Size(s.m); });
    const Part a = vector(depth - 1);
    switch (pick(12)) {
      case 0:
      case 1: {
        const Part from = number(1), to = number(1);
        return part(fmt::format("({})[{}:{}]", a.text, from.text, to.text), [=](const Sizes& s) -> Size {
          const Size size = a.size(s), low = from.size(s), high = to.size(s);
          if (!size || !low || !high || *low < 0 || *low > *high || *high > *size) return std::nullopt;
          return *high - *low;
        });
      }
      case 2: {
        const Part from = number(1);
        return part(fmt::format("({})[{}:]", a.text, from.text), [=](const Sizes& s) -> Size {
          const Size size = a.size(s), low = from.size(s);
          if (!size || !low || *low < 0 || *low > *size) return std::nullopt;
          return *size - *low;
        });
      }
      case 3:
      case 4: {
        const Part b = vector(depth - 1);
        return part(fmt::format("concat ({}) ({})", a.text, b.text), [=](const Sizes& s) -> Size {
          const Size left = a.size(s), right = b.size(s);
          return left && right ? Size(*left + *right) : std::nullopt;
        });
      }
      case 5: {
        const Part b = vector(depth - 1);
        return part(fmt::format("plus ({}) ({})", a.text, b.text), [=](const Sizes& s) -> Size {
          const Size left = a.size(s), right = b.size(s);
          return left && right && *left == *right ? left : std::nullopt;
        });
      }
      case 6: {
        const Part to = number(2);
        return part(fmt::format("pad_to ({}) ({})", to.text, a.text), [=](const Sizes& s) -> Size {
          const Size size = a.size(s), wanted = to.size(s);
          return size && wanted && *size <= *wanted ? wanted : std::nullopt;
        });
      }
      case 7:
        return part(fmt::format("({})[::2]", a.text), [=](const Sizes& s) -> Size {
          const Size size = a.size(s);
          return size ? Size((*size + 1) / 2) : std::nullopt;
        });
      case 8:
        return part(fmt::format("pairs ({})", a.text), [=](const Sizes& s) -> Size {
          const Size size = a.size(s);
          return size ? Size(*size / 2) : std::nullopt;
        });
      case 9:
        return part(fmt::format("halve ({})", a.text), [=](const Sizes& s) -> Size {
          const Size size = a.size(s);
          return size && *size % 2 == 0 ? Size(*size / 2) : std::nullopt;
        });
      case 10: {
        const Part b = vector(depth - 1);
        Part both = part(fmt::format("products ({}) ({})", a.text, b.text), [=](const Sizes& s) -> Size {
          const Size left = a.size(s), right = b.size(s);
          return left && right ? Size(*left * *right) : std::nullopt;
        });
        linear_ = false;
        return both;
      }
      default:
        break;
    }
    const int64_t width = 1 + pick(3);
    return part(fmt::format("windows {} ({})", width, a.text), [=](const Sizes& s) -> Size {
      const Size size = a.size(s);
      return size && width <= *size ? Size(*size - width + 1) : std::nullopt;
    });
  }

  int64_t pick(int64_t count) { return static_cast<int64_t>(random_() % static_cast<unsigned>(count)); }
  static Part part(std::string text, std::function<Size(const Sizes&)> size) {
    return {std::move(text), std::move(size), true};
  }

  Part number(int depth) {
    if (depth == 0) {
      const int64_t c = pick(4);
      switch (pick(3)) {
        case 0:
          return part("n", [](const Sizes& s) { return Size(s.n); });
        case 1:
          return part("m", [](const Sizes& s) { return Size(s.m); });
        default:
          return part(std::to_string(c), [=](const Sizes&) { return Size(c); });
      }
    }
    const Part a = number(depth - 1), b = number(depth - 1);
    const int64_t c = 1 + pick(3);
    auto both = [&](const char* form, int64_t (*f)(int64_t, int64_t)) {
      return part(fmt::format(fmt::runtime(form), a.text, b.text), [=](const Sizes& s) -> Size {
        const Size x = a.size(s), y = b.size(s);
        return x && y ? Size(f(*x, *y)) : std::nullopt;
      });
    };
    auto with = [&](const char* form, int64_t (*f)(int64_t, int64_t)) {
      return part(fmt::format(fmt::runtime(form), a.text, c), [=](const Sizes& s) -> Size {
        const Size x = a.size(s);
        return x ? Size(f(*x, c)) : std::nullopt;
      });
    };
    switch (pick(7)) {
      case 0:
        return both("({} + {})", [](int64_t x, int64_t y) { return x + y; });
      case 1:
        return both("(min {} {})", [](int64_t x, int64_t y) { return std::min(x, y); });
      case 2:
        return both("(max {} {})", [](int64_t x, int64_t y) { return std::max(x, y); });
      case 3:
        return with("({} / {})", [](int64_t x, int64_t y) { return x / y; });
      case 4:
        return with("({} % {})", [](int64_t x, int64_t y) { return x % y; });
      case 5:
        return with("({} * {})", [](int64_t x, int64_t y) { return x * y; });
      default:
        return a;
    }
  }

  std::mt19937 random_;
  bool linear_ = true;
};

Size result_size(const core::Program& p, const core::Scheme& s, const shape::Assignment& values) {
  const core::Type fn = p.types.types[s.type];
  const core::Type result = p.types.types[fn.items.back()];
  if (result.shape.size() != 1) return std::nullopt;
  return result.shape[0].dim.evaluate(values);
}

/// Some sizes for which the program goes wrong, also beyond the small ones.
bool breaks_somewhere(const Part& part) {
  for (int64_t n = 0; n <= far; ++n)
    for (int64_t m = 0; m <= far; ++m)
      if (!part.size({n, m})) return true;
  return false;
}

/// Does the type say for each pair of sizes what happens? Empty, or the first that shows it does not.
std::string compare(const Part& part, const core::Checked& checked, shape::Var first, shape::Var second) {
  const core::Scheme& scheme = checked.global("f").scheme;
  for (int64_t n = 0; n <= most; ++n)
    for (int64_t m = 0; m <= most; ++m) {
      const shape::Assignment values{{first, n}, {second, m}};
      const bool allowed =
          std::all_of(scheme.where.begin(), scheme.where.end(),
                      [&](const shape::Fact& fact) { return holds(fact, values).value_or(false); });
      const Size size = part.size({n, m});
      const std::string at = fmt::format("n = {}, m = {}", n, m);
      if (allowed && !size) return "accepts " + at;
      if (!allowed && size && part.linear) return "refuses " + at + ", where nothing goes wrong";
      if (allowed && result_size(checked.program, scheme, values) != size) return "another size for " + at;
    }
  return "";
}

TEST(BruteForce, WhatIsSaidOfAllSizesHoldsForEach) {
  const char* wanted = std::getenv("AXON_SEED");
  const unsigned seed = wanted ? static_cast<unsigned>(std::strtoul(wanted, nullptr, 10)) : 20;
  SCOPED_TRACE(fmt::format("AXON_SEED={}", seed));
  Generator generator(seed);
  int accepted = 0, asked = 0, refused = 0;
  for (int round = 0; round < sampled(500); ++round) {
    const Part part = generator.program(1 + round % 3);
    const std::string text = definitions + "fun f (x : f32[n]) (y : f32[m]) = " + part.text + "\n";
    const core::Checked checked = core::check_text(text);
    const core::Global& g = checked.global("f");
    if (g.has_error) {
      ++refused;
      EXPECT_TRUE(!part.linear || breaks_somewhere(part))
          << "refused, though nothing breaks it: " << part.text << "\n"
          << checked.errors();
      continue;
    }
    ASSERT_FALSE(checked.diagnostics->has_errors()) << part.text << checked.errors();
    ++accepted;
    asked += !g.scheme.where.empty();
    const core::Type fn = checked.program.types.types[g.scheme.type];
    auto size_of = [&](size_t i) { return *checked.program.types.types[fn.items[i]].shape[0].dim.as_var(); };
    const std::string problem = compare(part, checked, size_of(0), size_of(1));
    EXPECT_EQ(problem, "") << part.text << " : " << checked.type_of("f");
  }
  EXPECT_GT(accepted, sampled_floor(200));
  EXPECT_GT(asked, sampled_floor(100));
  EXPECT_GT(refused, sampled_floor(50));
}

}  // namespace
}  // namespace axon::corpus
