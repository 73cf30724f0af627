// Events and waits one by one, and then the order of every two accesses that conflict.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "task/conflict.h"
#include "task/facts.h"
#include "task/verify.h"

namespace axon::task {

namespace {

bool same(const Wait::Range& a, const Wait::Range& b) { return a.first == b.first && a.last == b.last; }

class Waits {
 public:
  Waits(const Program& p, Report& report) : p_(p), order_(program_order(p)), report_(report) {}

  void run() {
    for (const Event& event : p_.events) check(event);
    if (!report_.all_proved()) return;
    for (const Wait& wait : p_.waits) check(wait);
  }

 private:
  void check(const Event& event) {
    const auto& grid = p_.types[event.producer].coordinates;
    const bool form = std::is_sorted(event.kept.begin(), event.kept.end(), std::less_equal<>()) &&
                      (event.kept.empty() || event.kept.back() < grid.size()) &&
                      event.kept.size() == event.shape.size();
    report_.add(fmt::format("{}: keeps coordinates of its producer", event.name), form, "form");
    if (!form) return;
    Dim count(1);
    bool is_grid = true;
    for (uint32_t c = 0; c < grid.size(); ++c) {
      const auto kept = std::find(event.kept.begin(), event.kept.end(), c);
      if (kept == event.kept.end())
        count = count * grid[c].extent;
      else
        is_grid = is_grid && event.shape[static_cast<size_t>(kept - event.kept.begin())] == grid[c].extent;
    }
    report_.add(fmt::format("{}: each element counts its producers", event.name), count == event.count,
                "normal form");
    report_.add(fmt::format("{}: its shape is the producer's grid", event.name), is_grid, "normal form");
  }

  void check(const Wait& wait) {
    const Event& event = p_.events[wait.event];
    const std::string what = fmt::format("{} waits on {}", p_.types[wait.consumer].name, event.name);
    const auto lag = lag_of(p_, wait);
    const bool earlier = lag && (lag->distance > 0 || order_.at(event.producer) < order_.at(wait.consumer));
    report_.add(what + ": the producer is earlier in time", earlier, "step order");
    if (!earlier || wait.box.size() != event.shape.size()) return report_.add(what + ": form", false, "form");
    const auto facts = both(both(p_.facts, ranges(p_, wait.consumer)), wait.guard);
    for (size_t a = 0; a < wait.box.size(); ++a) {
      const auto& [first, last] = wait.box[a];
      report_.add(fmt::format("{}: axis {} lies inside the event", what, a),
                  holds(p_, facts, shape::at_least(first, Dim(0))) &&
                      holds(p_, facts, shape::less(last, event.shape[a])),
                  "prover");
      report_.add(fmt::format("{}: axis {} names some producer", what, a),
                  holds(p_, facts, shape::at_most(first, last)), "prover");
    }
    report_.add(what + ": the iteration exists", iteration_exists(wait, *lag, facts), "prover");
    report_.add(what + ": skipped only when there is no such iteration", guard_is_needed(wait), "prover");
    report_.add(what + ": names exactly the producers it can meet", exact(wait, *lag), "recomputed");
  }

  /// Runs of a loop with a condition may be empty: then there is nothing to wait for, see Wait.
  bool iteration_exists(const Wait& wait, const Lag& lag, const std::vector<Fact>& facts) const {
    const TaskTypeId producer = p_.events[wait.event].producer;
    const auto& loops = p_.types[producer].loops;
    const Conflict conflict{producer, nullptr, wait.consumer, nullptr, lag};
    for (size_t i = 0; i < loops.size(); ++i)
      if (wait.iteration[i] == p_.loops[loops[i]].extent - Dim(1) && !has_one_extent(p_, conflict, i))
        continue;
      else if (!holds(p_, facts, shape::at_least(wait.iteration[i], Dim(0))) ||
               !holds(p_, facts, shape::less(wait.iteration[i], p_.loops[loops[i]].extent)))
        return false;
    return true;
  }

