// See layout.h.
#include "layout/layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bug.h"
#include "layout/evaluate.h"

namespace axon::layout {

Dim product(const Shape& shape) {
  Dim all = 1;
  for (const Dim& extent : shape) all = all * extent;
  return all;
}

Shape extents(const std::vector<Iter>& iters) {
  Shape out;
  for (const Iter& iter : iters) out.push_back(iter.extent);
  return out;
}

Dim size(const Layout& layout) { return product(extents(layout.shards)); }
Dim copies(const Layout& layout) { return product(extents(layout.replicas)); }

std::set<Axis> axes_of(const Layout& layout) {
  std::set<Axis> axes;
  for (const auto* iters : {&layout.shards, &layout.replicas})
    for (const Iter& iter : *iters) axes.insert(iter.axis);
  for (const auto& [axis, amount] : layout.offset) axes.insert(axis);
  return axes;
}

Dim offset_on(const Layout& layout, const Axis& axis) {
  const auto found = layout.offset.find(axis);
  return found == layout.offset.end() ? Dim(0) : found->second;
}

void add_offset(Layout& layout, const Axis& axis, const Dim& amount) {
  const Dim sum = offset_on(layout, axis) + amount;
  if (sum.is(0))
    layout.offset.erase(axis);
  else
    layout.offset[axis] = sum;
}

Layout on_axis(const Layout& layout, const Axis& axis) {
  Layout out;
  for (const Iter& iter : layout.shards)
    out.shards.push_back({iter.extent, iter.axis == axis ? iter.stride : 0, axis});
  for (const Iter& iter : layout.replicas)
    if (iter.axis == axis) out.replicas.push_back(iter);
  add_offset(out, axis, offset_on(layout, axis));
  return out;
}

Layout renamed(const Layout& layout, const Axis& from, const Axis& to) {
  Layout out = layout;
  for (auto* iters : {&out.shards, &out.replicas})
    for (Iter& iter : *iters)
      if (iter.axis == from) iter.axis = to;
  const Dim moved = offset_on(layout, from);
  out.offset.erase(from);
  add_offset(out, to, moved);
  return out;
}

Layout row_major(const Shape& shape) {
  Layout out;
  Dim stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    out.shards.push_back({shape[i], stride, {}});
    stride = stride * shape[i];
  }
  std::reverse(out.shards.begin(), out.shards.end());
  return out;
}

Shape rounded_up(const Shape& shape, const std::vector<int64_t>& multiples) {
  if (shape.size() != multiples.size()) base::bug("layout", "a multiple for each axis");
  Shape out;
  for (size_t i = 0; i < shape.size(); ++i) out.push_back(shape::cdiv(shape[i], multiples[i]) * multiples[i]);
  return out;
}

namespace {

/// The layout with each of its Dims replaced; nullopt where `of` has none for one.
template <class Of>
std::optional<Layout> mapped(const Layout& layout, const Of& of) {
  Layout out = layout;
  bool all = true;
  const auto replace = [&](Dim& dim) {
    const std::optional<Dim> value = of(dim);
    all &= value.has_value();
    if (value) dim = *value;
  };
  for (auto* iters : {&out.shards, &out.replicas})
    for (Iter& iter : *iters) {
      replace(iter.extent);
      replace(iter.stride);
    }
  for (auto& [axis, amount] : out.offset) replace(amount);
  return all ? std::optional(out) : std::nullopt;
}

std::optional<Dim> if_constant(const Dim& dim) { return dim.constant() ? std::optional(dim) : std::nullopt; }

}  // namespace

bool is_constant(const Layout& layout) { return mapped(layout, if_constant).has_value(); }

Layout substitute(const Layout& layout, const shape::Substitution& values) {
  return *mapped(layout, [&](const Dim& dim) { return std::optional(dim.substitute(values)); });
}

namespace {

std::optional<std::string> why_no_extents(const Layout& layout) {
  for (const auto* iters : {&layout.shards, &layout.replicas})
    for (const Iter& iter : *iters)
      if (const auto extent = iter.extent.constant(); extent && *extent < 1)
        return fmt::format("an extent is {}, and it has to be at least 1", *extent);
  return std::nullopt;
}

std::optional<std::string> coordinates_that_are_not(const Layout& layout, const Axes& axes) {
  for (const auto& [axis, span] : spans(layout)) {
    if (axes.find(axis)->kind == AxisKind::memory) continue;
    const auto count = axes.count(axis, axes_of(layout));
    const auto low = span.low.constant(), high = span.high.constant();
    if (low && *low < 0) return fmt::format("`{}` begins at {}, which is below 0", axis.name, *low);
    if (high && count && *high >= *count)
      return fmt::format("`{}` goes to {}, and there are {} of it", axis.name, *high, *count);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Layout> evaluate(const Layout& layout, const shape::Assignment& values) {
  auto out = mapped(layout, [&](const Dim& dim) {
    const auto value = dim.evaluate(values);
    return value ? std::optional(Dim(*value)) : std::nullopt;
  });
  return out && !why_no_extents(*out) && !why_too_large(*out) ? out : std::nullopt;
}

std::optional<std::string> why_too_large(const Layout& layout) {
  if (overflowed(size(layout) * copies(layout))) return "it has more points than 64 bits count";
  for (const auto& [axis, span] : spans(layout))
    if (overflowed(span.low) || overflowed(span.high) || overflowed(span.high - span.low))
      return fmt::format("coordinates of `{}` leave 64 bits", axis.name);
  return std::nullopt;
}

std::optional<std::string> why_ill_formed(const Layout& layout, const Axes& axes) {
  if (auto why = why_no_extents(layout)) return why;
  if (auto why = why_too_large(layout)) return why;
  if (auto why = axes.unconnected(axes_of(layout))) return why;
  return coordinates_that_are_not(layout, axes);
}

}  // namespace axon::layout
