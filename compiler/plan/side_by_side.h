// Which segments run side by side.
#pragma once
#include <vector>

#include "plan/plan.h"

namespace axon::plan {

/// Puts neighbours that do not wait for each other into lines, in every list of steps.
void run_side_by_side(const task::Program&, std::vector<Step>&);

}  // namespace axon::plan
