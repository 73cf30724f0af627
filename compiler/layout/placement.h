// How a whole tensor lies in memory, without regard to its sizes: the order of its digits.
//
// A placement names the digits of the indices from the slowest to the fastest; they lie without gaps. Each
// axis has one digit that takes what is left of it and stands before its others, which have a constant
// extent; the axis is rounded up to a multiple of their product. The tensor is the prefix of what is placed;
// what lies past it is zero. No digits at all are row-major order.
//
//     (0, 1)                rows one after the other
//     (1, 0)                columns one after the other
//     (1/32, 0, 1%32)       panels of 32 columns, row after row inside of each
//
// is how they are written: `a/n` is what is left of axis a above n positions, `a%n` the lowest n of them, and
// `a/m%n` n of them above m. With a shape a placement is a layout (layout_of).
//
// Where the program states a layout, that is the placement, over the shape as it is, and may have sizes for
// strides. It is in memory, and need not be without gaps.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "layout/layout.h"

namespace axon::layout {

struct Placement {
  struct Digit {
    uint32_t axis = 0;
    int64_t extent = 0;  ///< 0: what is left
    friend bool operator==(const Digit&, const Digit&) = default;
  };
  std::vector<Digit> digits;
  std::optional<Layout> stated = std::nullopt;  ///< then there are no digits
  bool is_row_major() const { return digits.empty() && !stated; }
  friend bool operator==(const Placement&, const Placement&) = default;
};

/// The axes of a matrix in a tensor.
struct PanelAxes {
  uint32_t column, depth;
  friend bool operator==(const PanelAxes&, const PanelAxes&) = default;
};
/// Panels of so many columns, the depth whole in each; the other axes come first, in their order.
Placement panels(size_t rank, const PanelAxes&, int64_t columns);
/// The last axis are the columns, the one before it is the depth. Of at least two axes.
Placement panels(size_t rank, int64_t columns);

/// Why there is no such placement of tensors of that rank; nullopt where there is one.
std::optional<std::string> why_ill_formed(const Placement&, size_t rank);

// Of a well-formed placement, with the shape's rank:

/// What each axis is rounded up to a multiple of.
std::vector<int64_t> multiples_of(const Placement&, size_t rank);
/// Over the shape rounded up.
Layout layout_of(const Placement&, const Shape&);
/// The number of the element: what layout_of() gives on the axis `m`.
Dim offset_of(const Placement&, const Shape&, const std::vector<Dim>& index);
/// How many elements it takes, those past the shape and in gaps among them; of a stated layout, from the
/// least to the greatest coordinate of any element.
Dim elements_of(const Placement&, const Shape&);

/// `(1/32, 0, 1%32)`; `()` of row-major order. Of digits: a stated layout prints as layouts do.
std::string print(const Placement&);
/// Reads what print() writes, from the front of the text, which it takes it from; nullopt where there is
/// none.
std::optional<Placement> parse_placement(std::string_view& text);

}  // namespace axon::layout
