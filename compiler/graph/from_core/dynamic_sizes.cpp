// What is known of sizes that vary: from one iteration of a loop, or one element of a `for`, to the next.
//
// Extents of nodes mention such sizes; the pass bound_dynamic_sizes makes them bounds. Memory has bounds from
// the beginning: so have the types of values, and what a loop goes through.
#include "graph/dynamic_sizes.h"

#include <algorithm>

#include "graph/from_core/evaluator.h"

namespace axon::graph {

const DynamicSize* SizeEnvironment::data_dependent(Var v) const {
  const auto found = std::find_if(data_dependent_.begin(), data_dependent_.end(),
                                  [&](const DynamicSize& d) { return d.size == v; });
  return found == data_dependent_.end() ? nullptr : &*found;
}

bool SizeEnvironment::is_indexed(const Dim& d) const {
  if (active_.empty()) return false;
  const std::vector<Var> vars = d.vars();
  return std::any_of(vars.begin(), vars.end(), [&](Var v) {
    return std::any_of(active_.begin(), active_.end(), [&](const Axis& a) { return a.var == v; });
  });
}

bool SizeEnvironment::is_data_dependent(const Dim& d) const {
  if (data_dependent_.empty()) return false;
  const std::vector<Var> vars = d.vars();
  return std::any_of(vars.begin(), vars.end(), [&](Var v) { return data_dependent(v) != nullptr; });
}

bool SizeEnvironment::varies(const Dim& d) const { return is_indexed(d) || is_data_dependent(d); }

ScalarId SizeEnvironment::value_of(const Dim& d) {
  std::map<Var, ScalarId> values;
  for (Var v : d.vars())
    if (const DynamicSize* known = data_dependent(v)) values.emplace(v, known->value);
  return substitute(g, index_of(g, d), values);
}

ScalarId SizeEnvironment::is_inside(const Axis& axis) {
  return apply(g, Op::lt, {index_of(g, Dim(axis.var)), value_of(axis.extent)});
}

/// An upper bound over sizes of the entry; nullopt when none is known.
std::optional<Dim> SizeEnvironment::upper_bound(const Dim& d) const {
  return graph::upper_bound(
      d, is_indexed(d), {[&](Var v) { return is_size(v); }, data_dependent_, [&] { return known_facts(); }});
}

std::optional<Dim> SizeEnvironment::most_in_loops(const Dim& d) const {
  const bool of_loop =
      std::any_of(loops_.begin(), loops_.end(), [&](const Axis& a) { return d.contains(a.var); });
  if (!of_loop || varies(d)) return std::nullopt;
  const auto most = shape::bounds_of(d, known_facts(), [&](Var v) { return is_size(v); }).high;
  return most ? std::optional(max(*most, Dim(0))) : std::nullopt;
}

Dim SizeEnvironment::data_dependent_in_loops(const Dim& d) {
  const std::optional<Dim> most = most_in_loops(d);
  if (!most) return d;
  const Dim size = make_data_dependent(index_of(g, d), *most);
  equals_.emplace(*size.as_var(), d);
  return size;
}

void SizeEnvironment::refuse_unbounded(const Val& value) {
  if (value.kind != Val::Kind::array) return;
  for (const Dim& d : value.array->shape)
    if (varies(d) && !upper_bound(d))
      return void(unsupported("an axis of " + d.str() + " elements: nothing shows how many that is at most"));
}

Dim SizeEnvironment::bound_of(const Dim& d) const {
  const std::optional<Dim> most = upper_bound(d);
  if (!most) return d;  // refuse_unbounded() reported it
  // Of what the call decides it has checked there that it is no negative size; the launch checks the rest.
  const bool at_call = conditions_.empty() && active_.empty() && loops_.empty() && !reads_data(g, *most);
  if (at_call || most->constant() || (most->as_var() && !reads_integer(g, *most))) return *most;
  // The range of an index implies that its axis is not empty. That must not prove an extent that does not
  // depend on the index: it is that of memory that is there in any case.
  std::vector<Fact> facts = g.facts;
  for (const Axis& a : loops_)
    if (most->contains(a.var)) add_range(facts, a);
  return at_least_zero(*most, facts);
}

TensorType SizeEnvironment::bound_of(TensorType type) const {
  for (Dim& d : type.shape) d = bound_of(d);
  return type;
}

}  // namespace axon::graph
