// What a program states of where a value lies: `let y : t @ L = e`, a parameter of a function, `e :> (t @
// L)`.
//
// The value is stored so: an update of storage without contents, which is placed, with all of its elements.
// So passes leave it where it is, as they leave every update. A value that lies so already stays where it is.
#include <fmt/format.h>

#include <algorithm>

#include "core/layouts.h"
#include "graph/from_core/evaluator.h"
#include "layout/canonical.h"
#include "layout/evaluate.h"
#include "layout/strided.h"

namespace axon::graph {

using core::Pattern;
using core::Type;
using layout::Layout;

namespace {

/// The layout with its sizes replaced, from the least place in memory on.
Layout from_zero(Layout place, const std::vector<Fact>& facts) {
  const auto ends = layout::spans(place, facts);
  const auto memory = ends.find(layout::Axis());
  if (memory != ends.end() && !memory->second.low.is(0))
    layout::add_offset(place, layout::Axis(), -memory->second.low);
  return place;
}

/// Does the stored tensor lie so, from its first element on?
bool lies_at(const Graph& g, Value v, const Layout& wanted) {
  while (g.nodes[v.node].op == NodeOp::compute && g.nodes[v.node].outputs[v.output].base)
    v = *g.nodes[v.node].outputs[v.output].base;
  const Node& node = g.nodes[v.node];
  const auto& shape = node.types[v.output].shape;
  const auto place = node.op == NodeOp::input   ? g.inputs[node.input].place
                     : node.op == NodeOp::empty ? node.place
                                                : std::nullopt;
  const auto there = layout::strides_of(place.value_or(layout::row_major(shape)), shape),
             here = layout::strides_of(wanted, shape);
  if (there && here) return *there == *here;
  return place && layout::same(*place, from_zero(wanted, g.facts), g.facts) == true;
}

}  // namespace

/// What a name holds is stored where its type states.
void CoreEvaluator::place_names(const Pattern& pattern) {
  for (const Pattern& item : pattern.items) place_names(item);
  if (pattern.kind != Pattern::Kind::name || failed_) return;
  const core::TypeId type = p.locals[pattern.local].type;
  if (type.valid()) env_->locals[pattern.local] = placed(env_->locals[pattern.local], type);
}

Val CoreEvaluator::placed(const Val& value, core::TypeId id) {
  const Type& type = p.types.types[id];
  if (failed_) return value;
  if (value.kind == Val::Kind::array) return type.layout.empty() ? value : stored_at(value, type);
  if (value.kind != Val::Kind::tuple && value.kind != Val::Kind::record) return value;
  Val out = value;
  for (size_t i = 0; i < out.items.size(); ++i) {
    size_t at = i;
    if (!value.fields.empty())
      at = static_cast<size_t>(std::find(type.fields.begin(), type.fields.end(), value.fields[i]) -
                               type.fields.begin());
    if (at < type.items.size()) out.items[i] = placed(value.items[i], type.items[at]);
  }
  return out;
}

Val CoreEvaluator::stored_at(const Val& value, const Type& type) {
  const auto stated = core::layout_of(type.layout);
  if (!stated) base::bug("from_core", stated.why());
  Layout wanted = *stated;
  for (auto* iters : {&wanted.shards, &wanted.replicas})
    for (layout::Iter& iter : *iters) {
      iter.extent = sizes_.resolve(iter.extent);
      iter.stride = sizes_.resolve(iter.stride);
      if (iter.axis != layout::Axis())
        return unsupported(
            fmt::format("a layout over the mesh axis `{}`: programs run on one device", iter.axis.name));
      if (!sizes_.over_sizes(iter.extent) || !sizes_.over_sizes(iter.stride) ||
          sizes_.is_data_dependent(iter.extent) || sizes_.is_data_dependent(iter.stride))
        return unsupported("a layout with sizes that the data decides");
    }
  if (!wanted.replicas.empty()) return unsupported("a layout with copies in memory");
  for (const auto& [axis, amount] : stated->offset)
    if (axis != layout::Axis())
      return unsupported(
          fmt::format("a layout over the mesh axis `{}`: programs run on one device", axis.name));
  wanted.offset.clear();
  Array a = *value.array;
  if (!builder_.free_axes(a.body, a.shape).empty())
    return unsupported("a layout of a tensor that each index of a `for` has one of");
  if (const auto there = builder_.place_of(a);
      there && there->second.empty() && lies_at(g, there->first, wanted))
    return value;
  if (layout::injective(wanted, g.facts) != true)
    return unsupported("a layout in which two elements may share a place");
  Node empty;
  empty.op = NodeOp::empty;
  empty.region = regions_.back();
  empty.types = {{a.elem, a.shape}};
  empty.place = from_zero(wanted, g.facts);
  const TensorType stored = empty.types[0];
  const NodeId storage = g.nodes.add(std::move(empty));
  g.regions[regions_.back()].nodes.push_back(storage);
  std::vector<Axis> domain;
  for (size_t i = 0; i < a.vars.size(); ++i) domain.push_back({a.vars[i], a.shape[i]});
  const Value made =
      builder_.emit(domain, a.body, stored, "placed", Value{storage, 0}, identity_map(domain), false);
  return Val::of(builder_.array_of(stored, made));
}

}  // namespace axon::graph
