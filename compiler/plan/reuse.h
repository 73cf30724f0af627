// Decides whether two temporaries may share memory, and adds the waits that they need to.
//
// Memory may be reused if every access to the earlier temporary happens before every write to the later one.
// That may follow from waits that the program has; if not, a wait for whole grids can be added. The orders
// that the memory plan relies on are recorded, and certify() adds them to the certificate that the verifier
// checks.
#pragma once
#include <map>
#include <set>
#include <tuple>

#include "plan/lives.h"
#include "task/certificate.h"
#include "task/happens_before.h"

namespace axon::plan {

class Reuse {
 public:
  Reuse(task::Program&, const std::vector<Life>&);

  /// Does the lifetime of a end before that of b begins, in program order?
  bool is_behind(uint32_t a, uint32_t b) const { return lives_[a].last < lives_[b].first; }

  /// Do the waits order every task that accesses a before every task that writes b, in one iteration of the
  /// loops that both are private in? Then tasks that read b run after those that access a, too: they run
  /// after the task that wrote what they read.
  bool is_ordered(uint32_t a, uint32_t b) { return is_ordered(a, b, {shared(a, b), 0}); }
  /// The same for the tasks of a in one iteration of the shared loop `level` and those of b in the next.
  bool is_ordered_around(uint32_t a, uint32_t b, size_t level) { return is_ordered(a, b, {level, 1}); }
  /// Adds the missing waits, where that is possible. Returns whether the two are ordered then.
  bool order(uint32_t a, uint32_t b) { return order(a, b, {shared(a, b), 0}); }
  bool order_around(uint32_t a, uint32_t b, size_t level) { return order(a, b, {level, 1}); }

  /// Records that the memory plan relies on this order, for certify().
  void note_needed(uint32_t a, uint32_t b) { note_needed(a, b, {shared(a, b), 0}); }
  void note_needed_around(uint32_t a, uint32_t b, size_t level) { note_needed(a, b, {level, 1}); }
  /// Adds to the program's certificate the chains of waits that establish all recorded orders.
  void certify();

 private:
  struct Apart {
    size_t level;
    int iterations;
  };
  /// What a question about the order depends on: the later type, the loops of the earlier ones, and how many
  /// iterations lie between.
  struct Place {
    uint32_t position;      ///< of the later type
    task::TaskTypeId like;  ///< one in the loops of the earlier ones
    size_t level;
    int iterations;
    bool operator<(const Place& o) const {
      return std::tie(position, like, level, iterations) <
             std::tie(o.position, o.like, o.level, o.iterations);
    }
  };

  size_t shared(uint32_t a, uint32_t b) const { return shared_loops(lives_[a], lives_[b]); }
  bool is_ordered(uint32_t a, uint32_t b, const Apart&);
  bool order(uint32_t a, uint32_t b, const Apart&);
  void note_needed(uint32_t a, uint32_t b, const Apart&);
  bool is_before(task::TaskTypeId earlier, task::TaskTypeId later, const Apart&);
  const std::set<task::TaskTypeId>& before_all_of(const Place&);
  Place place(task::TaskTypeId earlier, task::TaskTypeId later, const Apart&) const;
  bool can_wait(task::TaskTypeId earlier, const Apart&) const;
  void add_wait(task::TaskTypeId earlier, task::TaskTypeId later, const Apart&, task::BufferId);
  task::EventId event_of(task::TaskTypeId producer);

  task::Program& p_;
  const std::vector<Life>& lives_;
  const std::map<task::TaskTypeId, uint32_t> order_;
  std::vector<task::TaskTypeId> types_;                         ///< by position
  std::map<std::vector<task::LoopId>, task::TaskTypeId> like_;  ///< by the loops of a type
  std::map<task::TaskTypeId, task::EventId> events_;
  task::HappensBefore happens_before_;
  std::map<Place, std::set<task::TaskTypeId>> before_;
  std::map<Place, std::set<task::TaskTypeId>> needed_;
};

}  // namespace axon::plan
