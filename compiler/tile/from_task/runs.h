// Binders that an operand of a product has next to each other in memory. Only from_task/ includes this.
//
// In: a load, and the binders of a sum. Out: those that its last axes are, outermost first: of the tensor
// they are one axis, which one loop goes through. Invariant: what a task reads of the tensor is whole along
// all of them but the first.
#pragma once
#include <vector>

#include "task/task.h"

namespace axon::tile {

/// Two binders at least; else none.
std::vector<graph::Axis> run_of_binders(const task::Program&, const task::TaskType&, const graph::Graph&,
                                        graph::ScalarId load, const std::vector<graph::Axis>& binders);

/// The indices of the binders of a run where the axis that they are one of has this index.
shape::Substitution split_run(const task::Program&, const std::vector<graph::Axis>& run,
                              const shape::Dim& index);

}  // namespace axon::tile
