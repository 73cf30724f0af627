// Random expressions and statements against direct evaluation and brute force. The seeds are fixed, so a
// failure repeats; the message of each check holds the texts it was made from.
#include "../sanitized.h"
#include "support.h"

namespace axon::shape {
namespace {

/// Evaluates the text itself, with no normal form in between.
struct Reference {
  using Value = std::optional<int64_t>;
  const std::map<std::string, int64_t, std::less<>>& values;

  static Value both(Value a, Value b, Value (*f)(int64_t, int64_t)) {
    return a && b ? f(*a, *b) : std::nullopt;
  }
  Value number(int64_t v) { return v; }
  std::optional<Value> name(std::string_view text) { return Value(values.find(text)->second); }
  Value add(Value a, Value b) {
    return both(a, b, [](int64_t x, int64_t y) { return Value(x + y); });
  }
  Value subtract(Value a, Value b) {
    return both(a, b, [](int64_t x, int64_t y) { return Value(x - y); });
  }
  Value multiply(Value a, Value b) {
    return both(a, b, [](int64_t x, int64_t y) {
      int64_t product;
      return __builtin_mul_overflow(x, y, &product) || std::abs(product) > (int64_t{1} << 40)
                 ? Value()
                 : Value(product);
    });
  }
  Value divide(Value a, Value b) {
    return both(a, b, [](int64_t x, int64_t y) {
      if (y == 0) return Value();
      int64_t q = x / y;
      while (y > 0 ? q * y > x : q * y < x) --q;
      return Value(q);
    });
  }
  Value modulo(Value a, Value b) {
    Value q = divide(a, b);
    return q ? Value(*a - *q * *b) : q;
  }
  std::optional<Value> call(std::string_view name, const std::vector<Value>& x) {
    if (name == "cdiv") return divide(subtract(add(x[0], x[1]), 1), x[1]);
    if (name == "min") return both(x[0], x[1], [](int64_t a, int64_t b) { return Value(std::min(a, b)); });
    return both(x[0], x[1], [](int64_t a, int64_t b) { return Value(std::max(a, b)); });
  }
};

std::optional<int64_t> reference(std::string_view text,
                                 const std::map<std::string, int64_t, std::less<>>& values) {
  Reference algebra{values};
  ExprParser<Reference> parser(text, 0, algebra);
  auto value = parser.sum();
  return value ? *value : std::nullopt;
}

const std::vector<std::string> random_names{"n", "m", "i", "j"};

TEST(Property, NormalFormKeepsTheValue) {
  RandomText random(1, random_names);
  size_t compared = 0;
  for (int round = 0; round < sampled(20000); ++round) {
    std::string text = random.expr(static_cast<int>(random.number(1, 4)));
    Scope s;
    for (const auto& name : random_names) s.named(name);
    Dim dim = s.dim(text);
    for (int sample = 0; sample < 6; ++sample) {
      std::map<std::string, int64_t, std::less<>> values;
      Assignment assignment;
      for (const auto& name : random_names) assignment[s.var(name)] = values[name] = random.number(-9, 20);
      auto wanted = reference(text, values);
      if (!wanted) continue;
      ++compared;
      ASSERT_EQ(dim.evaluate(assignment), wanted) << text << " became " << dim.str();
    }
  }
  EXPECT_GT(compared, sampled_floor(80000u));
}

TEST(Property, PrintThenParseIsIdentity) {
  RandomText random(2, random_names);
  Scope s;
  for (const auto& name : random_names) s.named(name);
  for (int round = 0; round < sampled(20000); ++round) {
    std::string text = random.expr(static_cast<int>(random.number(1, 5)));
    Dim dim = s.dim(text);
    if (overflowed(dim)) continue;
    ASSERT_EQ(s.dim(dim.str()), dim) << text << " printed " << dim.str() << " read "
                                     << s.dim(dim.str()).str();
  }
}

TEST(Property, SubstituteIsEvaluation) {
  RandomText random(3, random_names);
  Scope s;
  for (const auto& name : random_names) s.named(name);
  for (int round = 0; round < sampled(5000); ++round) {
    Dim dim = s.dim(random.expr(3)), inner = s.dim(random.expr(2));
    Assignment values;
    for (const auto& name : random_names) values[s.var(name)] = random.number(-5, 12);
    auto inner_value = inner.evaluate(values);
    if (!inner_value) continue;
    auto substituted = dim.substitute({{s.var("n"), inner}}).evaluate(values);
    values[s.var("n")] = *inner_value;
    auto wanted = dim.evaluate(values);
    if (!wanted) continue;
    ASSERT_EQ(substituted, wanted) << dim.str() << " with n = " << inner.str();
  }
}

TEST(Property, LinearSplitAddsUp) {
  RandomText random(4, random_names);
  Scope s;
  for (int round = 0; round < sampled(5000); ++round) {
    Dim dim = s.dim(random.expr(3));
    auto parts = dim.linear_in(s.var("i"));
    if (!parts) continue;
    EXPECT_FALSE(parts->first.contains(s.var("i")) || parts->second.contains(s.var("i")));
    ASSERT_EQ(parts->first * s.dim("i") + parts->second, dim) << dim.str();
  }
}

TEST(Property, OrderIsTotal) {
  RandomText random(5, random_names);
  Scope s;
  std::vector<Dim> dims;
  for (int i = 0; i < 60; ++i) dims.push_back(s.dim(random.expr(2)));
  for (const Dim& a : dims)
    for (const Dim& b : dims) {
      ASSERT_EQ(compare(a, b), -compare(b, a));
      ASSERT_EQ(compare(a, b) == 0, a == b);
      for (const Dim& c : dims) ASSERT_TRUE(compare(a, b) >= 0 || compare(b, c) >= 0 || compare(a, c) < 0);
    }
}

// ---- Brute force ----

constexpr int64_t largest = 6;
const std::vector<std::string> small_names{"a", "b", "c"};

/// Every assignment of 0..largest to the three names.
template <class Visit>
void for_all(Scope& s, const Visit& visit) {
  for (int64_t a = 0; a <= largest; ++a)
    for (int64_t b = 0; b <= largest; ++b)
      for (int64_t c = 0; c <= largest; ++c)
        visit(Assignment{{s.var("a"), a}, {s.var("b"), b}, {s.var("c"), c}});
}

std::string random_facts(RandomText& random) {
  std::string facts = "0 <= a; a <= 6; 0 <= b; b <= 6; 0 <= c; c <= 6";
  const char* signs[] = {" <= ", " < ", " == ", " != ", " <= ", " < "};
  for (int64_t i = random.number(0, 2); i > 0; --i)
    facts += "; " + random.expr(1) + signs[random.number(0, 5)] +
             random.expr(static_cast<int>(random.number(1, 2)));
  return facts;
}

bool defined(const Fact& fact, const Assignment& values) {
  return fact.lhs.evaluate(values) && fact.rhs.evaluate(values);
}

TEST(Property, VerdictsAgreeWithBruteForce) {
  RandomText random(6, small_names);
  const char* signs[] = {" <= ", " < ", " == ", " != "};
  ProverLimits limits;
  limits.z3_rlimit = 20000;
  int unknown = 0, missed = 0, proved = 0, refuted = 0;
  for (int round = 0; round < sampled(2500); ++round) {
    std::string fact_text = random_facts(random);
    std::string goal_text =
        random.expr(2) + signs[random.number(0, 3)] + random.expr(static_cast<int>(random.number(0, 2)));
    Scope s;
    for (const auto& name : small_names) s.named(name);
    auto facts = s.facts(fact_text);
    Fact goal = s.fact(goal_text);
    std::vector<Fact> goals{goal};
    if (random.number(0, 3) == 0) goals.push_back(s.fact("a < b"));
    Answer answer = prove_any(facts, goals, limits);
    if (answer.verdict == Verdict::refuted) {
      ++refuted;
      ASSERT_TRUE(all_hold(facts, answer.counter_example))
          << fact_text << " |- " << goal_text << " by " << answer.by;
      for (const Fact& g : goals)
        ASSERT_FALSE(holds(g, answer.counter_example).value_or(false))
            << fact_text << " |- " << goal_text << " by " << answer.by;
    }
    if (answer.verdict == Verdict::proved) {
      ++proved;
      for_all(s, [&](const Assignment& values) {
        if (!all_hold(facts, values)) return;
        bool one = false;
        for (const Fact& g : goals) one |= holds(g, values).value_or(false) || !defined(g, values);
        ASSERT_TRUE(one) << fact_text << " |- " << goal_text << " by " << answer.by;
      });
    }
    if (answer.verdict == Verdict::unknown) {
      ++unknown;
      bool refutable = false;
      for_all(s, [&](const Assignment& values) {
        bool breaks = all_hold(facts, values);
        for (const Fact& g : goals)
          breaks = breaks && defined(g, values) && !holds(g, values).value_or(false);
        refutable |= breaks;
      });
      missed += refutable;
    }
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(proved, sampled_floor(300));
  EXPECT_GT(refuted, sampled_floor(300));
  EXPECT_LT(unknown, 250);  // mostly goals that may divide by zero
  EXPECT_LT(missed, 15);
}

TEST(Property, SimplifyKeepsTheValueUnderFacts) {
  RandomText random(7, small_names);
  for (int round = 0; round < sampled(3000); ++round) {
    Scope s;
    for (const auto& name : small_names) s.named(name);
    std::string fact_text = random_facts(random), text = random.expr(3);
    auto facts = s.facts(fact_text);
    Dim dim = s.dim(text), simpler = simplify(dim, facts);
    for_all(s, [&](const Assignment& values) {
      auto wanted = dim.evaluate(values);
      if (!wanted || !all_hold(facts, values)) return;
      ASSERT_EQ(simpler.evaluate(values), wanted)
          << dim.str() << " became " << simpler.str() << " under " << fact_text;
    });
    if (HasFatalFailure()) return;
  }
}

TEST(Property, BoundsHold) {
  RandomText random(8, small_names);
  int found = 0;
  for (int round = 0; round < sampled(3000); ++round) {
    Scope s;
    for (const auto& name : small_names) s.named(name);
    std::string fact_text = random_facts(random), text = random.expr(static_cast<int>(random.number(1, 3)));
    auto facts = s.facts(fact_text);
    Dim dim = s.dim(text);
    Bounds bounds = bounds_of(dim, facts, [&](Var var) { return var == s.var("a"); });
    for (const auto& end : {bounds.low, bounds.high})
      for (Var var : end.value_or(Dim()).vars()) ASSERT_EQ(var, s.var("a")) << end->str();
    found += bounds.low && bounds.high;
    for_all(s, [&](const Assignment& values) {
      auto value = dim.evaluate(values);
      if (!value || !all_hold(facts, values)) return;
      auto low = bounds.low ? bounds.low->evaluate(values) : std::nullopt;
      auto high = bounds.high ? bounds.high->evaluate(values) : std::nullopt;
      ASSERT_LE(low.value_or(*value), *value)
          << dim.str() << " >= " << bounds.low->str() << " under " << fact_text;
      ASSERT_GE(high.value_or(*value), *value)
          << dim.str() << " <= " << bounds.high->str() << " under " << fact_text;
    });
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(found, sampled_floor(1500));
}

}  // namespace
}  // namespace axon::shape
