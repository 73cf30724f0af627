// The workers of a plan by enumeration: what the emitted function makes them do (module/from_plan.cpp), for
// given sizes, without the bodies of the tasks.
//
// In: a plan variant, sizes, a number of workers. Out: whether every worker comes to its end, whether each
// task has run once, and whether all runs are legal orders of the task program, as task::simulate draws them:
// each task behind all that it waits for and behind its own earlier iteration. So what holds of the results
// of all legal orders holds of the plan's.
#pragma once
#include <string>

#include "plan/plan.h"

namespace axon::plan {

/// Two launches, one after the other, in an order that the seed draws: the second one finds the words of the
/// event area as the first one has left them. Returns what is wrong first, or "". Loops with a condition take
/// the steps that task::Concrete says.
///
/// The plan has the shape of its program: its steps are those, and its numbers name something.
std::string wrong_run(const Variant&, const shape::Assignment& sizes, size_t workers, uint64_t seed);

/// The first temporary that is not in one slot, or does not fit into it for these sizes; "" when there is
/// none.
std::string wrong_memory(const Variant&, const shape::Assignment& sizes);

/// "" when each value of the graph's debugs is shown once, behind the step that computes it: there it is
/// complete, and nothing has taken its memory.
std::string wrong_debugs(const Variant&);

}  // namespace axon::plan
