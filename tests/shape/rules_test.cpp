// rules.def: every row is proved by Z3 for all integers, and the code does what the row says.
#include "shape/z3.h"
#include "support.h"

namespace axon::shape {
namespace {

struct Rule {
  const char *name, *conditions, *lhs, *rhs;
};
constexpr Rule rules[] = {
#define RULE(name, conditions, lhs, rhs) {#name, conditions, lhs, rhs},
#include "shape/rules.def"
#undef RULE
};

/// SMT-LIB text of an expression; division and remainder are named q(l, r) and r(l, r) and defined on the
/// side.
class SmtAlgebra {
 public:
  using Value = std::string;
  explicit SmtAlgebra(std::map<std::string, int64_t> constants) : constants_(std::move(constants)) {}

  Value number(int64_t value) { return value < 0 ? fmt::format("(- {})", -value) : std::to_string(value); }
  std::optional<Value> name(std::string_view text) {
    auto found = constants_.find(std::string(text));
    if (found != constants_.end()) return number(found->second);
    names_[std::string(text)] = true;
    return std::string(text);
  }
  Value add(const Value& a, const Value& b) { return op("+", a, b); }
  Value subtract(const Value& a, const Value& b) { return op("-", a, b); }
  Value multiply(const Value& a, const Value& b) { return op("*", a, b); }
  Value divide(const Value& a, const Value& b) { return division(a, b).first; }
  Value modulo(const Value& a, const Value& b) { return division(a, b).second; }
  std::optional<Value> call(std::string_view name, const std::vector<Value>& x) {
    if (x.size() != 2 || (name != "min" && name != "max")) return std::nullopt;
    return fmt::format("(ite {} {} {})", op(name == "min" ? "<=" : ">=", x[0], x[1]), x[0], x[1]);
  }
  static Value op(const std::string& sign, const Value& a, const Value& b) {
    return fmt::format("({} {} {})", sign, a, b);
  }
  std::string declarations() const {
    std::string text;
    for (auto& [name, used] : names_) text += fmt::format("(declare-const {} Int)\n", name);
    return text + definitions_;
  }

