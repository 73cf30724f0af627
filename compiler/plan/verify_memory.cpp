// Proves that temporaries that share memory are never live at the same time.
//
// Two slots are apart where one lies above the other. Of any other two slots it is shown that the lives of
// their temporaries do not overlap. The life of a temporary is one iteration of the loops that all of its
// values are made anew in: what a task reads of it was written in the same iteration. A life follows an
// earlier one when, in one iteration of the loops around both, every task that touches the earlier temporary
// runs before every task that writes the later one. In a loop the earlier one of the next iteration must
// follow the later one of this iteration, too.
//
// Not every pair is asked about. If b follows c and c follows a, then b follows a: grids are never empty, so
// some task of c runs between the two, provided that every loop around c is also around a or around b.
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
using task::LoopId;
using task::Program;
using task::TaskTypeId;

struct Touched {
  uint32_t slot;
  std::vector<TaskTypeId> tasks;    ///< in program order
  std::vector<TaskTypeId> writers;  ///< those of them that write; all where none does
  std::vector<LoopId> private_in;   ///< the loops in one iteration of which it lives
};

bool starts_with(const std::vector<LoopId>& loops, const std::vector<LoopId>& outer) {
  return loops.size() >= outer.size() && std::equal(outer.begin(), outer.end(), loops.begin());
}

