// Facts at a point of the program: what simplification and the passes' conditions are proved from.
//
// A binder's range is used only for expressions that name the binder. Outside its reduction the range may be
// empty, and facts of an empty range prove everything.
#include "graph/dynamic_sizes.h"
#include "graph/passes/edit.h"

namespace axon::graph::edit {

Scope::Scope(const Graph& g, RegionId region) : facts_(g.facts) {
  for (NodeId loop = g.regions[region].loop; loop.valid();) {
    const Node& node = g.nodes[loop];
    add_range(facts_, node.index);
    loop = g.regions[node.region].loop;
  }
}

Scope::Scope(const Graph& g, const Node& node) : Scope(g, node.region) { add(node.domain); }

void Scope::add(const std::vector<Axis>& axes) {
  for (const Axis& a : axes) add_range(facts_, a);
}

void Scope::add_binders(const std::vector<Axis>& axes) {
  for (const Axis& a : axes) binders_[a.var] = a.extent;
}

std::vector<Fact> Scope::facts_for(const std::vector<Var>& vars) const {
  std::vector<Fact> facts = facts_;
  for (Var v : vars) {
    auto binder = binders_.find(v);
    if (binder != binders_.end()) add_range(facts, {v, binder->second});
  }
  return facts;
}

Dim Scope::simplify(const Dim& dim) const {
  if (dim.constant()) return dim;
  auto known = simplified_.find(dim.node());
  if (known != simplified_.end()) return known->second;
  Dim result = shape::simplify(dim, facts_for(dim.vars()));
  simplified_.emplace(dim.node(), result);
  return result;
}

bool Scope::proves(const Fact& goal) const {
  std::vector<Var> vars = goal.lhs.vars();
  goal.rhs.collect_vars(vars);
  // What a pass cannot show it leaves as it is: no question is worth Z3's time.
  const shape::ProverLimits cheap{.z3_rlimit = 0};
  return shape::prove(facts_for(vars), goal, cheap).verdict == shape::Verdict::proved;
}

ScalarId zero_if_empty(Graph& g, const Scope& scope, const std::vector<Axis>& axes, ScalarId value) {
  Dim count = 1;
  for (const Axis& a : axes)
    if (!scope.proves(shape::less(Dim(0), a.extent))) count = count * a.extent;
  if (count.is(1)) return value;
  ScalarId some = apply(g, Op::lt, {index_of(g, Dim(0)), index_of(g, count)});
  Elem elem = g.scalars[value].elem;
  return apply(g, Op::select, {some, value, unit_of(g, Monoid::sum, elem)});
}

}  // namespace axon::graph::edit
