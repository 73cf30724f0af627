// Segments, their waits, and which worker runs which of their tasks.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "plan/verify.h"
#include "plan/workers.h"
#include "task/facts.h"
#include "task/verify_time.h"

namespace axon::plan {

namespace {

using task::Program;
using task::TaskType;
using task::Wait;

class Segments {
 public:
  Segments(const Variant& v, task::Report& report) : v_(v), p_(v.program), time_(p_), report_(report) {}

  void run() {
    const bool same = mirrors(v_.steps, p_.steps);
    report_.add("segments are the program's steps, in its order", same, "compared");
    if (!same) return;
    each(v_.steps);
    check_lines(v_.steps);
    if (in_lines_)
      report_.add("the segments of a line make it up, and it is the same in every iteration",
                  lines_are_right_, "form");
    check_debugs();
    const bool once = std::all_of(p_.waits.begin(), p_.waits.end(), [&](const Wait& wait) {
      return waits_[static_cast<uint32_t>(&wait - p_.waits.data())] == 1;
    });
    report_.add("every wait stands at one segment, its consumer's", once, "compared");
    check_ranges();
  }

 private:
  static bool mirrors(const std::vector<Step>& steps, const std::vector<task::Step>& of) {
    return std::equal(
        steps.begin(), steps.end(), of.begin(), of.end(), [](const Step& step, const task::Step& other) {
          return step.segment
                     ? step.segment->type == other.task && step.body.empty()
                     : !other.task.valid() && step.loop == other.loop && mirrors(step.body, other.body);
        });
  }

  void each(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      if (step.segment) check(*step.segment);
      each(step.body);
    }
  }

  void check(const Segment& segment) {
    const TaskType& type = p_.types[segment.type];
    const auto stands_here = [&](uint32_t w) {
      ++waits_[w];
      return w < p_.waits.size() && p_.waits[w].consumer == segment.type;
    };
    bool own = true, once_for_all = true;
    for (uint32_t w : segment.hoisted) {
      own = stands_here(w) && own;
      once_for_all = once_for_all && own && is_the_same_for_all(type, p_.waits[w]);
    }
    for (uint32_t w : segment.per_task) own = stands_here(w) && own;
    report_.add(fmt::format("{}: waits for what its own tasks need", type.name), own, "compared");
    if (!segment.hoisted.empty())
      report_.add(fmt::format("{}: what it waits for once is the same for all of its tasks", type.name),
                  once_for_all, "form");
    report_.add(fmt::format("{}: its grid is the same in every iteration", type.name), has_one_grid(type),
                "form");
    if (!segment.folded) return;
    is_folded_ = true;
    report_.add(fmt::format("{}: what is folded is one of its coordinates", type.name),
                *segment.folded < type.coordinates.size(), "form");
  }

  /// The segments of a line follow one another and make it up: so, grids having tasks, where the whole line
  /// has a worker for each task, a segment has one for each of its own. check_ranges shows what follows.
  void check_lines(const std::vector<Step>& steps) {
    bool right = true, open = false;
    Dim before, whole;
    for (const Step& step : steps) {
      if (!step.body.empty()) check_lines(step.body);
      if (!step.segment || !step.segment->line) {
        right = right && !open;
        continue;
      }
      const Line& line = *step.segment->line;
      if (!open) before = Dim(0), whole = line.whole;
      right = right && line.before == before && line.whole == whole && is_fixed(whole);
      Dim tasks(1);
      for (const auto& c : p_.types[step.segment->type].coordinates) tasks = tasks * c.extent;
      before = before + tasks;
      open = before != whole;
      in_lines_ = true;
    }
    lines_are_right_ = lines_are_right_ && right && !open;
  }

  /// A value is complete behind the step that computes it, and keeps its memory that long.
  void check_debugs() {
    std::map<uint32_t, int> shown;
    bool behind = true;
    const std::function<void(const std::vector<Step>&)> look = [&](const auto& steps) {
      for (const Step& step : steps) {
        const auto node = step.segment ? p_.types[step.segment->type].node : p_.loops[step.loop].node;
        for (const uint32_t n : step.debugs)
          behind = ++shown[n] == 1 && n < p_.graph->debugs.size() && p_.graph->debugs[n].value.node == node &&
                   behind;
        look(step.body);
      }
    };
    look(v_.steps);
    if (shown.empty() && p_.graph->debugs.empty()) return;
    report_.add("every debugged value is shown once, behind the step that computes it",
                behind && shown.size() == p_.graph->debugs.size(), "compared");
  }

  /// Nothing in it changes from one coordinate to the next.
  static bool is_the_same_for_all(const TaskType& type, const Wait& wait) {
    std::vector<shape::Var> mentioned;
    for (const auto& range : wait.box) {
      range.first.collect_vars(mentioned);
      range.last.collect_vars(mentioned);
    }
    for (const Dim& index : wait.iteration) index.collect_vars(mentioned);
    for (const Fact& fact : wait.guard) {
      fact.lhs.collect_vars(mentioned);
      fact.rhs.collect_vars(mentioned);
    }
    return std::none_of(type.coordinates.begin(), type.coordinates.end(), [&](const task::Coordinate& c) {
      return std::find(mentioned.begin(), mentioned.end(), c.var) != mentioned.end();
    });
  }

