// Every dependence, that is, every two accesses of one buffer by tasks of which one is later, one of them a
// write, is ordered: by the certificate, or because the two never touch the same element.
//
// The dependences are enumerated here: of every two types the earlier one in the same iteration of the loops
// around both; and either one in an iteration of such a loop 1, 2, or at least 3 before. Which of them the
// deriver found, and by what rule, plays no part.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "task/facts.h"
#include "task/verify.h"
#include "task/verify_certificate.h"
#include "task/verify_time.h"

namespace axon::task {

namespace {

/// How many iterations of the loop number `level` lie between two tasks; they stand in the same iteration of
/// the loops around it. 0: of all loops around both.
struct Apart {
  size_t level;
  int iterations;
  bool or_more;
  friend auto operator<=>(const Apart&, const Apart&) = default;
};

/// A task of each of two types, `earlier` under names of its own.
struct Two {
  TaskTypeId earlier, later;
  Apart apart;
  shape::Substitution names;     ///< of what the earlier one has names of its own for
  std::vector<Dim> coordinates;  ///< of the earlier one
  std::vector<Dim> iteration;
  std::vector<Fact> facts;
  bool ordered = false;  ///< whatever they touch
};

class Order {
 public:
  Order(const Program& p, Report& report) : p_(p), time_(p), certificate_(p, time_), report_(report) {}

  void run() {
    prove_certificate();
    if (!report_.all_proved()) return;
    for (uint32_t a = 0; a < p_.types.size(); ++a)
      for (uint32_t b = 0; b < p_.types.size(); ++b)
        for (const Access& theirs : p_.types[TaskTypeId{a}].accesses)
          for (const Access& own : p_.types[TaskTypeId{b}].accesses)
            if (theirs.buffer == own.buffer && (theirs.write || own.write)) check({a}, theirs, {b}, own);
  }

 private:
  void prove_certificate() {
    for (uint32_t n = 0; n < p_.certificate.size(); ++n) {
      const Finished& f = p_.certificate[n];
      report_.add(fmt::format("{} has tasks of {} behind it (known {})", p_.types[f.consumer].name,
                              p_.types[f.producer].name, n),
                  certificate_.follows(n), "link");
      known_[{f.producer, f.consumer}].push_back(&f);
    }
  }

  void check(TaskTypeId earlier, const Access& theirs, TaskTypeId later, const Access& own) {
    const size_t shared = time_.shared_loops(earlier, later);
    if (earlier == later)
      check_siblings(two(earlier, later, {shared, 0, false}), theirs, own);
    else if (time_.position(earlier) < time_.position(later))
      check(two(earlier, later, {shared, 0, false}), theirs, own);
    for (size_t level = shared; level-- > 0;)
      for (const Apart apart : {Apart{level, 1, false}, Apart{level, 2, false}, Apart{level, 3, true}})
        check(two(earlier, later, apart), theirs, own);
  }

  std::string words(const Two& two, const Access& theirs, const Access& own) const {
    const char* when = two.apart.iterations == 0 ? ""
                       : two.apart.or_more       ? " in iterations before"
                                                 : " in the iteration";
    return fmt::format(
        "{} {} {} {} of {}{}{}", p_.types[two.later].name, own.write ? "writes" : "reads",
        p_.buffers[own.buffer].name, theirs.write ? "after the write" : "after the read",
        p_.types[two.earlier].name, when,
        two.apart.iterations == 0 ? std::string() : fmt::format(" {} back", two.apart.iterations));
  }

  // ---- two tasks at once ----

  const Two& two(TaskTypeId earlier, TaskTypeId later, const Apart& apart) {
    const auto [it, added] = pairs_.try_emplace({earlier, later, apart});
    Two& two = it->second;
    if (!added) return two;
    two.earlier = earlier;
    two.later = later;
    two.apart = apart;
    name(two);
    for (const Finished* f : known_[{earlier, later}])
      two.ordered = two.ordered || (is_whole(*f) && applies(*f, two, two.facts));
    return two;
  }

