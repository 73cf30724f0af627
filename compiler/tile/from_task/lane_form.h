// A node of which each lane computes elements of its own: the form of what has no better one.
//
// In: a task type whose bodies are pointwise operators, reductions and online reductions, of any strides,
// nested as they like. Out: a row form whose outputs contain the reductions that differ from lane to lane, or
// that rows do not have once; a lane goes through all of their points. Online reductions are written out.
//
// Where elements share what they load with those further along a second axis, as in products, that is the
// last one of the form's rows.
//
// Invariant: the outputs run along an axis of which each of them stores elements with one stride, or
// along none.
#pragma once
#include <string>
#include <variant>

#include "tile/from_task/row_form.h"

namespace axon::tile {

enum class LaneChoice : uint8_t {
  rows,     ///< as columns, and rows along a second axis that share what they load
  columns,  ///< lanes along an axis; reductions that do not differ there are those of rows
  all,      ///< lanes along an axis, which have all reductions
  single,   ///< one element at a time
};

/// The form, or why the node has none. Scalars are added to `graph`.
std::variant<RowForm, std::string> lane_form(const task::Program&, const task::TaskType&, graph::Graph& graph,
                                             bool short_rows, LaneChoice);

}  // namespace axon::tile
