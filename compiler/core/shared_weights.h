// Weights that several entries of a file take.
#pragma once
#include "core/core.h"
#include "source/diagnostic.h"

namespace axon::core {

/// A weight is bound once for all entries, by its path. Reports entries that disagree about its element type
/// or its number of axes; their sizes are compared when it is bound.
void check_shared_weights(Program&, source::Diagnostics&);

}  // namespace axon::core
