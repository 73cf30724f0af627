// Where temporaries lie in the arena.
#pragma once
#include "plan/plan.h"

namespace axon::plan {

/// Returns the slots of all temporaries, in the order of their addresses at typical sizes. Adds to the
/// program the waits that temporaries need to share memory, and to its certificate the chains of waits that
/// prove that their lives do not overlap. Call it before anything else looks at the program's waits.
std::vector<Slot> place_temporaries(task::Program&);

}  // namespace axon::plan
