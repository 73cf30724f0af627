// A node as statements along one axis: what its tile program computes, and in which loops.
//
// In: a task type whose bodies are pointwise operators and reductions. Out: the loops around (rows), the axis
// that the outputs run along, reductions in the order in which they are computed, and the values of the
// outputs. Where a value stands for the result of a reduction it is a load of the local with the reduction's
// number, without indices.
//
// Invariant: nothing but rows' variables, sizes and loop indices, the variable of its own axis and results of
// earlier reductions occurs in a statement. Each reduction is computed once for each point of the first
// `level` rows. Loads run along the axis of their statement with step 1, or not at all, or along `across`.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "task/task.h"

namespace axon::tile {

/// Which points of an axis count, as the data says: none before `first`, none from `end` on. Numbers of i64
/// in 0 .. the extent, which no point of the axis changes; invalid: no such bound.
struct DataRange {
  graph::ScalarId first, end;
  bool empty() const { return !first.valid() && !end.valid(); }
};

/// A binder that is looped over, and which of its values the data leaves, as binders further out may decide.
struct OuterBinder : graph::Axis {
  OuterBinder(const graph::Axis& axis) : graph::Axis(axis) {}  // NOLINT(google-explicit-constructor)
  DataRange by_data;
  graph::ScalarId unmasked;  ///< what the term is where both bounds hold, if masks say no more
};

struct RowReduction {
  graph::Monoid monoid{};
  base::Elem in{};                 ///< the type of the sum
  base::Elem kept{};               ///< the type of its result
  size_t level = 0;                ///< loops of rows around it
  std::vector<OuterBinder> outer;  ///< outermost first
  graph::Axis along;               ///< the binder that vectors run along
  shape::Dim first, end;           ///< only its values in [first, end) count, a part of the axis or nothing
  graph::ScalarId term;
  DataRange by_data{};         ///< of `along`; elsewhere the term is neutral
  graph::ScalarId unmasked{};  ///< what the term is where both bounds hold, if masks say no more
};

/// visit(part) for what it is made of.
template <class Visit>
void each_scalar(RowReduction& r, const Visit& visit) {
  std::vector<graph::ScalarId*> parts{&r.term, &r.by_data.first, &r.by_data.end, &r.unmasked};
  for (OuterBinder& b : r.outer) parts.insert(parts.end(), {&b.by_data.first, &b.by_data.end, &b.unmasked});
  for (graph::ScalarId* const part : parts)
    if (part->valid()) visit(*part);
}

struct RowForm {
  std::vector<uint32_t> rows;     ///< axes of the node's domain, outermost loop first
  std::optional<uint32_t> along;  ///< another one, which outputs run along
  /// A third one, where the node has no reductions: loads run along it that do not run along `along`. Blocks
  /// have as many rows along this one as they have columns.
  std::optional<uint32_t> across;
  /// Axes that are gone through as one, the last of which is `along` (join_axes.h).
  std::vector<uint32_t> joined;
  std::map<task::BufferId, size_t> flat;  ///< tensors of which so many axes, the last ones, are one
  std::set<task::BufferId> merged;        ///< of these, those whose own axes go through several joined ones
  /// Elements are loaded one by one, where the data says, and no function of them takes longer.
  bool only_gathers = false;
  bool gathers_lines = false;  ///< a reduction gathers what lanes along an output would load together
  /// Elements of neighbouring indices of the last of `rows` share what they load (lane_form.h).
  bool shares_rows = false;
  /// The outputs contain reductions, of which each element has its own (lane_form.h).
  bool has_own_reductions = false;
  std::vector<RowReduction> reductions;
  std::vector<graph::ScalarId> outputs;
  std::vector<shape::Fact> guard;  ///< the form is right where these hold
};

/// The form, or why the node has none. Scalars are added to `graph`, a copy of the program's. With
/// `short_rows` positions in rows are kept as i32, which the form's guard says.
std::variant<RowForm, std::string> row_form(const task::Program&, const task::TaskType&, graph::Graph& graph,
                                            bool short_rows);

/// Does it compute a function of many instructions?
bool has_long_functions(const graph::Graph&, const RowForm&);

/// How far the load moves where the variable does, where that is a number. Indices that the data decides, but
/// the variable does not, stand still.
std::optional<int64_t> step_of_load(const task::Program&, const graph::Graph&, graph::ScalarId load,
                                    shape::Var);

/// Where the load's element lies in its buffer, in elements, where that is known before the data is.
std::optional<shape::Dim> offset_of_load(const task::Program&, const graph::Graph&, graph::ScalarId load);

/// How far apart in memory elements of the output are that are neighbours along the axis of the domain;
/// nullopt where that differs from one to the next.
std::optional<shape::Dim> store_stride(const task::Program&, const graph::Graph&, const task::TaskType&,
                                       uint32_t output, uint32_t axis);

/// What holds of the binders where a reduction folds something.
std::vector<shape::Fact> ranges_of_binders(const graph::Scalar& reduction);

/// How many indices of an axis of the domain, which has the number, a task has at most; the greatest integer
/// where that is open.
int64_t most_of_axis(const task::TaskType&, const graph::Axis&, uint32_t number);

/// Facts over indices that hold where the condition has this value; what is not understood implies none.
std::vector<shape::Fact> implied_facts(const graph::Graph&, graph::ScalarId condition, bool value);

}  // namespace axon::tile
