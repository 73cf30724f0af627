// In: task types with boxes. Out: event tensors and waits such that every dependence is ordered, and the
// certificate of that.
//
// For each pair of accesses of one buffer, one of them a write, the earlier task type is the producer, and
// dependence.cpp says which of its tasks a task of the consumer needs. In a loop the producer may stand in an
// earlier iteration; the latest that is needed is waited for, and since a task's slot only grows, all before
// it have finished. Dependences that other waits already order get no wait of their own; events keep only
// the coordinates that some wait distinguishes, so each event is as coarse as its consumers allow.
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/rule.h"
#include "base/work.h"
#include "task/certificate.h"
#include "task/dependence.h"
#include "task/facts.h"
#include "task/task.h"

namespace axon::task {

namespace {

class Deriver {
 public:
  explicit Deriver(Program& p) : p_(p), order_(program_order(p)), happens_before_(p) {
    for (const auto& [type, position] : order_)
      for (const Access& access : p.types[type].accesses) {
        touching_[access.buffer].insert(type);
        if (access.write) writing_[access.buffer].insert(type);
      }
  }

  void run() {
    // Reads after writes first: they carry the program. The others are mostly implied by them.
    for (const Wait::Why why :
         {Wait::Why::read_after_write, Wait::Why::write_after_write, Wait::Why::write_after_read})
      for (const auto& [consumer, position] : order_) consider_consumer(consumer, why);
    drop_implied();
    finish();
  }

 private:
  void consider_consumer(TaskTypeId consumer, Wait::Why why) {
    for (TaskTypeId producer : producers_of(consumer))
      for (const Access& own : p_.types[consumer].accesses)
        for (const Access& theirs : p_.types[producer].accesses) {
          base::work();
          if (AXON_RULE(pair_other_buffer, own.buffer != theirs.buffer)) continue;
          if (AXON_RULE(pair_own_read, !own.write) && AXON_RULE(pair_their_read, !theirs.write)) continue;
          const Dependence dependence{producer, &theirs, consumer, &own, {}};
          if (AXON_RULE(pair_why, dependence.why() == why)) consider(dependence);
        }
  }

  /// The types that a dependence may lead to. Nearest first, so that farther ones are seen to be implied.
  std::vector<TaskTypeId> producers_of(TaskTypeId consumer) const {
    std::set<TaskTypeId> found;
    for (const Access& own : p_.types[consumer].accesses) {
      const auto& by_buffer = own.write ? touching_ : writing_;
      const auto types = by_buffer.find(own.buffer);
      if (types != by_buffer.end()) found.insert(types->second.begin(), types->second.end());
    }
    std::vector<TaskTypeId> producers(found.begin(), found.end());
    std::sort(producers.begin(), producers.end(), [&](TaskTypeId a, TaskTypeId b) {
      const auto before = [&](TaskTypeId t) { return order_.at(t) < order_.at(consumer); };
      if (before(a) != before(b)) return before(a);
      return order_.at(a) > order_.at(b);
    });
    return producers;
  }

