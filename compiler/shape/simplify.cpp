// simplify(): rewrites that need facts.
//
// In: a Dim and the facts that hold where it stands. Out: an equal Dim wherever the facts hold, never with
// more operators. A division is decided when its dividend is known to lie in one period; by a symbol only
// when the symbol is known to be >= 1, which is also what lets factors cancel. min and max lose the operands
// that others decide.
#include <algorithm>
#include <unordered_map>

#include "shape/prover.h"
#include "shape/prover_linear.h"
#include "shape/prover_session.h"

namespace axon::shape {
namespace {

constexpr int max_passes = 8;  ///< rewrites of one atom into another form
constexpr size_t max_candidates = 4;

bool has_operators(const Dim& dim) {
  for (const Term& term : dim.terms())
    for (const Atom& atom : term.factors)
      if (atom.kind() != AtomKind::var) return true;
  return false;
}

Dim apply(AtomKind kind, const Dim& lhs, const Dim& rhs) {
  switch (kind) {
    case AtomKind::var:
      break;
    case AtomKind::floor_div:
      return floor_div(lhs, rhs);
    case AtomKind::mod:
      return mod(lhs, rhs);
    case AtomKind::min:
      return min(lhs, rhs);
    case AtomKind::max:
      return max(lhs, rhs);
  }
  return lhs;
}

class Simplifier {
 public:
  explicit Simplifier(const std::vector<Fact>& facts) : facts_(facts) {
    for (const Fact& fact : facts) {
      if (overflowed(fact.lhs) || overflowed(fact.rhs)) continue;
      if (fact.relation == Relation::eq) system_.add(fact.lhs - fact.rhs, true);
      if (fact.relation == Relation::le) system_.add(fact.rhs - fact.lhs, false);
      if (fact.relation == Relation::lt) system_.add(fact.rhs - fact.lhs - 1, false);
    }
    system_.propagate();
  }

  Dim dim(const Dim& expr, int passes) {
    if (!has_operators(expr) || passes == 0) return expr;
    std::vector<Term> plain;
    Dim changed;
    for (const Term& term : expr.terms()) {
      bool operators = std::any_of(term.factors.begin(), term.factors.end(),
                                   [](const Atom& a) { return a.kind() != AtomKind::var; });
      if (!operators) {
        plain.push_back(term);
        continue;
      }
      Dim product = term.coefficient;
      for (const Atom& a : term.factors) product = product * atom(a, passes);
      changed = changed + product;
    }
    return make_dim(std::move(plain)) + changed;
  }

 private:
  Dim atom(const Atom& a, int passes) {
    if (a.kind() == AtomKind::var) return make_dim(a);
    if (auto found = done_.find(a.node); found != done_.end()) return found->second;
    Dim rebuilt = apply(a.kind(), dim(a.lhs(), passes), dim(a.rhs(), passes));
    auto single = as_atom_plus_constant(rebuilt);
    Dim result = rebuilt;
    if (single && single->constant == 0 && single->atom.kind() == a.kind()) {
      if (auto simpler = reduce(single->atom)) result = dim(*simpler, passes - 1);
    } else {
      result = dim(rebuilt, passes - 1);
    }
    if (!guessing_) done_.emplace(a.node, result);
    return result;
  }

  std::optional<Dim> reduce(const Atom& a) {
    if (a.kind() == AtomKind::min || a.kind() == AtomKind::max) return reduce_extremum(a);
    auto divisor = a.rhs().constant();
    if (divisor && *divisor <= 0) return std::nullopt;
    if (divisor) {
      auto range = [&](const Atom& inner) { return system_.range(inner); };
      auto known = a.kind() == AtomKind::mod ? mod_by_range(a.lhs(), *divisor, range)
                                             : floor_div_by_range(a.lhs(), *divisor, range);
      if (known) return known;
    } else {
      if (auto shorter = cancel_common_factors(a)) return shorter;
      Range range = system_.range(a.rhs());
      if (!range.low || *range.low < 1) return std::nullopt;
      if (auto known = reduce_small(a, *range.low)) return known;
      if (auto known = reduce_symbolic(a)) return known;
    }
    if (guessing_) return std::nullopt;
    if (auto known = reduce_by_candidate(a)) return known;
    return divisor ? std::nullopt : round_up(a);
  }

  Dim without_guessing(const Dim& expr) {
    guessing_ = true;
    Dim result = dim(expr, 2);
    guessing_ = false;
    return result;
  }

  std::optional<Dim> reduce_extremum(const Atom& a) {
    bool is_min = a.kind() == AtomKind::min;
    std::vector<Dim> operands, kept;
    collect_operands(a.kind(), make_dim(a), operands);
    for (size_t i = 0; i < operands.size(); ++i) {
      bool decided = false;
      for (size_t j = 0; j < operands.size() && !decided; ++j) {
        bool gone = j < i && std::find(kept.begin(), kept.end(), operands[j]) == kept.end();
        if (j == i || gone) continue;
        decided = system_.entails_nonnegative(is_min ? operands[i] - operands[j] : operands[j] - operands[i]);
        if (decided && j > i)  // two equal ones must not drop each other
          decided =
              !system_.entails_nonnegative(is_min ? operands[j] - operands[i] : operands[i] - operands[j]);
      }
      if (!decided) kept.push_back(operands[i]);
    }
    if (kept.empty() || kept.size() == operands.size()) return std::nullopt;
    Dim result = kept[0];
    for (const Dim& operand : kept) result = apply(a.kind(), result, operand);
    return result;
  }

