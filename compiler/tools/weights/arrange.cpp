// See arrange.h.
#include "tools/weights/arrange.h"

#include <algorithm>
#include <numeric>

#include "host/weights/span.h"

namespace axon::tools {

namespace {

using weights::AxesPattern;
using Shape = std::vector<uint64_t>;
using AxisOrder = std::vector<uint32_t>;

constexpr size_t most_axes = 5;

class Arranger {
 public:
  Arranger(const Facts& facts, size_t weight, size_t rank, const Unit& unit, const OrdersSeen& seen,
           bool& open)
      : facts_(facts), weight_(weight), rank_(rank), unit_(unit), seen_(seen), open_(open) {}

  std::optional<Arrangement> run() const {
    const size_t axes = unit_.shape.size();
    if (axes == 0 || std::max(axes, rank_) > most_axes) return std::nullopt;
    if (axes == rank_) return axes > 2 ? reordered() : std::nullopt;
    return axes > rank_ ? with_fewer_axes() : with_more_axes();
  }

 private:
  /// The shape of the weight, with the axes of the stack.
  Shape whole(const Shape& shape) const {
    Shape out = unit_.extents;
    out.insert(out.end(), shape.begin(), shape.end());
    return out;
  }
  std::optional<Arrangement> fitting(const AxesPattern& pattern) const {
    const auto found = weights::arranged(pattern, unit_.shape);
    if (!found || found->shape.size() != rank_ || !facts_.fits(weight_, whole(found->shape)))
      return std::nullopt;
    return Arrangement{text_of(pattern), whole(found->shape), {}, true};
  }
  std::optional<Arrangement> several() const { return open_ = true, std::nullopt; }
  /// The first that fits, if no other gives another shape.
  std::optional<Arrangement> only(const std::vector<AxesPattern>& patterns) const {
    std::optional<Arrangement> out;
    for (const AxesPattern& pattern : patterns) {
      auto found = fitting(pattern);
      if (!found) continue;
      if (out && out->shape != found->shape) return several();
      if (out)
        out->certain = false;
      else
        out = std::move(found);
    }
    return out;
  }

  // ---- as many axes ----

  std::optional<Arrangement> reordered() const {
    AxisOrder order(rank_);
    std::iota(order.begin(), order.end(), 0U);
    std::vector<std::pair<AxisOrder, Arrangement>> found;
    while (std::next_permutation(order.begin(), order.end()))
      if (auto one = fitting(weights::pattern_of(unit_.shape, order)))
        found.emplace_back(order, std::move(*one));
    if (found.empty()) return std::nullopt;
    auto best = found.begin();
    for (auto one = found.begin(); one != found.end(); ++one)
      if (times_seen(one->first) > times_seen(best->first)) best = one;
    const bool same_shape = std::all_of(
        found.begin(), found.end(), [&](const auto& one) { return one.second.shape == best->second.shape; });
    if (times_seen(best->first) == 0 && !same_shape) return several();
    best->second.order = best->first;
    best->second.certain = times_seen(best->first) > 0 || are_filters(found);
    return std::move(best->second);
  }
  size_t times_seen(const AxisOrder& order) const {
    const auto found = seen_.find(order);
    return found == seen_.end() ? 0 : found->second;
  }
  /// Is there one order, or are there two that differ in which of two neighbours of one extent comes first,
  /// as the rows and columns of square filters are, of which the order is kept?
  bool are_filters(const std::vector<std::pair<AxisOrder, Arrangement>>& found) const {
    if (found.size() != 2 || rank_ < 4) return found.size() == 1;
    AxisOrder kept = found[0].first;  // the first of all permutations
    for (size_t k = 0; k + 1 < kept.size(); ++k) {
      if (kept[k] + 1 != kept[k + 1] || unit_.shape[kept[k]] != unit_.shape[kept[k + 1]]) continue;
      std::swap(kept[k], kept[k + 1]);
      return kept == found[1].first;
    }
    return false;
  }

  // ---- fewer, or more ----

