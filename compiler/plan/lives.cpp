// See lives.h.
#include "plan/lives.h"

#include <algorithm>
#include <functional>

#include "base/rule.h"
#include "task/happens_before.h"

namespace axon::plan {

namespace {

using task::BufferId;
using task::LoopId;
using task::Program;
using task::TaskTypeId;

class Finder {
 public:
  explicit Finder(const Program& p) : p_(p), order_(task::program_order(p)), spans_(spans_of_loops(p)) {
    for (uint32_t l = 0; l < p.loops.size(); ++l) loop_of_[p.loops[LoopId{l}].node] = LoopId{l};
  }

  std::vector<Life> run() {
    std::map<BufferId, Life> lives;
    std::vector<TaskTypeId> types;
    for (const auto& [type, position] : order_) types.push_back(type);
    std::sort(types.begin(), types.end(),
              [&](TaskTypeId a, TaskTypeId b) { return order_.at(a) < order_.at(b); });
    for (const TaskTypeId type : types)
      for (const task::Access& access : p_.types[type].accesses)
        if (p_.buffers[access.buffer].kind == task::Buffer::Kind::temporary) touch(lives, type, access);
    for (const auto& [value, place] : p_.places)
      if (const auto life = lives.find(place.buffer); life != lives.end()) keep(life->second, value);
    std::vector<Life> list;
    for (auto& [buffer, life] : lives) {
      extend(life);
      if (life.writers.empty()) life.writers = life.tasks;
      list.push_back(std::move(life));
    }
    std::stable_sort(list.begin(), list.end(),
                     [](const Life& a, const Life& b) { return a.first < b.first; });
    return list;
  }

 private:
  void touch(std::map<BufferId, Life>& lives, TaskTypeId type, const task::Access& access) const {
    const auto [it, added] = lives.try_emplace(access.buffer);
    Life& life = it->second;
    life.buffer = access.buffer;
    if (added) life.private_in = p_.types[type].loops;
    if (life.tasks.empty() || life.tasks.back() != type) life.tasks.push_back(type);
    if (access.write && (life.writers.empty() || life.writers.back() != type)) life.writers.push_back(type);
    if (AXON_RULE(life_of_tasks, true)) shorten(life.private_in, p_.types[type].loops);
  }

  /// A value is made anew in each iteration of the loops around its node; a value that a loop carries, in
  /// each of the loops around that one.
  void keep(Life& life, graph::Value value) const {
    const graph::Graph& g = *p_.graph;
    const graph::Node& node = g.nodes[value.node];
    std::vector<LoopId> loops = loops_of(node.region);
    if (AXON_RULE(life_handed_on, node.op == graph::NodeOp::param) && !loops.empty()) loops.pop_back();
    if (AXON_RULE(life_of_values, true)) shorten(life.private_in, loops);
  }

  std::vector<LoopId> loops_of(graph::RegionId region) const {
    const graph::Graph& g = *p_.graph;
    std::vector<LoopId> loops;
    for (; g.regions[region].loop.valid(); region = g.nodes[g.regions[region].loop].region)
      loops.push_back(loop_of_.at(g.regions[region].loop));
    std::reverse(loops.begin(), loops.end());
    return loops;
  }

  static void shorten(std::vector<LoopId>& outer, const std::vector<LoopId>& loops) {
    const auto [end, unused] = std::mismatch(outer.begin(), outer.end(), loops.begin(), loops.end());
    outer.erase(end, outer.end());
  }

  void extend(Life& life) const {
    life.first = order_.at(life.tasks.front());
    life.last = order_.at(life.tasks.back());
    for (const TaskTypeId type : life.tasks) {
      const auto& loops = p_.types[type].loops;
      if (AXON_RULE(life_private, loops.size() == life.private_in.size())) continue;
      const Span& span = spans_.at(loops[life.private_in.size()]);
      life.first = std::min(life.first, span.first);
      life.last = std::max(life.last, span.last);
    }
  }

  const Program& p_;
  const std::map<TaskTypeId, uint32_t> order_;
  const std::map<LoopId, Span> spans_;
  std::map<graph::NodeId, LoopId> loop_of_;
};

}  // namespace

std::map<LoopId, Span> spans_of_loops(const Program& p) {
  std::map<LoopId, Span> spans;
  uint32_t next = 0;
  const std::function<void(const std::vector<task::Step>&)> walk = [&](const std::vector<task::Step>& steps) {
    for (const task::Step& step : steps) {
      if (step.task.valid()) {
        ++next;
        continue;
      }
      const uint32_t first = next;
      walk(step.body);
      if (next > first) spans[step.loop] = {first, next - 1};
    }
  };
  walk(p.steps);
  return spans;
}

std::vector<Life> lives_of(const Program& p) { return Finder(p).run(); }

size_t shared_loops(const Life& a, const Life& b) {
  const auto [end, unused] =
      std::mismatch(a.private_in.begin(), a.private_in.end(), b.private_in.begin(), b.private_in.end());
  return static_cast<size_t>(end - a.private_in.begin());
}

}  // namespace axon::plan
