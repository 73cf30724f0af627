// See absorb.h. The moved parts get fresh index variables, so that a producer may be copied into several
// consumers.
#include "graph/passes/absorb.h"

#include <algorithm>

#include "graph/passes/cleanup.h"
#include "graph/passes/order.h"

namespace axon::graph::edit {

namespace {

Local as_local(Graph& g, const std::string& name, Elem elem, const std::vector<Axis>& domain, ScalarId body) {
  Renaming renaming;
  Local local{name, elem, fresh_axes(domain, renaming), body};
  local.body = rename(g, body, renaming);
  return local;
}

}  // namespace

Node with_locals_of(Graph& g, const Node& consumer, NodeId producer) {
  const Node from = g.nodes[producer];
  Node merged = consumer;
  uint32_t first_output = static_cast<uint32_t>(from.locals.size());
  uint32_t added = first_output + static_cast<uint32_t>(from.outputs.size());
  each_body(merged, [&](ScalarId& body, const auto&) {
    body = rebuild(g, body, [&](Scalar s) {
      if (s.op == Op::load && s.target.is_local()) {
        s.target.output += added;
      } else if (s.op == Op::load && s.target.node == producer) {
        s.target = local_value(first_output + s.target.output);
      }
      return make_scalar(g, std::move(s));
    });
  });
  std::vector<Local> locals;
  for (const Local& l : from.locals) locals.push_back(as_local(g, l.name, l.elem, l.domain, l.body));
  for (const Output& o : from.outputs)
    locals.push_back(as_local(g, from.name, o.type.elem, from.domain, o.body));
  merged.locals.insert(merged.locals.begin(), locals.begin(), locals.end());
  if (merged.name.empty()) merged.name = from.name;
  return merged;
}

bool same_domain(const Node& a, const Node& b) {
  return std::equal(a.domain.begin(), a.domain.end(), b.domain.begin(), b.domain.end(),
                    [](const Axis& x, const Axis& y) { return x.extent == y.extent; });
}

Node joined(Graph& g, const Node& a, const Node& b) {
  Node node = a;
  Renaming renaming;
  for (size_t i = 0; i < b.domain.size(); ++i) renaming[b.domain[i].var] = a.domain[i].var;
  uint32_t shift = static_cast<uint32_t>(a.locals.size());
  auto moved = [&](ScalarId body) {
    return rebuild(g, rename(g, body, renaming), [&](Scalar s) {
      if (s.op == Op::load && s.target.is_local()) s.target.output += shift;
      return make_scalar(g, std::move(s));
    });
  };
  for (Local local : b.locals) {
    local.body = moved(local.body);
    node.locals.push_back(std::move(local));
  }
  for (Output output : b.outputs) {
    for (Dim& d : output.at) d = d.substitute(as_substitution(renaming));
    output.body = moved(output.body);
    node.outputs.push_back(std::move(output));
  }
  node.types.insert(node.types.end(), b.types.begin(), b.types.end());
  if (node.name.empty()) node.name = b.name;
  return node;
}

std::set<NodeId> only_readers(const std::map<Value, Uses>& uses, const Graph& g, NodeId producer) {
  std::set<NodeId> readers;
  for (uint32_t o = 0; o < g.nodes[producer].outputs.size(); ++o) {
    auto use = uses.find({producer, o});
    if (use == uses.end()) continue;
    if (use->second.others > 0) return {};
    readers.merge(use->second.users());
  }
  return readers;
}

bool can_move_into(const Graph& g, Orders& orders, NodeId producer, NodeId consumer) {
  RegionId region = g.nodes[producer].region;
  return g.nodes[consumer].region == region && !orders.of(region).has_detour(producer, consumer);
}

void commit_merge(Graph& g, NodeId consumer, NodeId producer, Node merged) {
  RegionId region = g.nodes[consumer].region;
  Order order(g, region);
  order.merge(consumer, producer);
  g.nodes[consumer] = std::move(merged);
  for (Value v : values_read(g, consumer))
    if (g.nodes[v.node].region == region && v.node != consumer) order.require(v.node, consumer);
  g.regions[region].nodes = order.sorted();
  tidy_locals(g, consumer);
  simplify_node(g, consumer);
}

}  // namespace axon::graph::edit
