// One axis as two, and two as one: threads as warps and lanes, memory as registers and the lanes of a vector.
//
// In: a layout and a rule, fused = ratio * coarse + fine (axis.h). Out: the same places with the other axes.
// Invariant: `fine` is in [0, ratio) for every point, so fusing and splitting are inverse.
#pragma once
#include "layout/layout.h"
#include "layout/outcome.h"

namespace axon::layout {

/// Refused where coordinates on `fine` leave [0, ratio). The fused axis may be called like one of the others.
Outcome<Layout> fuse(const Layout&, const AxisSplit&);
/// In canonical form. Refused where a digit carries from `fine` into `coarse`.
Outcome<Layout> split(const Layout&, const AxisSplit&);

}  // namespace axon::layout
