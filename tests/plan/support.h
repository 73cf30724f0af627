// Plans of the task examples, for the tests of plan/.
#pragma once

#include "plan/plan.h"
#include "task/support.h"

namespace axon::plan {

inline Variant variant_of(const task::Example& example, Schedule schedule = Schedule::events) {
  return from_task(task::program_of(example), example.name, schedule);
}

}  // namespace axon::plan