  bool guard_is_needed(const Wait& wait) const {
    const auto& loops = p_.types[p_.events[wait.event].producer].loops;
    std::vector<Fact> exists = p_.facts;
    for (size_t i = 0; i < loops.size(); ++i) {
      exists.push_back(shape::at_least(wait.iteration[i], Dim(0)));
      exists.push_back(shape::less(wait.iteration[i], p_.loops[loops[i]].extent));
    }
    return std::all_of(wait.guard.begin(), wait.guard.end(),
                       [&](const Fact& f) { return holds(p_, exists, f); });
  }

  /// Some conflict that the wait may be about meets exactly these producers.
  bool exact(const Wait& wait, Lag lag) const {
    const Event& event = p_.events[wait.event];
    for (const Access& theirs : p_.types[event.producer].accesses)
      for (const Access& own : p_.types[wait.consumer].accesses)
        for (const bool or_more : {false, true}) {
          lag.or_more = or_more;
          const Conflict conflict{event.producer, &theirs, wait.consumer, &own, lag};
          if (theirs.buffer != wait.buffer || own.buffer != wait.buffer || conflict.why() != wait.why)
            continue;
          if ((!theirs.write && !own.write) || (or_more && lag.distance == 0)) continue;
          const auto met = producers_met(p_, conflict, meeting_of(p_, conflict));
          bool equal = true;
          for (size_t a = 0; a < wait.box.size(); ++a) equal = equal && same(wait.box[a], met[event.kept[a]]);
          if (equal) return true;
        }
    return false;
  }

  const Program& p_;
  const std::map<TaskTypeId, uint32_t> order_;
  Report& report_;
};

class Order {
 public:
  Order(const Program& p, Report& report) : p_(p), ordering_(p), order_(program_order(p)), report_(report) {}

  void run() {
    for (uint32_t a = 0; a < p_.types.size(); ++a)
      for (uint32_t b = 0; b < p_.types.size(); ++b)
        for (const Access& theirs : p_.types[TaskTypeId{a}].accesses)
          for (const Access& own : p_.types[TaskTypeId{b}].accesses)
            if (theirs.buffer == own.buffer && (theirs.write || own.write))
              check({{a}, &theirs, {b}, &own, {}});
  }

 private:
  void check(Conflict conflict) {
    const size_t common = common_loops(p_, conflict.producer, conflict.consumer);
    conflict.lag = {common, 0};
    if (conflict.producer == conflict.consumer)
      check_siblings(conflict);
    else if (order_.at(conflict.producer) < order_.at(conflict.consumer))
      check_lag(conflict);
    for (size_t level = common; level-- > 0;)
      for (const Lag lag : {Lag{level, 1}, Lag{level, 2}, Lag{level, 3, true}}) {
        conflict.lag = lag;
        check_lag(conflict);
      }
  }

  std::string words(const Conflict& c) const {
    const char* when = c.lag.distance == 0 ? ""
                       : c.lag.or_more     ? " in iterations before"
                                           : " in the iteration";
    return fmt::format("{} {} {} {} of {}{}{}", p_.types[c.consumer].name, c.own->write ? "writes" : "reads",
                       p_.buffers[c.own->buffer].name, c.theirs->write ? "after the write" : "after the read",
                       p_.types[c.producer].name, when,
                       c.lag.distance == 0 ? std::string() : fmt::format(" {} back", c.lag.distance));
  }

