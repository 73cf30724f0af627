// See layouts.h.
#include "core/layouts.h"

#include <fmt/format.h>

#include <algorithm>

#include "layout/canonical.h"
#include "layout/text.h"

namespace axon::core {

using layout::Axis;
using layout::Layout;
using layout::Outcome;
using layout::Refusal;
using shape::Dim;
using shape::Fact;
using shape::Var;

namespace {

using Iters = std::vector<layout::Iter>;

Axis axis_of(const LayoutSpot& spot) { return spot.axis.empty() ? Axis() : Axis(spot.axis); }

/// Extents alone: row-major among those of one axis.
Iters listed(const std::vector<LayoutSpot>& spots) {
  Iters out(spots.size());
  std::map<Axis, Dim> below;
  for (size_t i = spots.size(); i-- > 0;) {
    const Axis axis = axis_of(spots[i]);
    Dim& stride = below.try_emplace(axis, Dim(1)).first->second;
    out[i] = {spots[i].size, stride, axis};
    stride = stride * spots[i].size;
  }
  return out;
}

/// The iters of one `S` or `R`.
Outcome<Iters> iters_of(const LayoutPart& part) {
  if (part.kind == LayoutPart::Kind::name) return listed(part.from);
  if (part.from.size() != part.to.size()) return Refusal{"there is a stride for each extent"};
  Iters out;
  for (size_t i = 0; i < part.from.size(); ++i) {
    if (!part.from[i].axis.empty())
      return Refusal{fmt::format("the axis `{}` stands at the stride: `{}[{}:1@{}]`", part.from[i].axis,
                                 part.name, part.from[i].size.str(), part.from[i].axis)};
    out.push_back({part.from[i].size, part.to[i].size, axis_of(part.to[i])});
  }
  return out;
}

class Reader {
 public:
  std::optional<std::string> read(const std::vector<LayoutPart>& parts) {
    for (const LayoutPart& part : parts)
      if (auto why = read(part)) return why;
    return std::nullopt;
  }
  Layout layout;
  int shards = 0;  ///< how many `S` there are

 private:
  std::optional<std::string> read(const LayoutPart& part) {
    if (part.kind == LayoutPart::Kind::offset) {
      layout::add_offset(layout, axis_of(part.from.at(0)), part.from.at(0).size);
      return std::nullopt;
    }
    const bool shard = part.name == "S";
    if (!shard && part.name != "R") return read(part.meaning);
    const auto iters = iters_of(part);
    if (!iters) return iters.why();
    auto& to = shard ? layout.shards : layout.replicas;
    to.insert(to.end(), iters->begin(), iters->end());
    shards += shard ? 1 : 0;
    return std::nullopt;
  }
};

}  // namespace

Outcome<Layout> layout_of(const std::vector<LayoutPart>& parts) {
  Reader reader;
  if (auto why = reader.read(parts)) return Refusal{*why};
  if (reader.shards != 1)
    return Refusal{fmt::format("a layout has one `S`, which places the elements, and this has {}",
                               reader.shards == 0 ? "none" : std::to_string(reader.shards))};
  return reader.layout;
}

std::optional<std::string> why_misfit(const Layout& layout, const layout::Shape& shape,
                                      const layout::Axes& axes) {
  for (const Axis& axis : layout::axes_of(layout)) {
    const layout::AxisInfo* info = axes.find(axis);
    if (info && (info->kind == layout::AxisKind::thread || axis.name == "v"))
      return fmt::format(
          "`{}` counts what runs at one time inside of a device: types place tensors in memory "
          "and on the axes of meshes",
          axis.name);
  }
  if (auto why = axes.unconnected(layout::axes_of(layout))) return why;
  const Dim placed = layout::size(layout), has = layout::product(shape);
  if (placed != has)
    return fmt::format("it places {} element{}, and the tensor has {}", placed.str(), placed.is(1) ? "" : "s",
                       has.str());
  const bool empty = std::any_of(layout.shards.begin(), layout.shards.end(),
                                 [](const layout::Iter& iter) { return iter.extent.is(0); });
  if (layout::is_constant(layout) && !empty) return layout::why_ill_formed(layout, axes);
  return std::nullopt;
}

// ---- Differences ----

namespace {

/// Values to try, one after the other: the same for all variables but for a step that tells them apart.
class SmallSizes {
 public:
  explicit SmallSizes(std::vector<Var> vars) : vars_(std::move(vars)), at_(vars_.size(), 0) {}
  /// False when all have been tried.
  bool next(shape::Assignment& out) {
    if (done_ || tried_++ > most) return false;
    for (size_t i = 0; i < vars_.size(); ++i) out[vars_[i]] = values[at_[i]];
    size_t i = 0;
    while (i < at_.size() && ++at_[i] == std::size(values)) at_[i++] = 0;
    done_ = i == at_.size();
    return true;
  }

 private:
  static constexpr int64_t values[] = {2, 3, 4, 8, 1, 16};
  static constexpr int most = 2000;
  std::vector<Var> vars_;
  std::vector<size_t> at_;
  int tried_ = 0;
  bool done_ = false;
};

std::vector<int64_t> element_at(int64_t index, const std::vector<int64_t>& shape) {
  std::vector<int64_t> out(shape.size());
  for (size_t a = shape.size(); a-- > 0; index /= shape[a]) out[a] = index % shape[a];
  return out;
}

}  // namespace

std::optional<LayoutDifference> find_difference(const Layout& first, const Layout& second,
                                                const layout::Shape& shape, const std::vector<Fact>& facts) {
  std::vector<Var> vars;
  for (const Dim& extent : shape) extent.collect_vars(vars);
  for (const Layout* layout : {&first, &second}) {
    for (const auto& [axis, amount] : layout->offset) amount.collect_vars(vars);
    for (const auto* iters : {&layout->shards, &layout->replicas})
      for (const layout::Iter& iter : *iters) iter.stride.collect_vars(vars), iter.extent.collect_vars(vars);
  }
  std::sort(vars.begin(), vars.end());
  vars.erase(std::unique(vars.begin(), vars.end()), vars.end());
  SmallSizes sizes(vars);
  for (shape::Assignment values; sizes.next(values);) {
    if (std::any_of(facts.begin(), facts.end(),
                    [&](const Fact& f) { return shape::holds(f, values) == false; }))
      continue;
    const auto here = layout::evaluate(first, values), there = layout::evaluate(second, values);
    if (!here || !there || layout::why_too_large(*here) || layout::why_too_large(*there)) continue;
    const auto index = layout::first_difference(*here, *there);
    if (!index) continue;
    std::vector<int64_t> extents;
    for (const Dim& extent : shape) extents.push_back(extent.evaluate(values).value_or(1));
    return LayoutDifference{values, element_at(*index, extents), *here, *there, *index};
  }
  return std::nullopt;
}

}  // namespace axon::core
