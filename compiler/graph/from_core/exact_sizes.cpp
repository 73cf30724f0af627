// Sizes are exact: where an operation that makes a size leaves 64 bits, that is an error.
//
// In: an integer that becomes a size. Out: a check for each operation on i64 that may wrap, and of which the
// facts that every call is checked for do not show that it never does.
// Invariant: where the checks hold, the integer is what the same operations give without bounds, which is
// what the types of the program say.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>

#include "graph/from_core/checked_integers.h"
#include "shape/exact.h"

namespace axon::graph {

using shape::Wide;
using shape::WideRange;

namespace {

/// The values that integers can have where the operations that make them do not wrap. Each part of an
/// expression is looked at once.
class IntegerRanges {
 public:
  explicit IntegerRanges(const Graph& graph) : g_(graph) {}

  WideRange of(ScalarId id) {
    if (const auto known = known_.find(id); known != known_.end()) return known->second;
    return known_[id] = exact(g_.scalars[id]).value_or(shape::integer_range());
  }

  /// nullopt where the result of the operation may leave i64.
  std::optional<WideRange> exact(const Scalar& s) {
    if (s.op == Op::constant) return WideRange{s.integer, s.integer};
    if (s.op == Op::index) return shape::exact_range(s.dim, [&](Var v) { return range_of(g_, v); });
    if (s.op == Op::bounded) return shape::size_range();
    if (s.op == Op::cast) return of_elem(g_.scalars[s.args[0]].elem);
    if (s.op == Op::select) {
      const WideRange a = of(s.args[1]), b = of(s.args[2]);
      return WideRange{std::min(a.low, b.low), std::max(a.high, b.high)};
    }
    const std::optional<Dim> result = result_of(s.op);
    if (!result) return shape::integer_range();
    constexpr Wide any_product = Wide{1} << 100;  // the operands are integers, not the axes of one tensor
    return shape::exact_range(
        *result, [&](Var v) { return of(v == left_ ? s.args.front() : s.args.back()); }, any_product);
  }

 private:
  static WideRange of_elem(Elem e) {
    if (base::is_float(e)) return shape::integer_range();
    const auto [least, greatest] = base::range_of_integers(e);
    return {least, greatest};
  }

  /// What the operation makes of left_ and right_.
  std::optional<Dim> result_of(Op op) const {
    const Dim a(left_), b(right_);
    if (op == Op::neg) return -a;
    if (op == Op::add) return a + b;
    if (op == Op::sub) return a - b;
    if (op == Op::mul) return a * b;
    if (op == Op::min) return min(a, b);
    if (op == Op::max) return max(a, b);
    if (op == Op::mod) return mod(a, b);
    return std::nullopt;
  }

  const Graph& g_;
  const Var left_ = shape::fresh_var("a"), right_ = shape::fresh_var("b");
  std::map<ScalarId, WideRange> known_;
};

bool is_one_of(Op op, std::initializer_list<Op> ops) {
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

const char* sign_of(Op op) { return op == Op::add ? "+" : op == Op::mul ? "*" : "-"; }

}  // namespace

/// Does the result of an operation on two i64 stay in 64 bits?
ScalarId CheckedIntegers::stays_exact(ScalarId result) {
  const Scalar s = g.scalars[result];
  const auto number = [&](int64_t value) { return constant_int(g, Elem::i64, value); };
  const ScalarId zero = number(0), least = number(INT64_MIN);
  if (s.op == Op::neg) return apply(g, Op::ne, {s.args[0], least});
  const ScalarId a = s.args[0], b = s.args[1];
  const auto same = [&](ScalarId p, ScalarId q) {
    return apply(g, Op::or_, {apply(g, Op::and_, {p, q}), apply(g, Op::not_, {apply(g, Op::or_, {p, q})})});
  };
  if (s.op == Op::add) return same(apply(g, Op::le, {zero, b}), apply(g, Op::le, {a, result}));
  if (s.op == Op::sub) return same(apply(g, Op::le, {zero, b}), apply(g, Op::le, {result, a}));
  // The quotient of a product that has wrapped is another factor; only -1 * least has least for a quotient.
  const ScalarId none = apply(g, Op::eq, {a, zero});
  const ScalarId quotient = apply(g, Op::div, {result, apply(g, Op::select, {none, number(1), a})});
  const ScalarId wraps =
      apply(g, Op::and_, {apply(g, Op::eq, {a, number(-1)}), apply(g, Op::eq, {b, least})});
  const ScalarId right = apply(g, Op::and_, {apply(g, Op::eq, {quotient, b}), apply(g, Op::not_, {wraps})});
  return apply(g, Op::or_, {none, right});
}

/// The check for one operation, where `reached` holds.
void CheckedIntegers::require_stays_exact(ScalarId result, std::optional<ScalarId> reached,
                                          const std::string& what) {
  const Scalar s = g.scalars[result];
  ScalarId holds = stays_exact(result);
  if (reached) holds = apply(g, Op::or_, {apply(g, Op::not_, {*reached}), holds});
  checks_.require(holds, s.op == Op::neg ? constant_int(g, Elem::i64, 0) : s.args[0], s.args.back(),
                  fmt::format("{}: {{lhs}} {} {{rhs}} leaves the integers of 64 bits", what, sign_of(s.op)));
}

/// Checks what makes the integer, operation by operation: the operands of one are exact where the checks of
/// those before it hold. Of an `if`, only what is chosen is checked.
void CheckedIntegers::require_exact(ScalarId integer, const std::string& what) {
  IntegerRanges ranges(g);
  std::map<ScalarId, std::optional<ScalarId>> left;  // with where it is reached; nullopt: everywhere
  const auto reach = [&](ScalarId id, std::optional<ScalarId> where) {
    const auto [at, is_new] = left.emplace(id, where);
    if (is_new || !at->second) return;
    at->second = where ? std::optional(apply(g, Op::or_, {*at->second, *where})) : std::nullopt;
  };
  const auto both = [&](std::optional<ScalarId> where, ScalarId condition) {
    return where ? apply(g, Op::and_, {*where, condition}) : condition;
  };
  reach(integer, std::nullopt);
  while (!left.empty()) {
    const auto [id, where] = *left.rbegin();  // the greatest has met all that use it
    left.erase(id);
    const Scalar s = g.scalars[id];
    if (s.elem != Elem::i64 || affine_index(g, id)) continue;
    const bool computes = is_one_of(s.op, {Op::add, Op::sub, Op::mul, Op::neg});
    const bool may_wrap = computes && !ranges.exact(s);
    if (may_wrap && is_exact_by_facts(id)) continue;
    if (may_wrap) require_stays_exact(id, where, what);
    if (computes || is_one_of(s.op, {Op::min, Op::max, Op::div, Op::mod, Op::abs})) {
      for (const ScalarId arg : s.args) reach(arg, where);
    } else if (s.op == Op::select) {
      reach(s.args[1], both(where, s.args[0]));
      reach(s.args[2], both(where, apply(g, Op::not_, {s.args[0]})));
    }
  }
}

}  // namespace axon::graph
