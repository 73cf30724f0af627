// See binder_range.h. What is found is only ever a reason to leave out points that count nothing: a condition
// that is not understood is ignored.
#include "graph/binder_range.h"

#include <algorithm>

namespace axon::graph {

namespace {

class RangeFinder {
 public:
  /// `monoid`: the one whose unit counts nothing.
  RangeFinder(const Graph& g, const Axis& binder, Monoid monoid, ReadBounds reads)
      : g_(g), binder_(binder.var), extent_(binder.extent), monoid_(monoid), reads_(reads) {}

  BinderRange run(ScalarId folded) {
    bool always = true;  // is the condition evaluated for every point?
    while (const auto arm = unmasked(folded)) {
      const Scalar& select = g_.scalars[folded];
      condition(select.args[0], *arm == 1, always);
      folded = select.args[*arm];
      always = false;
    }
    if (understood_) range_.unmasked = folded;
    return std::move(range_);
  }

 private:
  /// The argument of a `select` whose other arm is the unit.
  std::optional<size_t> unmasked(ScalarId id) const {
    const Scalar& s = g_.scalars[id];
    if (s.op != Op::select) return std::nullopt;
    for (size_t arm : {1, 2})
      if (is_unit(g_, s.args[3 - arm], monoid_)) return arm;
    return std::nullopt;
  }

  /// Takes the bounds from a condition that has to hold (or not to hold) for a point to count.
  void condition(ScalarId root, bool holds, bool always) {
    struct Part {
      ScalarId id;
      bool holds, always;
    };
    std::vector<Part> work{{root, holds, always}};
    while (!work.empty()) {
      const Part part = work.back();
      work.pop_back();
      const Scalar& s = g_.scalars[part.id];
      if (s.op == Op::not_) {
        work.push_back({s.args[0], !part.holds, part.always});
      } else if (s.op == (part.holds ? Op::and_ : Op::or_)) {
        work.push_back({s.args[1], part.holds, false});  // evaluated only where the left side does not decide
        work.push_back({s.args[0], part.holds, part.always});
      } else if (!comparison(s, part.holds, part.always)) {
        understood_ = false;
      }
    }
  }

  /// A comparison of integers as one or two of: left side < right side, or <= it. Returns whether bounds say
  /// all that it says.
  bool comparison(const Scalar& s, bool holds, bool always) {
    if (s.args.size() != 2 || !base::is_integer(g_.scalars[s.args[0]].elem)) return false;
    const ScalarId left = s.args[0], right = s.args[1];
    if (s.op == Op::lt || s.op == Op::le) {
      const bool strict = (s.op == Op::lt) == holds;
      return holds ? ordered(left, right, strict, always) : ordered(right, left, strict, always);
    }
    if (s.op != (holds ? Op::eq : Op::ne)) return false;
    const bool at_most = ordered(left, right, false, always), at_least = ordered(right, left, false, always);
    return at_most && at_least;
  }

  bool ordered(ScalarId left, ScalarId right, bool strict, bool always) {
    if (g_.scalars[left].elem != Elem::i64) return narrow_ordered(left, right, strict, always);
    const auto low = affine_index(g_, left), high = affine_index(g_, right);
    if (low && high && not_positive(*low - *high + Dim(strict ? 1 : 0))) return true;
    if (low && is_read(right, always)) return by_data(*low, right, true, strict);
    if (high && is_read(left, always)) return by_data(*high, left, false, strict);
    if (low) below_sum(*low, right, strict);  // not all that it says: the sum may wrap
    return false;
  }

  /// Of integers that are narrower than i64, into which an index has been converted. That wraps.
  bool narrow_ordered(ScalarId left, ScalarId right, bool strict, bool always) {
    const auto low = converted_index(left), high = converted_index(right);
    if (low && is_read(right, always)) return by_data(*low, right, true, strict);
    if (high && is_read(left, always)) return by_data(*high, left, false, strict);
    return false;
  }

  std::optional<Dim> converted_index(ScalarId side) const {
    const Scalar& s = g_.scalars[side];
    return s.op == Op::cast ? affine_index(g_, s.args[0]) : std::nullopt;
  }

  /// May the value be computed once for all points of the binder? It is where every point computes it, or
  /// where nothing in it can fail.
  bool is_read(ScalarId value, bool always) const {
    if (depends_on(g_, value, binder_)) return false;
    return always || is_sum_of_indices(value) || (reads_ == ReadBounds::of_some_points && !is_checked(value));
  }

  bool is_checked(ScalarId value) const {
    const auto parts = scalars_in(g_, value);
    return std::any_of(parts.begin(), parts.end(), [&](ScalarId part) {
      return g_.scalars[part].op == Op::bounded || g_.scalars[part].op == Op::require;
    });
  }

