// Rounding of a double to an element type, as base/round.h has it.
#pragma once
#include "base/round.h"

namespace axon::graph {

using base::round_to;
using base::truncate_to;
using base::wrap_to;

}  // namespace axon::graph
