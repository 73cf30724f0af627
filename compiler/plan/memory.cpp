// In: a task program with events. Out: slots, and the waits and the certificate that they need.
//
// First every temporary gets an address at typical sizes (addresses.h). Then, in program order, each one is
// compared with those before it. If the waits of the program order their lives, the two may share memory. If
// they do not, and the typical addresses overlap, waits are added. Last, of any two temporaries that may not
// share memory the one with the higher address is placed above the other, so that they are apart at all
// sizes.
//
// Not every pair is compared. If b follows c and c follows a, then b follows a: grids are never empty, so
// some task of c runs between the two, provided that every loop around c is also around a or around b. (A
// loop around c alone may have no iteration.)
#include "plan/memory.h"

#include <algorithm>
#include <numeric>

#include "base/rule.h"
#include "base/work.h"
#include "plan/addresses.h"

namespace axon::plan {

namespace {

using task::LoopId;
using task::Program;
using Numbers = std::vector<uint32_t>;  ///< of lives

bool has(const Numbers& numbers, uint32_t n) {
  return std::find(numbers.begin(), numbers.end(), n) != numbers.end();
}

class Sharing {
 public:
  Sharing(const std::vector<Life>& lives, Reuse& reuse, const Addresses& addresses)
      : lives_(lives), reuse_(reuse), addresses_(addresses), follows_(lives.size()), open_(lives.size()) {}

  /// Returns, for each life, those before it in the list that it may not share memory with.
  Conflicts run() {
    for (uint32_t b = 0; b < lives_.size(); ++b) find_open(b);
    Conflicts conflicts = open_;
    std::map<std::pair<LoopId, size_t>, Numbers> inside;
    for (uint32_t b = 0; b < lives_.size(); ++b)
      for (size_t level = 0; level < lives_[b].private_in.size(); ++level)
        inside[{lives_[b].private_in[level], level}].push_back(b);
    for (const auto& [loop, members] : inside) {
      const Around around = find_around(members, loop.second);
      for (const uint32_t b : members)
        for (const uint32_t a : around.open.at(b))
          if (AXON_RULE(share_around, a > b)) conflicts[a].push_back(b);
    }
    return conflicts;
  }

 private:
  /// Of each life in a loop: which lives of the iteration before it follows, and which it may overlap with.
  struct Around {
    std::map<uint32_t, Numbers> follows, open;
  };

  /// Finds the lives before b in the list that are not known to end before b begins. Those behind the nearest
  /// life that b follows are asked one by one; of the others, only those can be open that were open for it.
  void find_open(uint32_t b) {
    Numbers candidates;
    for (uint32_t a = b; a-- > 0;) {
      if (!find_whether_open(a, b) && is_around(a, b)) {
        candidates = open_[a];
        break;
      }
    }
    for (const uint32_t a : candidates)
      if (!has(open_[b], a) && !has(follows_[b], a)) find_whether_open(a, b);
  }

  bool find_whether_open(uint32_t a, uint32_t b) {
    base::work();
    if (AXON_RULE(share_behind, reuse_.is_behind(a, b))) {
      if (is_implied(a, b)) return false;
      if (reuse_.is_ordered(a, b) || (addresses_.overlap(a, b) && reuse_.order(a, b))) {
        follows_[b].push_back(a);
        reuse_.note_needed(a, b);
        return false;
      }
    }
    open_[b].push_back(a);
    return true;
  }

  /// Is every loop around the life also around the other one?
  bool is_around(uint32_t a, uint32_t b) const {
    return shared_loops(lives_[a], lives_[b]) == lives_[a].private_in.size();
  }

  /// Does b follow a life that follows a, so that nothing is left to show?
  bool is_implied(uint32_t a, uint32_t b) const {
    return std::any_of(follows_[b].begin(), follows_[b].end(), [&](uint32_t c) {
      base::work();
      return AXON_RULE(share_between_later, c > a) && AXON_RULE(share_between_runs, is_between(a, c, b)) &&
             AXON_RULE(share_between_follows, !has(open_[c], a));
    });
  }
  bool is_between(uint32_t a, uint32_t c, uint32_t b) const { return is_around(c, a) || is_around(c, b); }

