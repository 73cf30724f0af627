// Places in memory with one stride for each axis of a tensor: what callers of entries have.
#pragma once
#include "layout/layout.h"
#include "layout/outcome.h"

namespace axon::layout {

/// The step in memory of each axis; 0 of an axis of extent 1. Element 0 is where it is: the offset is not
/// looked at. Refused where the layout has replicas or counts on another axis than `m`, and where an axis has
/// no one stride.
Outcome<std::vector<Dim>> strides_of(const Layout&, const Shape&);
/// The layout with these strides, element 0 at 0.
Layout strided(const Shape&, const std::vector<Dim>& strides);
/// Do the strides of such a layout say that it is row-major? Of an axis of extent 1 none does.
bool is_row_major(const Layout& strided, const Shape&);

}  // namespace axon::layout
