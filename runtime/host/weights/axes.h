// The axes of a tensor in another order, joined or divided: `axes d h k -> d (h k)` in a binding map.
//
// To the left stand the axes of the tensor in its file, to the right those of the parameter. What stands in
// brackets is one axis, in which the names lie one within the other, the last the fastest. `1` is an axis of
// that extent, which the other side lacks. `(h=12 k)` says how large a part of a divided axis is.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/weights/map_line.h"
#include "host/weights/result.h"

namespace axon::weights {

struct AxesPattern {
  /// Positions in `names`: one, or several in brackets; none of an axis of extent 1.
  using Axis = std::vector<uint32_t>;
  std::vector<std::string> names;
  std::vector<std::optional<uint64_t>> sizes;  ///< by name, where one is stated
  std::vector<Axis> from, to;
};

/// Reads what stands behind the word `axes`.
Complaint read_axes(LineReader&, AxesPattern&);
/// As a map has it: `axes d h k -> d (h k)`.
std::string text_of(const AxesPattern&);
/// Axes a, b, c, .. of these extents, as this order of them; those that are left out have the extent 1.
AxesPattern pattern_of(std::span<const uint64_t> shape, std::span<const uint32_t> order);

/// So many axes of a tensor, without others of extent 1; nullopt where there are not as many of these.
std::optional<AxesPattern> leaving_out_ones(std::span<const uint64_t> shape, size_t rank);

struct Arranged {
  std::vector<uint64_t> extents;  ///< by name
  std::vector<uint64_t> shape;    ///< as the parameter has it
  bool reordered = false;         ///< its elements do not lie as in the file
};
/// What becomes of a tensor of this shape; else what is wrong with it, as words behind "`t` is [2, 3], ".
Result<Arranged> arranged(const AxesPattern&, std::span<const uint64_t> shape);

}  // namespace axon::weights
