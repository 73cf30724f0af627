// See cost.h.
#include "page/cost.h"

#include <map>
#include <set>

#include "graph/uses.h"
#include "task/work.h"

namespace axon::page {

namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeOp;
using graph::ScalarId;
using graph::Value;
using shape::Dim;
using shape::Var;

/// Elements of values, by value: those that are loaded, or written.
using Elements = std::map<Value, Dim>;

/// Of elements that are looked at twice, one time: so many are there at least.
void add(Elements& all, Value value, const Dim& elements) {
  const auto [at, is_new] = all.emplace(value, elements);
  if (!is_new) at->second = max(at->second, elements);
}

Dim points_of(const std::vector<graph::Axis>& domain) {
  Dim points(1);
  for (const graph::Axis& axis : domain) points = points * axis.extent;
  return points;
}

Dim elements_of(const graph::TensorType& type) {
  Dim elements(1);
  for (const Dim& extent : type.shape) elements = elements * extent;
  return elements;
}

/// What a node loads: for each load the points of the variables that its indices depend on. These are those
/// of the node, and the indices of `loops`.
class Loads {
 public:
  Loads(const Graph& g, const Node& node, const std::vector<graph::Axis>& loops) : g_(g) {
    add_axes(loops);
    add_axes(node.domain);
    for (const graph::Local& local : node.locals) {
      add_axes(local.domain);
      add_body(local.body);
    }
    for (const graph::Output& output : node.outputs) add_body(output.body);
  }
  Elements elements() && { return std::move(elements_); }

 private:
  void add_axes(const std::vector<graph::Axis>& axes) {
    for (const graph::Axis& axis : axes) extents_.emplace(axis.var, axis.extent);
  }
  void add_body(ScalarId body) {
    for (ScalarId part : scalars_in(g_, body)) add_axes(g_.scalars[part].binders);
    for (ScalarId id : loads_in(g_, body)) {
      const graph::Scalar& load = g_.scalars[id];
      if (!load.target.is_local()) add(elements_, load.target, points(load));
    }
  }
  Dim points(const graph::Scalar& load) const {
    std::set<Var> vars;
    for (ScalarId index : load.args)
      for (Var v : free_vars(g_, index)) vars.insert(v);
    Dim points(1);
    for (Var v : vars)
      if (const auto extent = extents_.find(v); extent != extents_.end()) points = points * extent->second;
    return points;
  }

  const Graph& g_;
  std::map<Var, Dim> extents_;
  Elements elements_;
};

/// The value whose storage or contents `v` continues, also through what loops carry.
Value source_of(const Graph& g, Value v) {
  for (;;) {
    v = graph::origin(g, v);
    const Node& node = g.nodes[v.node];
    const NodeId loop = g.regions[node.region].loop;
    if (node.op != NodeOp::param || !loop.valid()) return v;
    v = g.nodes[loop].carried[v.output].init;
  }
}

bool is_input(const Graph& g, Value v) { return g.nodes[v.node].op == NodeOp::input; }

/// The bytes of so many elements of the value, or of all that it has.
Dim bytes_of(const Graph& g, Value v, const Dim& elements) {
  const graph::TensorType& type = g.type(v);
  return Dim(base::elem_bytes(type.elem)) * min(elements, elements_of(type));
}

/// What one run of a type moves: each element that it looks at, and what it writes; and the part of it that
/// is of the entry's arguments, weights, states and results. As if no operand were packed: a product reads
/// it as it was.
struct Moved {
  Dim all, outside;

  void add(const Dim& bytes, bool is_outside) {
    all = all + bytes;
    if (is_outside) outside = outside + bytes;
  }
};

bool is_result(const task::Program& p, Value v) {
  return p.buffers[p.place(v).buffer].kind == task::Buffer::Kind::result;
}

Moved moved_by(const task::Program& p, const task::TaskType& type) {
  const Graph& g = *p.graph;
  const Node& node = g.nodes[type.node];
  Moved moved{Dim(0), Dim(0)};
  if (node.packs) return moved;
  for (const auto& [value, elements] : Loads(g, node, {}).elements())
    if (!g.nodes[value.node].packs) moved.add(bytes_of(g, value, elements), is_input(g, source_of(g, value)));
  for (uint32_t o = 0; o < node.outputs.size(); ++o) {
    const Value written{type.node, o};
    moved.add(Dim(base::elem_bytes(node.outputs[o].type.elem)) * points_of(node.domain),
              is_input(g, source_of(g, written)) || is_result(p, written));
  }
  return moved;
}

/// With the middle of its range for the index of each loop around the task type.
Dim in_the_middle(const task::Program& p, const task::TaskType& type, Dim d) {
  for (auto loop = type.loops.rbegin(); loop != type.loops.rend(); ++loop)
    d = d.substitute({{p.loops[*loop].index, floor_div(p.loops[*loop].extent, Dim(2))}});
  return d;
}

}  // namespace

Dim runs_of(const task::Program& p, task::TaskTypeId id) {
  const task::TaskType& type = p.types[id];
  Dim runs(1);
  for (task::LoopId loop : type.loops) runs = runs * p.loops[loop].extent;
  return in_the_middle(p, type, runs);
}

Cost cost_of(const task::Program& p, task::TaskTypeId id) {
  const task::TaskType& type = p.types[id];
  const Dim runs = runs_of(p, id);
  return {in_the_middle(p, type, type.total_work) * runs,
          in_the_middle(p, type, moved_by(p, type).all) * runs};
}

Least least_of(const task::Program& p, task::TaskTypeId id) {
  const task::TaskType& type = p.types[id];
  const Dim runs = runs_of(p, id);
  const Moved moved = moved_by(p, type);
  const auto of_all_runs = [&](const Dim& one) { return in_the_middle(p, type, one) * runs; };
  return {of_all_runs(task::arithmetic_of(*p.graph, p.graph->nodes[type.node])), of_all_runs(moved.all),
          of_all_runs(moved.outside)};
}

Cost least_cost(const task::Program& p) {
  const Graph& g = *p.graph;
  Cost cost{Dim(0), Dim(0)};
  Elements read, written;
  for (uint32_t t = 0; t < p.types.size(); ++t) {
    const task::TaskTypeId id{t};
    const task::TaskType& type = p.types[id];
    const Node& node = g.nodes[type.node];
    const Dim runs = runs_of(p, id);
    if (!node.packs) cost.operations = cost.operations + in_the_middle(p, type, type.total_work) * runs;
    std::vector<graph::Axis> loops;
    for (task::LoopId loop : type.loops) loops.push_back({p.loops[loop].index, p.loops[loop].extent});
    for (const auto& [value, elements] : Loads(g, node, loops).elements())
      if (const Value from = source_of(g, value); is_input(g, from))
        add(read, from, in_the_middle(p, type, elements));
    for (const graph::Output& output : node.outputs)
      if (output.base && is_input(g, source_of(g, *output.base)))
        add(written, source_of(g, *output.base), in_the_middle(p, type, points_of(node.domain)) * runs);
  }
  for (const Elements* all : {&read, &written})
    for (const auto& [value, elements] : *all) cost.bytes = cost.bytes + bytes_of(g, value, elements);
  for (const graph::Result& result : g.results)
    if (!is_input(g, source_of(g, result.value)))
      cost.bytes = cost.bytes + bytes_of(g, result.value, elements_of(g.type(result.value)));
  return cost;
}

}  // namespace axon::page
