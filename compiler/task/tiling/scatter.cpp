// Scattering reductions: every task goes through all points of the binders and keeps those whose index lies
// in its tile, so few large tiles are best, as large as caches near the core hold. Axes that the equations
// mention are one per task, since each point of the binders belongs to one of them. Axes that the equations
// leave alone are cut into runs of 64, long enough to share the search. Axes that the equations index get
// what is left of `targets`.
#include "task/scatter.h"

#include <algorithm>
#include <cmath>

#include "base/contains.h"
#include "task/tiling/tiling.h"

namespace axon::task {

namespace {

constexpr int64_t longest_run = 64;

/// Scatters of a node by the node's own axes.
struct Roles {
  std::vector<uint32_t> indices, outer;
};

template <class Axes>
void add(std::vector<uint32_t>& list, const Axes& axes) {
  for (uint32_t axis : axes)
    if (!base::contains(list, axis)) list.push_back(axis);
}

/// nullopt when a reduction of the node does not scatter.
std::optional<Roles> roles_in(const graph::Graph& g, const graph::Node& node) {
  Roles roles;
  const LocalAxes followed(g, node);
  for (uint32_t l = 0; l < node.locals.size(); ++l) {
    const auto& local = node.locals[l];
    if (!uses(g, local.body, graph::Op::reduce)) continue;
    const auto scatter = find_scatter(g, local.body, local.domain);
    if (!scatter) return std::nullopt;
    for (const ScatterIndex& d : scatter->indices) add(roles.indices, followed.of(l, d.axis));
    for (uint32_t axis : scatter->outer) add(roles.outer, followed.of(l, axis));
  }
  for (const auto& output : node.outputs) {
    if (!uses(g, output.body, graph::Op::reduce)) continue;
    const auto scatter = find_scatter(g, output.body, node.domain);
    if (!scatter) return std::nullopt;
    for (const ScatterIndex& d : scatter->indices) add(roles.indices, std::vector{d.axis});
    add(roles.outer, scatter->outer);
  }
  return roles;
}

int64_t root_of(int64_t number, size_t degree) {
  return static_cast<int64_t>(std::pow(static_cast<double>(number), 1.0 / static_cast<double>(degree)));
}

}  // namespace

std::optional<TileRule> tile_scatter(const graph::Graph& g, const graph::Node& node,
                                     const target::Class& machines) {
  const auto roles = roles_in(g, node);
  if (!roles || roles->indices.empty()) return std::nullopt;
  TileRule rule;
  rule.family = Family::scatter;
  int64_t left = machines.targets;
  for (uint32_t a = static_cast<uint32_t>(node.domain.size()); a-- > 0;) {
    if (base::contains(roles->indices, a)) continue;
    const int64_t length = base::contains(roles->outer, a) ? 1 : std::min(longest_run, left);
    add_tile(node, a, length, rule);
    const int64_t extent = node.domain[a].extent.constant().value_or(length);
    left /= std::max<int64_t>(std::min(extent, length), 1);
  }
  const int64_t each = root_of(left, roles->indices.size());
  for (uint32_t axis : roles->indices) add_tile(node, axis, std::max<int64_t>(each, 1), rule);
  return rule;
}

}  // namespace axon::task
