// See evaluate.h.
#include "layout/evaluate.h"

#include <algorithm>
#include <numeric>

#include "base/bug.h"
#include "layout/canonical.h"
#include "layout/group.h"
#include "layout/sums.h"

namespace axon::layout {

using shape::Fact;

Dim flat_index(const Shape& shape, const std::vector<Dim>& index) {
  if (shape.size() != index.size()) base::bug("layout", "an index for each axis");
  Dim flat;
  for (size_t i = 0; i < shape.size(); ++i) flat = flat * shape[i] + index[i];
  return flat;
}

namespace {

/// Adds the digits of x over iters [begin, end) times their strides. x is below the product of their extents.
void add_digits(const std::vector<Iter>& iters, size_t begin, size_t end, Dim x, std::map<Axis, Dim>& place) {
  for (size_t i = end; i-- > begin;) {
    const Iter& iter = iters[i];
    const Dim digit = i == begin ? x : shape::mod(x, iter.extent);
    Dim& sum = place[iter.axis];
    sum = sum + digit * iter.stride;
    if (i > begin) x = shape::floor_div(x, iter.extent);
  }
}

}  // namespace

std::map<Axis, Dim> apply(const Layout& layout, const Dim& x) {
  std::map<Axis, Dim> place = layout.offset;
  for (const Axis& axis : axes_of(layout)) place.try_emplace(axis);
  add_digits(layout.shards, 0, layout.shards.size(), x, place);
  return place;
}

std::map<Axis, Dim> apply(const Layout& layout, const Shape& shape, const std::vector<Dim>& index) {
  const Outcome<Grouped> grouped = group(layout, shape);
  if (!grouped || !grouped.needs().empty()) return apply(layout, flat_index(shape, index));
  std::map<Axis, Dim> place = layout.offset;
  for (const Axis& axis : axes_of(layout)) place.try_emplace(axis);
  for (size_t i = 0; i < shape.size(); ++i)
    add_digits(grouped->layout.shards, grouped->begin(i), grouped->ends[i], index[i], place);
  return place;
}

// ---- Numbers ----

int64_t number_in_layout(const Dim& dim) {
  const auto value = dim.constant();
  if (!value) base::bug("layout", "a layout of numbers has `" + dim.str() + "`");
  return *value;
}

Evaluator::Evaluator(const Layout& layout) {
  for (const Axis& axis : axes_of(layout)) {
    axes_.push_back(axis);
    offset_.push_back(number_in_layout(offset_on(layout, axis)));
  }
  shards_ = digits(layout.shards);
  replicas_ = digits(layout.replicas);
  for (const Digit& digit : shards_) size_ *= digit.extent;
}

std::vector<Evaluator::Digit> Evaluator::digits(const std::vector<Iter>& iters) const {
  std::vector<Digit> out;
  for (const Iter& iter : iters) {
    const auto at = std::find(axes_.begin(), axes_.end(), iter.axis);
    out.push_back({number_in_layout(iter.extent), number_in_layout(iter.stride),
                   static_cast<size_t>(at - axes_.begin())});
  }
  return out;
}

std::vector<int64_t> Evaluator::base(int64_t x) const {
  std::vector<int64_t> place = offset_;
  for (size_t i = shards_.size(); i-- > 0; x /= shards_[i].extent)
    place[shards_[i].axis] += x % shards_[i].extent * shards_[i].stride;
  return place;
}

std::vector<std::vector<int64_t>> Evaluator::replicas() const {
  std::vector<std::vector<int64_t>> out{std::vector<int64_t>(axes_.size(), 0)};
  for (const Digit& digit : replicas_) {
    const size_t before = out.size();
    for (int64_t i = 1; i < digit.extent; ++i)
      for (size_t j = 0; j < before; ++j) {
        out.push_back(out[j]);
        out.back()[digit.axis] += i * digit.stride;
      }
  }
  return out;
}

std::set<Point> points(const Layout& layout, int64_t x) {
  const Evaluator evaluator(layout);
  const std::vector<int64_t> base = evaluator.base(x);
  std::set<Point> out;
  for (const std::vector<int64_t>& replica : evaluator.replicas()) {
    Point point;
    for (size_t i = 0; i < base.size(); ++i) point[evaluator.axes()[i]] = base[i] + replica[i];
    out.insert(std::move(point));
  }
  return out;
}

// ---- Ends ----

std::vector<Fact> positive_extents(const Layout& layout) {
  std::vector<Fact> facts;
  for (const auto* iters : {&layout.shards, &layout.replicas})
    for (const Iter& iter : *iters)
      if (!iter.extent.constant()) facts.push_back(shape::at_least(iter.extent, 1));
  return facts;
}

std::map<Axis, Span> spans(const Layout& layout, const std::vector<Fact>& facts) {
  std::vector<Fact> known = positive_extents(layout);
  append(known, facts);
  const auto decided = [&](const Dim& dim) { return dim.constant() ? dim : shape::simplify(dim, known); };
  std::map<Axis, Span> out;
  for (const Axis& axis : axes_of(layout)) out[axis] = {offset_on(layout, axis), offset_on(layout, axis)};
  for (const auto* iters : {&layout.shards, &layout.replicas})
    for (const Iter& iter : *iters) {
      const Dim last = (iter.extent - 1) * iter.stride;
      Span& span = out[iter.axis];
      span.low = span.low + decided(shape::min(last, 0));
      span.high = span.high + decided(shape::max(last, 0));
    }
  return out;
}

Dim span_on(const Layout& layout, const Axis& axis, const std::vector<Fact>& facts) {
  const std::map<Axis, Span> all = spans(on_axis(layout, axis), facts);
  const auto found = all.find(axis);
  return found == all.end() ? Dim(1) : found->second.high - found->second.low + 1;
}

// ---- Injective ----

namespace {

/// Of one axis: shards without zeros and, behind them, replicas.
class Strides {
 public:
  Strides(const Layout& layout, const std::vector<Fact>& facts)
      : facts_(positive_extents(layout)), layout_(layout) {
    append(facts_, facts);
    for (const auto* iters : {&layout.shards, &layout.replicas})
      for (const Iter& iter : *iters) all_.push_back({magnitude(iter.stride), iter.extent - 1});
    std::reverse(all_.begin(), all_.end());  // the last axis mostly has the least stride
  }

