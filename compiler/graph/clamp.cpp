// See clamp.h.
#include "graph/clamp.h"

#include <algorithm>

namespace axon::graph {

bool is_in_range(const Graph& g, ScalarId index, const Dim& extent, const std::vector<Fact>& facts) {
  const auto dim = affine_index(g, index);
  if (!dim) return false;
  const Fact low = shape::at_least(*dim, Dim(0)), high = shape::less(*dim, extent);
  const auto stated = [&](const Fact& fact) {
    return std::any_of(facts.begin(), facts.end(), [&](const Fact& f) {
      return f.relation == fact.relation && f.lhs == fact.lhs && f.rhs == fact.rhs;
    });
  };
  const auto holds = [&](const Fact& fact) {
    return stated(fact) || shape::prove(facts, fact).verdict == shape::Verdict::proved;
  };
  return holds(high) && holds(low);
}

namespace {

/// Is the index max(min(.., extent - 1), 0) already?
bool is_clamped(const Graph& g, ScalarId index, const Dim& extent) {
  const Scalar& high = g.scalars[index];
  if (high.op != Op::max || affine_index(g, high.args[1]) != Dim(0)) return false;
  const Scalar& low = g.scalars[high.args[0]];
  return low.op == Op::min && affine_index(g, low.args[1]) == extent - Dim(1);
}

}  // namespace

ScalarId clamped_load(Graph& g, ScalarId id, const std::vector<Fact>& facts) {
  const Scalar s = g.scalars[id];
  const std::vector<Dim> shape = g.type(s.target).shape;
  std::vector<ScalarId> at = s.args;
  std::vector<Dim> not_empty;
  for (size_t a = 0; a < at.size(); ++a) {
    if (is_in_range(g, at[a], shape[a], facts)) continue;
    const Fact some = shape::at_least(shape[a], Dim(1));
    if (shape::prove(facts, some).verdict != shape::Verdict::proved) not_empty.push_back(shape[a]);
    const auto dim = affine_index(g, at[a]);
    const auto clamped = dim ? exact_index(g, max(min(*dim, shape[a] - Dim(1)), Dim(0))) : std::nullopt;
    if (clamped) {
      at[a] = *clamped;
    } else if (g.scalars[at[a]].op != Op::bounded && !is_clamped(g, at[a], shape[a])) {
      const ScalarId last = index_of(g, shape[a] - Dim(1)), zero = constant_int(g, Elem::i64, 0);
      at[a] = apply(g, Op::max, {apply(g, Op::min, {at[a], last}), zero});
    }
  }
  ScalarId safe = load(g, s.target, at, s.elem);
  const ScalarId zero = base::is_float(s.elem) ? constant_float(g, s.elem, 0) : constant_int(g, s.elem, 0);
  for (const Dim& d : not_empty) {
    const ScalarId some = apply(g, Op::le, {constant_int(g, Elem::i64, 1), index_of(g, d)});
    safe = apply(g, Op::select, {some, safe, zero});
  }
  return safe;
}

}  // namespace axon::graph