  /// The names a, b, .. of so many axes.
  static AxesPattern named(size_t count) {
    AxesPattern out;
    for (uint32_t i = 0; i < count; ++i) {
      out.names.emplace_back(1, static_cast<char>('a' + i));
      out.sizes.emplace_back();
    }
    return out;
  }
  /// All ways to put axes 0, 1, .., in this order, into so many groups of neighbours.
  static std::vector<std::vector<AxesPattern::Axis>> groupings(uint32_t axes, size_t groups) {
    if (groups == 0)
      return axes == 0 ? std::vector<std::vector<AxesPattern::Axis>>(1)
                       : std::vector<std::vector<AxesPattern::Axis>>();
    std::vector<std::vector<AxesPattern::Axis>> out;
    for (uint32_t last = 1; last <= axes; ++last)
      for (auto& rest : groupings(axes - last, groups - 1)) {
        AxesPattern::Axis group(last);
        std::iota(group.begin(), group.end(), axes - last);
        rest.push_back(std::move(group));
        out.push_back(std::move(rest));
      }
    return out;
  }
  /// These groups, and the last two of them in the other order.
  static void add_both_ways(AxesPattern pattern, std::vector<AxesPattern::Axis> groups, bool from,
                            std::vector<AxesPattern>& out) {
    (from ? pattern.from : pattern.to) = groups;
    out.push_back(pattern);
    std::vector<AxesPattern::Axis>& to = pattern.to;
    if (to.size() < 2) return;
    std::swap(to[to.size() - 1], to[to.size() - 2]);
    out.push_back(std::move(pattern));
  }

  std::optional<Arrangement> with_fewer_axes() const {
    if (auto pattern = weights::leaving_out_ones(unit_.shape, rank_)) {
      std::vector<AxesPattern> both;
      const std::vector<AxesPattern::Axis> to = pattern->to;
      add_both_ways(*pattern, to, false, both);
      return only(both);
    }
    const auto axes = static_cast<uint32_t>(unit_.shape.size());
    AxesPattern pattern = named(axes);
    for (uint32_t i = 0; i < axes; ++i) pattern.from.push_back({i});
    std::vector<AxesPattern> all;
    for (const auto& groups : groupings(axes, rank_)) add_both_ways(pattern, groups, false, all);
    return only(all);
  }

  /// The sizes of what is divided have to be known.
  std::optional<Arrangement> with_more_axes() const {
    AxesPattern pattern = named(rank_);
    uint64_t known = 1, all = 1;
    std::optional<uint32_t> unknown;
    for (const uint64_t extent : unit_.shape) all *= extent;  // of a tensor that is in a file
    for (uint32_t i = 0; i < rank_; ++i) {
      pattern.sizes[i] = facts_.extent(weight_, unit_.extents.size() + i);
      pattern.to.push_back({i});
      if (!pattern.sizes[i] && unknown) return several();
      if (!pattern.sizes[i]) unknown = i;
      known = weights::checked_mul(known, pattern.sizes[i].value_or(1)).value_or(0);
    }
    if (known == 0 || all % known != 0) return std::nullopt;
    if (unknown) pattern.sizes[*unknown] = all / known;
    // Whatever is in which group: what stays in order and has this shape is the same.
    for (const auto& groups : groupings(static_cast<uint32_t>(rank_), unit_.shape.size())) {
      AxesPattern one = pattern;
      one.from = groups;
      for (const AxesPattern::Axis& axis : groups) one.sizes[axis.back()].reset();
      if (auto found = fitting(one)) return found;
    }
    return std::nullopt;
  }

  const Facts& facts_;
  const size_t weight_, rank_;
  const Unit& unit_;
  const OrdersSeen& seen_;
  bool& open_;
};

}  // namespace

std::optional<Arrangement> arrangement_of(const Facts& facts, size_t weight, uint32_t rank, const Unit& unit,
                                          const OrdersSeen& seen, bool& open) {
  open = false;
  if (rank < unit.extents.size()) return std::nullopt;
  return Arranger(facts, weight, rank - unit.extents.size(), unit, seen, open).run();
}

}  // namespace axon::tools