  /// Is there an order in which each stride exceeds all that those before it sum to? Then all sums differ.
  /// Mostly it is that of the strides; where an extent may be 1, its stride may also be less than others.
  bool dominated() const {
    int tries = 64;
    return dominated(all_, Dim(0), tries);
  }

  /// By counting the sums of numbers.
  std::optional<bool> counted() const {
    const auto shards = sums(layout_.shards), replicas = sums(layout_.replicas);
    const auto elements = size(layout_).constant();
    if (!shards || !replicas) return std::nullopt;
    if (static_cast<size_t>(*elements) != shards->size()) return false;
    const auto both = sums(*shards, *replicas);
    return both ? std::optional(both->size() == shards->size() * replicas->size()) : std::nullopt;
  }

 private:
  struct Counted {
    Dim stride, most;
  };
  bool dominated(const std::vector<Counted>& rest, const Dim& reached, int& tries) const {
    if (rest.empty()) return true;
    for (size_t i = 0; i < rest.size() && tries > 0; ++i) {
      --tries;
      if (!surely(shape::less(reached, rest[i].stride))) continue;
      std::vector<Counted> others = rest;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      if (dominated(others, reached + rest[i].stride * rest[i].most, tries)) return true;
    }
    return false;
  }

  static Dim magnitude(const Dim& stride) {
    const auto value = stride.constant();
    return value && *value < 0 ? -stride : stride;
  }
  bool surely(const Fact& fact) const {
    const auto lhs = fact.lhs.constant(), rhs = fact.rhs.constant();
    if (lhs && rhs) return shape::holds(fact.relation, *lhs, *rhs);
    return shape::prove(facts_, fact).verdict == shape::Verdict::proved;
  }

  std::vector<Fact> facts_;
  const Layout& layout_;
  std::vector<Counted> all_;
};

}  // namespace

std::optional<bool> injective(const Layout& layout, const std::vector<Fact>& facts) {
  // A digit counts on one axis only, so two indices meet where those of one axis do, the others being equal.
  const Layout whole = canonical(layout);
  std::optional<bool> all = true;
  for (const Axis& axis : axes_of(whole)) {
    Layout one = on_axis(whole, axis);
    std::erase_if(one.shards, [&](const Iter& iter) { return iter.stride.is(0); });
    const Strides strides(one, facts);
    if (strides.dominated()) continue;
    const auto counted = strides.counted();
    if (counted == false) return false;
    if (!counted) all = std::nullopt;
  }
  for (const Iter& iter : whole.shards) {
    if (!iter.stride.is(0)) continue;
    const bool several = shape::prove(facts, shape::less(1, iter.extent)).verdict == shape::Verdict::proved;
    return several ? std::optional(false) : std::nullopt;
  }
  return all;
}

}  // namespace axon::layout
