// merge_reductions: a reduction of nothing but another reduction by the same monoid becomes one reduction
// over the binders of both.
//
// In: any graph without dynamic extents where it is to apply (bound_dynamic_sizes). Out: an equal one, up to
// the order of the elements, which is free. The inner reduction must have no other reader, and stand in the
// region of the outer one, so that it is not repeated.
#include <algorithm>

#include "graph/dynamic_sizes.h"
#include "graph/passes/edit.h"
#include "graph/passes/passes.h"
#include "graph/prefix.h"

namespace axon::graph {

namespace {

/// The load that `body` reduces, when it reduces nothing else and the indices do not depend on data.
const Scalar* reduced_load(const Graph& g, ScalarId body) {
  const Scalar& outer = g.scalars[body];
  if (outer.op != Op::reduce || outer.monoid == Monoid::argmax) return nullptr;
  const Scalar& load = g.scalars[outer.args[0]];
  if (load.op != Op::load || load.target.is_local()) return nullptr;
  const bool affine = std::all_of(load.args.begin(), load.args.end(),
                                  [&](ScalarId a) { return affine_index(g, a).has_value(); });
  return affine ? &load : nullptr;
}

/// Does the node only store a reduction by `monoid`, one per element of its domain?
bool only_reduces(const Graph& g, const Node& node, Monoid monoid) {
  if (node.op != NodeOp::compute || node.outputs.size() != 1 || !node.locals.empty()) return false;
  const Output& output = node.outputs[0];
  const Scalar& body = g.scalars[output.body];
  return body.op == Op::reduce && body.monoid == monoid && !output.base &&
         output.at == identity_map(node.domain) && !needs_bounding(g, node);
}

/// The body with the reduction that it reduces in its place; nullopt where there is none to merge.
std::optional<ScalarId> merged(Graph& g, const Node& node, ScalarId body,
                               const std::map<Value, edit::Uses>& uses) {
  const Scalar* load = reduced_load(g, body);
  if (!load || needs_bounding(g, node)) return std::nullopt;
  const Node& inner = g.nodes[load->target.node];
  const Monoid monoid = g.scalars[body].monoid;
  if (inner.region != node.region || !only_reduces(g, inner, monoid)) return std::nullopt;
  if (goes_through_rows(g, inner)) return std::nullopt;
  const edit::Uses& use = uses.at(load->target);
  if (use.loads.size() != 1 || use.others > 0) return std::nullopt;
  shape::Substitution at;
  for (size_t i = 0; i < inner.domain.size(); ++i) at[inner.domain[i].var] = *affine_index(g, load->args[i]);
  std::vector<Axis> binders = g.scalars[body].binders;
  const Scalar within = g.scalars[substitute(g, inner.outputs[0].body, at)];
  binders.insert(binders.end(), within.binders.begin(), within.binders.end());
  return reduce(g, monoid, binders, within.args[0]);
}

}  // namespace

void merge_reductions(Graph& g) {
  const std::map<Value, edit::Uses> uses = edit::uses_of(g);
  bool changed = false;
  for (NodeId id : all_nodes(g))  // inner ones come first
    for (uint32_t o = 0; o < g.nodes[id].outputs.size(); ++o)
      if (const auto body = merged(g, g.nodes[id], g.nodes[id].outputs[o].body, uses)) {
        g.nodes[id].outputs[o].body = *body;
        changed = true;
      }
  if (changed) edit::sweep(g);
}

}  // namespace axon::graph
