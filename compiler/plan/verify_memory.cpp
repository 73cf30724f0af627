// Temporaries that share memory.
//
// A temporary's life is one iteration of the loops that all of its tasks stand in: what they read of it was
// written in the same iteration. Two lives in one slot must not meet: in an iteration all tasks of the one
// are before all tasks of the other, also around the back edges of the loops.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "plan/verify.h"
#include "task/facts.h"
#include "task/verify_pairs.h"

namespace axon::plan {

namespace {

using task::Buffer;
using task::BufferId;
using task::Program;
using task::TaskTypeId;

class Memory {
 public:
  Memory(const Variant& v, task::Report& report)
      : v_(v), p_(v.program), time_(p_), pairs_(p_, time_), report_(report) {}

  void run() {
    std::multiset<uint32_t> placed;
    for (const Slot& slot : v_.slots)
      for (BufferId b : slot.buffers) placed.insert(b.index);
    bool each_once = true;
    for (uint32_t b = 0; b < p_.buffers.size(); ++b)
      each_once =
          each_once && placed.count(b) == (p_.buffers[BufferId{b}].kind == Buffer::Kind::temporary ? 1u : 0u);
    report_.add("every temporary has one slot, and nothing else has", each_once && is_known(placed),
                "compared");
    if (!report_.all_proved()) return;
    for (const Slot& slot : v_.slots) check(slot);
  }

 private:
  bool is_known(const std::multiset<uint32_t>& placed) const {
    return placed.empty() || *placed.rbegin() < p_.buffers.size();
  }

  void check(const Slot& slot) {
    for (BufferId b : slot.buffers)
      report_.add(fmt::format("{} fits into its slot", p_.buffers[b].name),
                  holds(p_, p_.facts, shape::at_most(bytes_of(b), slot.bytes)), "prover");
    for (size_t i = 0; i < slot.buffers.size(); ++i)
      for (size_t j = i + 1; j < slot.buffers.size(); ++j) {
        const BufferId a = slot.buffers[i], b = slot.buffers[j];
        report_.add(fmt::format("{} and {} share memory: their lives do not meet", p_.buffers[a].name,
                                p_.buffers[b].name),
                    lives_apart(a, b), "certificate");
      }
  }

  Dim bytes_of(BufferId b) const {
    Dim bytes(base::elem_bytes(p_.buffers[b].elem));
    for (const Dim& extent : p_.buffers[b].shape) bytes = bytes * extent;
    return bytes;
  }

  std::vector<TaskTypeId> tasks_of(BufferId b) const {
    std::vector<TaskTypeId> tasks;
    for (uint32_t t = 0; t < p_.types.size(); ++t) {
      const auto& accesses = p_.types[TaskTypeId{t}].accesses;
      if (std::any_of(accesses.begin(), accesses.end(), [&](const auto& a) { return a.buffer == b; }))
        tasks.push_back({t});
    }
    return tasks;
  }

  /// Is everything that is kept in the buffer made, read and forgotten in one iteration of these loops?
  bool lives_in(BufferId b, const std::vector<task::LoopId>& loops) const {
    for (TaskTypeId t : tasks_of(b))
      if (p_.types[t].loops != loops) return false;
    const graph::Graph& g = *p_.graph;
    const graph::RegionId region = loops.empty() ? g.root : g.nodes[p_.loops[loops.back()].node].body;
    return std::all_of(p_.places.begin(), p_.places.end(), [&](const auto& entry) {
      const graph::Node& node = g.nodes[entry.first.node];
      return entry.second.buffer != b ||
             ((node.op == graph::NodeOp::compute || node.op == graph::NodeOp::empty) &&
              node.region == region);
    });
  }

  bool lives_apart(BufferId a, BufferId b) {
    const auto of_a = tasks_of(a), of_b = tasks_of(b);
    if (of_a.empty() || of_b.empty()) return true;
    const auto& loops = p_.types[of_a.front()].loops;
    if (!lives_in(a, loops) || !lives_in(b, loops)) return false;
    const auto before = [&](TaskTypeId x, TaskTypeId y) { return time_.position(x) < time_.position(y); };
    const bool a_first = before(of_a.front(), of_b.front());
    for (TaskTypeId x : of_a)
      for (TaskTypeId y : of_b)
        if (x == y || before(x, y) != a_first || !pairs_.always_ordered(x, y) || !pairs_.always_ordered(y, x))
          return false;
    return true;
  }

  const Variant& v_;
  const Program& p_;
  const task::Timeline time_;
  task::Pairs pairs_;
  task::Report& report_;
};

}  // namespace

void verify_memory(const Variant& v, task::Report& report) { Memory(v, report).run(); }

}  // namespace axon::plan
