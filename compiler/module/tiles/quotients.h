// Where lanes of a vector have indices of which quotients by open extents are taken, as where an axis goes
// through several axes of a tensor: mostly all lanes have the same quotient.
//
// In: an offset as a function of the lane's index. Out: the offsets of all lanes with one division for all of
// them, and when they are right. Invariant: both are over the variables of the offset alone.
#pragma once
#include <optional>
#include <vector>

#include "shape/dim.h"

namespace axon::module::tiles {

struct LaneOffsets {
  std::vector<shape::Dim> offsets;
  std::vector<shape::Dim> conditions;  ///< none of these may be negative
};

/// The offset at indices, in ascending order, of which no open quotient differs from the first one's. nullopt
/// where there are no such quotients, or their dividends do not move by a constant step.
std::optional<LaneOffsets> within_quotients(const shape::Dim& offset, shape::Var index,
                                            const std::vector<int64_t>& indices);

}  // namespace axon::module::tiles
