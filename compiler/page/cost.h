// What an entry costs, as formulas over its sizes.
//
// In: a task program. Out: scalar operations and bytes, for all sizes. Assumed: of two operands that depend
// on the iteration of a loop around them, the value in its middle stands for all. Operations are those of
// task/work.h. Bytes are the least that have to move: each element that is looked at once, but no more than
// there are.
#pragma once
#include "task/task.h"

namespace axon::page {

struct Cost {
  shape::Dim operations, bytes;
};

/// Of a task type: its whole grid in every iteration, every operand moved to it and every result from it.
Cost cost_of(const task::Program&, task::TaskTypeId);

/// Of the entry: the sum of the operations, but for packing operands, which no product needs; what is kept
/// between its tasks need not move, so of the bytes arguments, weights, states and results alone.
Cost least_cost(const task::Program&);

/// The least that a task type has to do in all of its runs, however its node is cut into tasks: operations of
/// task::arithmetic_of, the bytes of cost_of, and of those the part that comes from arguments, weights and
/// states or goes to states and results. The rest stays between the tasks of the entry.
struct Least {
  shape::Dim operations, bytes, outside;
};
Least least_of(const task::Program&, task::TaskTypeId);

/// How often the grid of a task type runs.
shape::Dim runs_of(const task::Program&, task::TaskTypeId);

}  // namespace axon::page