  /// The same from one iteration of a loop to the next: for each life of the next iteration, the lives of
  /// this one that are not known to have ended.
  Around find_around(const Numbers& members, size_t level) {
    Around around;
    for (const uint32_t b : members) {
      Numbers candidates;
      const auto known = std::find_if(follows_[b].begin(), follows_[b].end(),
                                      [&](uint32_t c) { return around.open.contains(c) && is_around(c, b); });
      around.open[b];
      if (known != follows_[b].end()) {
        candidates = around.open.at(*known);
      } else {
        for (auto a = members.rbegin(); a != members.rend(); ++a) {
          if (find_whether_open(around, *a, b, level) || !is_around(*a, b)) continue;
          for (const uint32_t c : open_[*a])
            if (has(members, c)) candidates.push_back(c);
          break;
        }
      }
      for (const uint32_t a : candidates)
        if (!has(around.open[b], a) && !has(around.follows[b], a)) find_whether_open(around, a, b, level);
    }
    return around;
  }

  bool find_whether_open(Around& around, uint32_t a, uint32_t b, size_t level) {
    base::work();
    if (is_implied(around, a, b)) return false;
    if (reuse_.is_ordered_around(a, b, level) ||
        (a > b && addresses_.overlap(a, b) && reuse_.order_around(a, b, level))) {
      around.follows[b].push_back(a);
      reuse_.note_needed_around(a, b, level);
      return false;
    }
    around.open[b].push_back(a);
    return true;
  }

  bool is_implied(Around& around, uint32_t a, uint32_t b) const {
    const auto& same = follows_[b];
    const auto& before = around.follows[b];
    return std::any_of(same.begin(), same.end(),
                       [&](uint32_t c) {
                         const auto open = around.open.find(c);
                         return open != around.open.end() &&
                                AXON_RULE(share_around_runs, is_between(a, c, b)) &&
                                AXON_RULE(share_around_follows, !has(open->second, a));
                       }) ||
           std::any_of(before.begin(), before.end(), [&](uint32_t c) {
             return AXON_RULE(share_around_later, c > a) &&
                    AXON_RULE(share_around_before_runs, is_between(a, c, b)) &&
                    AXON_RULE(share_around_before_follows, !has(open_[c], a));
           });
  }

  const std::vector<Life>& lives_;
  Reuse& reuse_;
  const Addresses& addresses_;
  std::vector<Numbers> follows_;  ///< by life: those that it was shown to follow directly, the nearest first
  std::vector<Numbers> open_;     ///< by life: those before it that it is not known to follow
};

shape::Dim bytes_of(const task::Buffer& buffer) {
  shape::Dim bytes(base::elem_bytes(buffer.elem));
  if (buffer.placement.stated) return bytes * layout::elements_of(buffer.placement, buffer.shape);
  for (const shape::Dim& d : buffer.shape) bytes = bytes * d;
  return bytes;
}

/// Returns the slots in the order of their typical addresses; temporaries that no task touches come last.
std::vector<Slot> slots_of(const Program& p, const std::vector<Life>& lives, const Addresses& addresses,
                           const Conflicts& conflicts) {
  Numbers order(lives.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return addresses.offset(a) < addresses.offset(b); });
  Numbers place(lives.size());
  for (uint32_t s = 0; s < order.size(); ++s) place[order[s]] = s;
  std::vector<std::set<uint32_t>> above(lives.size());
  for (uint32_t b = 0; b < conflicts.size(); ++b)
    for (const uint32_t a : conflicts[b])
      above[std::max(place[a], place[b])].insert(std::min(place[a], place[b]));
  std::vector<Slot> slots;
  std::set<task::BufferId> placed;
  for (const uint32_t life : order) {
    const task::BufferId buffer = lives[life].buffer;
    const auto& below = above[slots.size()];
    placed.insert(buffer);
    slots.push_back({buffer, bytes_of(p.buffers[buffer]), {below.begin(), below.end()}});
  }
  for (uint32_t b = 0; b < p.buffers.size(); ++b)
    if (const task::BufferId id{b};
        p.buffers[id].kind == task::Buffer::Kind::temporary && !placed.contains(id))
      slots.push_back({id, bytes_of(p.buffers[id]), {}});
  return slots;
}

}  // namespace

std::vector<Slot> place_temporaries(Program& p) {
  const std::vector<Life> lives = lives_of(p);
  Reuse reuse(p, lives);
  const Addresses addresses(p, lives, reuse);
  const Conflicts conflicts = Sharing(lives, reuse, addresses).run();
  reuse.certify();
  return slots_of(p, lives, addresses, conflicts);
}

}  // namespace axon::plan
