// Data-dependent trip counts: the numbers of iterations of loops with an exit condition.
//
// Each is a variable. A nested loop with an exit condition runs once in each iteration of the loops around
// it, and its variable has another value every time. Two tasks of one iteration refer to the same value.
// Between tasks of different iterations nothing relates the two values; only their range is known.
#pragma once
#include <optional>
#include <vector>

#include "task/task.h"

namespace axon::task {

/// Returns the trip count of a loop with an exit condition; nullopt for other loops, whose trip count is a
/// size.
std::optional<Var> data_trip_count(const Program&, LoopId);

/// Does the loop stand inside of another?
bool is_nested(const Program&, LoopId);

/// Returns the data-dependent trip counts of the loops inside of this one: those that change in each
/// iteration of it.
std::vector<Var> data_trip_counts_inside(const Program&, LoopId);

/// Returns the facts that hold of every data-dependent trip count, stated of `count`.
std::vector<Fact> range_of_trip_count(const Dim& count);

}  // namespace axon::task
