// How a compute node is cut into tasks: which domain axes get coordinates, and how long a tile is along each.
// One rule per operator family, in the file of that name. Tiles are constants; an axis without a tile is
// whole in every task. A rule looks at extents only to see whether they are constant: sizes stay symbolic.
#pragma once
#include <set>
#include <utility>
#include <vector>

#include "graph/prefix.h"
#include "task/task.h"

namespace axon::task {

struct Tile {
  uint32_t axis;
  int64_t length;
};

struct TileRule {
  Family family = Family::elementwise;
  std::vector<Tile> tiles;  ///< in domain order
};

/// The family decides by the strongest reduction in the node: order, prefix, online, contraction, reduction,
/// none. A node scatters when all its reductions do.
TileRule choose_tiles(const graph::Graph&, const graph::Node&, const target::Class&);

TileRule tile_order(const graph::Graph&, const graph::Node&, const target::Class&);
TileRule tile_prefix(const graph::Node&, const graph::Prefix&, const target::Class&);
TileRule tile_online(const graph::Graph&, const graph::Node&, const target::Class&);
std::optional<TileRule> tile_contract(const graph::Graph&, const graph::Node&, const target::Class&);
std::optional<TileRule> tile_scatter(const graph::Graph&, const graph::Node&, const target::Class&);
TileRule tile_reduce(const graph::Graph&, const graph::Node&, const target::Class&);
TileRule tile_elementwise(const graph::Graph&, const graph::Node&, const target::Class&);

/// Does one element of the node reduce as much as a task has to do, whatever the sizes?
bool reduces_much(const graph::Graph&, const graph::Node&, const target::Class&);

/// Do elements of the load's tensor follow one another along the variable?
bool runs_along(const graph::Graph&, const graph::Scalar& load, graph::Var);

/// Adds a tile unless the axis is known to fit into one.
void add_tile(const graph::Node&, uint32_t axis, int64_t length, TileRule&);

/// Is an operator used anywhere in a body, or in the node's bodies?
bool uses(const graph::Graph&, graph::ScalarId body, graph::Op);
bool uses(const graph::Graph&, const graph::Node&, graph::Op);

/// Axes of the node's domain that the axes of its locals follow: through the loads of a local by the outputs,
/// and by later locals.
class LocalAxes {
 public:
  LocalAxes(const graph::Graph&, const graph::Node&);
  const std::set<uint32_t>& of(uint32_t local, uint32_t axis) const { return axes_[local][axis]; }

 private:
  std::vector<std::vector<std::set<uint32_t>>> axes_;  ///< by local and its axis
};

}  // namespace axon::task
