// Events and waits, one by one: what an element counts, and that a wait is for tasks that exist and are
// earlier in time.
//
// A wait's iteration has one of three forms per loop of the producer: the consumer's own index, in loops
// around both; then, in one of those, an earlier one by a constant; then the last one. It is what code is
// generated from, and what the certificate's proofs assume.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "task/facts.h"
#include "task/verify.h"
#include "task/verify_time.h"

namespace axon::task {

namespace {

constexpr int64_t farthest = 1000;  ///< iterations back that a wait may name

class Waits {
 public:
  Waits(const Program& p, Report& report) : p_(p), time_(p), report_(report) {}

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
    const bool form = wait.box.size() == event.shape.size() &&
                      wait.iteration.size() == p_.types[event.producer].loops.size();
    report_.add(what + ": the producer is earlier in time", form && is_earlier(wait), "step order");
    if (!form || !is_earlier(wait)) return;
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
    report_.add(what + ": the iteration exists", iteration_exists(wait, facts), "prover");
    report_.add(what + ": skipped only when there is no such iteration", guard_is_needed(wait), "prover");
    report_.add(what + ": two accesses of its buffer ask for it", is_asked_for(wait), "compared");
  }

  /// Its own index in loops around both, then perhaps one earlier by a constant, then the last ones. Without
  /// an earlier one the producer stands before the consumer.
  bool is_earlier(const Wait& wait) const {
    const TaskTypeId producer = p_.events[wait.event].producer;
    const auto& loops = p_.types[producer].loops;
    const size_t shared = time_.shared_loops(producer, wait.consumer);
    bool moved = false;
    for (size_t b = 0; b < loops.size(); ++b) {
      const Loop& loop = p_.loops[loops[b]];
      if (b < shared && !moved) {
        const auto back = (Dim(loop.index) - wait.iteration[b]).constant();
        if (!back || *back < 0 || *back > farthest) return false;
        moved = *back > 0;
      } else if (wait.iteration[b] != loop.extent - Dim(1)) {
        return false;
      }
    }
    return moved || time_.position(producer) < time_.position(wait.consumer);
  }

  /// The last run of a loop with a condition may be empty when that loop is run again and again: then the
  /// runs before it count, see Wait.
  bool iteration_exists(const Wait& wait, const std::vector<Fact>& facts) const {
    const auto& loops = p_.types[p_.events[wait.event].producer].loops;
    for (size_t b = 0; b < loops.size(); ++b) {
      if (b >= time_.leading(wait) && time_.is_nested_run(loops[b])) continue;
      if (!holds(p_, facts, shape::at_least(wait.iteration[b], Dim(0))) ||
          !holds(p_, facts, shape::less(wait.iteration[b], p_.loops[loops[b]].extent)))
        return false;
    }
    return true;
  }

  bool guard_is_needed(const Wait& wait) const {
    const auto& loops = p_.types[p_.events[wait.event].producer].loops;
    std::vector<Fact> exists = p_.facts;
    for (size_t b = 0; b < loops.size(); ++b) {
      exists.push_back(shape::at_least(wait.iteration[b], Dim(0)));
      exists.push_back(shape::less(wait.iteration[b], p_.loops[loops[b]].extent));
    }
    return std::all_of(wait.guard.begin(), wait.guard.end(),
                       [&](const Fact& f) { return holds(p_, exists, f); });
  }

  bool is_asked_for(const Wait& wait) const {
    const auto touches = [&](TaskTypeId type, bool write) {
      const auto& accesses = p_.types[type].accesses;
      return std::any_of(accesses.begin(), accesses.end(),
                         [&](const Access& a) { return a.buffer == wait.buffer && a.write == write; });
    };
    if (wait.why == Wait::Why::reuse)  // whoever gets the memory of a temporary
      return p_.buffers[wait.buffer].kind == Buffer::Kind::temporary &&
             (touches(p_.events[wait.event].producer, true) ||
              touches(p_.events[wait.event].producer, false));
    return touches(p_.events[wait.event].producer, wait.why != Wait::Why::write_after_read) &&
           touches(wait.consumer, wait.why != Wait::Why::read_after_write);
  }

  const Program& p_;
  const Timeline time_;
  Report& report_;
};

}  // namespace

void verify_waits(const Program& p, Report& report) { Waits(p, report).run(); }

}  // namespace axon::task