  /// So that a task has one number, and one worker, in all iterations.
  bool has_one_grid(const TaskType& type) const {
    return std::all_of(type.coordinates.begin(), type.coordinates.end(),
                       [&](const task::Coordinate& c) { return is_fixed(c.extent); });
  }

  bool is_fixed(const Dim& d) const {
    return std::none_of(p_.loops.begin(), p_.loops.end(),
                        [&](const task::Loop& l) { return d.contains(l.index); }) &&
           std::none_of(time_.nested_runs().begin(), time_.nested_runs().end(),
                        [&](const auto& run) { return d.contains(run.steps); });
  }

  /// For any number of tasks and workers: worker 0 begins at the first task, each goes on where the one
  /// before it ends, and the last ends at the last.
  void check_ranges() {
    const Dim tasks = shape::fresh_var("tasks"), worker = shape::fresh_var("worker"),
              workers = shape::fresh_var("workers");
    const std::vector<Fact> facts = {shape::at_least(tasks, Dim(0)), shape::at_least(workers, Dim(1)),
                                     shape::at_least(worker, Dim(0)), shape::less(worker, workers)};
    for (const bool from_end : {false, true}) {
      const auto first = [&](const Dim& w) {
        return from_end ? first_task_from_end(tasks, w, workers) : first_task(tasks, w, workers);
      };
      const std::string how = from_end ? "shared from the other end, " : "";
      report_.add(how + "the first worker's tasks begin with the first",
                  shape::prove(facts, shape::equal(first(Dim(0)), Dim(0))));
      report_.add(how + "the last worker's tasks end with the last",
                  shape::prove(facts, shape::equal(first(workers), tasks)));
      report_.add(how + "a worker's tasks are in order, and end where the next one's begin",
                  shape::prove(facts, shape::at_most(first(worker), first(worker + Dim(1)))));
    }
    check_ranges_in_lines(tasks, worker, workers, facts);
    if (is_folded_) check_folding();
  }

  /// Of any number of tiles: each position has one of them, and no two positions the same.
  void check_folding() {
    const Dim extent = shape::fresh_var("extent"), one = shape::fresh_var("half"),
              other = shape::fresh_var("half");
    const auto position = [&](const Dim& half, bool odd) { return Dim(2) * half + Dim(odd ? 1 : 0); };
    const auto is_position = [&](const Dim& half, bool odd) {
      return std::vector<Fact>{shape::at_least(half, Dim(0)), shape::less(position(half, odd), extent)};
    };
    for (const bool odd : {false, true}) {
      const Dim tile = tile_at(one, odd, extent);
      const auto facts = is_position(one, odd);
      const std::string which = odd ? "odd" : "even";
      report_.add(fmt::format("the tile at an {} position is at least the first", which),
                  shape::prove(facts, shape::at_least(tile, Dim(0))));
      report_.add(fmt::format("the tile at an {} position is at most the last", which),
                  shape::prove(facts, shape::less(tile, extent)));
      const auto earlier = task::both(is_position(other, odd), task::both(facts, {shape::less(one, other)}));
      report_.add(fmt::format("two {} positions have different tiles", which),
                  shape::prove(earlier, odd ? shape::less(tile_at(other, odd, extent), tile)
                                            : shape::less(tile, tile_at(other, odd, extent))));
    }
    report_.add("tiles at even positions lie before those at odd ones",
                shape::prove(task::both(is_position(one, false), is_position(other, true)),
                             shape::less(tile_at(one, false, extent), tile_at(other, true, extent))));
  }

  /// The same of a segment in a line of no more tasks than workers.
  void check_ranges_in_lines(const Dim& tasks, const Dim& worker, const Dim& workers,
                             std::vector<Fact> facts) {
    const Dim before = shape::fresh_var("before"), whole = shape::fresh_var("whole");
    facts.push_back(shape::at_least(before, Dim(0)));
    facts.push_back(shape::at_most(before + tasks, whole));
    facts.push_back(runs_side_by_side(whole, workers));
    const auto first = [&](const Dim& w) { return first_task_in_line(tasks, before, w); };
    report_.add("in a line, the first worker's tasks begin with the first",
                shape::prove(facts, shape::equal(first(Dim(0)), Dim(0))));
    report_.add("in a line, the last worker's tasks end with the last",
                shape::prove(facts, shape::equal(first(workers), tasks)));
    report_.add("in a line, a worker's tasks are in order, and end where the next one's begin",
                shape::prove(facts, shape::at_most(first(worker), first(worker + Dim(1)))));
  }

  const Variant& v_;
  const Program& p_;
  const task::Timeline time_;
  task::Report& report_;
  std::map<uint32_t, int> waits_;  ///< how often each is waited for
  bool in_lines_ = false, lines_are_right_ = true, is_folded_ = false;
};

}  // namespace

void verify_segments(const Variant& v, task::Report& report) { Segments(v, report).run(); }

}  // namespace axon::plan
