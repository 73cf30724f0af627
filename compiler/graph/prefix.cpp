// See prefix.h.
#include "graph/prefix.h"

#include <utility>

#include "base/bug.h"
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

/// Takes what the first term is combined with out of it.
void find_begin(const Graph& g, const Scalar& fold, Prefix& prefix) {
  const Scalar& term = g.scalars[prefix.term];
  if (term.op != Op::select || prefix.before != 0) return;
  const Scalar &first = g.scalars[term.args[0]], &combined = g.scalars[term.args[1]];
  const Var point = fold.binders[0].var;
  if (first.op != Op::le || affine_index(g, first.args[0]) != Dim(point) ||
      affine_index(g, first.args[1]) != Dim(0) || combined.op != operator_in_graph(fold.monoid))
    return;
  for (size_t a = 0; a < 2; ++a)
    if (combined.args[a] == term.args[2] && !depends_on(g, combined.args[1 - a], point)) {
      prefix.begin = combined.args[1 - a];
      prefix.term = term.args[2];
      return;
    }
}

}  // namespace

Op operator_in_graph(Monoid monoid) {
  switch (monoid) {
    case Monoid::sum:
      return Op::add;
    case Monoid::prod:
      return Op::mul;
    case Monoid::max:
      return Op::max;
    case Monoid::min:
      return Op::min;
    case Monoid::all:
      return Op::and_;
    case Monoid::any:
      return Op::or_;
    case Monoid::argmax:
      break;
  }
  base::bug("operator_in_graph", "positions are not combined by an operator");
}

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
  Prefix prefix{axis, before, range.unmasked};
  find_begin(g, fold, prefix);
  return prefix;
}

bool goes_through_rows(const Graph& g, const Node& node) {
  return computed_order(g, node) || prefix_reduction(g, node);
}

}  // namespace axon::graph
