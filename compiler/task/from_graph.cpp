// In: a fused graph after insert_copies. Out: task types with their boxes, buffers and the step tree; no
// events yet.
//
// Boxes come from the scalar bodies: each load's index expressions are bounded under the ranges that one task
// gives to the domain variables, the binders and the locals' variables. A data-dependent index reads its
// whole axis.
#include <algorithm>
#include <functional>
#include <map>

#include "base/bug.h"
#include "task/facts.h"
#include "task/scatter.h"
#include "task/storage.h"
#include "task/task.h"
#include "task/tiling/tiling.h"

namespace axon::task {

using graph::Axis;
using graph::Graph;
using graph::InputKind;
using graph::Node;
using graph::NodeId;
using graph::NodeOp;
using graph::Op;
using graph::RegionId;
using graph::ScalarId;
using graph::Value;

const char* family_name(Family f) {
  switch (f) {
    case Family::elementwise:
      return "elementwise";
    case Family::contract:
      return "contract";
    case Family::reduce:
      return "reduce";
    case Family::scatter:
      return "scatter";
    case Family::online:
      return "online";
  }
  return "?";
}

const Place& Program::place(Value v) const {
  const auto it =
      std::lower_bound(places.begin(), places.end(), v, [](const auto& p, Value w) { return p.first < w; });
  if (it == places.end() || it->first != v) base::bug("task::Program::place", "a value without memory");
  return it->second;
}

namespace {

/// Bounds of index expressions inside one task.
class Boxes {
 public:
  Boxes(const Program& p, const TaskType& type)
      : program_(p), g_(*p.graph), node_(g_.nodes[type.node]), facts_(p.facts) {
    for (LoopId l : type.loops) add_range(p.loops[l].index, Dim(0), p.loops[l].extent);
    for (const auto& c : type.coordinates) add_range(c.var, Dim(0), c.extent);
    for (uint32_t a = 0; a < node_.domain.size(); ++a) {
      const Axis& axis = node_.domain[a];
      internal_.push_back(axis.var);
      add_range(axis.var, Dim(0), axis.extent);
      for (const auto& c : type.coordinates)
        if (c.axis == a) {
          facts_.push_back(shape::at_least(Dim(axis.var), Dim(c.tile) * Dim(c.var)));
          facts_.push_back(shape::less(Dim(axis.var), Dim(c.tile) * Dim(c.var) + Dim(c.tile)));
        }
    }
    find_local_ranges();
  }

  /// One interval per index; `shape` where no bound is found or the index depends on data.
  std::vector<Interval> of_load(ScalarId load, const std::vector<Dim>& shape) const {
    std::vector<Interval> box;
    const auto& scalar = g_.scalars[load];
    for (size_t a = 0; a < scalar.args.size(); ++a) {
      const auto index = affine_index(g_, scalar.args[a]);
      box.push_back(index ? bounded(*index, shape[a]) : Interval{Dim(0), shape[a]});
    }
    return box;
  }

  Interval bounded(const Dim& index, const Dim& extent) const {
    const auto keep = [&](Var v) {
      return std::find(internal_.begin(), internal_.end(), v) == internal_.end();
    };
    const auto vars = index.vars();
    if (std::all_of(vars.begin(), vars.end(), keep)) return {index, index + Dim(1)};
    auto it = bounds_.find(index);
    if (it == bounds_.end()) {
      const auto facts = relevant(program_, facts_, {index});
      const auto bounds = shape::bounds_of(index, facts, keep);
      it = bounds_.emplace(index, shape::Bounds{}).first;
      if (bounds.low) it->second.low = shape::simplify(*bounds.low, facts);
      if (bounds.high) it->second.high = shape::simplify(*bounds.high + Dim(1), facts);
    }
    return {it->second.low.value_or(Dim(0)), it->second.high.value_or(extent)};
  }

  /// Every load of a value outside the node, under the ranges in force where it stands.
  void for_each_load(const std::function<void(ScalarId)>& f) const {
    for (const auto& local : node_.locals) visit(local.body, f);
    for (const auto& output : node_.outputs) visit(output.body, f);
  }

 private:
  void add_range(Var v, const Dim& low, const Dim& high) {
    facts_.push_back(shape::at_least(Dim(v), low));
    facts_.push_back(shape::less(Dim(v), high));
  }

