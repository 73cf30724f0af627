// The inside of one compute node: keeps its locals few and each worth having.
//
// Locals appear when fusion moves producers into consumers. Afterwards some are equal, some cost nothing to
// repeat, and some are just the body of an output; tidying makes the result independent of the order in which
// fusion happened.
#include <algorithm>

#include "graph/passes/edit.h"
#include "graph/passes/keys.h"

namespace axon::graph::edit {

void put_locals_first(Graph& g, NodeId id, const std::vector<Local>& locals) {
  Node& node = g.nodes[id];
  const auto old = static_cast<uint32_t>(node.locals.size()), added = static_cast<uint32_t>(locals.size());
  node.locals.insert(node.locals.end(), locals.begin(), locals.end());
  each_body(node, [&](ScalarId& body, const std::vector<Axis>&) {
    body = rewrite_loads(g, body, [&](ScalarId l) {
      Scalar s = g.scalars[l];
      if (!s.target.is_local()) return l;
      s.target.output = s.target.output < old ? s.target.output + added : s.target.output - old;
      return make_scalar(g, std::move(s));
    });
  });
  std::rotate(node.locals.begin(), node.locals.begin() + old, node.locals.end());
}

bool is_under_binder(const Graph& g, ScalarId root, ScalarId id) {
  for (ScalarId b : binders_in(g, root)) {
    std::vector<ScalarId> inside = post_order(g, b);
    if (std::binary_search(inside.begin(), inside.end(), id)) return true;
  }
  return false;
}

bool reads_each_once(const Graph& g, ScalarId load_id, const std::vector<Axis>& domain, ScalarId body) {
  std::vector<Axis> axes = domain;
  for (ScalarId b : binders_in(g, body)) {
    std::vector<ScalarId> inside = post_order(g, b);
    if (std::binary_search(inside.begin(), inside.end(), load_id))
      axes.insert(axes.end(), g.scalars[b].binders.begin(), g.scalars[b].binders.end());
  }
  return std::all_of(axes.begin(), axes.end(), [&](const Axis& axis) {
    if (axis.extent.is(1)) return true;
    return std::any_of(g.scalars[load_id].args.begin(), g.scalars[load_id].args.end(), [&](ScalarId index) {
      auto dim = affine_index(g, index);
      if (!dim || !dim->contains(axis.var)) return false;
      auto parts = dim->linear_in(axis.var);
      return parts && !parts->first.is(0);
    });
  });
}

namespace {

/// Calls `change` on every load of a local, in every body.
void rewrite_locals(Graph& g, Node& node, const std::function<ScalarId(Scalar)>& change) {
  each_body(node, [&](ScalarId& body, const auto&) {
    body = rebuild(g, body, [&](Scalar s) {
      if (s.op == Op::load && s.target.is_local()) return change(std::move(s));
      return fold(g, std::move(s));
    });
  });
}

/// Takes local `gone` out; its loads (all of them) become what `change` says, later locals move up.
void remove_local(Graph& g, Node& node, uint32_t gone, const std::function<ScalarId(Scalar)>& change) {
  rewrite_locals(g, node, [&](Scalar s) {
    if (s.target.output == gone) return change(std::move(s));
    if (s.target.output > gone) --s.target.output;
    return make_scalar(g, std::move(s));
  });
  node.locals.erase(node.locals.begin() + gone);
}

struct LocalUse {
  ScalarId load;
  size_t body = 0;  // as each_body counts
};

std::vector<LocalUse> uses_of_local(const Graph& g, const Node& node, uint32_t number) {
  std::vector<LocalUse> uses;
  size_t body_number = 0;
  each_body(node, [&](ScalarId body, const auto&) {
    for (ScalarId l : loads_in(g, body))
      if (g.scalars[l].target == local_value(number)) uses.push_back({l, body_number});
    ++body_number;
  });
  return uses;
}

bool merge_equal(Graph& g, Node& node) {
  std::map<Key, uint32_t> first;
  for (uint32_t i = 0; i < node.locals.size(); ++i) {
    auto [known, is_new] = first.emplace(key_of(g, node.locals[i]), i);
    if (is_new) continue;
    uint32_t kept = known->second;
    remove_local(g, node, i, [&](Scalar s) {
      s.target.output = kept;
      return make_scalar(g, std::move(s));
    });
    return true;
  }
  return false;
}

/// Cheap locals, and those read once per element, move into their readers.
bool inline_one(Graph& g, Node& node, uint32_t number) {
  const Local local = node.locals[number];
  if (!is_pointwise(g, local.body)) return false;
  std::vector<LocalUse> uses = uses_of_local(g, node, number);
  Cost cost = cost_of(g, local.body);
  if (!is_free(cost) && !is_cheap(cost)) {
    if (uses.size() != 1) return false;
    size_t reader = uses[0].body, count = node.locals.size();
    ScalarId body = reader >= count ? node.outputs[reader - count].body : node.locals[reader].body;
    const auto& domain = reader >= count ? node.domain : node.locals[reader].domain;
    if (!reads_each_once(g, uses[0].load, domain, body)) return false;
  }
  for (const LocalUse& use : uses)
    if (!instantiate(g, local.domain, local.body, g.scalars[use.load].args)) return false;
  // Inside a local's body, numbers below `number` are the same before and after.
  remove_local(g, node, number, [&](Scalar s) { return *instantiate(g, local.domain, local.body, s.args); });
  return true;
}

/// The load stands in an output and reads the local at the very point of the node's domain.
bool reads_own_point(const Graph& g, const Node& node, const Local& local, const LocalUse& use) {
  if (use.body < node.locals.size() || local.domain.size() != node.domain.size()) return false;
  const std::vector<ScalarId>& indices = g.scalars[use.load].args;
  for (size_t a = 0; a < indices.size(); ++a) {
    auto index = affine_index(g, indices[a]);
    const Axis& axis = node.domain[a];
    bool whole = index && (*index == Dim(axis.var) || (index->is(0) && axis.extent.is(1)));
    if (!whole || local.domain[a].extent != node.domain[a].extent) return false;
  }
  return true;
}

/// A reducing local that is all of one output becomes that output's body. Projections of an online reduction
/// join the outputs whatever surrounds them: they share the reduction then, instead of repeating it per
/// local.
bool unwrap_output(Graph& g, Node& node, uint32_t number) {
  const Local local = node.locals[number];
  std::vector<LocalUse> uses = uses_of_local(g, node, number);
  bool is_reduce = g.scalars[local.body].op == Op::reduce;
  if (is_reduce && uses.size() != 1) return false;
  for (const LocalUse& use : uses) {
    if (!reads_own_point(g, node, local, use)) return false;
    ScalarId around = node.outputs[use.body - node.locals.size()].body;
    if (is_reduce ? around != use.load : is_under_binder(g, around, use.load)) return false;
  }
  auto body = instantiate(g, local.domain, local.body, g.scalars[uses[0].load].args);
  if (!body) return false;
  remove_local(g, node, number, [&](Scalar) { return *body; });
  return true;
}

bool drop_unused(Graph& g, Node& node) {
  for (uint32_t i = static_cast<uint32_t>(node.locals.size()); i-- > 0;) {
    if (!uses_of_local(g, node, i).empty()) continue;
    remove_local(g, node, i, [&](Scalar s) { return make_scalar(g, std::move(s)); });
    return true;
  }
  return false;
}

}  // namespace

void tidy_locals(Graph& g, NodeId id) {
  Node& node = g.nodes[id];
  for (bool changed = true; changed;) {  // every step removes a local
    changed = drop_unused(g, node) || merge_equal(g, node);
    for (uint32_t i = 0; !changed && i < node.locals.size(); ++i)
      changed = inline_one(g, node, i) || unwrap_output(g, node, i);
  }
}

}  // namespace axon::graph::edit
