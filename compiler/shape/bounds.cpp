// bounds_of(): the least and greatest value of an expression as expressions over the variables that are kept.
//
// In: an expression, facts, and which variables may stay. Out: for each end a Dim that bounds it wherever the
// facts hold, or nothing. A variable goes by putting its own bound in its place where the expression is
// monotone in it, the bound first and its variables later, so that what depends on one variable twice stays
// together; operators are bounded through their operands. The search over which bound to use is limited by a
// count of steps.
#include <algorithm>

#include "shape/prover.h"
#include "shape/prover_linear.h"
#include "shape/prover_session.h"

namespace axon::shape {
namespace {

constexpr int max_steps = 400;

class Bounder {
 public:
  Bounder(const std::vector<Fact>& facts, const std::function<bool(Var)>& keep) : keep_(keep) {
    for (const Fact& fact : facts) {
      if (overflowed(fact.lhs) || overflowed(fact.rhs) || fact.relation == Relation::ne) continue;
      Dim expr = fact.relation == Relation::eq ? fact.lhs - fact.rhs : fact.rhs - fact.lhs;
      if (fact.relation == Relation::lt) expr = expr - 1;
      system_.add(expr, fact.relation == Relation::eq);
      nonnegative_.push_back(expr);
      if (fact.relation == Relation::eq) nonnegative_.push_back(-expr);
    }
    open_operators();
    system_.propagate();
  }

  std::optional<Dim> bound(const Dim& expr, bool high) {
    steps_ = max_steps;
    return bound(expr, high, {});
  }
  bool only_kept(const Dim& expr) const {
    auto vars = expr.vars();
    return std::all_of(vars.begin(), vars.end(), keep_);
  }

 private:
  /// A variable inside an operator in a fact: c*X <= p for X <= p / c, and the like for min and max.
  void open_operators() {
    for (size_t i = 0; i < nonnegative_.size() && i < 256; ++i) {
      const Dim expr = nonnegative_[i];
      for (const Term& term : expr.terms()) {
        if (term.factors.size() != 1 || term.factors[0].kind() == AtomKind::var) continue;
        Atom atom = term.factors[0];
        Dim rest = expr - monomial(term.coefficient, term.factors);
        bool at_least = term.coefficient > 0;  // atom >= limit, else atom <= limit
        Dim limit = at_least ? -floor_div(rest, term.coefficient) : floor_div(rest, -Dim(term.coefficient));
        auto require = [&](const Dim& operand) {
          nonnegative_.push_back(at_least ? operand - limit : limit - operand);
        };
        if (atom.kind() == (at_least ? AtomKind::min : AtomKind::max))
          require(atom.lhs()), require(atom.rhs());
        auto divisor = atom.kind() == AtomKind::floor_div ? atom.rhs().constant() : std::nullopt;
        if (divisor && *divisor > 0)
          nonnegative_.push_back(at_least ? atom.lhs() - Dim(*divisor) * limit
                                          : Dim(*divisor) * limit + (*divisor - 1) - atom.lhs());
      }
    }
  }

  /// The sign of an expression by its range: 1 for >= 0, -1 for <= 0, 0 unknown.
  int sign(const Dim& expr) const {
    Range range = system_.range(expr);
    if (range.low && *range.low >= 0) return 1;
    if (range.high && *range.high <= 0) return -1;
    return 0;
  }

  /// Of several bounds for one end, all true: the tighter.
  static std::optional<Dim> tighter(std::optional<Dim> a, std::optional<Dim> b, bool high) {
    if (!a || !b) return a ? a : b;
    return high ? min(*a, *b) : max(*a, *b);
  }

  std::optional<Dim> bound(const Dim& expr, bool high, const std::vector<Var>& gone) {
    if (overflowed(expr)) return std::nullopt;
    if (only_kept(expr)) return expr;
    if (--steps_ < 0) return std::nullopt;
    std::optional<Dim> best;
    std::vector<Var> vars = expr.vars();
    std::sort(vars.begin(), vars.end(),
              std::greater<>());  // inner variables are made after those they depend on
    for (Var var : vars) {
      if (keep_(var) || std::find(gone.begin(), gone.end(), var) != gone.end()) continue;
      if ((best = eliminate(expr, var, high, gone))) return best;
    }
    return bound_operators(expr, high, gone);
  }

  /// Puts each bound of the variable in its place, where the expression is monotone in it.
  std::optional<Dim> eliminate(const Dim& expr, Var var, bool high, const std::vector<Var>& gone) {
    int slope = monotone(expr, var);
    if (slope == 0) return std::nullopt;
    std::vector<Var> inner = gone;
    inner.push_back(var);
    std::optional<Dim> best;
    for (const Dim& value : limits_of(var, high == (slope > 0))) {
      bool returns = std::any_of(inner.begin(), inner.end(), [&](Var v) { return value.contains(v); });
      if (!returns && stays_monotone(expr, var, value))
        best = tighter(best, bound(expr.substitute({{var, value}}), high, inner), high);
    }
    return best;
  }

