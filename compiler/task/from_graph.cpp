// In: a fused graph after insert_copies. Out: task types with their boxes, buffers and the step tree; no
// events yet.
#include <algorithm>
#include <functional>
#include <map>

#include "base/bug.h"
#include "layout/strided.h"
#include "task/boxes.h"
#include "task/facts.h"
#include "task/storage.h"
#include "task/task.h"
#include "task/tiling/tiling.h"
#include "task/work.h"

namespace axon::task {

using graph::Axis;
using graph::Graph;
using graph::InputKind;
using graph::Node;
using graph::NodeId;
using graph::NodeOp;
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
    case Family::order:
      return "order";
    case Family::prefix:
      return "prefix";
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

class TaskBuilder {
 public:
  TaskBuilder(const Graph& g, const std::vector<Placement>& placements, const std::vector<Fact>& guard,
              const target::Class& machines)
      : g_(g), placements_(placements), machines_(machines), storage_(g) {
    program_.graph = &g;
    program_.guard = guard;
    program_.facts = facts_of(g, guard);
  }

  Program run() {
    place_inputs();
    place_results();
    place_region(g_.root);
    program_.places.assign(places_.begin(), places_.end());
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
      if (node.input < placements_.size()) buffer.placement = placements_[node.input];
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
      const auto& stated = g_.results[r].place;
      if (stated && !layout::is_row_major(*stated, buffer.shape)) buffer.placement.stated = stated;
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
    const auto& stated = g_.nodes[root.node].place;
    if (stated && !is_row_major(*stated, g_.type(v).shape))
      program_.buffers[place.buffer].placement.stated = stated;
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
    if (auto& stated = buffer.placement.stated)
      stated->shards.insert(stated->shards.begin(),
                            {Dim(2), layout::elements_of(buffer.placement, buffer.shape), {}});
    buffer.shape.insert(buffer.shape.begin(), Dim(2));
    return place->buffer;
  }

  static bool is_row_major(const layout::Layout& place, const std::vector<Dim>& shape) {
    const auto strides = layout::strides_of(place, shape);
    return strides && layout::is_row_major(layout::strided(shape, *strides), shape);
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
    const auto found = places_.find(v);
    return found == places_.end() ? nullptr : &found->second;
  }
  void set_place(Value v, Place place) { places_.insert_or_assign(v, std::move(place)); }

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
    const TileRule rule = choose_tiles(g_, node, machines_);
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
    const Work work = work_of(g_, node, [&](uint32_t axis) -> Part {
      const Dim& extent = node.domain[axis].extent;
      for (const auto& c : type.coordinates)
        if (c.axis == axis) return {Dim(c.tile) * Dim(c.var), shape::min(Dim(c.tile), extent)};
      return {Dim(0), extent};
    });
    type.work = work.tile;
    type.total_work = work.total;
    return program_.types.add(std::move(type));
  }

  const Graph& g_;
  const std::vector<Placement>& placements_;
  const target::Class& machines_;
  Storage storage_;
  std::map<Value, Place> places_;
  Program program_;
  std::vector<LoopId> loops_;
};

}  // namespace

Program from_graph(const Graph& g, const std::vector<Placement>& placements, const std::vector<Fact>& guard,
                   const target::Class& machines) {
  return TaskBuilder(g, placements, guard, machines).run();
}

}  // namespace axon::task
