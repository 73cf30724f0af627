// Structure and memory: the program's steps are the graph's regions, and its places let every value live as
// long as it is read.
//
// Which values may share memory is recomputed from the graph (storage.h); the program's places must be that,
// one buffer per class, with two alternating slots for values that a loop carries from one memory into
// another.
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "graph/uses.h"
#include "task/storage.h"
#include "task/verify.h"

namespace axon::task {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeOp;
using graph::Value;

namespace {

/// The steps of a region are its compute nodes and loops in order, each once.
bool steps_are(const Program& p, const std::vector<Step>& steps, graph::RegionId region,
               std::vector<LoopId>& loops, std::set<uint32_t>& seen_types, std::set<uint32_t>& seen_loops) {
  const Graph& g = *p.graph;
  size_t next = 0;
  for (NodeId id : g.regions[region].nodes) {
    const Node& node = g.nodes[id];
    if (node.op != NodeOp::compute && node.op != NodeOp::loop) continue;
    if (next == steps.size()) return false;
    const Step& step = steps[next++];
    if (node.op == NodeOp::compute) {
      if (!step.task.valid() || step.task.index >= p.types.size() ||
          !seen_types.insert(step.task.index).second)
        return false;
      const TaskType& type = p.types[step.task];
      if (type.node != id || type.loops != loops) return false;
      continue;
    }
    if (!step.loop.valid() || step.loop.index >= p.loops.size() || !seen_loops.insert(step.loop.index).second)
      return false;
    const Loop& loop = p.loops[step.loop];
    if (loop.index != node.index.var || loop.extent != node.index.extent) return false;
    loops.push_back(step.loop);
    const bool inside = steps_are(p, step.body, node.body, loops, seen_types, seen_loops);
    loops.pop_back();
    if (!inside) return false;
  }
  return next == steps.size();
}

class MemoryChecks {
 public:
  MemoryChecks(const Program& p, Report& report) : p_(p), g_(*p.graph), storage_(g_), report_(report) {}

  void run() {
    if (!everything_placed()) return;
    find_carried();
    std::map<BufferId, std::set<Value>> classes;
    std::map<Value, std::set<BufferId>> buffers;
    for (const auto& [value, place] : p_.places) {
      classes[place.buffer].insert(class_of(value));
      buffers[class_of(value)].insert(place.buffer);
    }
    const auto one = [](const auto& entry) { return entry.second.size() == 1; };
    report_.add("values in one buffer are versions of one value",
                std::all_of(classes.begin(), classes.end(), one), "storage classes");
    report_.add("versions of one value stay in one buffer", std::all_of(buffers.begin(), buffers.end(), one),
                "storage classes");
    report_.add("no version is read after a later one is written", !needs_copies(), "uses in program order");
    report_.add("carried values alternate between two slots", slots_alternate(), "storage classes");
    report_.add("buffers have the shapes of their values", shapes_fit(), "types");
    report_.add("inputs and results are in their own buffers", interface_fits(), "interface");
  }

 private:
  const Place* find_place(Value v) const {
    const auto at = std::lower_bound(p_.places.begin(), p_.places.end(), v,
                                     [](const auto& entry, Value other) { return entry.first < other; });
    return at != p_.places.end() && at->first == v ? &at->second : nullptr;
  }

