// A node that orders keys (the note in graph.h), as what its tile program goes through. Only from_task.cpp
// and from_task/ include this.
//
// In: a task type of the family. Out: the key of an element, over the binder and the axes of the domain but
// the last. Invariant: where keys have two values, they are truth values.
#pragma once
#include <string>
#include <variant>

#include "tile/from_task/row_form.h"

namespace axon::tile {

struct OrderForm {
  RowForm form;  ///< rows: all axes but the last; the output: the key
  graph::Axis binder;
  graph::ScalarId key;
  bool descending = false;
};

/// The form, or why the node has none. Scalars are added to `graph`.
std::variant<OrderForm, std::string> order_form(const task::Program&, const task::TaskType&,
                                                graph::Graph& graph);

}  // namespace axon::tile
