// In: a variant, sizes, a number of workers and what a handoff costs. Out: when the last worker is done, in
// work units.
//
// The static schedule as it will run: worker w of N takes the tasks of every segment that workers.h says, in
// order. A task begins when its worker is free and all tasks that it waits for are done; one that another
// worker ran counts as done a handoff later. After a barrier all workers go on together, a handoff after the
// last has arrived. Since waits only point to earlier segments or iterations, one walk in program order sees
// every finishing time before it is asked for.
#include <algorithm>
#include <functional>
#include <map>

#include "base/bug.h"
#include "plan/plan.h"
#include "plan/workers.h"

namespace axon::plan {

namespace {

using task::TaskType;
using task::TaskTypeId;

/// When a set of tasks is done, as a worker sees it: the latest on each side of "ran here or elsewhere".
class Arrival {
 public:
  void add(double time, int worker) {
    if (worker == worker_ || worker_ < 0) {
      worker_ = worker;
      latest_ = std::max(latest_, time);
    } else if (time > latest_) {
      others_ = std::max(others_, latest_);
      latest_ = time;
      worker_ = worker;
    } else {
      others_ = std::max(others_, time);
    }
  }
  double seen_by(int worker, double handoff) const {
    if (worker_ < 0) return 0;
    if (worker_ != worker) return latest_ + handoff;
    return std::max(latest_, others_ < 0 ? 0 : others_ + handoff);
  }

 private:
  double latest_ = 0, others_ = -1;  ///< others_: the latest of all workers but worker_
  int worker_ = -1;
};

/// Row-major boxes of integers.
struct Box {
  std::vector<int64_t> low, high;  ///< inclusive
  void for_each(const std::function<void(const std::vector<int64_t>&)>& f) const {
    for (size_t a = 0; a < low.size(); ++a)
      if (low[a] > high[a]) return;
    std::vector<int64_t> at = low;
    for (;;) {
      f(at);
      size_t a = at.size();
      while (a > 0 && ++at[a - 1] > high[a - 1]) {
        --a;
        at[a] = low[a];
      }
      if (a == 0) return;
    }
  }
};

class Simulation {
 public:
  Simulation(const Variant& v, const shape::Assignment& sizes, int workers, double handoff)
      : p_(v.program), values_(sizes), handoff_(handoff), free_(static_cast<size_t>(workers), 0.0) {
    for (const DataSize& d : v.data_sizes) {
      const graph::Size& size = p_.graph->sizes[d.size];
      values_.try_emplace(size.var, size.is_unbounded() ? typical_size : number(size.equation));
    }
    for (const ExitCondition& d : v.exit_conditions)
      for (shape::Var steps : p_.loops[d.loop].extent.vars()) values_.try_emplace(steps, typical_steps);
  }

  double run(const std::vector<Step>& steps) {
    walk(steps);
    return *std::max_element(free_.begin(), free_.end());
  }

 private:
  int64_t number(const Dim& d) const {
    const auto value = d.evaluate(values_);
    if (!value) base::bug("plan::makespan", "cannot evaluate " + d.str());
    return *value;
  }
  bool holds(const Fact& f) const { return shape::holds(f.relation, number(f.lhs), number(f.rhs)); }

  void walk(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      if (step.segment) {
        segment(*step.segment);
        continue;
      }
      const task::Loop& loop = p_.loops[step.loop];
      const int64_t trips = number(loop.extent);
      for (int64_t i = 0; i < trips; ++i) {
        values_[loop.index] = i;
        walk(step.body);
      }
      values_.erase(loop.index);
    }
  }

  /// Behind the last task of a worker.
  int64_t end_of(const Segment& segment, int64_t worker, int64_t tasks) const {
    const auto workers = static_cast<int64_t>(free_.size());
    if (segment.line && runs_side_by_side(number(segment.line->whole), workers))
      return first_task_in_line(tasks, number(segment.line->before), worker + 1);
    if (segment.line && segment.line->from_end) return first_task_from_end(tasks, worker + 1, workers);
    return first_task(tasks, worker + 1, workers);
  }