  /// 1 or -1 when the expression grows or falls with the variable wherever the facts hold; 0 when not known.
  int monotone(const Dim& expr, Var var) const {
    if (auto parts = expr.linear_in(var)) return sign(parts->first);
    int direction = 0;
    for (const Term& term : expr.terms()) {
      int here = monotone(term, var);
      if (here == 2) continue;
      if (here == 0 || (direction != 0 && here != direction)) return 0;
      direction = here;
    }
    return direction;
  }

  /// The same for one product; 2: the variable is not in it.
  int monotone(const Term& term, Var var) const {
    int direction = 2;
    int signs = term.coefficient < 0 ? -1 : 1;
    size_t moving = 0;
    for (const Atom& atom : term.factors) moving += make_dim(atom).contains(var);
    if (moving == 0) return 2;
    for (const Atom& atom : term.factors) {
      Dim factor = make_dim(atom);
      bool moves = factor.contains(var);
      if ((!moves || moving > 1) && sign(factor) != 1) {  // several moving factors must all be >= 0
        if (moves || sign(factor) != -1) return 0;
        signs = -signs;
      }
      if (!moves) continue;
      int here = monotone(atom, var);
      if (here == 0 || (direction != 2 && here != direction)) return 0;
      direction = here;
    }
    return direction * signs;
  }

  int monotone(const Atom& atom, Var var) const {
    if (atom.kind() == AtomKind::var) return 1;
    Dim lhs = atom.lhs(), rhs = atom.rhs();
    switch (atom.kind()) {
      case AtomKind::var:
      case AtomKind::mod:
        return 0;
      case AtomKind::floor_div: {
        Range divisor = system_.range(rhs);
        return rhs.contains(var) || !divisor.low || *divisor.low < 1 ? 0 : monotone(lhs, var);
      }
      case AtomKind::min:
      case AtomKind::max:
        break;
    }
    if (!lhs.contains(var)) return monotone(rhs, var);
    if (!rhs.contains(var)) return monotone(lhs, var);
    int left = monotone(lhs, var), right = monotone(rhs, var);
    return left == right ? left : 0;
  }

  /// A product of several moving factors is monotone only while they are >= 0. A loose bound may leave that
  /// region, where the variable itself never is: b*b grows for b >= 0, but b >= -7 does not give b*b >= 49.
  bool stays_monotone(const Dim& expr, Var var, const Dim& value) const {
    for (const Term& term : expr.terms()) {
      size_t moving = 0;
      for (const Atom& atom : term.factors) moving += make_dim(atom).contains(var);
      for (const Atom& atom : term.factors) {
        Dim factor = make_dim(atom);
        if (!factor.contains(var)) continue;
        if (moving > 1 && sign(factor.substitute({{var, value}})) != 1) return false;
        if (atom.kind() == AtomKind::var) continue;
        if (!stays_monotone(atom.lhs(), var, value) || !stays_monotone(atom.rhs(), var, value)) return false;
      }
    }
    return true;
  }

  /// Every upper (lower) bound of the variable that a fact gives.
  std::vector<Dim> limits_of(Var var, bool upper) const {
    std::vector<Dim> limits;
    auto offer = [&](const Dim& limit) {
      if (!overflowed(limit) && std::find(limits.begin(), limits.end(), limit) == limits.end())
        limits.push_back(limit);
    };
    for (const Dim& expr : nonnegative_) {
      if (!expr.contains(var)) continue;
      auto parts = expr.linear_in(var);  // slope * var + rest >= 0
      if (!parts) continue;
      const auto& [slope, rest] = *parts;
      if (auto factor = slope.constant()) {
        if (upper == (*factor < 0)) offer(upper ? floor_div(rest, -Dim(*factor)) : -floor_div(rest, *factor));
      } else {
        Range range = system_.range(slope);
        if (upper && range.high && *range.high <= -1) offer(floor_div(rest, -slope));
        if (!upper && range.low && *range.low >= 1) offer(-floor_div(rest, slope));
      }
    }
    if (limits.empty()) {
      Range range = system_.range(Dim(var));
      if (upper && range.high) offer(*range.high);
      if (!upper && range.low) offer(*range.low);
    }
    return limits;
  }

  /// Replaces the operators that hold variables to eliminate by their own bounds, one after the other.
  std::optional<Dim> bound_operators(const Dim& expr, bool high, const std::vector<Var>& gone) {
    for (const Term& term : expr.terms())
      for (size_t i = 0; i < term.factors.size(); ++i) {
        Atom atom = term.factors[i];
        if (atom.kind() == AtomKind::var || only_kept(make_dim(atom))) continue;
        std::vector<Atom> others = term.factors;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
        Dim scale = monomial(term.coefficient, std::move(others));
        int direction = sign(scale);
        if (direction == 0) return std::nullopt;
        auto value = bound_atom(atom, high == (direction > 0), gone);
        if (!value) return std::nullopt;
        return bound(expr - scale * make_dim(atom) + scale * *value, high, gone);
      }
    return std::nullopt;
  }