  /// Two tasks of one type in one iteration.
  void check_siblings(const Conflict& conflict) {
    if (conflict.theirs->write && conflict.own->write)
      return;  // stores are injective: different points never meet
    const TaskType& type = p_.types[conflict.consumer];
    const std::string what = fmt::format("{}: tasks of one iteration do not touch each other's {}", type.name,
                                         p_.buffers[conflict.own->buffer].name);
    const Meeting meeting = meeting_of(p_, conflict);
    for (const auto& c : type.coordinates) {
      const Dim other = meeting.rename.at(c.var);
      for (const Fact& differ : {shape::less(Dim(c.var), other), shape::less(other, Dim(c.var))})
        if (!disjoint(p_, both(meeting.facts, {differ}), meeting.theirs, conflict.own->box))
          return report_.add(what, false, "overlap not excluded");
    }
    report_.add(what, true, "disjoint");
  }

  void check_lag(const Conflict& conflict) {
    const std::string what = words(conflict);
    if (ordering_.ordered_whole(conflict.consumer, conflict.producer, conflict.lag))
      return report_.add(what, true, "waits, whole grid");
    const Meeting meeting = meeting_of(p_, conflict);
    if (cheaply_disjoint(p_, meeting.facts, meeting.theirs, conflict.own->box))
      return report_.add(what, true, "disjoint");
    Lag lag = conflict.lag;
    lag.started = meets_late(p_, conflict, meeting) ? 1 : 0;
    auto known = ordering_.covered(conflict.consumer, conflict.producer, lag);
    if (conflict.producer == conflict.consumer) known.push_back(own_task(conflict.consumer));
    for (const bool thoroughly : {false, true})
      for (const Covered& covered : known)
        if (covers(covered, conflict, meeting, thoroughly)) return report_.add(what, true, "waits");
    const bool apart = disjoint(p_, meeting.facts, meeting.theirs, conflict.own->box);
    report_.add(what, apart, apart ? "disjoint" : "not ordered");
  }

  /// A task follows its own earlier iterations.
  Covered own_task(TaskTypeId id) const {
    Covered covered;
    for (const auto& c : p_.types[id].coordinates) covered.push_back(Wait::Range{c.var, c.var});
    return covered;
  }

  /// Where the boxes overlap, is the producer's task among those covered?
  bool covers(const Covered& covered, const Conflict& conflict, const Meeting& meeting,
              bool thoroughly) const {
    const auto& grid = p_.types[conflict.producer].coordinates;
    for (size_t c = 0; c < covered.size(); ++c) {
      if (!covered[c]) return false;
      const Dim theirs = meeting.coordinates[c];
      if (!covered[c]->first.is(0) &&
          !follows(conflict, meeting, shape::at_least(theirs, covered[c]->first), theirs, thoroughly))
        return false;
      if (covered[c]->last != grid[c].extent - Dim(1) &&
          !follows(conflict, meeting, shape::at_most(theirs, covered[c]->last), theirs, thoroughly))
        return false;
    }
    return true;
  }

  /// Does the goal about one coordinate of the producer follow from the overlap of the boxes? Asked of one
  /// axis at a time first: small questions are quick, and mostly one axis decides.
  bool follows(const Conflict& conflict, const Meeting& meeting, const Fact& goal, const Dim& about,
               bool thoroughly) const {
    std::vector<Fact> all = meeting.facts;
    for (size_t a = 0; a < meeting.theirs.size(); ++a) {
      const Interval &theirs = meeting.theirs[a], &own = conflict.own->box[a];
      const std::vector<Fact> meet = {shape::less(theirs.low, own.high), shape::less(own.low, theirs.high)};
      all = both(std::move(all), meet);
      const bool mentioned = theirs.low.contains(*about.as_var()) || theirs.high.contains(*about.as_var());
      if (mentioned && cheaply(p_, both(meeting.facts, meet), goal)) return true;
    }
    return thoroughly && holds(p_, all, goal);
  }

  const Program& p_;
  const Ordering ordering_;
  const std::map<TaskTypeId, uint32_t> order_;
  Report& report_;
};

}  // namespace

void verify_waits(const Program& p, Report& report) { Waits(p, report).run(); }
void verify_order(const Program& p, Report& report) { Order(p, report).run(); }

}  // namespace axon::task
