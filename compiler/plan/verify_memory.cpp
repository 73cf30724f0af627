// Temporaries that share memory.
//
// A temporary's life is one iteration of the loops that all of its tasks stand in: what they read of it was
// written in the same iteration. The lives in one slot must not meet: in an iteration all tasks of each are
// before all tasks of the next one, and around the back edges of the loops all tasks of the last are before
// all of the first. Grids are never empty, and all of the slot stand in the same loops, so whatever lies
// between two lives runs between them, and every two are apart.
#include <fmt/format.h>

#include <algorithm>
#include <map>
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
      : v_(v), p_(v.program), time_(p_), pairs_(p_, time_), report_(report) {
    for (TaskTypeId type : time_.types())
      for (const auto& access : p_.types[type].accesses)
        if (auto& tasks = tasks_[access.buffer]; tasks.empty() || tasks.back() != type) tasks.push_back(type);
    for (const auto& [value, place] : p_.places) values_.emplace(place.buffer, value);
  }

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
    std::vector<BufferId> lives;  // in the order of their tasks; what nothing touches meets nothing
    for (BufferId b : slot.buffers)
      if (!tasks_of(b).empty()) lives.push_back(b);
    if (lives.size() < 2) return;
    std::sort(lives.begin(), lives.end(), [&](BufferId a, BufferId b) {
      return time_.position(tasks_of(a).front()) < time_.position(tasks_of(b).front());
    });
    const auto& loops = p_.types[tasks_of(lives.front()).front()].loops;
    const auto fit = [&](BufferId b) { return lives_in(b, loops); };
    const bool same = std::all_of(lives.begin(), lives.end(), fit);
    for (size_t i = 0; i + 1 < lives.size(); ++i)
      report_.add(fmt::format("{} and {} share memory: their lives do not meet", p_.buffers[lives[i]].name,
                              p_.buffers[lives[i + 1]].name),
                  same && follows(lives[i], lives[i + 1], loops.size()), "certificate");
    if (!loops.empty())
      report_.add(fmt::format("{} and {} share memory: iterations do not meet", p_.buffers[lives.back()].name,
                              p_.buffers[lives.front()].name),
                  same && follows_around(lives.back(), lives.front()), "certificate");
  }

  Dim bytes_of(BufferId b) const {
    Dim bytes(base::elem_bytes(p_.buffers[b].elem));
    for (const Dim& extent : p_.buffers[b].shape) bytes = bytes * extent;
    return bytes;
  }

  /// In program order.
  const std::vector<TaskTypeId>& tasks_of(BufferId b) const {
    static const std::vector<TaskTypeId> none;
    const auto found = tasks_.find(b);
    return found == tasks_.end() ? none : found->second;
  }

  /// Is everything that is kept in the buffer made, read and forgotten in one iteration of these loops?
  bool lives_in(BufferId b, const std::vector<task::LoopId>& loops) const {
    for (TaskTypeId t : tasks_of(b))
      if (p_.types[t].loops != loops) return false;
    const graph::Graph& g = *p_.graph;
    const graph::RegionId region = loops.empty() ? g.root : g.nodes[p_.loops[loops.back()].node].body;
    const auto [first, last] = values_.equal_range(b);
    return std::all_of(first, last, [&](const auto& entry) {
      const graph::Node& node = g.nodes[entry.second.node];
      return (node.op == graph::NodeOp::compute || node.op == graph::NodeOp::empty) && node.region == region;
    });
  }

  /// In one iteration, does every task of the later one run after all of the earlier one's?
  bool follows(BufferId earlier, BufferId later, size_t loops) {
    for (TaskTypeId x : tasks_of(earlier))
      for (TaskTypeId y : tasks_of(later))
        if (time_.position(x) >= time_.position(y) || !pairs_.two(x, y, {loops, 0, false}).ordered)
          return false;
    return true;
  }

  /// Does every task of the first one run after all of the last one's in iterations before?
  bool follows_around(BufferId last, BufferId first) {
    for (TaskTypeId x : tasks_of(last))
      for (TaskTypeId y : tasks_of(first))
        if (!pairs_.always_ordered(x, y)) return false;
    return true;
  }

  const Variant& v_;
  const Program& p_;
  const task::Timeline time_;
  task::Pairs pairs_;
  task::Report& report_;
  std::map<BufferId, std::vector<TaskTypeId>> tasks_;
  std::multimap<BufferId, graph::Value> values_;
};

}  // namespace

void verify_memory(const Variant& v, task::Report& report) { Memory(v, report).run(); }

}  // namespace axon::plan
