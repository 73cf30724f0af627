// Rounding of a double to an element type: to nearest, ties to even; integers saturate as casts do.
#pragma once
#include <cstdint>

#include "base/elem.h"

namespace axon::graph {

/// `value` as the nearest number of a float type. Overflow gives an infinity; f8e4m3 has none and gives NaN.
double round_to(base::Elem elem, double value);
/// `value` reduced to the width of an integer type (two's complement); bool: 0 or 1.
int64_t wrap_to(base::Elem elem, int64_t value);
/// A float as an integer type: truncated, saturated, NaN as 0; bool: whether it is not zero.
int64_t truncate_to(base::Elem elem, double value);

}  // namespace axon::graph