  /// The earlier task has names of its own for its coordinates, and for the indices of those loops in which
  /// its iteration is another or may be; and for what the data decides in such an iteration.
  void name(Two& two) const {
    const TaskType& earlier = p_.types[two.earlier];
    const auto fresh = [&](Var v) { return two.names[v] = Dim(shape::fresh_var(shape::var_name(v) + "'")); };
    for (const Coordinate& c : earlier.coordinates) two.coordinates.push_back(fresh(c.var));
    const size_t same = two.apart.level;
    for (size_t b = 0; b < earlier.loops.size(); ++b) {
      const Var index = p_.loops[earlier.loops[b]].index;
      if (b == same && two.apart.iterations > 0) {
        const Dim latest = Dim(index) - Dim(two.apart.iterations);
        if (two.apart.or_more)
          two.facts.push_back(shape::at_most(fresh(index), latest));
        else
          two.names[index] = latest;
      } else if (b >= same) {
        fresh(index);
      }
      two.iteration.push_back(Dim(index).substitute(two.names));
    }
    for (const Timeline::Run& run : time_.nested_runs())
      if (run.around.size() > same ||
          !std::equal(run.around.begin(), run.around.end(), earlier.loops.begin()))
        add_steps_range(fresh(run.steps), two.facts);
    two.facts = both(both(p_.facts, two.facts), ranges(p_, two.later));
    two.facts = both(std::move(two.facts), ranges(p_, two.earlier, two.names));
    for (LoopId l : earlier.loops)
      two.facts.push_back(shape::at_least(p_.loops[l].extent.substitute(two.names), Dim(1)));
    for (LoopId l : p_.types[two.later].loops)
      two.facts.push_back(shape::at_least(p_.loops[l].extent, Dim(1)));
  }

  std::vector<Interval> box_of(const Access& theirs, const Two& two) const {
    std::vector<Interval> box;
    for (const Interval& i : theirs.box)
      box.push_back({i.low.substitute(two.names), i.high.substitute(two.names)});
    return box;
  }

  // ---- one dependence ----

  /// Two tasks of one type in one iteration.
  void check_siblings(const Two& two, const Access& theirs, const Access& own) {
    if (theirs.write && own.write) return;  // stores are injective: different points never meet
    const TaskType& type = p_.types[two.later];
    const std::string what = fmt::format("{}: tasks of one iteration do not touch each other's {}", type.name,
                                         p_.buffers[own.buffer].name);
    const auto box = box_of(theirs, two);
    for (size_t c = 0; c < type.coordinates.size(); ++c) {
      const Dim mine = type.coordinates[c].var, other = two.coordinates[c];
      for (const Fact& differ : {shape::less(mine, other), shape::less(other, mine)})
        if (!disjoint(p_, both(two.facts, {differ}), box, own.box))
          return report_.add(what, false, "overlap not excluded");
    }
    report_.add(what, true, "disjoint");
  }

  void check(const Two& two, const Access& theirs, const Access& own) {
    const std::string what = words(two, theirs, own);
    if (two.ordered) return report_.add(what, true, "certificate, every task");
    const auto box = box_of(theirs, two);
    if (cheaply_disjoint(p_, two.facts, box, own.box)) return report_.add(what, true, "disjoint");
    for (const bool thoroughly : {false, true}) {
      if (two.earlier == two.later && is_same_task(two, box, own, thoroughly))
        return report_.add(what, true, "one task's iterations");
      for (const Finished* f : known_[{two.earlier, two.later}])
        if (orders(*f, two, box, own, thoroughly)) return report_.add(what, true, "certificate");
    }
    const bool apart = disjoint(p_, two.facts, box, own.box);
    report_.add(what, apart, apart ? "disjoint" : "not ordered");
  }