  void visit(ScalarId id, const std::function<void(ScalarId)>& f) const {
    for (ScalarId l : loads_in(g_, id)) f(l);
  }

  void add_binders(ScalarId body) {
    for (ScalarId id : scalars_in(g_, body))
      for (const Axis& b : g_.scalars[id].binders) {
        if (std::find(internal_.begin(), internal_.end(), b.var) != internal_.end()) continue;
        internal_.push_back(b.var);
        add_range(b.var, Dim(0), b.extent);
      }
  }

  /// Locals are computed over the box that later bodies read; from last to first, so each sees all its
  /// readers.
  void find_local_ranges() {
    for (const auto& output : node_.outputs) add_binders(output.body);
    for (const auto& local : node_.locals) add_binders(local.body);
    for (uint32_t l = static_cast<uint32_t>(node_.locals.size()); l-- > 0;) {
      const auto& local = node_.locals[l];
      std::vector<std::optional<Interval>> needed(local.domain.size());
      const auto read = [&](ScalarId id) {
        const auto& load = g_.scalars[id];
        if (!load.target.is_local() || load.target.output != l) return;
        for (size_t a = 0; a < load.args.size(); ++a) {
          const auto index = affine_index(g_, load.args[a]);
          const Dim extent = local.domain[a].extent;
          const Interval i = index ? bounded(*index, extent) : Interval{Dim(0), extent};
          needed[a] = needed[a]
                          ? Interval{shape::min(needed[a]->low, i.low), shape::max(needed[a]->high, i.high)}
                          : i;
        }
      };
      for (uint32_t later = l + 1; later < node_.locals.size(); ++later)
        visit(node_.locals[later].body, read);
      for (const auto& output : node_.outputs) visit(output.body, read);
      for (size_t a = 0; a < local.domain.size(); ++a) {
        const Interval range = needed[a].value_or(Interval{Dim(0), local.domain[a].extent});
        internal_.push_back(local.domain[a].var);
        add_range(local.domain[a].var, range.low, range.high);
        add_range(local.domain[a].var, Dim(0), local.domain[a].extent);
      }
    }
  }

  const Program& program_;
  const Graph& g_;
  const Node& node_;
  std::vector<Fact> facts_;
  std::vector<Var> internal_;  ///< variables that must not appear in a box
  mutable std::map<Dim, shape::Bounds, shape::DimLess>
      bounds_;  ///< [low, high) found; a local's range adds facts about
                ///< its own variables only, so these stay true
};

void add_access(const Program& p, std::vector<Access>& accesses, Value v, std::vector<Interval> box,
                bool write) {
  const Place& place = p.place(v);
  if (place.slot) box.insert(box.begin(), {*place.slot, *place.slot + Dim(1)});
  for (const Access& other : accesses) {
    const auto same = [](const Interval& a, const Interval& b) { return a.low == b.low && a.high == b.high; };
    if (other.buffer == place.buffer && other.write == write &&
        std::equal(box.begin(), box.end(), other.box.begin(), other.box.end(), same))
      return;
  }
  accesses.push_back({place.buffer, std::move(box), write});
}

class TaskBuilder {
 public:
  TaskBuilder(const Graph& g, const std::vector<Layout>& layouts, const std::vector<Fact>& guard,
              const Tiling& tiling)
      : g_(g), layouts_(layouts), tiling_(tiling), storage_(g) {
    program_.graph = &g;
    program_.guard = guard;
    program_.facts = facts_of(g, guard);
  }

