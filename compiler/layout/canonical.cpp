// See canonical.h.
#include "layout/canonical.h"

#include <algorithm>
#include <tuple>

#include "layout/evaluate.h"
#include "layout/group.h"
#include "layout/sums.h"

namespace axon::layout {

using shape::Fact;

namespace {

std::vector<Iter> merged_shards(const std::vector<Iter>& shards) {
  std::vector<Iter> out;
  for (Iter iter : shards) {
    if (iter.extent.is(1)) continue;
    if (iter.stride.is(0)) iter.axis = Axis();
    if (!out.empty() && out.back().axis == iter.axis && out.back().stride == iter.stride * iter.extent)
      out.back() = {out.back().extent * iter.extent, iter.stride, iter.axis};
    else
      out.push_back(iter);
  }
  return out;
}

/// The extent of one iter with the stride of `low` that has the sums of both; nullopt where none has.
std::optional<Dim> joined(const Iter& low, const Iter& high) {
  if (low.axis != high.axis) return std::nullopt;
  if (high.stride == low.stride * low.extent) return low.extent * high.extent;
  const auto extent = low.extent.constant(), stride = low.stride.constant(), step = high.stride.constant();
  if (!extent || !stride || !step || *step % *stride != 0) return std::nullopt;
  const int64_t apart = *step / *stride;  // the steps of `high` leave no gap between those of `low`
  return apart >= 1 && apart <= *extent ? std::optional(low.extent + (high.extent - 1) * apart)
                                        : std::nullopt;
}

bool by_axis_and_stride(const Iter& a, const Iter& b) {
  if (a.axis != b.axis) return a.axis < b.axis;
  const auto x = a.stride.constant(), y = b.stride.constant();
  if (x && y && *x != *y) return *x < *y;
  if (const int order = compare(a.stride, b.stride)) return order < 0;
  return compare(a.extent, b.extent) < 0;
}

/// Joins what can be joined, until nothing can.
void merge_replicas(std::vector<Iter>& iters) {
  std::sort(iters.begin(), iters.end(), by_axis_and_stride);
  for (size_t i = 0; i < iters.size(); ++i)
    for (size_t j = i + 1; j < iters.size();) {
      if (const auto extent = joined(iters[i], iters[j])) {
        iters[i].extent = *extent;
        iters.erase(iters.begin() + static_cast<std::ptrdiff_t>(j));
        j = i + 1;
      } else {
        ++j;
      }
    }
}

}  // namespace

Layout canonical(const Layout& layout) {
  Layout out;
  for (const auto& [axis, amount] : layout.offset) add_offset(out, axis, amount);
  out.shards = merged_shards(layout.shards);
  for (Iter iter : layout.replicas) {
    if (iter.extent.is(1) || iter.stride.is(0)) continue;
    if (iter.stride.constant() < 0) {
      add_offset(out, iter.axis, (iter.extent - 1) * iter.stride);
      iter.stride = -iter.stride;
    }
    out.replicas.push_back(iter);
  }
  merge_replicas(out.replicas);
  return out;
}

namespace {

/// Facts decide a statement, or show values that break it.
class Decider {
 public:
  explicit Decider(const std::vector<Fact>& facts) : facts_(facts) {}
  bool surely(const Fact& fact) const {
    return fact.lhs == fact.rhs || shape::prove(facts_, fact).verdict == shape::Verdict::proved;
  }
  bool surely_equal(const Iter& a, const Iter& b) const {
    return surely(shape::equal(a.extent, b.extent)) && surely(shape::equal(a.stride, b.stride)) &&
           (a.axis == b.axis || (a.stride.is(0) && b.stride.is(0)));
  }
  bool surely_equal(const std::vector<Iter>& a, const std::vector<Iter>& b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](const Iter& x, const Iter& y) { return surely_equal(x, y); });
  }

 private:
  const std::vector<Fact>& facts_;
};

