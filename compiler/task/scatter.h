// Recognising a reduction that scatters: for i => sum j => if ids[j] == i then values[j] else 0. Under an
// equation between a domain index and what the binders name, every point of the binders counts for at most
// one value of that index, so going through the binders once, and finding the index, replaces trying every
// pair. Tiling and emission read the same answer.
#pragma once
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace axon::task {

/// A domain index that an equation determines: index == `value` - `rest`, or, mirrored, `rest` - `value`.
struct ScatterIndex {
  uint32_t axis = 0;      ///< position in the domain
  graph::ScalarId value;  ///< over binders, `outer` axes, and the axes indexed before
  shape::Dim rest;        ///< over sizes, loop indices, and the same axes
  bool mirrored = false;
  graph::ScalarId equation;  ///< true wherever the index is that
};

/// body = reduce(monoid, binders, e), where e is the unit of the monoid wherever an equation fails.
struct Scatter {
  std::vector<ScatterIndex> indices;  ///< at least one; a later one may mention earlier ones
  std::vector<uint32_t> outer;        ///< axes that the equations mention: looped over before the binders
  std::vector<uint32_t> inner;        ///< all other axes: looped over for every point that counts
  bool is_indexed(uint32_t axis) const;
};

/// `domain` is that of the body (a node's or a local's).
std::optional<Scatter> find_scatter(const graph::Graph&, graph::ScalarId body,
                                    const std::vector<graph::Axis>& domain);

}  // namespace axon::task
