// What uses itself among declarations.
//
// In: who uses whom. Out: an order in which each comes after what it uses, and those that have to be left out
// for there to be one. Invariant: both depend on the uses and the order of the numbers only.
#pragma once
#include <cstdint>
#include <vector>

namespace axon::session {

struct UseOrder {
  std::vector<uint32_t> order;     ///< all of them
  std::vector<uint32_t> circular;  ///< of each circle its lowest, again until no circle is left; sorted
};

/// `uses[i]`: what i uses, by number.
UseOrder order_of_uses(const std::vector<std::vector<uint32_t>>& uses);

}  // namespace axon::session
