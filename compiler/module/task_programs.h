// One task as an LLVM function made of tile programs: the first of them whose guard holds.
#pragma once
#include <vector>

#include "module/frame.h"
#include "tile/from_task.h"

namespace axon::module {

struct TaskPrograms {
  const task::Program& program;
  const task::TaskType& type;
  const Graph& graph;
  const std::vector<tile::MadeProgram>& list;  ///< the last has no guard
};

/// Gives the function its body. It has the arguments of a task function (task_functions.h).
void emit_task(llvm::Function*, const TaskPrograms&, const target::Machine&);

/// The numbers of steps that a task of the type needs to know: extents of loops with a condition that its
/// boxes mention. They come after the coordinates of its function.
std::vector<Var> steps_read(const task::Program&, const task::TaskType&);

/// Binds loop indices, coordinates and numbers of steps to the arguments of a task function from `first` on.
/// Returns the number of the argument behind them.
unsigned bind_task_arguments(Frame&, const task::Program&, const task::TaskType&, unsigned first);

/// The function asks for the memory that a task reads first of weights, where the first program says so.
void emit_ahead(llvm::Function*, const TaskPrograms&, const target::Machine&);

}  // namespace axon::module
