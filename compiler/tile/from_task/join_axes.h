// Axes that lie together in memory as one. Only from_task.cpp and from_task/ include this.
//
// In: a form without reductions. Out: the same form, where the last axes of the domain are one, which blocks
// run along, and so are the last axes of every tensor that has them. Invariant: what a task reads and writes
// of such a tensor is one range of it wherever the form's guard holds.
#pragma once
#include <optional>
#include <vector>

#include "tile/from_task/row_form.h"
#include "tile/tile.h"

namespace axon::tile {

/// nullopt where no axes can be joined, or nothing would be gained.
std::optional<RowForm> with_joined_axes(const task::Program&, const task::TaskType&, const graph::Graph&,
                                        const RowForm&);

/// The axes of the domain whose indices are the digits of an index that goes through an axis of that extent,
/// the one with the longest step first. None where the index is something else, or of one axis.
std::vector<uint32_t> digits_of(const graph::Node&, const shape::Dim& index, const shape::Dim& extent);

/// What a task has of an axis of the domain.
Interval part_of_task(const task::TaskType&, const graph::Node&, uint32_t axis);

/// Of a tensor of that shape, the last `count` axes as one: its shape, an element's index, a box whose
/// intervals but the first of them are all of their axes.
std::vector<shape::Dim> joined_shape(std::vector<shape::Dim> shape, size_t count);
std::vector<shape::Dim> joined_index(std::vector<shape::Dim> index, const std::vector<shape::Dim>& shape,
                                     size_t count);
Box joined_box(Box box, const std::vector<shape::Dim>& shape, size_t count);
/// Whole rows.
Interval joined_interval(const Interval& of_rows, const shape::Dim& row);

}  // namespace axon::tile
