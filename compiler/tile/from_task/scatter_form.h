// A node whose reductions scatter (task/scatter.h), as what its tile program goes through. Only from_task.cpp
// and from_task/ include this.
//
// In: a task type of the family. Out: reductions, each with its binders, where a point of these goes, and the
// term that is combined there; and the outputs, in which a load of the local with a reduction's number stands
// for its result at the same point. Invariant: neither numbers nor terms mention the axes that they index:
// where such an index stood, there is what the equation says that it is.
#pragma once
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tile/from_task/row_form.h"

namespace axon::tile {

/// The index on an axis of the domain: the number and `offset`.
struct ScatteredIndex {
  uint32_t axis = 0;
  graph::ScalarId number;  ///< an i64
  shape::Dim offset;       ///< over sizes, loop indices and outer axes
};

struct ScatteredSum {
  graph::Monoid monoid{};
  base::Elem in{};    ///< the type of the sum
  base::Elem kept{};  ///< the type of its result
  std::vector<ScatteredIndex> indices;
  std::vector<uint32_t> outer;       ///< axes that are looped over before the binders
  std::vector<graph::Axis> binders;  ///< in the order of the sum, outermost first
  /// Further binders, inside of these, which no index depends on: their sum is one term. The last one is that
  /// along which vectors run.
  std::vector<graph::Axis> summed;
  std::vector<uint32_t> inner;    ///< other axes that terms differ along, but for `along`
  std::optional<uint32_t> along;  ///< an inner axis that vectors run along
  graph::ScalarId term;           ///< right where the indices are in range
  graph::ScalarId guard;          ///< where its checks are evaluated; none where it has no checks
};

struct ScatterForm {
  RowForm form;  ///< without reductions: of the outputs
  std::vector<ScatteredSum> sums;
};

/// The form, or why the node has none. Scalars are added to `graph`.
std::variant<ScatterForm, std::string> scatter_form(const task::Program&, const task::TaskType&,
                                                    graph::Graph& graph);

}  // namespace axon::tile
