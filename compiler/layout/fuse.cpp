// See fuse.h.
#include "layout/fuse.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/contains.h"
#include "layout/canonical.h"
#include "layout/divide.h"
#include "layout/evaluate.h"

namespace axon::layout {
namespace {

Refusal carries(const Iter& iter, const AxisSplit& rule) {
  return {fmt::format("{} steps of {} on `{}` carry from `{}` into `{}`, which has {}", iter.extent.str(),
                      iter.stride.str(), rule.fused.name, rule.fine.name, rule.coarse.name, rule.ratio)};
}

/// The digit on the coarse axis and, inside of it, the one on the fine axis; an extent of 1 where there is
/// none.
struct SplitIter {
  Iter coarse, fine;
};
Outcome<SplitIter> split_iter(const Iter& iter, const AxisSplit& rule) {
  SplitIter out{{1, 0, rule.coarse}, {1, 0, rule.fine}};
  const auto stride = iter.stride.constant(), extent = iter.extent.constant();
  const bool small = stride && *stride > -rule.ratio && *stride < rule.ratio;
  if (!small) {
    const auto steps = exact_quotient(iter.stride, rule.ratio);
    if (!steps) return carries(iter, rule);
    out.coarse = {iter.extent, steps->value, rule.coarse};
    return {std::move(out), steps->need ? Needs{*steps->need} : Needs{}};
  }
  const int64_t step = std::abs(*stride);
  if (step == 0 || (extent && step * (*extent - 1) < rule.ratio)) {
    out.fine = {iter.extent, iter.stride, rule.fine};
    return out;
  }
  const int64_t inner = rule.ratio / step;
  const auto outer = exact_quotient(iter.extent, inner);
  if (rule.ratio % step != 0 || !outer) return carries(iter, rule);
  out.coarse = {outer->value, *stride > 0 ? 1 : -1, rule.coarse};
  out.fine = {inner, iter.stride, rule.fine};
  return {std::move(out), outer->need ? Needs{*outer->need} : Needs{}};
}

/// An axis that the rule makes, and that the layout has already.
std::optional<Refusal> taken(const Layout& layout, const std::vector<Axis>& made,
                             const std::vector<Axis>& replaced) {
  for (const Axis& axis : made)
    if (!base::contains(replaced, axis) && axes_of(layout).count(axis))
      return Refusal{fmt::format("it has coordinates on `{}` already", axis.name)};
  return std::nullopt;
}

}  // namespace

Outcome<Layout> fuse(const Layout& layout, const AxisSplit& rule) {
  if (const auto why = taken(layout, {rule.fused}, {rule.coarse, rule.fine})) return *why;
  if (const auto all = spans(layout); all.count(rule.fine)) {
    const Span& span = all.at(rule.fine);
    const auto low = span.low.constant(), high = span.high.constant();
    if (!low || !high || *low < 0 || *high >= rule.ratio)
      return Refusal{fmt::format("coordinates of `{}` go from {} to {}, and a `{}` has {}", rule.fine.name,
                                 span.low.str(), span.high.str(), rule.coarse.name, rule.ratio)};
  }
  Layout out = layout;
  for (auto* iters : {&out.shards, &out.replicas})
    for (Iter& iter : *iters)
      if (iter.axis == rule.coarse || iter.axis == rule.fine)
        iter = {iter.extent, iter.stride * (iter.axis == rule.coarse ? rule.ratio : 1), rule.fused};
  out.offset.erase(rule.coarse);
  out.offset.erase(rule.fine);
  add_offset(out, rule.fused, offset_on(layout, rule.coarse) * rule.ratio + offset_on(layout, rule.fine));
  if (const auto why = why_too_large(out)) return Refusal{*why};
  return out;
}

namespace {

/// Each of the iters on the fused axis as one or two; what others count on stays.
std::optional<Refusal> split_iters(std::vector<Iter>& iters, const AxisSplit& rule, Needs& needs) {
  std::vector<Iter> cut;
  for (const Iter& iter : iters) {
    if (iter.axis != rule.fused) {
      cut.push_back(iter);
      continue;
    }
    const Outcome<SplitIter> parts = split_iter(iter, rule);
    if (!parts) return parts.refusal();
    append(needs, parts.needs());
    for (const Iter* part : {&parts->coarse, &parts->fine})
      if (!part->extent.is(1)) cut.push_back(*part);
  }
  iters = std::move(cut);
  return std::nullopt;
}

}  // namespace

Outcome<Layout> split(const Layout& layout, const AxisSplit& rule) {
  if (const auto why = taken(layout, {rule.coarse, rule.fine}, {rule.fused})) return *why;
  Layout out = canonical(layout);  // an iter in pieces may carry where the whole one does not
  Needs needs;
  for (auto* iters : {&out.shards, &out.replicas})
    if (const auto why = split_iters(*iters, rule, needs)) return *why;
  const Dim offset = offset_on(out, rule.fused);
  out.offset.erase(rule.fused);
  // The offset goes where the least coordinate is in [0, ratio).
  const auto all = spans(out);
  const Span span = all.count(rule.fine) ? all.at(rule.fine) : Span{0, 0};
  const Dim blocks = shape::floor_div(offset + span.low, rule.ratio), rest = offset - blocks * rule.ratio;
  const shape::Fact in_one_block = shape::less(rest + span.high, rule.ratio);
  if (shape::prove({}, in_one_block).verdict != shape::Verdict::proved)
    return Refusal{fmt::format("from {} on, what counts on `{}` carries into `{}`", offset.str(),
                               rule.fine.name, rule.coarse.name)};
  add_offset(out, rule.coarse, blocks);
  add_offset(out, rule.fine, rest);
  return {std::move(out), std::move(needs)};
}

}  // namespace axon::layout
