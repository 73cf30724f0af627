// Reductions: a short run of results along the last axis per task, everything else one at a time. Where
// elements lie next to each other along an axis of the result, and not along a binder, a task reads a long
// run of them before it goes on to what lies far away: the run is several cache lines, and vectors. What is
// written of a row along with its statistics (keep_rows) is written by the task that computes those: the axes
// that no reduction follows are whole. Of rows whose length is known to be small a task may have more.
#include <algorithm>

#include "task/tiling/tiling.h"

namespace axon::task {

namespace {

using graph::Axis;
using graph::Graph;
using graph::Node;
using graph::Op;
using graph::ScalarId;

constexpr int64_t short_run = 16, most_rows = 1024;

/// For each axis of a domain how many loads of the reductions in a body run along it, of those that change
/// with a binder; less those that run along a binder.
std::vector<int> count_runs(const Graph& g, ScalarId body, const std::vector<Axis>& domain) {
  std::vector<int> runs(domain.size(), 0);
  for (ScalarId id : scalars_in(g, body)) {
    const auto& reduce = g.scalars[id];
    if (reduce.op != Op::reduce) continue;
    for (ScalarId l : loads_in(g, reduce.args[0])) {
      const auto& load = g.scalars[l];
      const auto changes = [&](const Axis& b) { return depends_on(g, l, b.var); };
      if (load.target.is_local() || std::none_of(reduce.binders.begin(), reduce.binders.end(), changes))
        continue;
      const auto moves = [&](const Axis& a) { return runs_along(g, load, a.var); };
      if (std::any_of(reduce.binders.begin(), reduce.binders.end(), moves))
        for (int& count : runs) --count;
      else
        for (size_t a = 0; a < domain.size(); ++a) runs[a] += moves(domain[a]) ? 1 : 0;
    }
  }
  return runs;
}

/// The axis of the node along which most loads of its reductions run; nullopt where binders have more.
std::optional<uint32_t> column_of(const Graph& g, const Node& node) {
  std::vector<int> runs(node.domain.size(), 0);
  const LocalAxes axes(g, node);
  for (uint32_t l = 0; l < node.locals.size(); ++l) {
    const auto& local = node.locals[l];
    const auto counts = count_runs(g, local.body, local.domain);
    for (uint32_t a = 0; a < counts.size(); ++a)
      for (uint32_t axis : axes.of(l, a)) runs[axis] += counts[a];
  }
  for (const auto& output : node.outputs) {
    const auto counts = count_runs(g, output.body, node.domain);
    for (size_t a = 0; a < counts.size(); ++a) runs[a] += counts[a];
  }
  const auto most = std::max_element(runs.begin(), runs.end());
  if (most == runs.end() || *most <= 0) return std::nullopt;
  return static_cast<uint32_t>(most - runs.begin());
}

/// The axes of the node that its reductions follow: all, or, where the outputs are pointwise, those along
/// which they read locals that reduce.
std::vector<bool> reduced_axes(const Graph& g, const Node& node) {
  std::vector<bool> followed(node.domain.size(), false);
  for (const auto& output : node.outputs)
    if (uses(g, output.body, Op::reduce) || uses(g, output.body, Op::online))
      return std::vector(followed.size(), true);
  const LocalAxes axes(g, node);
  for (uint32_t l = 0; l < node.locals.size(); ++l) {
    const auto& local = node.locals[l];
    if (!uses(g, local.body, Op::reduce) && !uses(g, local.body, Op::online)) continue;
    for (uint32_t a = 0; a < local.domain.size(); ++a)
      for (uint32_t axis : axes.of(l, a)) followed[axis] = true;
  }
  return followed;
}

/// Through how many elements the longest reduction goes for one result; nullopt where that is open.
std::optional<int64_t> longest_reduction(const Graph& g, const Node& node, int64_t most) {
  std::optional<int64_t> longest = 1;
  const auto look = [&](ScalarId body) {
    for (ScalarId id : scalars_in(g, body)) {
      std::optional<int64_t> points = 1;
      for (const Axis& b : g.scalars[id].binders) {
        const auto extent = b.extent.constant();
        points = points && extent ? std::optional(std::min(*points * std::min(*extent, most), most))
                                  : std::nullopt;
      }
      longest = longest && points ? std::optional(std::max(*longest, *points)) : std::nullopt;
    }
  };
  for (const auto& local : node.locals) look(local.body);
  for (const auto& output : node.outputs) look(output.body);
  return longest;
}

/// As many rows as have enough elements together, a power of two.
int64_t rows_with(int64_t elements, int64_t each) {
  int64_t rows = 1;
  while (rows < most_rows && rows * each < elements) rows *= 2;
  return rows;
}

}  // namespace

bool reduces_much(const Graph& g, const Node& node, const target::Class& machines) {
  bool much = false;
  const auto look = [&](ScalarId body) {
    for (ScalarId id : scalars_in(g, body)) {
      int64_t points = 1;
      for (const Axis& b : g.scalars[id].binders)
        points =
            std::min(points, machines.points) * std::min(b.extent.constant().value_or(1), machines.points);
      much |= points >= machines.points;
    }
  };
  for (const auto& local : node.locals) look(local.body);
  for (const auto& output : node.outputs) look(output.body);
  return much;
}

TileRule tile_reduce(const Graph& g, const Node& node, const target::Class& machines) {
  const int64_t long_run = std::max(machines.points / 8, short_run);
  TileRule rule;
  rule.family = Family::reduce;
  const auto column = column_of(g, node);
  const std::vector<bool> followed = reduced_axes(g, node);
  const bool rows = std::find(followed.begin(), followed.end(), false) != followed.end();
  int64_t run = reduces_much(g, node, machines) ? 1 : rows ? machines.whole_rows : short_run;
  if (const auto each = longest_reduction(g, node, machines.points); each && run > 1)
    run = std::max(run, rows_with(machines.reduced, *each));
  for (uint32_t a = static_cast<uint32_t>(node.domain.size()); a-- > 0;) {
    if (!followed[a] && !node.domain[a].extent.is(1)) continue;
    add_tile(node, a, a == column ? long_run : run, rule);
    run = 1;
  }
  return rule;
}

}  // namespace axon::task
