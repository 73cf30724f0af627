// What the tasks of a program really touch, by the boxes that they declare.
//
// In: a task type, numbers for sizes and trip counts. Out: the bytes of the boxes of all of its tasks in all
// iterations, each box counted for each task. Where the data chooses what is read, a box has all that it may
// be.
#pragma once
#include <optional>

#include "task/task.h"

namespace axon::page {

/// nullopt where a number is missing, or boxes differ in more ways than are worth to be looked at.
std::optional<double> box_bytes(const task::Program&, task::TaskTypeId, const shape::Assignment&);

}  // namespace axon::page
