// Parts of tensors as layouts of their own.
#pragma once
#include <vector>

#include "layout/layout.h"
#include "layout/outcome.h"

namespace axon::layout {

/// begin <= index < begin + extent, within the axis.
struct Range {
  Dim begin, extent;
};
/// The layout of the box, one range for each axis of the shape. Sizes are taken to lie within the axes,
/// numbers are looked at. It is refused where no layout with the axes of the box places its elements so: a
/// range that takes unequal parts of a digit. Of sizes, a range has to take whole digits, or to stay in one.
Outcome<Layout> slice(const Layout&, const Shape&, const std::vector<Range>&);

}  // namespace axon::layout
