// In: task types with boxes. Out: event tensors and waits such that every conflict is ordered.
//
// For each pair of accesses of one buffer, one of them a write, the earlier task type is the producer, and
// conflict.cpp says which of its tasks a task of the consumer meets. In a loop the producer may stand in an
// earlier iteration; the latest conflicting one is waited for, and since a task's slot only grows, all
// before it are covered. Conflicts that other waits already order get no wait of their own; events keep only
// the coordinates that some wait distinguishes, so each event is as coarse as its consumers allow.
#include <algorithm>
#include <functional>
#include <map>

#include "task/conflict.h"
#include "task/facts.h"
#include "task/task.h"

namespace axon::task {

namespace {

class Deriver {
 public:
  explicit Deriver(Program& p) : p_(p), order_(program_order(p)), ordering_(p) {}

  void run() {
    // Reads after writes first: they carry the program. The others are mostly implied by them.
    for (const Wait::Why why :
         {Wait::Why::read_after_write, Wait::Why::write_after_write, Wait::Why::write_after_read})
      for (const auto& [consumer, position] : order_) consider_consumer(consumer, why);
    drop_implied();
    coarsen_events();
  }

 private:
  void consider_consumer(TaskTypeId consumer, Wait::Why why) {
    // Nearest producers first, so that farther ones are seen to be implied.
    std::vector<TaskTypeId> producers;
    for (const auto& [type, position] : order_) producers.push_back(type);
    std::sort(producers.begin(), producers.end(), [&](TaskTypeId a, TaskTypeId b) {
      const auto before = [&](TaskTypeId t) { return order_.at(t) < order_.at(consumer); };
      if (before(a) != before(b)) return before(a);
      return order_.at(a) > order_.at(b);
    });
    for (TaskTypeId producer : producers)
      for (const Access& own : p_.types[consumer].accesses)
        for (const Access& theirs : p_.types[producer].accesses) {
          if (own.buffer != theirs.buffer || (!own.write && !theirs.write)) continue;
          const Conflict conflict{producer, &theirs, consumer, &own, {}};
          if (conflict.why() == why) consider(conflict);
        }
  }

  /// The pair at every lag: the same iteration, and earlier ones of each common loop.
  void consider(Conflict conflict) {
    never_meets_.reset();
    const size_t common = common_loops(p_, conflict.producer, conflict.consumer);
    if (order_.at(conflict.producer) < order_.at(conflict.consumer)) {
      conflict.lag = {common, 0};
      consider_lag(conflict);
    }
    for (size_t level = common; level-- > 0;)
      for (const Lag lag : {Lag{level, 1}, Lag{level, 2}, Lag{level, 3, true}}) {
        conflict.lag = lag;
        consider_lag(conflict);
        if (!moves(conflict.theirs->box, conflict.consumer, level)) break;  // the same at every distance
      }
  }

  bool moves(const std::vector<Interval>& box, TaskTypeId type, size_t level) const {
    const Var index = p_.loops[p_.types[type].loops[level]].index;
    return std::any_of(box.begin(), box.end(),
                       [&](const Interval& i) { return i.low.contains(index) || i.high.contains(index); });
  }

  bool moves(const Interval& i, TaskTypeId type) const {
    const auto& loops = p_.types[type].loops;
    return std::any_of(loops.begin(), loops.end(), [&](LoopId l) {
      return i.low.contains(p_.loops[l].index) || i.high.contains(p_.loops[l].index);
    });
  }

  /// Axes that no loop moves keep the boxes apart, or not, at every lag alike: asked once per pair.
  bool never_meets(const Conflict& conflict) {
    if (!never_meets_) never_meets_ = apart(conflict, false);
    return *never_meets_;
  }

  /// Are the boxes disjoint on an axis that loops move (or on one that they do not)?
  bool apart(const Conflict& conflict, bool moving) const {
    const auto &theirs = conflict.theirs->box, &own = conflict.own->box;
    std::vector<size_t> axes;
    for (size_t a = 0; a < own.size(); ++a)
      if ((moves(theirs[a], conflict.producer) || moves(own[a], conflict.consumer)) == moving)
        axes.push_back(a);
    if (axes.empty()) return false;
    const Meeting meeting = meeting_of(p_, conflict);
    std::vector<Interval> a_box, b_box;
    for (size_t a : axes) {
      a_box.push_back(meeting.theirs[a]);
      b_box.push_back(own[a]);
    }
    return cheaply_disjoint(p_, meeting.facts, a_box, b_box);
  }

  void consider_lag(const Conflict& conflict) {
    if (ordering_.ordered_whole(conflict.consumer, conflict.producer, conflict.lag)) return;
    if (apart(conflict, true) || never_meets(conflict)) return;
    Wait wait;
    wait.event = event_of(conflict.producer);
    wait.consumer = conflict.consumer;
    const Meeting meeting = meeting_of(p_, conflict);
    wait.box = producers_met(p_, conflict, meeting);
    set_iteration(p_, conflict, wait);
    wait.why = conflict.why();
    wait.buffer = conflict.own->buffer;
    Lag lag = conflict.lag;
    if (implied(wait, lag)) return;
    lag.started = meets_late(p_, conflict, meeting) ? 1 : 0;
    if (lag.started > 0 && implied(wait, lag)) return;
    ordering_.add(wait);
    p_.waits.push_back(std::move(wait));
    lags_.push_back(conflict.lag);
  }