size_t common(const std::vector<LoopId>& a, const std::vector<LoopId>& b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

class Memory {
 public:
  Memory(const Variant& v, task::Report& report)
      : v_(v), p_(v.program), time_(p_), pairs_(p_, time_), report_(report) {
    for (const task::Finished& f : p_.certificate) certified_.emplace(f.producer, f.consumer);
  }

  void run() {
    if (!is_well_formed()) return;
    for (const Slot& slot : v_.slots)
      report_.add(fmt::format("{} fits into its slot", name(slot)),
                  holds(p_, p_.facts, shape::at_most(bytes_of(slot.buffer), slot.bytes)), "prover");
    find_lives();
    overlapping_.resize(lives_.size());
    for (size_t b = 0; b < lives_.size(); ++b) {
      find_meeting(b);
      for (size_t a : overlapping_[b]) show_apart(a, b, "their lives do not overlap");
    }
    std::set<std::pair<LoopId, size_t>> loops;
    for (const Touched& life : lives_)
      for (size_t level = 0; level < life.private_in.size(); ++level)
        loops.emplace(life.private_in[level], level);
    for (const auto& [loop, level] : loops) check_around(loop, level);
  }

 private:
  bool is_well_formed() {
    std::multiset<uint32_t> placed;
    bool below_first = true;
    for (size_t s = 0; s < v_.slots.size(); ++s) {
      placed.insert(v_.slots[s].buffer.index);
      for (uint32_t below : v_.slots[s].above) below_first = below_first && below < s;
    }
    bool each_once = placed.empty() || *placed.rbegin() < p_.buffers.size();
    for (uint32_t b = 0; b < p_.buffers.size(); ++b)
      each_once =
          each_once && placed.count(b) == (p_.buffers[BufferId{b}].kind == Buffer::Kind::temporary ? 1u : 0u);
    report_.add("every temporary has one slot, and nothing else has", each_once, "compared");
    report_.add("slots lie above slots before them", below_first, "compared");
    return each_once && below_first;
  }

  Dim bytes_of(BufferId b) const {
    Dim bytes(base::elem_bytes(p_.buffers[b].elem));
    for (const Dim& extent : p_.buffers[b].shape) bytes = bytes * extent;
    return bytes;
  }

  const std::string& name(const Slot& slot) const { return p_.buffers[slot.buffer].name; }

  // ---- lives: in the order of their first tasks; what nothing touches overlaps nothing ----

  void find_lives() {
    std::map<BufferId, Touched> touched;
    std::map<BufferId, uint32_t> slots;
    for (uint32_t s = 0; s < v_.slots.size(); ++s) slots[v_.slots[s].buffer] = s;
    for (TaskTypeId type : time_.types())
      for (const auto& access : p_.types[type].accesses) {
        const auto slot = slots.find(access.buffer);
        if (slot == slots.end()) continue;
        const auto& loops = p_.types[type].loops;
        Touched& life =
            touched.try_emplace(access.buffer, Touched{slot->second, {}, {}, loops}).first->second;
        if (life.tasks.empty() || life.tasks.back() != type) life.tasks.push_back(type);
        if (access.write && (life.writers.empty() || life.writers.back() != type))
          life.writers.push_back(type);
        life.private_in.resize(common(life.private_in, loops));
      }
    for (const auto& [value, place] : p_.places)
      if (const auto life = touched.find(place.buffer); life != touched.end()) {
        auto& loops_of_life = life->second.private_in;
        loops_of_life.resize(common(loops_of_life, loops_around(value)));
      }
    for (auto& [buffer, life] : touched) {
      if (life.writers.empty()) life.writers = life.tasks;
      lives_.push_back(std::move(life));
    }
    std::sort(lives_.begin(), lives_.end(), [&](const Touched& a, const Touched& b) {
      return time_.position(a.tasks.front()) < time_.position(b.tasks.front());
    });
  }

  /// The loops in every iteration of which the value is made anew.
  std::vector<LoopId> loops_around(graph::Value value) const {
    const graph::Graph& g = *p_.graph;
    const graph::Node& node = g.nodes[value.node];
    std::vector<LoopId> loops;
    for (auto r = node.region; g.regions[r].loop.valid(); r = g.nodes[g.regions[r].loop].region)
      for (uint32_t l = 0; l < p_.loops.size(); ++l)
        if (p_.loops[LoopId{l}].node == g.regions[r].loop) loops.insert(loops.begin(), LoopId{l});
    if (node.op == graph::NodeOp::param && !loops.empty()) loops.pop_back();  // the iterations hand it on
    return loops;
  }

  // ---- which lives overlap, within an iteration of the loops around both ----

  /// Finds the lives before b that b is not shown to follow. Those behind the nearest life that b follows are
  /// asked one by one; of the others only those that this one was not shown to follow.
  void find_meeting(size_t b) {
    std::vector<size_t> asked;
    for (size_t a = b; a-- > 0;) {
      asked.push_back(a);
      if (!follows(b, a)) continue;
      followed_[b].push_back(a);
      if (!is_around(a, b)) continue;
      asked.insert(asked.end(), overlapping_[a].begin(), overlapping_[a].end());
      break;
    }
    for (size_t a : asked) {
      if (contains(followed_[b], a)) continue;
      if (follows_indirectly(b, a)) continue;
      (follows(b, a) ? followed_[b] : overlapping_[b]).push_back(a);
    }
  }

  static bool contains(const std::vector<size_t>& list, size_t n) {
    return std::find(list.begin(), list.end(), n) != list.end();
  }
  /// Is every loop around a one around b?
  bool is_around(size_t a, size_t b) const { return starts_with(lives_[b].private_in, lives_[a].private_in); }
  bool runs_between(size_t between, size_t a, size_t b) const {
    return is_around(between, a) || is_around(between, b);
  }

  bool follows_indirectly(size_t b, size_t a) {
    const auto& list = followed_[b];
    return std::any_of(list.begin(), list.end(), [&](size_t c) {
      return c > a && runs_between(c, a, b) && !contains(overlapping_[c], a);
    });
  }

  /// Does every task that writes b run after all tasks of a, in one iteration of the loops around both? Tasks
  /// that read b then do, too, as they run after the task that wrote what they read.
  bool follows(size_t b, size_t a) {
    const size_t loops = common(lives_[a].private_in, lives_[b].private_in);
    for (TaskTypeId x : lives_[a].tasks)
      for (TaskTypeId y : lives_[b].writers)
        if (!certified_.contains({x, y}) || time_.position(x) >= time_.position(y) ||
            time_.shared_loops(x, y) != loops || !pairs_.two(x, y, {loops, 0, false}).ordered)
          return false;
    return true;
  }

  // ---- around the back edge of a loop ----

  /// For each life in the loop, those of earlier iterations that it is not shown to follow.
  using Overlapping = std::map<size_t, std::vector<size_t>>;

  void check_around(LoopId loop, size_t level) {
    std::vector<size_t> members;
    for (size_t b = 0; b < lives_.size(); ++b)
      if (lives_[b].private_in.size() > level && lives_[b].private_in[level] == loop) members.push_back(b);
    Overlapping overlapping, followed;
    for (size_t b : members) {
      for (size_t a : asked_around(b, members, level, overlapping, followed)) {
        if (contains(followed[b], a)) continue;
        if (follows_around_indirectly(b, a, overlapping, followed[b])) continue;
        (follows_around(b, a, level) ? followed[b] : overlapping[b]).push_back(a);
      }
      overlapping[b];
      for (size_t a : overlapping[b])
        if (a > b) show_apart(b, a, "their lives do not overlap in the next iteration");
    }
  }

  std::vector<size_t> asked_around(size_t b, const std::vector<size_t>& members, size_t level,
                                   const Overlapping& overlapping, Overlapping& followed) {
    for (size_t c : followed_[b])
      if (const auto of_c = overlapping.find(c); of_c != overlapping.end() && is_around(c, b))
        return of_c->second;
    std::vector<size_t> asked;
    for (auto a = members.rbegin(); a != members.rend(); ++a) {
      asked.push_back(*a);
      if (!is_around(*a, b) || !follows_around(b, *a, level)) continue;
      followed[b].push_back(*a);
      asked.insert(asked.end(), overlapping_[*a].begin(), overlapping_[*a].end());
      std::erase_if(asked, [&](size_t c) { return !contains(members, c); });
      break;
    }
    return asked;
  }

  bool follows_around_indirectly(size_t b, size_t a, const Overlapping& overlapping,
                                 const std::vector<size_t>& before) {
    return std::any_of(followed_[b].begin(), followed_[b].end(),
                       [&](size_t c) {
                         const auto of_c = overlapping.find(c);
                         return of_c != overlapping.end() && runs_between(c, a, b) &&
                                !contains(of_c->second, a);
                       }) ||
           std::any_of(before.begin(), before.end(), [&](size_t c) {
             return c > a && runs_between(c, a, b) && !contains(overlapping_[c], a);
           });
  }

  /// Does every task that writes b run after all tasks of a in earlier iterations of the loop?
  bool follows_around(size_t b, size_t a, size_t level) {
    for (TaskTypeId x : lives_[a].tasks)
      for (TaskTypeId y : lives_[b].writers)
        for (const task::Apart& apart : pairs_.distances(x, y))
          if (apart.level == level && apart.iterations > 0 && !pairs_.two(x, y, apart).ordered) return false;
    return true;
  }

  void show_apart(size_t a, size_t b, const char* else_what) {
    const uint32_t x = std::min(lives_[a].slot, lives_[b].slot), y = std::max(lives_[a].slot, lives_[b].slot);
    const auto& above = v_.slots[y].above;
    const bool is_above = std::find(above.begin(), above.end(), x) != above.end();
    report_.add(fmt::format("{} lies above {}, or {}", name(v_.slots[y]), name(v_.slots[x]), else_what),
                is_above, "compared");
  }

  const Variant& v_;
  const Program& p_;
  const task::Timeline time_;
  task::Pairs pairs_;
  task::Report& report_;
  std::set<std::pair<TaskTypeId, TaskTypeId>> certified_;  ///< of which the certificate says something
  std::vector<Touched> lives_;
  std::vector<std::vector<size_t>> overlapping_;  ///< by life: those before it that it is not shown to follow
  std::map<size_t, std::vector<size_t>> followed_;  ///< those that it is shown to follow, the nearest first
};

}  // namespace

void verify_memory(const Variant& v, task::Report& report) { Memory(v, report).run(); }

}  // namespace axon::plan