  bool is_sum_of_indices(ScalarId value) const {
    const Scalar& s = g_.scalars[value];
    const bool is_sum = s.op == Op::add || s.op == Op::sub || s.op == Op::neg;
    return affine_index(g_, value) || (is_sum && std::all_of(s.args.begin(), s.args.end(), [&](ScalarId a) {
                                         return is_sum_of_indices(a);
                                       }));
  }

  /// low < binder + rest + value, or - value, where the sum may exceed i64 but not fall below it. Where it
  /// wraps it is less than it would be: the binder is bounded as if it did not.
  void below_sum(const Dim& low, ScalarId sum, bool strict) {
    const Scalar& s = g_.scalars[sum];
    if ((s.op != Op::add && s.op != Op::sub) || low.contains(binder_)) return;
    for (size_t side : {0, 1}) {
      const ScalarId value = s.args[1 - side];
      const auto moving = affine_index(g_, s.args[side]);
      const auto parts = moving ? moving->linear_in(binder_) : std::nullopt;
      if (!parts || !parts->first.is(1) || !is_read(value, false) || (s.op == Op::sub && side == 1)) continue;
      const auto range = shape::exact_range(*moving, [&](Var v) { return range_of(g_, v); });
      if (!range || range->low < 0) continue;
      const Dim plus = low - parts->second + Dim(strict ? 1 : 0);
      if (is_exact(g_, plus)) range_.low_by_data.push_back({value, s.op == Op::add, plus, {}});
    }
  }

  /// d <= 0, where d = a * binder + b for a constant a
  bool not_positive(const Dim& d) {
    const auto parts = d.linear_in(binder_);
    const auto a = parts ? parts->first.constant() : std::nullopt;
    if (!a || *a == 0 || *a == INT64_MIN) return false;
    const Dim bound =
        *a > 0 ? shape::floor_div(-parts->second, Dim(*a)) + Dim(1) : shape::cdiv(parts->second, Dim(-*a));
    if (!is_exact(g_, bound)) return false;
    (*a > 0 ? range_.end : range_.low).push_back(bound);
    return true;
  }

  /// The bound of the binder where side = rest + binder, or rest - binder, has to be less than a value or
  /// greater, or, if not `strict`, equal to it.
  bool by_data(const Dim& side, ScalarId value, bool less, bool strict) {
    const auto parts = side.linear_in(binder_);
    if (!parts || !(parts->first.is(1) || parts->first.is(-1))) return false;
    const bool rises = parts->first.is(1), is_end = less == rises;
    const Dim plus = (rises ? -parts->second : parts->second) + Dim(is_end != strict ? 1 : 0);
    if (!is_exact(g_, plus)) return false;
    BinderRange::Data bound{value, !rises, plus, {}};
    const Elem elem = g_.scalars[value].elem;
    if (elem != Elem::i64 && !fits(parts->second, rises, elem, bound.where)) return false;
    const bool is_all = bound.where.empty();
    (is_end ? range_.end_by_data : range_.low_by_data).push_back(std::move(bound));
    return is_all;
  }

  /// Adds to `facts` under which side = rest + binder, or rest - binder, is a number of the type.
  bool fits(const Dim& rest, bool rises, Elem elem, std::vector<Fact>& facts) const {
    const auto range = base::range_of_integers(elem);
    const Dim steps = extent_ - Dim(1);
    const Dim least = rises ? rest : rest - steps, greatest = rises ? rest + steps : rest;
    if (!is_exact(g_, least) || !is_exact(g_, greatest)) return false;
    for (const Fact& fact :
         {shape::at_least(least, Dim(range.least)), shape::at_most(greatest, Dim(range.greatest))})
      if (shape::prove(g_.facts, fact).verdict != shape::Verdict::proved) facts.push_back(fact);
    return true;
  }

  const Graph& g_;
  const Var binder_;
  const Dim extent_;
  const Monoid monoid_;
  const ReadBounds reads_;
  BinderRange range_;
  bool understood_ = true;  ///< bounds say all that the conditions say
};

}  // namespace

BinderRange binder_range(const Graph& g, const Scalar& reduction, size_t binder, ReadBounds reads) {
  const bool of_argmax = reduction.op == Op::reduce && reduction.monoid == Monoid::argmax;
  const Monoid monoid = reduction.op == Op::online || of_argmax ? Monoid::max : reduction.monoid;
  BinderRange range = RangeFinder(g, reduction.binders[binder], monoid, reads).run(reduction.args[0]);
  if (of_argmax && !(range.low.empty() && range.low_by_data.empty())) {
    range.low.clear();
    range.low_by_data.clear();
    range.unmasked = {};
  }
  return range;
}

}  // namespace axon::graph
