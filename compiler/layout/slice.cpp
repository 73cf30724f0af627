// See slice.h.
#include "layout/slice.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bug.h"
#include "layout/divide.h"
#include "layout/evaluate.h"
#include "layout/group.h"
#include "layout/sums.h"

namespace axon::layout {
namespace {

/// One axis: its digits from the inner end.
class AxisSlice {
 public:
  AxisSlice(std::vector<Iter> iters, const Range& range) : left_(std::move(iters)), range_(range) {}

  /// Empty, or why there is none.
  std::string run() {
    if (left_.empty()) return "";
    while (!inside_one_digit()) {
      if (!whole_digits()) return fitted() ? "" : unrepresentable();
    }
    const Iter digit = left_.back();
    left_.pop_back();
    taken_.push_back({range_.extent, digit.stride, digit.axis});
    move(digit, left_.empty() ? range_.begin : shape::mod(range_.begin, digit.extent));
    for (Dim rest = shape::floor_div(range_.begin, digit.extent); !left_.empty(); left_.pop_back()) {
      const Iter& outer = left_.back();
      move(outer, left_.size() == 1 ? rest : shape::mod(rest, outer.extent));
      rest = shape::floor_div(rest, outer.extent);
    }
    return "";
  }

  std::vector<Iter> iters() const { return {taken_.rbegin(), taken_.rend()}; }
  std::map<Axis, Dim> offset;
  Needs needs;

 private:
  void move(const Iter& digit, const Dim& by) { offset[digit.axis] = offset[digit.axis] + by * digit.stride; }

  bool inside_one_digit() const {
    if (left_.size() == 1 || range_.extent.is(1)) return true;
    const Dim& extent = left_.back().extent;
    if (!extent.constant() || !range_.extent.constant()) return false;
    const Dim end = shape::mod(range_.begin, extent) + range_.extent;
    if (end.constant()) return *end.constant() <= *extent.constant();
    return shape::prove({}, shape::at_most(end, extent)).verdict == shape::Verdict::proved;
  }

  /// Takes the inner digit where the range begins and ends with a whole one of it.
  bool whole_digits() {
    const auto count = exact_quotient(range_.extent, left_.back().extent);
    const auto begin = exact_quotient(range_.begin, left_.back().extent);
    if (!count || !begin) return false;
    for (const auto* quotient : {&count, &begin})
      if ((*quotient)->need) needs.push_back(*(*quotient)->need);
    taken_.push_back(left_.back());
    left_.pop_back();
    range_ = {begin->value, count->value};
    return true;
  }

  /// Of numbers: whatever shards place the rest of the range so.
  bool fitted() {
    const auto begin = range_.begin.constant(), extent = range_.extent.constant();
    const Layout rest{left_, {}, {}};
    if (!begin || !extent || static_cast<size_t>(*extent) > most_sums || !is_constant(rest)) return false;
    const Evaluator evaluator(rest);
    const auto shards = fit(*extent, evaluator.axes(), [&](int64_t x) { return evaluator.base(*begin + x); });
    if (!shards) return false;
    taken_.insert(taken_.end(), shards->rbegin(), shards->rend());
    const std::vector<int64_t> first = evaluator.base(*begin);
    for (size_t i = 0; i < first.size(); ++i) {
      Dim& at = offset[evaluator.axes()[i]];
      at = at + first[i];
    }
    return true;
  }

  std::string unrepresentable() const {
    return fmt::format("{} elements from {} on take unequal parts of runs of {}", range_.extent.str(),
                       range_.begin.str(), left_.back().extent.str());
  }

  std::vector<Iter> left_, taken_;  // what is taken: the innermost first
  Range range_;
};

bool leaves(const Range& range, const Dim& extent) {
  const auto begin = range.begin.constant(), count = range.extent.constant(), all = extent.constant();
  return (begin && *begin < 0) || (count && *count < 1) || (begin && count && all && *begin > *all - *count);
}

}  // namespace

Outcome<Layout> slice(const Layout& layout, const Shape& shape, const std::vector<Range>& ranges) {
  if (ranges.size() != shape.size()) base::bug("layout", "a range for each axis");
  const Outcome<Grouped> grouped = group(layout, shape);
  if (!grouped) return grouped.refusal();
  Layout out = layout;
  out.shards.clear();
  Needs needs = grouped.needs();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (leaves(ranges[i], shape[i]))
      return Refusal{fmt::format("{} elements from {} on are not all in axis {}, which has {}",
                                 ranges[i].extent.str(), ranges[i].begin.str(), i, shape[i].str())};
    AxisSlice one(grouped->of(i), ranges[i]);
    if (const std::string why = one.run(); !why.empty()) return Refusal{fmt::format("axis {}: {}", i, why)};
    const std::vector<Iter> iters = one.iters();
    out.shards.insert(out.shards.end(), iters.begin(), iters.end());
    for (const auto& [axis, amount] : one.offset) add_offset(out, axis, amount);
    append(needs, one.needs);
  }
  return {std::move(out), std::move(needs)};
}

}  // namespace axon::layout
