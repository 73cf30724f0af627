// Tensors whose axes are put into another order, joined or divided to make a parameter (`axes` in a map).
//
// Only what shapes leave no choice about is found: axes of extent 1 that are too many or too few, neighbours
// that are one axis on the other side, and the only order of three axes or more that fits.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/weights/axes.h"
#include "tools/weights/facts.h"
#include "tools/weights/units.h"

namespace axon::tools {

struct Arrangement {
  std::string axes;             ///< the words of a map
  std::vector<uint64_t> shape;  ///< of the parameter, with the axes of a stack
  std::vector<uint32_t> order;  ///< of the file's axes, where nothing else changes; else empty
  bool certain = true;          ///< no other order gives the same shape
};

/// How often axes were found in each order where it was certain: what decides where it is not.
using OrdersSeen = std::map<std::vector<uint32_t>, size_t>;

/// How a weight of this rank can be made of a unit that it cannot be as it lies, nor transposed. `open`: it
/// may be, once more sizes are known.
std::optional<Arrangement> arrangement_of(const Facts&, size_t weight, uint32_t rank, const Unit&,
                                          const OrdersSeen&, bool& open);

}  // namespace axon::tools
