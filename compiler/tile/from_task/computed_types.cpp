// See computed_types.h.
#include "tile/from_task/computed_types.h"

#include <algorithm>

#include "graph/round.h"
#include "tile/from_task/frame.h"

namespace axon::tile {

using graph::Scalar;
using graph::ScalarId;

namespace {

/// Is it a sum of sizes and of steps of indices? Of such an index any integer type has the remainder.
bool is_sum_of_steps(const graph::Graph& g, const shape::Dim& index) {
  const auto is_size = [&](shape::Var v) {
    return std::any_of(g.sizes.begin(), g.sizes.end(), [&](const graph::Size& s) { return s.var == v; });
  };
  const std::vector<shape::Var> vars = index.vars();
  return std::all_of(vars.begin(), vars.end(),
                     [&](shape::Var v) { return is_size(v) || index.linear_in(v).has_value(); });
}

}  // namespace

bool is_narrowing(const graph::Graph& g, ScalarId cast) {
  const Scalar& s = g.scalars[cast];
  const Scalar& from = g.scalars[s.args[0]];
  if (from.op == graph::Op::index && is_sum_of_steps(g, from.dim) && !base::is_float(s.elem)) return false;
  return narrows(base::computed_as(g.scalars[s.args[0]].elem), s.elem) && g.scalars[s.args[0]].elem != s.elem;
}

ScalarId ComputedTypes::of(ScalarId id) {
  if (const auto found = known_.find(id); found != known_.end()) return found->second;
  const ScalarId result = made(id);
  return known_[id] = result;
}

ScalarId ComputedTypes::made(ScalarId id) {
  const Scalar s = g_.scalars[id];
  if (s.op == graph::Op::load || s.op == graph::Op::index) return id;
  Scalar out = s;
  for (ScalarId& arg : out.args) arg = of(arg);
  if (s.op == graph::Op::cast) {
    const base::Elem from = g_.scalars[s.args[0]].elem;
    const bool is_float = base::is_float(s.elem) && base::is_float(from);
    if (is_float && !is_narrowing(g_, id) && base::computed_as(from) == base::computed_as(s.elem))
      return out.args[0];
  } else if (base::is_narrow(s.elem)) {
    out.elem = base::computed_as(s.elem);
    if (s.op == graph::Op::constant) out.number = graph::round_to(s.elem, s.number);
  }
  return out.args == s.args && out.elem == s.elem ? id : graph::make_scalar(g_, std::move(out));
}

}  // namespace axon::tile