  /// Do the waits that ordering_ takes into account order this one's producers already?
  bool implied(const Wait& wait, const Lag& lag, bool through_empty = false) const {
    const TaskTypeId producer = p_.events[wait.event].producer;
    const Covered needed = covered_by(p_, wait);
    std::vector<Covered> known = ordering_.covered(wait.consumer, producer, lag, through_empty);
    if (producer == wait.consumer && lag.distance > 0) {
      Covered self;
      for (const auto& c : p_.types[producer].coordinates) self.push_back(Wait::Range{c.var, c.var});
      known.push_back(std::move(self));
    }
    const auto facts = both(p_.facts, ranges(p_, wait.consumer));
    return std::any_of(known.begin(), known.end(), [&](const Covered& covered) {
      for (size_t c = 0; c < needed.size(); ++c)
        if (!covered[c] || !within(facts, *needed[c], *covered[c], p_.types[producer].coordinates[c].extent))
          return false;
      return true;
    });
  }

  bool within(const std::vector<Fact>& facts, const Wait::Range& inner, const Wait::Range& outer,
              const Dim& extent) const {
    if (!outer.first.is(0) && inner.first != outer.first &&
        !cheaply(p_, facts, shape::at_most(outer.first, inner.first)))
      return false;
    return outer.last == extent - Dim(1) || inner.last == outer.last ||
           cheaply(p_, facts, shape::at_most(inner.last, outer.last));
  }

  EventId event_of(TaskTypeId producer) {
    for (uint32_t e = 0; e < p_.events.size(); ++e)
      if (p_.events[EventId{e}].producer == producer) return {e};
    Event event;
    event.name = "e" + std::to_string(p_.events.size());
    event.producer = producer;
    const auto& coordinates = p_.types[producer].coordinates;
    for (uint32_t c = 0; c < coordinates.size(); ++c) {
      event.kept.push_back(c);
      event.shape.push_back(coordinates[c].extent);
    }
    event.count = Dim(1);
    return p_.events.add(std::move(event));
  }

  /// A wait is dropped when the others imply it; the farthest producers are tried first.
  void drop_implied() {
    std::vector<Wait> kept;
    for (size_t w = p_.waits.size(); w-- > 0;) {
      ordering_.set_active(w, false);
      const Lag& lag = lags_[w];
      if (implied(p_.waits[w], lag)) continue;
      // Needed only because loops on the way may run zero times: no reason for a fine event.
      const bool for_empty_loops = lag.distance == 0 && implied(p_.waits[w], lag, true);
      if (!for_empty_loops) distinguishing_.push_back(kept.size());
      kept.push_back(p_.waits[w]);
      ordering_.set_active(w, true);
    }
    for (size_t& at : distinguishing_) at = kept.size() - 1 - at;
    p_.waits.assign(kept.rbegin(), kept.rend());
  }

  /// Projects away the coordinates that every wait takes whole; events that nobody waits for go.
  void coarsen_events() {
    base::Store<EventTag, Event> events;
    std::vector<EventId> renumbered(p_.events.size());
    for (uint32_t e = 0; e < p_.events.size(); ++e) {
      const EventId old{e};
      if (std::none_of(p_.waits.begin(), p_.waits.end(), [&](const Wait& w) { return w.event == old; }))
        continue;
      Event event = p_.events[old];
      event.name = "e" + std::to_string(events.size());
      project(event, old);
      renumbered[e] = events.add(std::move(event));
    }
    for (Wait& wait : p_.waits) wait.event = renumbered[wait.event.index];
    p_.events = std::move(events);
  }

  void project(Event& event, EventId id) {
    std::vector<bool> keep(event.kept.size(), false);
    for (size_t w : distinguishing_) {
      const Wait& wait = p_.waits[w];
      if (wait.event != id) continue;
      for (size_t a = 0; a < keep.size(); ++a)
        keep[a] = keep[a] || !wait.box[a].first.is(0) || wait.box[a].last != event.shape[a] - Dim(1);
    }
    const auto only_kept = [&](auto& list) {
      size_t n = 0;
      for (size_t a = 0; a < keep.size(); ++a)
        if (keep[a]) list[n++] = list[a];
      list.resize(n);
    };
    for (size_t a = 0; a < keep.size(); ++a)
      if (!keep[a]) event.count = event.count * event.shape[a];
    only_kept(event.kept);
    only_kept(event.shape);
    for (Wait& wait : p_.waits)
      if (wait.event == id) only_kept(wait.box);
  }

  Program& p_;
  std::map<TaskTypeId, uint32_t> order_;
  Ordering ordering_;
  std::optional<bool> never_meets_;     ///< of the pair under consideration
  std::vector<Lag> lags_;               ///< of every wait, until some are dropped
  std::vector<size_t> distinguishing_;  ///< waits whose boxes decide how fine their events are
};

}  // namespace

void derive_events(Program& program) { Deriver(program).run(); }

}  // namespace axon::task
