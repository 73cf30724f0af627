// Which segments run side by side.
#pragma once
#include <map>
#include <vector>

#include "plan/plan.h"

namespace axon::plan {

/// Puts neighbours that do not wait for each other into lines, in every list of steps.
void run_side_by_side(const task::Program&, std::vector<Step>&);

/// For each task type the number of the line that its segment may stand in, by the waits that the program has
/// so far: types with different numbers are never in one line.
std::map<task::TaskTypeId, uint32_t> possible_lines(const task::Program&);

}  // namespace axon::plan
