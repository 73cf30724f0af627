// Layouts that an entry states: of memory that its callers have.
//
// A caller's memory is that of one device and has one stride for each axis. What is written has a place for
// each element and no negative stride: where that is known it is refused here, and at the call else. A stride
// may name a size, which the memory of each call then says.
#include <fmt/format.h>

#include <algorithm>

#include "core/entry.h"
#include "core/layouts.h"
#include "layout/evaluate.h"
#include "layout/strided.h"

namespace axon::core {

using shape::Dim;
using source::Code;
using source::error;
using source::Span;

/// Why no call can take memory of the layout; nullopt where one can.
std::optional<std::string> EntryChecker::why_not_taken(const Type& t, const Port& port) const {
  if (port.weights) return "where weights lie is chosen when they are bound";
  if (port.in_stack) return "a stack is one tensor, whose layout cannot be stated by that of its elements";
  layout::Shape shape;
  for (const ShapeItem& item : t.shape) shape.push_back(item.dim);
  const auto layout = layout_of(t.layout);
  if (!layout) return layout.why();
  const auto strides = layout::strides_of(*layout, shape);
  if (!strides) return strides.why();
  std::vector<shape::Var> sizes;
  for (const Dim& stride : *strides) stride.collect_vars(sizes);
  for (const shape::Var v : sizes)
    if (vars_.kind(v) == VarKind::opened ||
        std::find(port.exists.begin(), port.exists.end(), v) != port.exists.end())
      return fmt::format("only the data decides `{}`, which is a stride", shape::var_name(v));
  if (!port.written) return std::nullopt;
  for (const Dim& stride : *strides)
    if (stride.constant() && *stride.constant() < 0)
      return fmt::format("it is written, and its stride {} is negative", stride.str());
  Dim all;
  for (const shape::Var v : sizes) all = all + Dim(v);
  for (const Dim& extent : shape)
    for (const shape::Var v : extent.vars()) all = all + Dim(v);
  auto facts = solver_.facts_for(shape::at_least(all, 0), {});
  for (const Dim& extent : shape) facts.push_back(shape::less(1, extent));
  if (layout::injective(layout::strided(shape, *strides), facts) == false)
    return "it is written, and two of its elements share a place";
  return std::nullopt;
}

/// Reports the layouts in a type that no call can take.
bool EntryChecker::takes_layouts(TypeId id, Port port) {
  const Type t = vars_[vars_.zonk(id)];
  port.written |= t.consumed;
  port.weights |= t.weights;
  if (t.kind == Type::Kind::tensor && !t.layout.empty()) {
    const auto why = why_not_taken(t, port);
    if (!why) return true;
    reporter_.report(
        error(Code::E0334, port.at,
              fmt::format("a call cannot take {} of the entry `{}`", port.what, p_.globals[g_].name))
            .label(reporter_.show(id))
            .text(fmt::format("The layout cannot be that of a caller's memory: {}.", *why)));
    return false;
  }
  port.in_stack |= t.kind == Type::Kind::stack;
  return std::all_of(t.items.begin(), t.items.end(), [&](TypeId item) { return takes_layouts(item, port); });
}

bool EntryChecker::takes_all_layouts(const Global& g, const std::vector<TypeId>& params,
                                     const Scheme& scheme) {
  bool all = true;
  for (size_t i = 0; i < params.size(); ++i) {
    const bool result = i >= g.params.size();
    Port port{
        result ? "the result" : fmt::format("parameter {}", i + 1),
        result ? (e_.infos[g_.index].result ? e_.infos[g_.index].result_span : g.span) : g.params[i].span,
        scheme.exists};
    port.written = result || g.params[i].consumed;
    port.weights = !result && g.params[i].weights;
    all = takes_layouts(params[i], std::move(port)) && all;
  }
  return all;
}

/// Strides come behind all axes: a size that an axis says is that, also where the axis of the stride has one
/// element, and takes no step.
void EntryChecker::observe_strides(TypeId id, const std::string& path, Span at, EntrySizes& out) {
  const Type t = vars_[vars_.zonk(id)];
  if (t.kind == Type::Kind::tensor && !t.layout.empty()) {
    layout::Shape shape;
    for (const ShapeItem& item : t.shape) shape.push_back(item.dim);
    const auto strides = layout::strides_of(*layout_of(t.layout), shape);
    for (size_t a = 0; a < strides->size(); ++a)
      out.observations.push_back({path, static_cast<uint32_t>(a), (*strides)[a], at, true});
  }
  for (size_t i = 0; i < t.items.size() && t.kind != Type::Kind::function; ++i)
    observe_strides(t.items[i], path + "." + (t.fields.empty() ? std::to_string(i) : t.fields[i]), at, out);
}

}  // namespace axon::core
