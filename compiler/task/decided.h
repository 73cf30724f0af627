// Variables whose values only the data decides, and where they change: the numbers of steps of loops with a
// condition.
//
// Such a variable gets its value in an iteration of the loops around it, and another one in the next. Two
// tasks of one iteration speak of the same value; of different iterations, of values that have nothing to do
// with each other but their range.
#pragma once
#include <optional>
#include <vector>

#include "task/task.h"

namespace axon::task {

/// The number of steps of a loop with a condition; nullopt: of another loop, whose trip count is a size.
std::optional<Var> steps_of(const Program&, LoopId);

/// Does the loop stand inside of another?
bool is_nested(const Program&, LoopId);

/// What is decided anew in every iteration of a loop.
std::vector<Var> decided_inside(const Program&, LoopId);

/// What is known of every value of a decided variable.
std::vector<Fact> range_of_decided(const Dim& value);

}  // namespace axon::task