  /// The pair at every distance: the same iteration, and earlier ones of each common loop.
  void consider(Dependence dependence) {
    never_meets_.reset();
    const size_t common = common_loops(p_, dependence.producer, dependence.consumer);
    if (AXON_RULE(consider_earlier, order_.at(dependence.producer) < order_.at(dependence.consumer))) {
      dependence.distance = {common, 0};
      consider_distance(dependence);
    }
    for (size_t level = common; level-- > 0;)
      for (const Distance distance : {Distance{level, 1}, Distance{level, 2}, Distance{level, 3, true}}) {
        dependence.distance = distance;
        consider_distance(dependence);
        if (AXON_RULE(consider_not_moved, !moves(dependence.theirs->box, dependence.consumer, level)))
          break;  // the same at every distance
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

  /// Axes that no loop moves keep the boxes apart, or not, at every distance alike: asked once per pair.
  bool never_meets(const Dependence& dependence) {
    if (AXON_RULE(meets_not_asked, !never_meets_)) never_meets_ = apart(dependence, false);
    return *never_meets_;
  }

  /// Are the boxes disjoint on an axis that loops move (or on one that they do not)?
  bool apart(const Dependence& dependence, bool moving) const {
    const auto &theirs = dependence.theirs->box, &own = dependence.own->box;
    std::vector<size_t> axes;
    for (size_t a = 0; a < own.size(); ++a)
      if ((AXON_RULE(apart_theirs_moves, moves(theirs[a], dependence.producer)) ||
           AXON_RULE(apart_own_moves, moves(own[a], dependence.consumer))) == moving)
        axes.push_back(a);
    if (AXON_RULE(apart_no_axes, axes.empty())) return false;
    const Overlap overlap = overlap_of(p_, dependence);
    std::vector<Interval> a_box, b_box;
    for (size_t a : axes) {
      a_box.push_back(overlap.theirs[a]);
      b_box.push_back(own[a]);
    }
    return cheaply_disjoint(p_, overlap.facts, a_box, b_box);
  }

  void consider_distance(const Dependence& dependence) {
    if (AXON_RULE(consider_whole, happens_before_.ordered_whole(dependence.consumer, dependence.producer,
                                                                dependence.distance)))
      return needed_.push_back({dependence, std::nullopt});
    if (AXON_RULE(consider_apart_moving, apart(dependence, true)) ||
        AXON_RULE(consider_apart_fixed, never_meets(dependence)))
      return;
    const Overlap overlap = overlap_of(p_, dependence);
    Wait wait = wait_for(dependence, overlap);
    Distance distance = dependence.distance;
    const bool at_once = AXON_RULE(consider_implied, implied(wait, distance));
    if (!at_once) distance.started = AXON_RULE(consider_late, overlaps_late(p_, dependence, overlap)) ? 1 : 0;
    needed_.push_back(
        {{dependence.producer, dependence.theirs, dependence.consumer, dependence.own, distance},
         ranges_of(p_, wait)});
    if (at_once || (AXON_RULE(consider_started, distance.started > 0) &&
                    AXON_RULE(consider_implied_late, implied(wait, distance))))
      return;
    happens_before_.add(wait);
    p_.waits.push_back(std::move(wait));
    distances_.push_back(dependence.distance);
  }

  Wait wait_for(const Dependence& dependence, const Overlap& overlap) {
    Wait wait;
    wait.event = event_of(dependence.producer);
    wait.consumer = dependence.consumer;
    wait.box = producers_needed(p_, dependence, overlap);
    set_iteration(p_, dependence, wait);
    wait.why = dependence.why();
    wait.buffer = dependence.own->buffer;
    return wait;
  }

  /// Do the waits that happens_before_ takes into account order this one's producers already?
  bool implied(const Wait& wait, const Distance& distance, bool through_empty = false) const {
    const TaskTypeId producer = p_.events[wait.event].producer;
    const Ranges needed = ranges_of(p_, wait);
    if (AXON_RULE(implied_one_type, producer == wait.consumer) &&
        AXON_RULE(implied_iterations, distance.iterations > 0) &&
        within(wait.consumer, producer, needed, own_task(producer)))
      return true;
    return happens_before_.any_chain(
        wait.consumer, producer, distance, through_empty,
        [&](const Chain& chain) { return within(wait.consumer, producer, needed, chain.ranges()); });
  }

  Ranges own_task(TaskTypeId type) const {
    Ranges ranges;
    for (const auto& c : p_.types[type].coordinates) ranges.push_back(Wait::Range{c.var, c.var});
    return ranges;
  }

  /// Are the producers that a consumer needs among those known?
  bool within(TaskTypeId consumer, TaskTypeId producer, const Ranges& needed, const Ranges& known) const {
    const auto facts = both(p_.facts, ranges(p_, consumer));
    for (size_t c = 0; c < needed.size(); ++c)
      if (AXON_RULE(within_unknown, !known[c]) ||
          AXON_RULE(within_not,
                    !within(facts, *needed[c], *known[c], p_.types[producer].coordinates[c].extent)))
        return false;
    return true;
  }

  bool within(const std::vector<Fact>& facts, const Wait::Range& inner, const Wait::Range& outer,
              const Dim& extent) const {
    if (AXON_RULE(within_not_from_start, !outer.first.is(0)) &&
        AXON_RULE(within_other_first, inner.first != outer.first) &&
        AXON_RULE(within_before_first, !cheaply(p_, facts, shape::at_most(outer.first, inner.first))))
      return false;
    return AXON_RULE(within_to_end, outer.last == extent - Dim(1)) ||
           AXON_RULE(within_same_last, inner.last == outer.last) ||
           AXON_RULE(within_last, cheaply(p_, facts, shape::at_most(inner.last, outer.last)));
  }

  EventId event_of(TaskTypeId producer) {
    const auto [known, added] = event_of_.try_emplace(producer);
    if (!added) return known->second;
    Event event;
    event.name = "e" + std::to_string(p_.events.size());
    event.producer = producer;
    const auto& coordinates = p_.types[producer].coordinates;
    for (uint32_t c = 0; c < coordinates.size(); ++c) {
      event.kept.push_back(c);
      event.shape.push_back(coordinates[c].extent);
    }
    event.count = Dim(1);
    return known->second = p_.events.add(std::move(event));
  }

  /// A wait is dropped when the others imply it; the farthest producers are tried first.
  void drop_implied() {
    std::vector<Wait> kept;
    for (size_t w = p_.waits.size(); w-- > 0;) {
      happens_before_.set_active(w, false);
      const Distance& distance = distances_[w];
      if (AXON_RULE(drop_implied, implied(p_.waits[w], distance))) continue;
      // Needed only because loops on the way may run zero times: no reason for a fine event.
      const bool for_empty_loops = AXON_RULE(drop_same_iteration, distance.iterations == 0) &&
                                   AXON_RULE(drop_for_empty, implied(p_.waits[w], distance, true));
      if (!for_empty_loops) distinguishing_.push_back(kept.size());
      kept.push_back(p_.waits[w]);
      happens_before_.set_active(w, true);
    }
    for (size_t& at : distinguishing_) at = kept.size() - 1 - at;
    p_.waits.assign(kept.rbegin(), kept.rend());
  }

  /// Projects away the coordinates that every wait takes whole; events that nobody waits for go.
  void coarsen_events() {
    base::Store<EventTag, Event> events;
    std::vector<std::vector<size_t>> waits(p_.events.size()), distinguishing(p_.events.size());
    for (size_t w = 0; w < p_.waits.size(); ++w) waits[p_.waits[w].event.index].push_back(w);
    for (size_t w : distinguishing_) distinguishing[p_.waits[w].event.index].push_back(w);
    for (uint32_t e = 0; e < waits.size(); ++e) {
      if (waits[e].empty()) continue;
      Event event = p_.events[EventId{e}];
      event.name = "e" + std::to_string(events.size());
      project(event, waits[e], distinguishing[e]);
      const EventId renumbered = events.add(std::move(event));
      for (size_t w : waits[e]) p_.waits[w].event = renumbered;
    }
    p_.events = std::move(events);
  }

  void project(Event& event, const std::vector<size_t>& waits, const std::vector<size_t>& distinguishing) {
    std::vector<bool> keep(event.kept.size(), false);
    for (size_t w : distinguishing) {
      const Wait& wait = p_.waits[w];
      for (size_t a = 0; a < keep.size(); ++a)
        keep[a] = AXON_RULE(coarsen_kept, keep[a]) || AXON_RULE(coarsen_first, !wait.box[a].first.is(0)) ||
                  AXON_RULE(coarsen_last, wait.box[a].last != event.shape[a] - Dim(1));
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
    for (size_t w : waits) only_kept(p_.waits[w].box);
  }

  /// Each wait that is dropped is implied by those left, but what it implied itself may then be too many
  /// waits away for a chain to be found, or its ranges too involved for the union along one: such a
  /// dependence gets a wait of its own, whether it had one before or was seen to be ordered without.
  void finish() {
    auto events = p_.events;
    for (auto waits = p_.waits;;) {
      coarsen_events();
      const std::vector<Needed*> lost = certify();
      if (lost.empty()) return;
      p_.events = std::move(events);
      for (Needed* n : lost)
        if (auto wait = own_wait(*n)) {
          distinguishing_.push_back(waits.size());
          waits.push_back(std::move(*wait));
        }
      events = p_.events;
      p_.waits = waits;
      p_.certificate.clear();
    }
  }

  // ---- certificate ----

  /// What has to be ordered: tasks of the dependence's producer in these ranges, or all.
  struct Needed {
    Dependence dependence;
    std::optional<Ranges> ranges;
    bool is_settled = false;  ///< has a wait of its own, or is no dependence
  };

  /// The wait that orders just this dependence; none where its boxes never meet, which was not asked while
  /// it seemed to be ordered anyway.
  std::optional<Wait> own_wait(Needed& n) {
    n.is_settled = true;
    never_meets_.reset();
    if (!n.ranges && (apart(n.dependence, true) || never_meets(n.dependence))) return std::nullopt;
    Wait wait = wait_for(n.dependence, overlap_of(p_, n.dependence));
    n.ranges = ranges_of(p_, wait);
    return wait;
  }

  /// For each the first chain that orders it. Returns those that have none and shall get a wait of their own,
  /// one per pair of types.
  std::vector<Needed*> certify() {
    std::vector<Needed*> lost;
    std::set<std::pair<TaskTypeId, TaskTypeId>> own_waits;  ///< of those that are lost
    const HappensBefore happens_before(p_);
    CertificateWriter certificate(p_);
    std::map<std::tuple<TaskTypeId, TaskTypeId, size_t, int, bool, int>, std::vector<Chain>> chains;
    for (Needed& n : needed_) {
      const auto& [producer, theirs, consumer, own, d] = n.dependence;
      const auto [it, added] =
          chains.try_emplace({consumer, producer, d.level, d.iterations, d.or_more, d.started});
      if (added) it->second = happens_before.chains(consumer, producer, d);
      const auto chain = std::find_if(it->second.begin(), it->second.end(), [&](const Chain& c) {
        return happens_before.is_whole(c.ranges(), producer) ||
               (n.ranges && within(consumer, producer, *n.ranges, c.ranges()));
      });
      if (chain != it->second.end())
        certificate.add(consumer, *chain);
      else if (!n.is_settled && !is_own_iteration(n) && !own_waits.contains({consumer, producer})) {
        own_waits.insert({consumer, producer});
        lost.push_back(&n);
      }
    }
    return lost;
  }

  /// Earlier iterations of the task itself have finished without a wait.
  bool is_own_iteration(const Needed& n) const {
    const Dependence& d = n.dependence;
    return d.producer == d.consumer && d.distance.iterations > 0 && n.ranges &&
           within(d.consumer, d.producer, *n.ranges, own_task(d.producer));
  }

  Program& p_;
  std::map<TaskTypeId, uint32_t> order_;
  std::map<BufferId, std::set<TaskTypeId>> touching_, writing_;
  HappensBefore happens_before_;
  std::map<TaskTypeId, EventId> event_of_;  ///< while events are not coarsened
  std::optional<bool> never_meets_;         ///< of the pair under consideration
  std::vector<Distance> distances_;         ///< of every wait, until some are dropped
  std::vector<size_t> distinguishing_;      ///< waits whose boxes decide how fine their events are
  std::vector<Needed> needed_;  ///< by the dependences, in the order in which they were considered
};

}  // namespace

void derive_events(Program& program) { Deriver(program).run(); }

}  // namespace axon::task
