// Contractions: a row tile by a column tile, one batch element per task. With a single row (a matrix-vector
// product) the work is streaming the right operand, so column tiles are one or two panels wide: enough tasks
// for every worker.
#include <algorithm>

#include "graph/contraction.h"
#include "task/tiling/tiling.h"

namespace axon::task {

namespace {

constexpr int64_t rows_together = 4;

/// The contraction that decides: one with columns over the node's own axes, before dot products.
std::optional<std::pair<std::vector<uint32_t>, std::vector<uint32_t>>> deciding_axes(
    const graph::Graph& g, const graph::Node& node) {
  for (const bool want_columns : {true, false})
    for (const auto& placed : contractions_of(g, node)) {
      if (placed.contraction.columns.empty() == want_columns) continue;
      if (!placed.local) return std::pair{placed.contraction.rows, placed.contraction.columns};
      if (!want_columns) continue;  // a norm's sum of squares: a reduction, not what the node is about
      std::vector<uint32_t> rows, columns;
      for (uint32_t a : placed.contraction.rows)
        for (uint32_t axis : node_axes(g, node, *placed.local, a)) rows.push_back(axis);
      for (uint32_t a : placed.contraction.columns)
        for (uint32_t axis : node_axes(g, node, *placed.local, a)) columns.push_back(axis);
      if (!columns.empty()) return std::pair{rows, columns};
    }
  return std::nullopt;
}

}  // namespace

std::optional<TileRule> tile_contract(const graph::Graph& g, const graph::Node& node, const Tiling& tiling) {
  const auto axes = deciding_axes(g, node);
  if (!axes) return std::nullopt;
  const auto& [rows, columns] = *axes;
  TileRule rule;
  rule.family = Family::contract;
  const auto is_unit = [&](uint32_t axis) { return node.domain[axis].extent.is(1); };
  const bool single_row = std::all_of(rows.begin(), rows.end(), is_unit);
  // Rows may be short, as those of an image are: the right operand is then packed for a few of them.
  const auto groups_rows = [&](uint32_t axis) { return rows.size() > 1 && axis == rows[rows.size() - 2]; };
  for (uint32_t a = 0; a < node.domain.size(); ++a) {
    const bool is_row = std::find(rows.begin(), rows.end(), a) != rows.end();
    const bool is_column = std::find(columns.begin(), columns.end(), a) != columns.end();
    const int64_t column_tile = single_row ? 2 * tiling.panel : tiling.columns;
    if (is_row)
      add_tile(node, a, a == rows.back() ? tiling.rows : groups_rows(a) ? rows_together : 1, rule);
    else if (is_column)
      add_tile(node, a, a == columns.back() ? column_tile : 1, rule);
    else
      add_tile(node, a, 1, rule);
  }
  return rule;
}

}  // namespace axon::task
