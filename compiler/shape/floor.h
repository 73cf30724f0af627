// Division that rounds down, of 128 bits, too. The divisor is not 0.
#pragma once
#include "base/floor.h"
#include "shape/dim.h"

namespace axon::shape {

using base::floor_quotient;
using base::floor_remainder;

/// In 128 bits, far from their ends.
constexpr Wide floor_quotient(Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

}  // namespace axon::shape
