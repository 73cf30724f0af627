// See tile.h.
#include "layout/tile.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "layout/canonical.h"
#include "layout/divide.h"
#include "layout/evaluate.h"
#include "layout/group.h"
#include "layout/sums.h"
#include "layout/text.h"

namespace axon::layout {
namespace {

Refusal other_ranks(const Shape& a, const Shape& b) {
  return {fmt::format("one tensor has {} axes, the other {}", a.size(), b.size())};
}

/// The whole's shards by the axes of an outer and an inner shape in turn.
struct Halves {
  Shaped outer, inner;  ///< shards only
};

/// `part` is the shape of the inner tile, or of the outer one.
Outcome<Halves> halves(const Shaped& whole, const Shape& part, bool part_is_outer) {
  if (whole.shape.size() != part.size()) return other_ranks(whole.shape, part);
  Halves out;
  Needs needs;
  Shape both;
  for (size_t i = 0; i < part.size(); ++i) {
    const auto other = exact_quotient(whole.shape[i], part[i]);
    if (!other)
      return Refusal{fmt::format("{} does not divide {}, the extent of axis {}", part[i].str(),
                                 whole.shape[i].str(), i)};
    if (other->need) needs.push_back(*other->need);
    out.outer.shape.push_back(part_is_outer ? part[i] : other->value);
    out.inner.shape.push_back(part_is_outer ? other->value : part[i]);
    both.push_back(out.outer.shape[i]);
    both.push_back(out.inner.shape[i]);
  }
  const Outcome<Grouped> grouped = group(whole.layout, both);
  if (!grouped) return grouped.refusal();
  append(needs, grouped.needs());
  for (size_t i = 0; i < both.size(); ++i) {
    std::vector<Iter>& shards = (i % 2 == 0 ? out.outer : out.inner).layout.shards;
    const std::vector<Iter> iters = grouped->of(i);
    shards.insert(shards.end(), iters.begin(), iters.end());
  }
  return {std::move(out), std::move(needs)};
}

/// Replicas that with those of `part` have the sums of those of `whole`, of numbers that `keep` accepts.
/// Both are canonical.
std::optional<std::vector<Iter>> replicas_beside(const Layout& whole, const Layout& part,
                                                 const std::function<bool(const Axis&, int64_t)>& keep) {
  std::vector<Iter> out;
  std::set<Axis> axes = axes_of(whole);
  axes.merge(axes_of(part));
  for (const Axis& axis : axes) {
    const std::vector<Iter> of_whole = on_axis(whole, axis).replicas, of_part = on_axis(part, axis).replicas;
    if (of_whole == of_part) continue;
    const auto all = sums(of_whole), some = sums(of_part);
    if (!all || !some) {
      if (!of_part.empty()) return std::nullopt;
      out.insert(out.end(), of_whole.begin(), of_whole.end());
      continue;
    }
    auto rest = difference(*all, *some);
    if (!rest) return std::nullopt;
    std::erase_if(*rest, [&](int64_t at) { return !keep(axis, at); });
    if (rest->empty() || sums(*rest, *some) != all) return std::nullopt;
    const auto iters = as_iters(*rest, axis);
    if (!iters) return std::nullopt;
    out.insert(out.end(), iters->begin(), iters->end());
  }
  return out;
}

/// The layout with each step on an axis `factor` of it times as long.
Layout scaled(const Layout& layout, const std::function<Dim(const Axis&)>& factor) {
  Layout out = layout;
  for (auto* iters : {&out.shards, &out.replicas})
    for (Iter& iter : *iters) iter.stride = iter.stride * factor(iter.axis);
  for (auto& [axis, amount] : out.offset) amount = amount * factor(axis);
  return out;
}

/// The reverse; the refusal names a step that is no multiple.
Outcome<Layout> unscaled(const Layout& layout, const std::function<Dim(const Axis&)>& factor) {
  Layout out = layout;
  Needs needs;
  std::string why;
  const auto divide = [&](Dim& step, const Axis& axis) {
    const auto quotient = exact_quotient(step, factor(axis));
    if (!quotient)
      why = fmt::format("a step of {} on `{}` is no multiple of {}, what the inner tile spans", step.str(),
                        axis.name, factor(axis).str());
    if (quotient && quotient->need) needs.push_back(*quotient->need);
    if (quotient) step = quotient->value;
  };
  for (auto* iters : {&out.shards, &out.replicas})
    for (Iter& iter : *iters) divide(iter.stride, iter.axis);
  for (auto& [axis, amount] : out.offset) divide(amount, axis);
  if (!why.empty()) return Refusal{why};
  return {std::move(out), std::move(needs)};
}

void subtract_offset(Layout& from, const Layout& part) {
  for (const auto& [axis, amount] : part.offset) add_offset(from, axis, -amount);
}

/// Is `made` the whole, under what it needs?
bool is_whole(const Outcome<Shaped>& made, const Shaped& whole, Needs& needs) {
  if (!made) return false;
  append(needs, made.needs());
  return same(made->layout, whole.layout, needs) == true;
}

Refusal replicas_differ(const Layout& whole, const Layout& part) {
  return {fmt::format("the replicas of `{}` are not made of those of `{}`", print(whole), print(part))};
}
Refusal parts_differ(const Layout& found, const Layout& given) {
  return {fmt::format("its part is `{}`, and `{}` is looked for", print(canonical(found)),
                      print(canonical(given)))};
}

}  // namespace

// ---- Direct sums ----

Outcome<Shaped> direct_sum(const Shaped& outer, const Shaped& inner) {
  if (outer.shape.size() != inner.shape.size()) return other_ranks(outer.shape, inner.shape);
  const Outcome<Grouped> first = group(outer.layout, outer.shape), second = group(inner.layout, inner.shape);
  if (!first) return first.refusal();
  if (!second) return second.refusal();
  Shaped out{outer.layout, {}};
  out.layout.shards.clear();
  for (size_t i = 0; i < outer.shape.size(); ++i) {
    for (const Grouped* part : {&*first, &*second}) {
      const std::vector<Iter> iters = part->of(i);
      out.layout.shards.insert(out.layout.shards.end(), iters.begin(), iters.end());
    }
    out.shape.push_back(outer.shape[i] * inner.shape[i]);
  }
  out.layout.replicas.insert(out.layout.replicas.end(), inner.layout.replicas.begin(),
                             inner.layout.replicas.end());
  for (const auto& [axis, amount] : inner.layout.offset) add_offset(out.layout, axis, amount);
  if (const auto why = why_too_large(out.layout)) return Refusal{*why};
  Needs needs = first.needs();
  append(needs, second.needs());
  return {std::move(out), std::move(needs)};
}

namespace {

/// The other part of a direct sum.
Outcome<Shaped> other_of_sum(const Shaped& whole, const Shaped& part, bool part_is_outer) {
  const Outcome<Halves> cut = halves(whole, part.shape, part_is_outer);
  if (!cut) return cut.refusal();
  Shaped out = part_is_outer ? cut->inner : cut->outer;
  const Layout all = canonical(whole.layout), given = canonical(part.layout);
  const auto replicas = replicas_beside(all, given, [](const Axis&, int64_t) { return true; });
  if (!replicas) return replicas_differ(all, given);
  out.layout.replicas = *replicas;
  out.layout.offset = all.offset;
  subtract_offset(out.layout, given);
  Needs needs = cut.needs();
  if (!is_whole(part_is_outer ? direct_sum(part, out) : direct_sum(out, part), whole, needs))
    return parts_differ((part_is_outer ? cut->outer : cut->inner).layout, {part.layout.shards, {}, {}});
  return {std::move(out), std::move(needs)};
}

}  // namespace

Outcome<Shaped> outer_of_sum(const Shaped& whole, const Shaped& inner) {
  return other_of_sum(whole, inner, false);
}
Outcome<Shaped> inner_of_sum(const Shaped& whole, const Shaped& outer) {
  return other_of_sum(whole, outer, true);
}

// ---- Tiles ----

Outcome<Shaped> tile(const Shaped& outer, const Shaped& inner) {
  const auto span = [&](const Axis& axis) { return span_on(inner.layout, axis); };
  return direct_sum({scaled(outer.layout, span), outer.shape}, inner);
}

Outcome<Shaped> outer_of_tile(const Shaped& whole, const Shaped& inner) {
  const Outcome<Halves> cut = halves(whole, inner.shape, false);
  if (!cut) return cut.refusal();
  const auto span = [&](const Axis& axis) { return span_on(inner.layout, axis); };
  const Layout all = canonical(whole.layout), given = canonical(inner.layout);
  const auto replicas = replicas_beside(all, given, [&](const Axis& axis, int64_t at) {
    const auto step = span(axis).constant();
    return step && at % *step == 0;
  });
  if (!replicas) return replicas_differ(all, given);
  Layout steps = cut->outer.layout;
  steps.replicas = *replicas;
  steps.offset = all.offset;
  subtract_offset(steps, given);
  const Outcome<Layout> outer = unscaled(steps, span);
  if (!outer) return outer.refusal();
  Shaped out{*outer, cut->outer.shape};
  Needs needs = cut.needs();
  append(needs, outer.needs());
  if (!is_whole(tile(out, inner), whole, needs))
    return parts_differ(cut->inner.layout, {inner.layout.shards, {}, {}});
  return {std::move(out), std::move(needs)};
}

namespace {

/// high - low of what counts on the axis.
Dim reach(const Layout& layout, const Axis& axis) { return span_on(layout, axis) - 1; }

/// What the unknown inner tile spans on the axis, from the shards that it has, the replicas of the whole, and
/// those of the outer one. With r the reach of replicas and d that of inner shards:
/// r(whole) = (d + r(inner) + 1) * r(outer) + r(inner).
std::optional<Dim> inner_span(const Layout& shards, const Layout& whole, const Layout& outer,
                              const Axis& axis) {
  const Dim of_whole = reach({{}, whole.replicas, {}}, axis),
            of_outer = reach({{}, outer.replicas, {}}, axis);
  const Dim of_shards = reach({shards.shards, {}, {}}, axis);
  const auto of_inner = exact_quotient(of_whole - (of_shards + 1) * of_outer, of_outer + 1);
  if (!of_inner || of_inner->need) return std::nullopt;
  return of_shards + of_inner->value + 1;
}

}  // namespace

Outcome<Shaped> inner_of_tile(const Shaped& whole, const Shaped& outer) {
  const Outcome<Halves> cut = halves(whole, outer.shape, true);
  if (!cut) return cut.refusal();
  const Layout all = canonical(whole.layout), given = canonical(outer.layout);
  std::map<Axis, Dim> spans;
  for (const Axis& axis : axes_of(given)) {
    const auto span = inner_span(cut->inner.layout, all, given, axis);
    if (!span) return replicas_differ(all, given);
    spans[axis] = *span;
  }
  const Layout steps = scaled(given, [&](const Axis& axis) { return spans.at(axis); });
  const auto replicas = replicas_beside(all, steps, [&](const Axis& axis, int64_t at) {
    const auto span = spans.find(axis);
    return span == spans.end() || at < span->second.constant();
  });
  if (!replicas) return replicas_differ(all, given);
  Shaped out = cut->inner;
  out.layout.replicas = *replicas;
  out.layout.offset = all.offset;
  subtract_offset(out.layout, steps);
  Needs needs = cut.needs();
  if (!is_whole(tile(outer, out), whole, needs))
    return parts_differ(cut->outer.layout, {steps.shards, {}, {}});
  return {std::move(out), std::move(needs)};
}

// ---- Views ----

namespace {

/// `count` elements next to each other, along one axis of as many as the tensor has.
Shaped run(const Shaped& tensor, size_t axis, int64_t count) {
  Shaped out{{{{count, 1, {}}}, {}, {}}, Shape(tensor.shape.size(), 1)};
  out.shape.at(axis) = count;
  return out;
}

}  // namespace

Outcome<Shaped> pack(const Shaped& tensor, size_t axis, int64_t count) {
  return outer_of_tile(tensor, run(tensor, axis, count));
}
Outcome<Shaped> unpack(const Shaped& tensor, size_t axis, int64_t count) {
  return tile(tensor, run(tensor, axis, count));
}

Outcome<Shaped> broadcast(const Shaped& tensor, const Shape& shape) {
  const Outcome<Grouped> grouped = group(tensor.layout, tensor.shape);
  if (!grouped) return grouped.refusal();
  if (tensor.shape.size() > shape.size()) return other_ranks(tensor.shape, shape);
  const size_t missing = shape.size() - tensor.shape.size();
  Shaped out{tensor.layout, shape};
  out.layout.shards.clear();
  for (size_t i = 0; i < shape.size(); ++i) {
    const Dim extent = i < missing ? Dim(1) : tensor.shape[i - missing];
    if (extent == shape[i]) {
      const std::vector<Iter> iters = i < missing ? std::vector<Iter>{} : grouped->of(i - missing);
      out.layout.shards.insert(out.layout.shards.end(), iters.begin(), iters.end());
    } else if (extent.is(1)) {
      out.layout.shards.push_back({shape[i], 0, {}});
    } else {
      return Refusal{fmt::format("axis {} has the extent {}, which does not broadcast to {}", i, extent.str(),
                                 shape[i].str())};
    }
  }
  return {std::move(out), grouped.needs()};
}

}  // namespace axon::layout
