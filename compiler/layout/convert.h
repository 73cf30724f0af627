// What it takes to bring the elements of a tensor from one layout to another.
//
// In: two layouts of one size, and the device axes on which the copies of the first are partial sums. Out:
// what moves on each axis. A holder, a device or thread at one coordinate of each axis, needs those elements
// that the second layout has there. Invariant: an axis is `same` or `local` only where every holder has what
// it needs.
#pragma once
#include <map>
#include <set>
#include <string>

#include "layout/layout.h"
#include "layout/outcome.h"

namespace axon::layout {

enum class Movement : uint8_t {
  // nothing moves on the axis
  same,   ///< all coordinates are equal
  local,  ///< those of the second are among those of the first: copies are let go
  // within a device, from the cheapest on
  within_thread,  ///< other registers, lanes of vectors or addresses
  shuffle,        ///< other lanes of a warp
  shared,         ///< other warps of a block, through shared memory
  global,         ///< other blocks, through global memory
  // between devices
  permute,         ///< each has a part, whole, and others have it after
  broadcast,       ///< and several have it after
  scatter,         ///< what one has is parted
  gather,          ///< parts are put together
  all_gather,      ///< and several have them after
  all_to_all,      ///< parts are cut otherwise
  reduce,          ///< partial sums, of which one has the sum after
  reduce_scatter,  ///< of which each has a part of the sum after
  all_reduce,      ///< of which several have the sum after
};
std::string name(Movement);

struct Conversion {
  std::map<Axis, Movement> axes;  ///< each that one of the two has, after the chain of threads was made alike
  /// What the threads of a device need: the dearest movement on a thread or memory axis.
  Movement in_device() const;
};
/// Refused where the sizes differ, or where it is not decided what moves on an axis: the facts say too little
/// of sizes, or extents of over a million elements do not divide each other.
Outcome<Conversion> conversion(const Layout& from, const Layout& to, const std::set<Axis>& partial_sums = {},
                               const std::vector<shape::Fact>& = {}, const Axes& = {});

}  // namespace axon::layout