  void segment(const Segment& segment) {
    const TaskType& type = p_.types[segment.type];
    Box grid;
    int64_t tasks = 1;
    for (const auto& c : type.coordinates) {
      grid.low.push_back(0);
      grid.high.push_back(number(c.extent) - 1);
      tasks *= grid.high.back() + 1;
    }
    const bool is_uneven = std::any_of(type.coordinates.begin(), type.coordinates.end(),
                                       [&](const auto& c) { return type.work.contains(c.var); });
    double work = 0;
    begin_events(segment.type);
    int64_t next = 0, worker = 0, end = end_of(segment, 0, tasks);
    int64_t began = -1;  // the worker whose first task of this segment has begun
    grid.for_each([&](const std::vector<int64_t>& at) {
      while (next >= end) end = end_of(segment, ++worker, tasks);
      ++next;
      std::vector<int64_t> tile = at;
      if (segment.folded)
        tile[*segment.folded] = tile_at(at[*segment.folded], grid.high[*segment.folded] + 1);
      for (size_t c = 0; c < tile.size(); ++c) values_[type.coordinates[c].var] = tile[c];
      if (is_uneven || next == 1) work = static_cast<double>(number(type.work));
      double& free = free_[static_cast<size_t>(worker)];
      const int me = static_cast<int>(worker);
      if (!segment.barrier_after) {  // a barrier after every segment takes the place of all waits
        if (began != worker) free = after(segment.hoisted, me, free);
        free = after(segment.per_task, me, free);
      }
      began = worker;
      free += work;
      notify(tile, free, me);
    });
    for (const auto& c : type.coordinates) values_.erase(c.var);
    if (segment.barrier_after && free_.size() > 1) {
      const double all = *std::max_element(free_.begin(), free_.end()) + handoff_;
      std::fill(free_.begin(), free_.end(), all);
    }
  }

  // ---- events: per event, iteration and element, when its producers are done ----

  using Elements = std::map<std::vector<int64_t>, Arrival>;

  std::vector<int64_t> current(TaskTypeId id) const {
    std::vector<int64_t> iteration;
    for (task::LoopId l : p_.types[id].loops) iteration.push_back(number(p_.loops[l].index));
    return iteration;
  }

  void begin_events(TaskTypeId producer) {
    producing_.clear();
    for (uint32_t e = 0; e < p_.events.size(); ++e)
      if (p_.events[task::EventId{e}].producer == producer)
        producing_.push_back({&p_.events[task::EventId{e}], &done_[{e, current(producer)}]});
  }

  void notify(const std::vector<int64_t>& at, double time, int worker) {
    for (const auto& [event, elements] : producing_) {
      std::vector<int64_t> element;
      for (uint32_t c : event->kept) element.push_back(at[c]);
      (*elements)[element].add(time, worker);
    }
  }

  double after(const std::vector<uint32_t>& waits, int worker, double time) const {
    for (uint32_t w : waits) {
      const task::Wait& wait = p_.waits[w];
      if (!std::all_of(wait.guard.begin(), wait.guard.end(), [&](const Fact& f) { return holds(f); }))
        continue;
      std::vector<int64_t> iteration;
      for (const Dim& d : wait.iteration) iteration.push_back(number(d));
      const auto done = done_.find({wait.event.index, iteration});
      if (done == done_.end()) continue;
      Box box;
      for (const auto& range : wait.box) {
        box.low.push_back(number(range.first));
        box.high.push_back(number(range.last));
      }
      box.for_each([&](const std::vector<int64_t>& element) {
        if (const auto it = done->second.find(element); it != done->second.end())
          time = std::max(time, it->second.seen_by(worker, handoff_));
      });
    }
    return time;
  }

  const task::Program& p_;
  shape::Assignment values_;
  const double handoff_;
  std::vector<double> free_;  ///< per worker: when it can begin its next task
  std::map<std::pair<uint32_t, std::vector<int64_t>>, Elements> done_;
  std::vector<std::pair<const task::Event*, Elements*>> producing_;
};

}  // namespace

double makespan(const Variant& v, const shape::Assignment& sizes, int workers, double handoff_cost) {
  return Simulation(v, sizes, workers, handoff_cost).run(v.steps);
}

}  // namespace axon::plan
