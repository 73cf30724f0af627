// The tasks of one type alone: what calibration measures.
//
// In: a kernel whose task functions have been emitted. Out: a function of the same signature in which each
// worker runs its share of the type's tasks in every iteration of the loops around them, and waits for
// nothing and notifies nobody. What the tasks compute from is whatever memory holds. Loops that the data ends
// have plan::typical_steps, and sizes that it decides are what the table of sizes says.
#include "module/kernel_emitter.h"
#include "task/trip_counts.h"

namespace axon::module {

const plan::Segment* KernelEmitter::segment_of(task::TaskTypeId type,
                                               const std::vector<plan::Step>& steps) const {
  for (const plan::Step& step : steps) {
    if (step.segment && step.segment->type == type) return &*step.segment;
    if (const plan::Segment* inside = segment_of(type, step.body)) return inside;
  }
  return nullptr;
}

void KernelEmitter::run_alone(task::TaskTypeId type) {
  begin();
  for (const plan::DataSize& d : v_.data_sizes) bind_size(d);
  for (const plan::ExitCondition& d : v_.exit_conditions)
    f_.bind(*task::data_trip_count(p_, d.loop), f_.i64(plan::typical_steps), 0, Dim(plan::typical_steps + 1));
  const std::vector<LoopId>& loops = p_.types[type].loops;
  const std::function<void(size_t)> nest = [&](size_t level) {
    if (level == loops.size()) {
      each_task(
          *segment_of(type, v_.steps), [&](Value*) { call_task(type, tasks_.run); }, [](Value*) {});
      return;
    }
    const task::Loop& loop = p_.loops[loops[level]];
    f_.loop({loop.index, loop.extent}, f_.i64(0), f_.emit(loop.extent), LoopKind::plain,
            [&] { nest(level + 1); });
  };
  nest(0);
  f_.b.CreateRetVoid();
}

}  // namespace axon::module