 private:
  std::pair<Value, Value> division(const Value& a, const Value& b) {
    if (std::isdigit(b[0])) return {op("div", a, b), op("mod", a, b)};  // they are floor for divisors >= 0
    auto [found, added] = divisions_.try_emplace({a, b}, std::to_string(divisions_.size()));
    std::string q = fmt::format("quotient{}", found->second), r = fmt::format("remainder{}", found->second);
    if (added) {
      names_[q] = names_[r] = true;
      definitions_ += fmt::format("(assert {})\n", op("=", a, op("+", op("*", b, q), r)));
      definitions_ +=
          fmt::format("(assert (or (and (<= 0 {0}) (< {0} {1})) (and (>= 0 {0}) (> {0} {1}))))\n", r, b);
    }
    return {q, r};
  }
  std::map<std::string, int64_t> constants_;
  std::map<std::string, bool> names_;
  std::map<std::pair<Value, Value>, std::string> divisions_;
  std::string definitions_;
};

std::string term(std::string_view text, SmtAlgebra& algebra) {
  ExprParser<SmtAlgebra> parser(text, 0, algebra);
  auto value = parser.sum();
  if (!value) ADD_FAILURE() << text << ": " << parser.error().message;
  return value.value_or("0");
}

std::string denial(const Rule& rule, const std::map<std::string, int64_t>& constants) {
  SmtAlgebra algebra(constants);
  std::string assertions;
  for (auto condition : split(rule.conditions, ';')) {
    auto [lhs, sign, rhs] = compare_text(condition);
    std::string relation = sign == "!=" ? "distinct" : sign == "==" ? "=" : std::string(sign);
    assertions +=
        fmt::format("(assert {})\n", SmtAlgebra::op(relation, term(lhs, algebra), term(rhs, algebra)));
  }
  std::string same = SmtAlgebra::op("=", term(rule.lhs, algebra), term(rule.rhs, algebra));
  assertions += fmt::format("(assert (not {}))\n", same);
  return algebra.declarations() + assertions;
}

template <class Visit>
void for_each_constants(const Rule& rule, const Visit& visit) {
  constexpr int64_t values[] = {1, 2, 4, 7};
  auto uses = [&](char name) {
    std::string all = std::string(rule.lhs) + " " + rule.rhs + " " + rule.conditions;
    for (size_t i = 0; i < all.size(); ++i) {
      bool alone =
          (i == 0 || !std::isalpha(all[i - 1])) && (i + 1 == all.size() || !std::isalpha(all[i + 1]));
      if (all[i] == name && alone) return true;
    }
    return false;
  };
  for (int64_t a : values)
    for (int64_t b : values)
      for (int64_t c : values)
        if ((uses('a') || a == 1) && (uses('b') || b == 1) && (uses('c') || c == 1))
          visit({{"a", a}, {"b", b}, {"c", c}});
}

std::string describe(const Rule& rule, const std::map<std::string, int64_t>& constants) {
  std::string text = rule.name;
  for (auto& [name, value] : constants) text += fmt::format(" {}={}", name, value);
  return text;
}

/// For all integers at once, or, where that stays open, for each of some values of the symbols that divide.
void expect_proved(const Rule& rule, std::map<std::string, int64_t> constants,
                   std::vector<std::string> divisors) {
  Z3Answer answer = z3_solve_text(denial(rule, constants), divisors.empty() ? 2000000 : 30000);
  if (answer.satisfiable != Satisfiable::unknown || divisors.empty()) {
    EXPECT_EQ(answer.satisfiable, Satisfiable::no) << describe(rule, constants);
    return;
  }
  std::string divisor = divisors.back();
  divisors.pop_back();
  for (int64_t value : {-3, -1, 1, 2, 8}) {
    constants[divisor] = value;
    expect_proved(rule, constants, divisors);
  }
}

TEST(Rules, rules_are_true) {
  for (const Rule& rule : rules)
    for_each_constants(rule, [&](const std::map<std::string, int64_t>& constants) {
      bool symbolic = std::string_view(rule.lhs).find('d') != std::string_view::npos;
      expect_proved(rule, constants,
                    symbolic ? std::vector<std::string>{"y", "d"} : std::vector<std::string>{});
    });
}

TEST(Rules, FalseRulesAreNotProved) {
  const Rule wrong[] = {{"drops_the_rest", "", "(c*x + y) / c", "x + y"},
                        {"cancels_zero", "0 <= d", "(x*d) / d", "x + d"},
                        {"off_by_one", "0 <= i; i <= d; 1 <= d", "i / d", "0"}};
  for (const Rule& rule : wrong)
    EXPECT_EQ(z3_solve_text(denial(rule, {{"a", 2}, {"b", 2}, {"c", 4}}), 2000000).satisfiable,
              Satisfiable::yes)
        << rule.name;
}

TEST(Rules, CodeAppliesThem) {
  for (const Rule& rule : rules)
    for_each_constants(rule, [&](const std::map<std::string, int64_t>& constants) {
      Scope s;
      for (const char* name : {"x", "y", "z", "i", "j", "d"}) s.named(name);
      for (auto& [name, value] : constants) s.set(name, value);
      auto facts = s.facts(rule.conditions);
      Dim lhs = simplify(s.dim(rule.lhs), facts), rhs = simplify(s.dim(rule.rhs), facts);
      EXPECT_EQ(lhs, rhs) << describe(rule, constants) << ": " << lhs.str() << " and " << rhs.str();
      EXPECT_TRUE(!facts.empty() || s.dim(rule.lhs) == s.dim(rule.rhs)) << rule.name;
    });
}

}  // namespace
}  // namespace axon::shape
