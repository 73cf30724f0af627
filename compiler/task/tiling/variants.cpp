// The plan variants of an entry: under which sizes it pays to cut tasks otherwise.
//
// In: a graph. Out: guards over its sizes with the tiling for each, the last without a guard. When every
// contraction has so few rows that one tile holds them (a short prompt, a small batch), its work is streaming
// the right operand, and only columns give tasks to share between workers: their tiles are then narrow, as
// for a single row.
#include <algorithm>

#include "graph/contraction.h"
#include "task/tiling/tiling.h"

namespace axon::task {

namespace {

bool over_sizes(const graph::Graph& g, const Dim& dim) {
  const auto vars = dim.vars();
  return std::all_of(vars.begin(), vars.end(), [&](graph::Var v) {
    return std::any_of(g.sizes.begin(), g.sizes.end(), [&](const graph::Size& s) {
      return s.var == v && s.from != graph::Size::From::data;  // variants are chosen before anything runs
    });
  });
}

bool tiles_columns(const TileRule& rule, const Tiling& tiling) {
  return std::any_of(rule.tiles.begin(), rule.tiles.end(),
                     [&](const Tile& tile) { return tile.length == tiling.columns; });
}

/// The symbolic numbers of rows that contractions with tiled columns have, each once.
std::vector<Dim> symbolic_rows(const graph::Graph& g, const Tiling& tiling) {
  std::vector<Dim> rows;
  for (const graph::Node& node : g.nodes) {
    if (node.op != graph::NodeOp::compute) continue;
    const auto rule = tile_contract(g, node, tiling);
    if (!rule || !tiles_columns(*rule, tiling)) continue;
    for (const Tile& tile : rule->tiles) {
      const Dim& extent = node.domain[tile.axis].extent;
      if (tile.length != tiling.rows || extent.constant() || !over_sizes(g, extent)) continue;
      if (std::find(rows.begin(), rows.end(), extent) == rows.end()) rows.push_back(extent);
    }
  }
  return rows;
}

}  // namespace

std::vector<VariantChoice> choose_variants(const graph::Graph& g, const Tiling& tiling) {
  constexpr size_t most_rows = 3;  // more conditions than these rarely hold together
  std::vector<VariantChoice> choices;
  const std::vector<Dim> rows = symbolic_rows(g, tiling);
  if (!rows.empty() && rows.size() <= most_rows) {
    VariantChoice few{{}, tiling};
    for (const Dim& extent : rows) few.guard.push_back(shape::at_most(extent, Dim(tiling.rows)));
    few.tiling.columns = 2 * tiling.panel;
    choices.push_back(std::move(few));
  }
  choices.push_back({{}, tiling});
  return choices;
}

}  // namespace axon::task
