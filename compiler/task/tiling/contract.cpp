// Contractions: a row tile by a column tile, one batch element per task. Column tiles are one or two panels
// wide: with few rows the work is streaming the right operand, and only columns give tasks to share between
// workers; with many, wider tiles gained nothing. Rows that have right operands of their own, by an index of
// the data, are few, and have one panel: where each streams another one, tasks are what there is to share.
#include <algorithm>

#include "graph/contraction.h"
#include "task/tiling/tiling.h"

namespace axon::task {

namespace {

constexpr int64_t rows_together = 4;

/// Axes of the node's domain.
struct Axes {
  std::vector<uint32_t> rows, columns, runs;
  bool panels;  ///< the right operand is a weight that needs no packing
};

/// Of the contraction that decides: one with columns over the node's own axes, before dot products.
std::optional<Axes> deciding_axes(const graph::Graph& g, const graph::Node& node) {
  for (const bool want_columns : {true, false})
    for (const auto& placed : contractions_of(g, node)) {
      if (placed.contraction.columns.empty() == want_columns) continue;
      const bool panels = graph::panel_axes(g, placed.contraction).has_value();
      std::vector<uint32_t> runs;
      if (placed.contraction.runs) runs.push_back(*placed.contraction.runs);
      if (!placed.local) return Axes{placed.contraction.rows, placed.contraction.columns, runs, panels};
      if (!want_columns) continue;  // a norm's sum of squares: a reduction, not what the node is about
      Axes axes{{}, {}, {}, panels};
      const LocalAxes followed(g, node);
      for (uint32_t a : placed.contraction.rows)
        for (uint32_t axis : followed.of(*placed.local, a)) axes.rows.push_back(axis);
      for (uint32_t a : placed.contraction.columns)
        for (uint32_t axis : followed.of(*placed.local, a)) axes.columns.push_back(axis);
      for (uint32_t a : runs)
        for (uint32_t axis : followed.of(*placed.local, a)) axes.runs.push_back(axis);
      if (!axes.columns.empty()) return axes;
    }
  return std::nullopt;
}

/// Rows of a contraction, where they are constant and few: tasks stream the right operand once.
bool has_few_rows(const graph::Node& node, const std::vector<uint32_t>& rows) {
  int64_t count = 1;
  for (uint32_t a : rows)
    count *= std::min(node.domain[a].extent.constant().value_or(INT64_MAX), rows_together + 1);
  return count <= rows_together;
}

/// Is the left operand read as it lies in memory, so that no task prepares it for itself?
bool reads_left(const graph::Graph& g, const graph::Contraction& c) {
  return c.left.size() == 1 && g.scalars[c.left.front()].op == graph::Op::load &&
         !g.scalars[c.left.front()].target.is_local();
}

int64_t panel_of(const target::Class& machines) {
  return machines.panel_columns == 0 ? machines.columns : machines.panel_columns;
}

/// Columns of a tile: a panel where right operands are stored as panels, two where they are not, whose rows
/// would else be read in pieces of few cache lines, or where tasks prepare their left operands.
int64_t columns_of(const graph::Graph& g, const graph::Node& node, const std::vector<uint32_t>& rows,
                   const target::Class& machines) {
  for (const auto& placed : contractions_of(g, node)) {
    const graph::Contraction& c = placed.contraction;
    if (c.columns.empty()) continue;
    if (!graph::panel_axes(g, c) || !(reads_left(g, c) || has_few_rows(node, rows))) return machines.columns;
  }
  return panel_of(machines);
}

}  // namespace

std::optional<TileRule> tile_contract(const graph::Graph& g, const graph::Node& node,
                                      const target::Class& machines) {
  const auto axes = deciding_axes(g, node);
  if (!axes) return std::nullopt;
  const auto& [rows, columns, runs, panels] = *axes;
  TileRule rule;
  rule.family = Family::contract;
  // Rows may be short, as those of an image are: a task has a few of them. Where their right operand is
  // packed, it is for as many as there can be.
  const bool grouped = rows.size() > 1;
  const int64_t last_rows = grouped && panels ? machines.rows / rows_together : machines.rows;
  for (uint32_t a = 0; a < node.domain.size(); ++a) {
    const auto is_last = [&](const std::vector<uint32_t>& of) { return !of.empty() && a == of.back(); };
    const bool is_group = grouped && a == rows[rows.size() - 2];
    add_tile(node, a,
             is_last(rows)      ? last_rows
             : is_group         ? rows_together
             : is_last(columns) ? (runs.empty() ? columns_of(g, node, rows, machines) : panel_of(machines))
             : is_last(runs)    ? machines.runs
                                : 1,
             rule);
  }
  return rule;
}

}  // namespace axon::task
