// In: the steps of a variant, with waits and needs. Out: a line (plan.h) in each of several segments that
// follow one another in one list and of which none waits for another in the same iteration.
//
// A line says nothing of order, which is the waits' alone, only which worker takes which task: with tasks for
// few workers each, neighbours would else be shared out alike, and the same workers would have all of them.
// Temporaries get their memory before lines are formed, and so the waits that make them share it count like
// all others; memory is placed so that none of those stands between segments that could be in one line.
// Between the segments of a line no step needs a size, so all extents in it are known when its first segment
// begins.
#include "plan/side_by_side.h"

#include <algorithm>

#include "base/contains.h"

namespace axon::plan {

namespace {

using task::TaskTypeId;

/// The producers that tasks of each type wait for.
using Awaited = std::map<TaskTypeId, std::vector<TaskTypeId>>;

Awaited awaited_in(const task::Program& p) {
  Awaited awaited;
  for (const task::Wait& wait : p.waits) awaited[wait.consumer].push_back(p.events[wait.event].producer);
  return awaited;
}

bool waits_for_any(const Awaited& awaited, TaskTypeId type, const std::vector<TaskTypeId>& run) {
  const auto producers = awaited.find(type);
  return producers != awaited.end() && std::any_of(run.begin(), run.end(), [&](TaskTypeId t) {
           return base::contains(producers->second, t);
         });
}

void form_line(const task::Program& p, const std::vector<Segment*>& run) {
  if (run.size() < 2) return;
  Dim whole;
  bool from_end = false;
  for (Segment* segment : run) {
    segment->line = Line{whole, {}, from_end};
    whole = whole + tasks_of(p.types[segment->type]);
    from_end = !from_end;
  }
  for (Segment* segment : run) segment->line->whole = whole;
}

void form_lines(const task::Program& p, const Awaited& awaited, std::vector<Step>& steps) {
  std::vector<Segment*> run;
  std::vector<TaskTypeId> types;
  const auto end = [&] {
    form_line(p, run);
    run.clear();
    types.clear();
  };
  for (Step& step : steps) {
    if (!step.segment || !step.needs.empty() || waits_for_any(awaited, step.segment->type, types)) end();
    if (step.segment) {
      run.push_back(&*step.segment);
      types.push_back(step.segment->type);
    } else {
      form_lines(p, awaited, step.body);
    }
  }
  end();
}

void number_lines(const Awaited& awaited, const std::vector<task::Step>& steps, uint32_t& number,
                  std::map<TaskTypeId, uint32_t>& lines) {
  std::vector<TaskTypeId> types;
  for (const task::Step& step : steps) {
    if (!step.task.valid() || waits_for_any(awaited, step.task, types)) {
      types.clear();
      ++number;
    }
    if (step.task.valid()) {
      types.push_back(step.task);
      lines[step.task] = number;
    } else {
      number_lines(awaited, step.body, number, lines);
      ++number;
    }
  }
}

}  // namespace

void run_side_by_side(const task::Program& p, std::vector<Step>& steps) {
  form_lines(p, awaited_in(p), steps);
}

std::map<TaskTypeId, uint32_t> possible_lines(const task::Program& p) {
  std::map<TaskTypeId, uint32_t> lines;
  uint32_t number = 0;
  number_lines(awaited_in(p), p.steps, number, lines);
  return lines;
}

}  // namespace axon::plan
