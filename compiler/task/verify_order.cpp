// Every dependence, that is, every two accesses of one buffer by tasks of which one is later, one of them a
// write, is ordered: by the certificate, or because the two never touch the same element.
//
// The dependences are enumerated here, and in how many ways two tasks may be apart in verify_pairs.h. Which
// of them the deriver found, and by what rule, plays no part.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "task/facts.h"
#include "task/verify.h"
#include "task/verify_certificate.h"
#include "task/verify_pairs.h"
#include "task/verify_time.h"

namespace axon::task {

namespace {

using graph::Graph;
using graph::Node;
using graph::ScalarId;
using graph::Value;

class Order {
 public:
  Order(const Program& p, Report& report)
      : p_(p), time_(p), certificate_(p, time_), pairs_(p, time_), report_(report) {}

  void run() {
    prove_certificate();
    if (!report_.all_proved()) return;
    for (const auto& [buffer, touches] : touches_of_buffers()) {
      const std::vector<Touch> writes = writes_among(touches);
      for (const auto& [later, own] : touches)
        for (const auto& [earlier, theirs] : own->write ? touches : writes)
          check(earlier, *theirs, later, *own);
    }
  }

 private:
  struct Touch {
    TaskTypeId type;
    const Access* access;
  };

  std::map<BufferId, std::vector<Touch>> touches_of_buffers() const {
    std::map<BufferId, std::vector<Touch>> touches;
    for (uint32_t t = 0; t < p_.types.size(); ++t)
      for (const Access& access : p_.types[TaskTypeId{t}].accesses)
        touches[access.buffer].push_back({{t}, &access});
    return touches;
  }

  static std::vector<Touch> writes_among(const std::vector<Touch>& touches) {
    std::vector<Touch> writes;
    for (const Touch& touch : touches)
      if (touch.access->write) writes.push_back(touch);
    return writes;
  }

  void prove_certificate() {
    for (uint32_t n = 0; n < p_.certificate.size(); ++n) {
      const Finished& f = p_.certificate[n];
      report_.add(fmt::format("{} has tasks of {} behind it (known {})", p_.types[f.consumer].name,
                              p_.types[f.producer].name, n),
                  certificate_.follows(n), "link");
    }
  }

  void check(TaskTypeId earlier, const Access& theirs, TaskTypeId later, const Access& own) {
    if (earlier == later)
      check_siblings(pairs_.two(earlier, later, {p_.types[later].loops.size(), 0, false}), theirs, own);
    for (const Apart& apart : pairs_.distances(earlier, later))
      check(pairs_.two(earlier, later, apart), theirs, own);
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
    if (reads_what_it_stores(type, own.buffer)) return report_.add(what, true, "own elements");
    const auto box = box_of(theirs, two);
    for (size_t c = 0; c < type.coordinates.size(); ++c) {
      const Dim mine = type.coordinates[c].var, other = two.coordinates[c];
      for (const Fact& differ : {shape::less(mine, other), shape::less(other, mine)})
        if (!disjoint(p_, both(two.facts, {differ}), box, own.box))
          return report_.add(what, false, "overlap not excluded");
    }
    report_.add(what, true, "disjoint");
  }

  /// Is the element that is stored at a point of the domain all that is read of the buffer there? Then no
  /// task reads what another one stores, whatever their boxes are: different points never meet.
  bool reads_what_it_stores(const TaskType& type, BufferId buffer) const {
    const Graph& g = *p_.graph;
    const Node& node = g.nodes[type.node];
    const auto is_inside = [&](Value v) { return !v.is_local() && p_.place(v).buffer == buffer; };
    std::vector<Dim> at;
    int stores = 0;
    for (uint32_t o = 0; o < node.outputs.size(); ++o) {
      if (!is_inside({type.node, o})) continue;
      at = node.outputs[o].at;
      ++stores;
    }
    const auto reads = [&](ScalarId load) { return is_inside(g.scalars[load].target); };
    const auto reads_another = [&](ScalarId load) { return reads(load) && !is_at(g.scalars[load].args, at); };
    const auto none = [&](ScalarId body, const auto& holds) {
      const auto loads = loads_in(g, body);
      return std::none_of(loads.begin(), loads.end(), holds);
    };
    return stores == 1 &&
           std::all_of(node.locals.begin(), node.locals.end(),
                       [&](const auto& local) { return none(local.body, reads); }) &&
           std::all_of(node.outputs.begin(), node.outputs.end(),
                       [&](const auto& output) { return none(output.body, reads_another); });
  }

