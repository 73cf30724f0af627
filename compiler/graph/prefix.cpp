// See prefix.h.
#include "graph/prefix.h"

#include <utility>

#include "graph/binder_range.h"

namespace axon::graph {

namespace {

bool is_within(const Graph& g, const Dim& extent, const Dim& most) {
  if (extent == most) return true;
  return shape::prove(g.facts, shape::at_most(extent, most)).verdict == shape::Verdict::proved;
}

/// Which points count at an index of an axis: those up to it, or up to so many before it.
std::optional<std::pair<uint32_t, int64_t>> axis_of_end(const Node& node, const BinderRange& range) {
  if (!range.low.empty() || !range.low_by_data.empty() || !range.end_by_data.empty()) return std::nullopt;
  if (range.end.size() != 1 || !range.unmasked.valid()) return std::nullopt;
  for (uint32_t a = 0; a < node.domain.size(); ++a) {
    const auto more = (range.end[0] - Dim(node.domain[a].var)).constant();
    if (more && *more <= 1) return std::pair(a, 1 - *more);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Prefix> prefix_reduction(const Graph& g, const Node& node) {
  if (node.op != NodeOp::compute || node.outputs.size() != 1 || !node.locals.empty()) return std::nullopt;
  if (!node.dynamic_sizes.empty() || node.guarded) return std::nullopt;
  const Scalar& fold = g.scalars[node.outputs[0].body];
  if (fold.op != Op::reduce || fold.monoid == Monoid::argmax || fold.binders.size() != 1) return std::nullopt;
  if (g.scalars[fold.args[0]].op != Op::select) return std::nullopt;  // nothing masks points
  const BinderRange range = binder_range(g, fold, 0);
  const auto end = axis_of_end(node, range);
  if (!end || depends_on(g, range.unmasked, node.domain[end->first].var)) return std::nullopt;
  const auto [axis, before] = *end;
  if (!is_within(g, node.domain[axis].extent, fold.binders[0].extent + Dim(before))) return std::nullopt;
  return Prefix{axis, before, range.unmasked};
}

bool goes_through_rows(const Graph& g, const Node& node) {
  return computed_order(g, node) || prefix_reduction(g, node);
}

}  // namespace axon::graph