  std::optional<Dim> bound_atom(const Atom& atom, bool high, const std::vector<Var>& gone) {
    Dim lhs = atom.lhs(), rhs = atom.rhs();
    if (atom.kind() == AtomKind::min || atom.kind() == AtomKind::max) {
      auto left = bound(lhs, high, gone), right = bound(rhs, high, gone);
      if (high == (atom.kind() == AtomKind::min))
        return tighter(tighter(left, right, high), bound_where_equal(lhs, rhs, high, gone), high);
      if (!left || !right) return std::nullopt;
      return atom.kind() == AtomKind::min ? min(*left, *right) : max(*left, *right);
    }
    Range divisor = system_.range(rhs);
    if (!divisor.low || *divisor.low < 1) return std::nullopt;
    return atom.kind() == AtomKind::mod ? bound_mod(lhs, rhs, high, gone)
                                        : bound_quotient(lhs, rhs, high, gone);
  }

  /// Two of which one grows and the other falls with a variable: the lesser is at most, and the greater at
  /// least, what both are where they are equal. min(i, 6 - i) <= 3, as 2 * min(i, 6 - i) <= i + (6 - i).
  std::optional<Dim> bound_where_equal(const Dim& a, const Dim& b, bool high, const std::vector<Var>& gone) {
    if (!is_polynomial(a) || !is_polynomial(b)) return std::nullopt;  // nested ones would take 3^depth steps
    for (Var var : a.vars()) {
      int64_t p = slope_of(a, var), q = slope_of(b, var);
      if (keep_(var) || p == 0 || q == 0 || (p < 0) == (q < 0)) continue;
      auto both = bound(Dim(std::abs(q)) * a + Dim(std::abs(p)) * b, high, gone);
      Dim shares(std::abs(p) + std::abs(q));
      if (both) return high ? floor_div(*both, shares) : cdiv(*both, shares);
    }
    return std::nullopt;
  }

  static bool is_polynomial(const Dim& d) {
    return std::all_of(d.terms().begin(), d.terms().end(), [](const Term& term) {
      return std::all_of(term.factors.begin(), term.factors.end(),
                         [](const Atom& atom) { return atom.kind() == AtomKind::var; });
    });
  }

  /// The constant that multiplies the variable; 0 where there is none, or a large one.
  static int64_t slope_of(const Dim& d, Var var) {
    constexpr int64_t most = int64_t{1} << 20;
    auto parts = d.linear_in(var);
    int64_t slope = parts ? parts->first.constant().value_or(0) : 0;
    return slope < -most || slope > most ? 0 : slope;
  }

  std::optional<Dim> bound_quotient(const Dim& p, const Dim& q, bool high, const std::vector<Var>& gone) {
    auto dividend = bound(p, high, gone);
    if (!dividend) return std::nullopt;
    if (only_kept(q)) return floor_div(*dividend, q);
    int direction = sign(*dividend);  // a dividend >= 0 has its greatest quotient at the least divisor
    auto divisor = direction == 0 ? std::nullopt : bound(q, high != (direction > 0), gone);
    if (!divisor) return std::nullopt;
    Range range = system_.range(*divisor);
    return range.low && *range.low >= 1 ? std::optional(floor_div(*dividend, *divisor)) : std::nullopt;
  }

  std::optional<Dim> bound_mod(const Dim& p, const Dim& q, bool high, const std::vector<Var>& gone) {
    auto low_end = bound(p, false, gone), high_end = bound(p, true, gone);
    if (low_end && high_end && only_kept(q)) {
      Dim period = floor_div(*low_end, q);
      if (period == floor_div(*high_end, q)) return (high ? *high_end : *low_end) - q * period;
    }
    if (!high) return Dim();
    auto most = bound(q - 1, true, gone);
    bool stays_below = sign(p) == 1;  // p >= 0 gives p % q <= p
    return tighter(most, stays_below ? high_end : std::nullopt, true);
  }

  const std::function<bool(Var)>& keep_;
  System system_;
  std::vector<Dim> nonnegative_;  ///< each is >= 0 where the facts hold
  int steps_ = 0;
};

}  // namespace

Bounds bounds_of(const Dim& expr, const std::vector<Fact>& facts, const std::function<bool(Var)>& keep) {
  const WorkScope work;
  Dim start = simplify(expr, facts);
  Bounder bounder(facts, keep);
  Bounds bounds{bounder.bound(start, false), bounder.bound(start, true)};
  for (std::optional<Dim>* end : {&bounds.low, &bounds.high}) {
    if (!*end) continue;
    Dim simpler = simplify(**end, facts);  // a fact may bring an eliminated variable back
    if (bounder.only_kept(simpler)) *end = simpler;
  }
  return bounds;
}

}  // namespace axon::shape