  Program run() {
    place_inputs();
    place_results();
    place_region(g_.root);
    std::sort(program_.places.begin(), program_.places.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    program_.steps = steps_of(g_.root);
    return std::move(program_);
  }

 private:
  // ---- memory ----

  void place_inputs() {
    for (uint32_t n = 0; n < g_.nodes.size(); ++n) {
      const Node& node = g_.nodes[NodeId{n}];
      if (node.op != NodeOp::input || g_.inputs[node.input].kind == InputKind::scalar_size) continue;
      const auto& input = g_.inputs[node.input];
      Buffer buffer;
      buffer.name = input.path;
      buffer.elem = input.type.elem;
      buffer.shape = input.type.shape;
      buffer.index = node.input;
      buffer.kind = input.kind == InputKind::weight  ? Buffer::Kind::weight
                    : input.kind == InputKind::state ? Buffer::Kind::state
                                                     : Buffer::Kind::argument;
      if (node.input < layouts_.size()) buffer.layout = layouts_[node.input];
      set_place({NodeId{n}, 0}, {program_.buffers.add(std::move(buffer)), std::nullopt});
    }
  }

  void place_results() {
    for (uint32_t r = 0; r < g_.results.size(); ++r) {
      const Value root = storage_.root(g_.results[r].value);
      if (g_.nodes[root.node].op == NodeOp::input) continue;  // a state handed back
      Buffer buffer;
      buffer.name = g_.results[r].path.empty() ? "result" : "result." + g_.results[r].path;
      buffer.elem = g_.type(root).elem;
      buffer.shape = g_.type(root).shape;
      buffer.kind = Buffer::Kind::result;
      buffer.index = r;
      set_place(root, {program_.buffers.add(std::move(buffer)), std::nullopt});
    }
  }

  void place_region(RegionId region) {
    for (NodeId id : g_.regions[region].nodes) {
      const Node& node = g_.nodes[id];
      if (node.op == NodeOp::loop) place_loop(id);
      if (node.op == NodeOp::compute || node.op == NodeOp::empty)
        for (uint32_t o = 0; o < node.types.size(); ++o) place_value({id, o});
      if (node.op == NodeOp::loop) place_region(node.body);
    }
  }

  void place_value(Value v) {
    if (find_place(v)) return;
    const Value root = storage_.root(v);
    if (const Place* place = find_place(root)) return set_place(v, *place);
    const Place place{temporary(v, g_.type(v).shape), std::nullopt};
    set_place(root, place);
    if (root != v) set_place(v, place);
  }

  /// Carried values: in place, or a buffer of two slots that the iterations alternate between.
  void place_loop(NodeId id) {
    const Node& loop = g_.nodes[id];
    for (uint32_t c = 0; c < loop.carried.size(); ++c) {
      const auto& carried = loop.carried[c];
      if (storage_.carried_in_place(id, c)) {
        place_value(carried.init);
        set_place(carried.param, *find_place(carried.init));
        set_place({id, c}, *find_place(carried.init));
        continue;
      }
      const BufferId buffer = move_to_slots(carried.init);
      const Dim l = loop.index.var;
      set_place(carried.init, {buffer, Dim(0)});
      set_place(carried.param, {buffer, shape::mod(l, Dim(2))});
      set_place(carried.result, {buffer, shape::mod(l + Dim(1), Dim(2))});
      set_place({id, c}, {buffer, shape::mod(loop.index.extent, Dim(2))});
    }
  }

  /// The initial value was placed as an ordinary temporary; its buffer becomes the one with two slots.
  BufferId move_to_slots(Value init) {
    const Place* place = find_place(init);
    if (!place) base::bug("task::from_graph", "a carried initial value without memory");
    Buffer& buffer = program_.buffers[place->buffer];
    buffer.shape.insert(buffer.shape.begin(), Dim(2));
    return place->buffer;
  }

  BufferId temporary(Value v, std::vector<Dim> shape) {
    Buffer buffer;
    const std::string hint = g_.nodes[v.node].name;
    buffer.name = (hint.empty() ? "t" : hint) + "." + std::to_string(program_.buffers.size());
    buffer.elem = g_.type(v).elem;
    buffer.shape = std::move(shape);
    return program_.buffers.add(std::move(buffer));
  }

  const Place* find_place(Value v) const {
    for (const auto& [value, place] : program_.places)
      if (value == v) return &place;
    return nullptr;
  }
  void set_place(Value v, Place place) {
    for (auto& [value, old] : program_.places)
      if (value == v) return void(old = std::move(place));
    program_.places.emplace_back(v, std::move(place));
  }

  // ---- tasks ----

  std::vector<Step> steps_of(RegionId region) {
    std::vector<Step> steps;
    for (NodeId id : g_.regions[region].nodes) {
      const Node& node = g_.nodes[id];
      if (node.op == NodeOp::compute) steps.push_back({task_of(id), {}, {}});
      if (node.op == NodeOp::loop) {
        const LoopId loop = program_.loops.add({node.index.var, node.index.extent, id});
        loops_.push_back(loop);
        Step step{{}, loop, steps_of(node.body)};
        loops_.pop_back();
        steps.push_back(std::move(step));
      }
    }
    return steps;
  }

  TaskTypeId task_of(NodeId id) {
    const Node& node = g_.nodes[id];
    const TileRule rule = choose_tiles(g_, node, tiling_);
    TaskType type;
    type.name = (node.name.empty() ? family_name(rule.family) : node.name) + "." +
                std::to_string(program_.types.size());
    type.node = id;
    type.family = rule.family;
    type.loops = loops_;
    for (const Tile& tile : rule.tiles) {
      Coordinate c;
      c.var = shape::fresh_var("t" + std::to_string(type.coordinates.size()));
      c.axis = tile.axis;
      c.tile = tile.length;
      c.extent = shape::max(Dim(1), shape::cdiv(node.domain[tile.axis].extent, Dim(tile.length)));
      type.coordinates.push_back(c);
    }
    type.accesses = accesses_of(program_, type);
    type.work = work_of(node, [&](uint32_t axis) -> Dim {
      for (const auto& c : type.coordinates)
        if (c.axis == axis) return shape::min(Dim(c.tile), node.domain[axis].extent);
      return node.domain[axis].extent;
    });
    type.total_work = work_of(node, [&](uint32_t axis) { return node.domain[axis].extent; });
    return program_.types.add(std::move(type));
  }

  // ---- cost ----

  /// Scalar operations (each contraction step counts one), over the sizes, plus a constant for the task
  /// itself.
  Dim work_of(const Node& node, const std::function<Dim(uint32_t)>& extent_of) const {
    Dim work(0);
    for (const auto& output : node.outputs) work = work + work_of(output.body, node.domain, extent_of);
    for (uint32_t l = 0; l < node.locals.size(); ++l) {
      const auto& local = node.locals[l];
      work = work + work_of(local.body, local.domain, [&](uint32_t axis) {
               const auto axes = node_axes(g_, node, l, axis);
               return axes.size() == 1 ? extent_of(axes[0]) : local.domain[axis].extent;
             });
    }
    return work + Dim(64);
  }

  /// Every point of the domain folds all points of the binders; where the reduction scatters, those points
  /// find the elements that they count for.
  Dim work_of(ScalarId body, const std::vector<Axis>& domain,
              const std::function<Dim(uint32_t)>& extent_of) const {
    Dim points(1), searched = binders_of(body);
    const auto scatter = find_scatter(g_, body, domain);
    for (uint32_t a = 0; a < domain.size(); ++a) {
      points = points * extent_of(a);
      if (!scatter || !scatter->decides(a)) searched = searched * extent_of(a);
    }
    return scatter ? searched + points : searched;
  }

  /// Product of the extents that the reductions of a body run over, each reduction once.
  Dim binders_of(ScalarId body) const {
    Dim product(1);
    for (ScalarId id : scalars_in(g_, body))
      for (const Axis& b : g_.scalars[id].binders) product = product * b.extent;
    return product;
  }

  const Graph& g_;
  const std::vector<Layout>& layouts_;
  const Tiling tiling_;
  Storage storage_;
  Program program_;
  std::vector<LoopId> loops_;
};

}  // namespace

std::vector<Access> accesses_of(const Program& p, const TaskType& type) {
  const Graph& g = *p.graph;
  const Node& node = g.nodes[type.node];
  std::vector<Access> accesses;
  const Boxes boxes(p, type);
  boxes.for_each_load([&](ScalarId l) {
    const Value target = g.scalars[l].target;
    if (!target.is_local()) add_access(p, accesses, target, boxes.of_load(l, g.type(target).shape), false);
  });
  for (uint32_t o = 0; o < node.outputs.size(); ++o) {
    std::vector<Interval> box;
    const auto& output = node.outputs[o];
    for (size_t a = 0; a < output.at.size(); ++a)
      box.push_back(boxes.bounded(output.at[a], output.type.shape[a]));
    add_access(p, accesses, {type.node, o}, std::move(box), true);
  }
  return accesses;
}

Program from_graph(const Graph& g, const std::vector<Layout>& layouts, const std::vector<Fact>& guard,
                   const Tiling& tiling) {
  return TaskBuilder(g, layouts, guard, tiling).run();
}

}  // namespace axon::task
