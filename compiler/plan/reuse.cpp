// See reuse.h.
#include "plan/reuse.h"

#include <algorithm>

#include "base/rule.h"
#include "base/work.h"
#include "task/trip_counts.h"

namespace axon::plan {

using task::Distance;
using task::EventId;
using task::LoopId;
using task::Program;
using task::TaskTypeId;
using task::Wait;

/// The longest chain of waits that is looked for. A longer one costs more to prove than a wait of its own,
/// and lives that are far apart are mostly ordered through those between them (memory.cpp).
constexpr size_t most_waits = 3;

Reuse::Reuse(Program& p, const std::vector<Life>& lives)
    : p_(p), lives_(lives), order_(task::program_order(p)), types_(order_.size()), happens_before_(p) {
  for (const auto& [type, position] : order_) types_[position] = type;
  for (const TaskTypeId type : types_) like_.emplace(p.types[type].loops, type);
  for (uint32_t e = 0; e < p.events.size(); ++e) events_.emplace(p.events[EventId{e}].producer, EventId{e});
}

bool Reuse::is_ordered(uint32_t a, uint32_t b, const Apart& apart) {
  for (const TaskTypeId x : lives_[a].tasks)
    for (const TaskTypeId y : lives_[b].writers) {
      base::work();
      if (AXON_RULE(reuse_not_before, !is_before(x, y, apart))) return false;
    }
  return true;
}

/// Begins with a wait of the first writer of b for the last task type of a: it mostly orders the others, too.
bool Reuse::order(uint32_t a, uint32_t b, const Apart& apart) {
  const auto& earlier = lives_[a].tasks;
  for (const TaskTypeId y : lives_[b].writers)
    for (auto x = earlier.rbegin(); x != earlier.rend(); ++x) {
      if (is_before(*x, y, apart)) continue;
      if (!can_wait(*x, apart)) return false;
      add_wait(*x, y, apart, lives_[a].buffer);
    }
  return is_ordered(a, b, apart);
}

bool Reuse::is_before(TaskTypeId earlier, TaskTypeId later, const Apart& apart) {
  return before_all_of(place(earlier, later, apart)).contains(earlier);
}

Reuse::Place Reuse::place(TaskTypeId earlier, TaskTypeId later, const Apart& apart) const {
  return {order_.at(later), like_.at(p_.types[earlier].loops), apart.level, apart.iterations};
}

/// Returns the task types in those loops of which all tasks have run before any task of the later type.
const std::set<TaskTypeId>& Reuse::before_all_of(const Place& place) {
  const auto [known, is_new] = before_.try_emplace(place);
  if (is_new)
    happens_before_.each_whole(types_[place.position], place.like, Distance{place.level, place.iterations},
                               most_waits, [&](TaskTypeId type, const auto&) { known->second.insert(type); });
  return known->second;
}

// ---- waits ----

/// Can a wait name the iteration of the earlier tasks? It is written with sizes and loop indices alone, and
/// is the last iteration of each loop that the later tasks are not in, or of which they are in another
/// iteration. Of a nested loop with a condition nobody remembers which iteration was the last.
bool Reuse::can_wait(TaskTypeId earlier, const Apart& apart) const {
  const auto& loops = p_.types[earlier].loops;
  for (size_t l = apart.level + static_cast<size_t>(apart.iterations); l < loops.size(); ++l)
    if (AXON_RULE(wait_trip_count_again,
                  task::data_trip_count(p_, loops[l]) && task::is_nested(p_, loops[l])))
      return false;
  return true;
}

void Reuse::add_wait(TaskTypeId earlier, TaskTypeId later, const Apart& apart, task::BufferId buffer) {
  Wait wait;
  wait.event = event_of(earlier);
  wait.consumer = later;
  wait.why = Wait::Why::reuse;
  wait.buffer = buffer;
  for (const shape::Dim& extent : p_.events[wait.event].shape)
    wait.box.push_back({shape::Dim(0), extent - shape::Dim(1)});
  const auto& loops = p_.types[earlier].loops;
  const size_t common = task::common_loops(p_, earlier, later);
  for (size_t l = 0; l < loops.size(); ++l) {
    const task::Loop& loop = p_.loops[loops[l]];
    if (AXON_RULE(wait_outside, l < apart.level)) {
      wait.iteration.push_back(loop.index);
    } else if (AXON_RULE(wait_at_level, l == apart.level) && AXON_RULE(wait_moves, apart.iterations > 0)) {
      wait.iteration.push_back(shape::Dim(loop.index) - shape::Dim(apart.iterations));
      wait.guard.push_back(shape::at_least(loop.index, shape::Dim(apart.iterations)));
    } else {
      wait.iteration.push_back(loop.extent - shape::Dim(1));
      if (AXON_RULE(wait_not_common, l >= common) &&
          AXON_RULE(wait_perhaps_none, loop.extent.constant().value_or(0) < 1))
        wait.guard.push_back(shape::at_least(loop.extent, shape::Dim(1)));
    }
  }
  happens_before_.add(wait);
  p_.waits.push_back(std::move(wait));
  // More is ordered now: forget what was found for these tasks and for those behind them.
  before_.erase(before_.lower_bound(Place{order_.at(later), TaskTypeId{0}, 0, 0}), before_.end());
}

EventId Reuse::event_of(TaskTypeId producer) {
  const auto [known, added] = events_.try_emplace(producer);
  if (!added) return known->second;
  task::Event event;
  event.name = "e" + std::to_string(p_.events.size());
  event.producer = producer;
  event.count = shape::Dim(1);
  for (const task::Coordinate& c : p_.types[producer].coordinates) event.count = event.count * c.extent;
  return known->second = p_.events.add(std::move(event));
}

// ---- certificate ----

void Reuse::note_needed(uint32_t a, uint32_t b, const Apart& apart) {
  for (const TaskTypeId x : lives_[a].tasks)
    for (const TaskTypeId y : lives_[b].writers) needed_[place(x, y, apart)].insert(x);
}

void Reuse::certify() {
  task::CertificateWriter certificate(p_);
  for (const auto& [place, wanted] : needed_)
    happens_before_.each_whole(types_[place.position], place.like, Distance{place.level, place.iterations},
                               most_waits, [&](TaskTypeId earlier, const auto& chain) {
                                 if (wanted.contains(earlier))
                                   certificate.add(types_[place.position], chain());
                               });
}

}  // namespace axon::plan