  bool is_at(const std::vector<ScalarId>& indices, const std::vector<Dim>& at) const {
    return std::equal(indices.begin(), indices.end(), at.begin(), at.end(),
                      [&](ScalarId index, const Dim& d) { return affine_index(*p_.graph, index) == d; });
  }

  void check(const Two& two, const Access& theirs, const Access& own) {
    const std::string what = words(two, theirs, own);
    if (two.ordered) return report_.add(what, true, "certificate, every task");
    const auto box = box_of(theirs, two);
    if (cheaply_disjoint(p_, two.facts, box, own.box)) return report_.add(what, true, "disjoint");
    for (const bool thoroughly : {false, true}) {
      if (two.earlier == two.later && is_same_task(two, box, own, thoroughly))
        return report_.add(what, true, "one task's iterations");
      for (const Finished* f : pairs_.known(two))
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
    if (!pairs_.applies(f, two, two.facts) && !pairs_.applies(f, two, facts)) return false;
    for (size_t c = 0; c < f.ranges.size(); ++c)
      if (!lies_in(two, box, own, c, *f.ranges[c], thoroughly)) return false;
    return true;
  }

  static std::vector<Fact> overlap(const Interval& a, const Interval& b) {
    return {shape::less(a.low, b.high), shape::less(b.low, a.high)};
  }

  /// Where the boxes overlap, does a coordinate of the earlier task lie in the range?
  bool lies_in(const Two& two, const std::vector<Interval>& box, const Access& own, size_t c,
               const Wait::Range& range, bool thoroughly) const {
    const Dim& theirs = two.coordinates[c];
    const Dim last = p_.types[two.earlier].coordinates[c].extent - Dim(1);
    const auto from = [&](const Dim& first) { return shape::at_least(theirs, first); };
    const auto to = [&](const Dim& end) { return shape::at_most(theirs, end); };
    return (range.first.is(0) || follows(two, box, own, from(range.first), theirs, thoroughly) ||
            follows_by_own(two, box, own, range.first, from, theirs)) &&
           (range.last == last || follows(two, box, own, to(range.last), theirs, thoroughly) ||
            follows_by_own(two, box, own, range.last, to, theirs));
  }

  /// The same in two steps, by way of a coordinate of the later task: the limit is on its other side for
  /// every task, whatever the boxes are, so it need not be known together with how they overlap.
  template <class Goal>
  bool follows_by_own(const Two& two, const std::vector<Interval>& box, const Access& own, const Dim& limit,
                      const Goal& goal, const Dim& theirs) const {
    const auto& grid = p_.types[two.later].coordinates;
    return std::any_of(grid.begin(), grid.end(), [&](const Coordinate& c) {
      const Fact at_own = goal(limit);
      const shape::Substitution by_own = {{*theirs.as_var(), Dim(c.var)}};
      return cheaply(p_, two.facts,
                     {at_own.lhs.substitute(by_own), at_own.relation, at_own.rhs.substitute(by_own)}) &&
             follows(two, box, own, goal(Dim(c.var)), theirs, false);
    });
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
  Pairs pairs_;
  Report& report_;
};

}  // namespace

void verify_order(const Program& p, Report& report) { Order(p, report).run(); }

}  // namespace axon::task
