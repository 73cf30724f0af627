// inline_pointwise: a pointwise producer moves into the loads that read it.
//
// In: nodes as elaboration made them, one per operator. Out: the same graph where a producer remains only
// when it reduces, updates, is needed as a whole, or costs more to repeat than to store. A producer is
// decided once for all its readers, in program order, so that its own body is final; then it disappears or
// stays.
//
// Note: what stays. Transcendental work is never repeated: not for a second reader, not per element of
// another axis (an operand of a contraction is read once per column), not per iteration of a loop (rope
// tables stay outside). A cheap formula over the result of a reduction stays too, when only it reads that
// result: it is the reduction's epilogue.
#include <algorithm>

#include "graph/passes/cleanup.h"
#include "graph/passes/order.h"
#include "graph/passes/passes.h"
#include "graph/prefix.h"

namespace axon::graph {

namespace {

using edit::Uses;

/// The producer reads a reduction's result that nobody else reads.
bool is_epilogue(const Graph& g, NodeId producer, const std::map<Value, Uses>& uses) {
  for (Value v : edit::values_read(g, producer)) {
    const Node& from = g.nodes[v.node];
    if (from.op != NodeOp::compute || from.region != g.nodes[producer].region) continue;
    const Uses& use = uses.at(v);
    if (edit::has_reduction(g, from) && !goes_through_rows(g, from) && use.others == 0 &&
        use.users().size() == 1)
      return true;
  }
  return false;
}

struct BodyAt {
  ScalarId body;
  const std::vector<Axis>& domain;
};
BodyAt body_of(const Graph& g, const Use& site) {
  const Node& user = g.nodes[site.user];
  if (site.kind == UseKind::output_load) return {user.outputs[site.slot].body, user.domain};
  return {user.locals[site.slot].body, user.locals[site.slot].domain};
}

bool worth_inlining(const Graph& g, NodeId producer, const Uses& use, const std::map<Value, Uses>& uses) {
  const Node& node = g.nodes[producer];
  edit::Cost cost = edit::cost_of(g, node.outputs[0].body);
  if (edit::is_free(cost)) return true;
  if (use.others > 0) return false;
  if (use.loads.size() == 1) {
    const Use& site = use.loads[0];
    BodyAt at = body_of(g, site);
    if (g.nodes[site.user].region == node.region && edit::reads_each_once(g, site.load, at.domain, at.body) &&
        (edit::is_pointwise(g, at.body) || !is_epilogue(g, producer, uses)))
      return true;
  }
  return edit::is_cheap(cost) && !is_epilogue(g, producer, uses);
}

using NewBodies = std::vector<std::pair<Use, ScalarId>>;

/// The bodies of all readers with the producer substituted; empty when one of them cannot take it.
NewBodies inlined(Graph& g, Value value, const Uses& use) {
  const Node& node = g.nodes[value.node];
  NewBodies bodies;
  for (const Use& site : use.loads) {
    bool done = std::any_of(bodies.begin(), bodies.end(), [&](const auto& other) {
      const Use& at = other.first;
      return at.user == site.user && at.kind == site.kind && at.slot == site.slot;
    });
    if (done) continue;
    bool possible = true;
    ScalarId body = rewrite_loads(g, body_of(g, site).body, [&](ScalarId id) {
      if (g.scalars[id].target != value) return id;
      auto inside = edit::instantiate(g, node.domain, node.outputs[0].body, g.scalars[id].args);
      possible &= inside.has_value();
      return inside.value_or(id);
    });
    if (!possible || edit::post_order(g, body).size() > edit::max_body_size) return {};
    bodies.emplace_back(site, body);
  }
  return bodies;
}

bool stays_in_place(const Graph& g, NodeId producer, const NewBodies& bodies) {
  for (const auto& [site, body] : bodies) {
    Node candidate = g.nodes[site.user];
    bool was = edit::updates_in_place(g, candidate);
    (site.kind == UseKind::output_load ? candidate.outputs[site.slot].body
                                       : candidate.locals[site.slot].body) = body;
    if (was && !edit::updates_in_place(g, candidate)) return false;
    if (edit::reads_after_update(g, edit::values_read(g, producer), site.user)) return false;
  }
  return true;
}

}  // namespace

void inline_pointwise(Graph& g) {
  std::map<Value, Uses> uses = edit::uses_of(g);
  for (NodeId id : all_nodes(g)) {
    const Node& node = g.nodes[id];
    if (node.op != NodeOp::compute || node.outputs.size() != 1 || !node.locals.empty()) continue;
    if (!edit::is_plain(node, node.outputs[0]) || !edit::is_pointwise(g, node.outputs[0].body)) continue;
    const Uses use = uses[{id, 0}];
    if (use.loads.empty() || !worth_inlining(g, id, use, uses)) continue;
    auto bodies = inlined(g, {id, 0}, use);
    if (bodies.empty() || !stays_in_place(g, id, bodies)) continue;
    std::map<NodeId, std::set<Value>> users;
    for (const auto& [site, body] : bodies) users.emplace(site.user, edit::values_read(g, site.user));
    for (const auto& [site, body] : bodies) {
      Node& user = g.nodes[site.user];
      (site.kind == UseKind::output_load ? user.outputs[site.slot].body : user.locals[site.slot].body) = body;
    }
    for (const auto& [site, body] : bodies) edit::simplify_node(g, site.user);
    for (const auto& [user, before] : users) edit::update_loads(uses, g, user, before);
  }
  edit::share_common(g);
  edit::sweep(g);
}

}  // namespace axon::graph