  bool everything_placed() {
    std::set<Value> placed;
    bool sound = std::is_sorted(p_.places.begin(), p_.places.end(),
                                [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [value, place] : p_.places) {
      sound = sound && value.node.valid() && value.node.index < g_.nodes.size() &&
              value.output < g_.nodes[value.node].types.size() && place.buffer.index < p_.buffers.size();
      placed.insert(value);
    }
    for (const NodeId id : graph::all_nodes(g_)) {
      const Node& node = g_.nodes[id];
      if (node.op == NodeOp::input && g_.inputs[node.input].kind == graph::InputKind::scalar_size) continue;
      for (uint32_t o = 0; o < node.types.size(); ++o) sound = sound && placed.contains({id, o});
    }
    report_.add("every value has a place", sound, "form");
    return sound;
  }

  struct Carrier {
    NodeId loop;
    uint32_t number;
    Dim slot;
  };

  /// Values that live in the two slots of what a loop carries.
  void find_carried() {
    for (const NodeId id : graph::all_nodes(g_)) {
      const Node& loop = g_.nodes[id];
      if (loop.op != NodeOp::loop) continue;
      for (uint32_t c = 0; c < loop.carried.size(); ++c) {
        if (storage_.carried_in_place(id, c)) continue;
        const auto& carried = loop.carried[c];
        const Dim l = loop.index.var;
        const std::pair<Value, Dim> members[] = {{carried.init, Dim(0)},
                                                 {carried.param, shape::mod(l, Dim(2))},
                                                 {carried.result, shape::mod(l + Dim(1), Dim(2))},
                                                 {{id, c}, shape::mod(loop.index.extent, Dim(2))}};
        for (const auto& [value, slot] : members) carriers_[storage_.root(value)].push_back({id, c, slot});
      }
    }
  }

  /// What carries the memory of a value between slots; null when nothing does.
  const std::vector<Carrier>* carriers_of(Value v) const {
    const auto it = carriers_.find(storage_.root(v));
    return it == carriers_.end() ? nullptr : &it->second;
  }

  Value class_of(Value v) const {
    const auto* carriers = carriers_of(v);
    return carriers ? Value{carriers->front().loop, carriers->front().number} : storage_.root(v);
  }

  bool slots_alternate() const {
    return std::all_of(p_.places.begin(), p_.places.end(), [&](const auto& entry) {
      const auto* carriers = carriers_of(entry.first);
      const auto& slot = entry.second.slot;
      return carriers ? carriers->size() == 1 && slot && *slot == carriers->front().slot : !slot;
    });
  }

  bool shapes_fit() const {
    return std::all_of(p_.places.begin(), p_.places.end(), [&](const auto& entry) {
      const auto& [value, place] = entry;
      const Buffer& buffer = p_.buffers[place.buffer];
      std::vector<Dim> shape = g_.type(value).shape;
      if (place.slot) shape.insert(shape.begin(), Dim(2));
      return shape == buffer.shape && buffer.elem == g_.type(value).elem;
    });
  }

  /// insert_copies finds nothing left to do.
  bool needs_copies() const {
    Graph copy = g_;
    insert_copies(copy);
    return copy.nodes.size() != g_.nodes.size();
  }

  bool interface_fits() const {
    using Kind = Buffer::Kind;
    std::map<BufferId, std::pair<Kind, uint32_t>> expected;
    for (uint32_t n = 0; n < g_.nodes.size(); ++n) {
      const Node& node = g_.nodes[NodeId{n}];
      if (node.op != NodeOp::input || !find_place({NodeId{n}, 0})) continue;
      const auto kind = g_.inputs[node.input].kind;
      expected[find_place({NodeId{n}, 0})->buffer] = {kind == graph::InputKind::weight  ? Kind::weight
                                                      : kind == graph::InputKind::state ? Kind::state
                                                                                        : Kind::argument,
                                                      node.input};
    }
    bool fits = true;
    for (uint32_t r = 0; r < g_.results.size(); ++r) {
      const BufferId buffer = find_place(g_.results[r].value)->buffer;
      const bool state = expected.contains(buffer) && expected[buffer].first == Kind::state;
      fits = fits && (state || expected.emplace(buffer, std::pair{Kind::result, r}).second);
    }
    for (uint32_t b = 0; b < p_.buffers.size(); ++b) {
      const Buffer& buffer = p_.buffers[BufferId{b}];
      const auto it = expected.find(BufferId{b});
      fits = fits &&
             (it == expected.end() ? buffer.kind == Kind::temporary
                                   : buffer.kind == it->second.first && buffer.index == it->second.second);
    }
    return fits;
  }

  const Program& p_;
  const Graph& g_;
  const Storage storage_;
  Report& report_;
  std::map<Value, std::vector<Carrier>> carriers_;  ///< by the value that owns the memory
};

}  // namespace

void verify_structure(const Program& p, Report& report) {
  std::vector<LoopId> loops;
  std::set<uint32_t> seen_types, seen_loops;
  const bool same = steps_are(p, p.steps, p.graph->root, loops, seen_types, seen_loops) &&
                    seen_types.size() == p.types.size() && seen_loops.size() == p.loops.size();
  report.add("steps and loops are those of the graph, in its order", same, "compared");
  // Iterations are numbered row-major, so the trip count of a loop is the same in every iteration around it.
  bool rectangular = true;
  for (const Loop& loop : p.loops)
    for (const Loop& other : p.loops) rectangular = rectangular && !loop.extent.contains(other.index);
  report.add("trip counts do not depend on loop indices", rectangular, "form");
}

void verify_memory(const Program& p, Report& report) { MemoryChecks(p, report).run(); }

}  // namespace axon::task
