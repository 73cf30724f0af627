// The boxes that a task declares: what it touches of each buffer.
//
// In: a task type with its coordinates, and the places of its node's values. Out: its accesses, one per load
// and output, equal ones once. verify_boxes.cpp proves them from the same bodies in a way of its own.
#pragma once
#include <vector>

#include "task/task.h"

namespace axon::task {

/// The boxes that one task of a type touches, found from the bodies of its node under the program's places.
std::vector<Access> accesses_of(const Program&, const TaskType&);

}  // namespace axon::task