/// Do the replicas of two canonical layouts have the same sums?
std::optional<bool> same_replicas(const Layout& a, const Layout& b) {
  if (a.replicas == b.replicas) return true;
  std::set<Axis> axes = axes_of(a);
  axes.merge(axes_of(b));
  for (const Axis& axis : axes) {
    const auto left = sums(on_axis(a, axis).replicas), right = sums(on_axis(b, axis).replicas);
    if (!left || !right) return std::nullopt;
    if (*left != *right) return false;
  }
  return true;
}

/// Sizes that the facts allow, which may tell the two apart.
std::optional<shape::Assignment> some_sizes(const Layout& a, const Layout& b,
                                            const std::vector<Fact>& facts) {
  std::vector<shape::Var> variables;
  for (const Layout* layout : {&a, &b}) {
    for (const auto& [axis, amount] : layout->offset) amount.collect_vars(variables);
    for (const auto* iters : {&layout->shards, &layout->replicas})
      for (const Iter& iter : *iters) iter.stride.collect_vars(variables);
  }
  shape::Answer model = shape::prove_empty(facts);
  if (model.verdict != shape::Verdict::refuted) return std::nullopt;
  // No fact speaks of the others: they may be anything.
  for (size_t i = 0; i < variables.size(); ++i)
    model.counter_example.try_emplace(variables[i], 101 + 10 * static_cast<int64_t>(i));
  return model.counter_example;
}

bool surely_same(const Layout& a, const Layout& b, const Decider& decider) {
  std::set<Axis> axes = axes_of(a);
  axes.merge(axes_of(b));
  for (const Axis& axis : axes)
    if (!decider.surely(shape::equal(offset_on(a, axis), offset_on(b, axis)))) return false;
  if (same_replicas(a, b) != true && !decider.surely_equal(a.replicas, b.replicas)) return false;
  // Over the pieces of both a stride decides alone: a digit of 1 counts what the stride is.
  const Outcome<Grouped> left = group(a, extents(b.shards)), right = group(b, extents(a.shards));
  if (!left || !right) return false;
  for (const Needs* needs : {&left.needs(), &right.needs()})
    for (const Fact& need : *needs)
      if (!decider.surely(need)) return false;
  return decider.surely_equal(left->layout.shards, right->layout.shards);
}

}  // namespace

std::optional<bool> same(const Layout& left, const Layout& right, const std::vector<Fact>& facts) {
  const Layout a = canonical(left), b = canonical(right);
  if (a == b) return true;
  if (is_constant(a) && is_constant(b)) {
    if (a.shards != b.shards || a.offset != b.offset) return false;
    return same_replicas(a, b);
  }
  std::vector<Fact> known = positive_extents(a);
  append(known, positive_extents(b));
  append(known, facts);
  if (surely_same(a, b, Decider(known))) return true;
  const auto values = some_sizes(a, b, known);
  if (!values) return std::nullopt;
  const auto here = evaluate(a, *values), there = evaluate(b, *values);
  return here && there && same(*here, *there) == false ? std::optional(false) : std::nullopt;
}

std::optional<int64_t> first_difference(const Layout& left, const Layout& right) {
  Layout a = canonical(left), b = canonical(right);
  if (a.offset != b.offset || same_replicas(a, b) == false) return 0;
  // While the digits below agree, the first index that differs is one digit of 1, behind an iter of either.
  a.replicas.clear();
  b.replicas.clear();
  const Evaluator one(a), other(b);
  std::set<int64_t> candidates;
  for (const Layout* layout : {&a, &b}) {
    int64_t below = 1;
    for (size_t i = layout->shards.size(); i-- > 0;) {
      candidates.insert(below);
      below *= *layout->shards[i].extent.constant();
    }
  }
  const auto at = [](const Evaluator& layout, int64_t x) {
    Point point;
    const std::vector<int64_t> place = layout.base(x);
    for (size_t i = 0; i < place.size(); ++i)
      if (place[i] != 0) point[layout.axes()[i]] = place[i];
    return point;
  };
  for (const int64_t x : candidates)
    if (at(one, x) != at(other, x)) return x;
  return std::nullopt;
}

}  // namespace axon::layout
