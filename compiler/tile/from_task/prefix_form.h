// A node of prefix reductions (graph/prefix.h), as what its tile program goes through. Only from_task.cpp and
// from_task/ include this.
//
// In: a task type of the family. Out: a form with one reduction, whose binder is the axis itself, and whose
// result is the output. Invariant: the term has no reductions.
#pragma once
#include <string>
#include <variant>

#include "tile/from_task/row_form.h"

namespace axon::tile {

struct PrefixForm {
  /// along: the axis of the prefix, or, where that is `down`, one of which elements lie together.
  RowForm form;
  uint32_t axis = 0;  ///< of the prefix
  bool down = false;  ///< lanes have rows of their own
  graph::ScalarId begin;  ///< what a row begins from; invalid: nothing
};

/// The form, or why the node has none. Scalars are added to `graph`.
std::variant<PrefixForm, std::string> prefix_form(const task::Program&, const task::TaskType&,
                                                  graph::Graph& graph);

}  // namespace axon::tile