  static int64_t constant_term(const Dim& dim) {
    return dim.terms().empty() || !dim.terms().back().factors.empty() ? 0 : dim.terms().back().coefficient;
  }

  /// (n - 1) / d is cdiv(n, d) - 1: of the two forms of rounding up by a symbol the one that reads so stays.
  static std::optional<Dim> round_up(const Atom& a) {
    if (a.kind() != AtomKind::floor_div || constant_term(a.lhs()) != -1 || a.lhs().constant())
      return std::nullopt;
    if (divide_polynomial(a.lhs(), a.rhs()).quotient != Dim()) return std::nullopt;
    return floor_div(a.lhs() + a.rhs(), a.rhs()) - 1;
  }

  /// A number nearer to zero than the least value of the divisor: 0 / d is 0, -1 / d is -1.
  static std::optional<Dim> reduce_small(const Atom& a, int64_t least) {
    const auto number = a.lhs().constant();
    if (!number || *number >= least || *number < -least) return std::nullopt;
    const int64_t quotient = *number < 0 ? -1 : 0;
    return a.kind() == AtomKind::mod ? Dim(*number) - a.rhs() * quotient : Dim(quotient);
  }

  /// By a symbol that is >= 1: whole multiples split off, but for the one of a division that rounds up.
  std::optional<Dim> reduce_symbolic(const Atom& a) {
    Dim p = a.lhs(), q = a.rhs();
    auto [quotient, rest] = divide_polynomial(p, q);
    if (a.kind() == AtomKind::floor_div && constant_term(rest) == -1 && !rest.constant() &&
        quotient != Dim()) {
      quotient = quotient - 1;
      rest = rest + q;
    }
    bool simpler = q.terms().size() == 1 || rest.terms().size() < p.terms().size();
    if (quotient != Dim() && simpler && !overflowed(rest))
      return a.kind() == AtomKind::mod ? mod(rest, q) : quotient + floor_div(rest, q);
    return p == Dim() ? std::optional(Dim()) : std::nullopt;
  }

  std::optional<Dim> cancel_common_factors(const Atom& a) {
    Dim p = a.lhs(), q = a.rhs();
    std::vector<Atom> common = common_factors(p, q);
    if (common.empty()) return std::nullopt;
    Dim inner = apply(a.kind(), cancel(p, common), cancel(q, common));
    return a.kind() == AtomKind::mod ? monomial(1, common) * inner : inner;
  }

  /// Atoms >= 1 that every term of p and q has.
  std::vector<Atom> common_factors(const Dim& p, const Dim& q) {
    std::vector<Atom> common;
    for (const Atom& atom : q.terms()[0].factors) {
      Range range = system_.range(atom);
      if (!range.low || *range.low < 1) continue;
      std::vector<Atom> with = multiply_factors(common, {atom});
      auto everywhere = [&](const Dim& dim) {
        return std::all_of(dim.terms().begin(), dim.terms().end(),
                           [&](const Term& term) { return divide_factors(term.factors, with).has_value(); });
      };
      if (everywhere(p) && everywhere(q)) common = std::move(with);
    }
    return common;
  }

  static Dim cancel(const Dim& dim, const std::vector<Atom>& common) {
    std::vector<Term> terms = dim.terms();
    for (Term& term : terms) term.factors = *divide_factors(std::move(term.factors), common);
    return make_dim(std::move(terms));
  }

  /// Guesses the quotient from the lower bounds of the dividend's variables and keeps a guess that is proved:
  /// 32*a <= j < 32*a + 32 gives j / 32 = a.
  std::optional<Dim> reduce_by_candidate(const Atom& a) {
    Dim p = a.lhs(), q = a.rhs();
    std::vector<Dim> candidates;
    if (!q.constant()) candidates.push_back(Dim());
    for (const Fact& fact : facts_) {
      if (candidates.size() >= max_candidates) break;
      if (fact.relation == Relation::ne) continue;
      Dim expr = fact.rhs - fact.lhs - (fact.relation == Relation::lt ? 1 : 0);
      for (Var var : expr.vars()) {
        if (!p.contains(var)) continue;
        auto parts = expr.linear_in(var);  // slope * var + rest >= 0
        if (!parts || !(parts->first.is(1) || (fact.relation == Relation::eq && parts->first.is(-1))))
          continue;
        Dim start = parts->first.is(1) ? -parts->second : parts->second;
        if (start.constant() && q.constant()) continue;  // ranges have seen that
        Dim guess = floor_div(p.substitute({{var, start}}), q);
        if (!overflowed(guess) && !guess.contains(var)) candidates.push_back(without_guessing(guess));
      }
    }
    for (const Dim& guess : candidates) {
      Dim rest = p - q * guess;
      if (has_operators(guess) && !has_operators(p)) continue;
      if (!system_.entails_nonnegative(rest) || !system_.entails_nonnegative(q - 1 - rest)) continue;
      return a.kind() == AtomKind::mod ? rest : guess;
    }
    return std::nullopt;
  }

  const std::vector<Fact>& facts_;
  System system_;
  std::unordered_map<const AtomNode*, Dim> done_;
  bool guessing_ = false;  ///< inside a guess: no guesses for its own operators
};

}  // namespace

Dim simplify(const Dim& expr, const std::vector<Fact>& facts) {
  if (!has_operators(expr) || overflowed(expr)) return expr;
  const WorkScope work;
  return Simplifier(facts).dim(expr, max_passes);
}

}  // namespace axon::shape
