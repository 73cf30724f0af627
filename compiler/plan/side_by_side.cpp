// In: the steps of a variant, with waits and needs. Out: a line (plan.h) in each of several segments that
// follow one another in one list and of which none waits for another in the same iteration.
//
// A line says nothing of order, which is the waits' alone, only which worker takes which task: with tasks for
// few workers each, neighbours would else be shared out alike, and the same workers would have all of them.
// Between the segments of a line no step needs a size, so all extents in it are known when its first segment
// begins.
#include "plan/side_by_side.h"

#include <algorithm>

namespace axon::plan {

namespace {

using Run = std::vector<Segment*>;

bool waits_for(const task::Program& p, const Segment& segment, const Run& run) {
  const auto is_awaited = [&](uint32_t w) {
    const task::TaskTypeId producer = p.events[p.waits[w].event].producer;
    return std::any_of(run.begin(), run.end(), [&](const Segment* s) { return s->type == producer; });
  };
  return std::any_of(segment.hoisted.begin(), segment.hoisted.end(), is_awaited) ||
         std::any_of(segment.per_task.begin(), segment.per_task.end(), is_awaited);
}

void form_line(const task::Program& p, const Run& run) {
  if (run.size() < 2) return;
  Dim whole;
  for (Segment* segment : run) {
    segment->line = Line{whole, {}};
    whole = whole + tasks_of(p.types[segment->type]);
  }
  for (Segment* segment : run) segment->line->whole = whole;
}

}  // namespace

void run_side_by_side(const task::Program& p, std::vector<Step>& steps) {
  Run run;
  const auto end = [&] {
    form_line(p, run);
    run.clear();
  };
  for (Step& step : steps) {
    if (!step.segment || !step.needs.empty() || waits_for(p, *step.segment, run)) end();
    if (step.segment)
      run.push_back(&*step.segment);
    else
      run_side_by_side(p, step.body);
  }
  end();
}

}  // namespace axon::plan