  /// Where the boxes overlap, is it one task in two iterations? Those follow each other.
  bool is_same_task(const Two& two, const std::vector<Interval>& box, const Access& own,
                    bool thoroughly) const {
    const auto& grid = p_.types[two.later].coordinates;
    for (size_t c = 0; c < grid.size(); ++c)
      if (!lies_in(two, box, own, c, {grid[c].var, grid[c].var}, thoroughly)) return false;
    return true;
  }

  /// Where the boxes overlap, does the entry speak of the earlier task?
  bool orders(const Finished& f, const Two& two, const std::vector<Interval>& box, const Access& own,
              bool thoroughly) const {
    for (const auto& range : f.ranges)
      if (!range) return false;
    std::vector<Fact> facts = two.facts;
    for (size_t a = 0; a < box.size(); ++a) facts = both(std::move(facts), overlap(box[a], own.box[a]));
    if (!applies(f, two, two.facts) && !applies(f, two, facts)) return false;
    for (size_t c = 0; c < f.ranges.size(); ++c)
      if (!lies_in(two, box, own, c, *f.ranges[c], thoroughly)) return false;
    return true;
  }

  static std::vector<Fact> overlap(const Interval& a, const Interval& b) {
    return {shape::less(a.low, b.high), shape::less(b.low, a.high)};
  }

  bool is_whole(const Finished& f) const {
    const auto& grid = p_.types[f.producer].coordinates;
    for (size_t c = 0; c < grid.size(); ++c)
      if (!f.ranges[c] || !f.ranges[c]->first.is(0) || f.ranges[c]->last != grid[c].extent - Dim(1))
        return false;
    return true;
  }

  /// Does the entry's guard hold, and is the earlier task's iteration no later than those it speaks of?
  bool applies(const Finished& f, const Two& two, const std::vector<Fact>& facts) const {
    for (size_t b = 0; b < f.through.size(); ++b) {
      const Dim &theirs = two.iteration[b], &through = f.through[b];
      if (theirs == through) continue;
      if (cheaply(p_, facts, shape::less(theirs, through))) break;
      if (!cheaply(p_, facts, shape::at_most(theirs, through))) return false;
    }
    return std::all_of(f.guard.begin(), f.guard.end(),
                       [&](const Fact& fact) { return cheaply(p_, facts, fact); });
  }

  /// Where the boxes overlap, does a coordinate of the earlier task lie in the range?
  bool lies_in(const Two& two, const std::vector<Interval>& box, const Access& own, size_t c,
               const Wait::Range& range, bool thoroughly) const {
    const Dim& theirs = two.coordinates[c];
    const Dim last = p_.types[two.earlier].coordinates[c].extent - Dim(1);
    return (range.first.is(0) ||
            follows(two, box, own, shape::at_least(theirs, range.first), theirs, thoroughly)) &&
           (range.last == last ||
            follows(two, box, own, shape::at_most(theirs, range.last), theirs, thoroughly));
  }

  /// Does the goal about one coordinate of the earlier task follow from the overlap of the boxes? Asked of
  /// one axis at a time first: small questions are quick, and mostly one axis decides.
  bool follows(const Two& two, const std::vector<Interval>& box, const Access& own, const Fact& goal,
               const Dim& about, bool thoroughly) const {
    std::vector<Fact> all = two.facts;
    for (size_t a = 0; a < box.size(); ++a) {
      const auto meet = overlap(box[a], own.box[a]);
      all = both(std::move(all), meet);
      const bool mentioned = box[a].low.contains(*about.as_var()) || box[a].high.contains(*about.as_var());
      if (mentioned && cheaply(p_, both(two.facts, meet), goal)) return true;
    }
    return thoroughly && holds(p_, all, goal);
  }

  const Program& p_;
  const Timeline time_;
  const Certificate certificate_;
  Report& report_;
  std::map<std::pair<TaskTypeId, TaskTypeId>, std::vector<const Finished*>> known_;
  std::map<std::tuple<TaskTypeId, TaskTypeId, Apart>, Two> pairs_;
};

}  // namespace

void verify_order(const Program& p, Report& report) { Order(p, report).run(); }

}  // namespace axon::task
