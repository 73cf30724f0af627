// See interior.h.
#include "module/interior.h"

#include <algorithm>

#include "base/contains.h"

namespace axon::module {

using graph::Op;

namespace {

/// Appends what must not be negative for the condition to hold; false: it says something else.
bool add_bounds(const Graph& g, ScalarId condition, std::vector<Dim>& out) {
  const auto& s = g.scalars[condition];
  if (s.op == Op::and_) return add_bounds(g, s.args[0], out) && add_bounds(g, s.args[1], out);
  if (s.op != Op::le && s.op != Op::lt) return false;
  const auto low = graph::affine_index(g, s.args[0]), high = graph::affine_index(g, s.args[1]);
  if (!low || !high) return false;
  out.push_back(*high - *low - Dim(s.op == Op::lt ? 1 : 0));
  return !shape::overflowed(out.back());
}

}  // namespace

std::optional<Interior> find_interior(const Graph& g, const std::vector<ScalarId>& bodies, Var inner,
                                      const std::vector<ScalarId>& decided,
                                      const std::function<bool(Var)>& usable) {
  const auto bounds_loop = [&](const Dim& d) {
    const auto by = d.linear_in(inner);
    const auto vars = d.vars();
    return by && by->first.constant() &&
           std::all_of(vars.begin(), vars.end(), [&](Var v) { return v == inner || usable(v); });
  };
  for (ScalarId body : bodies)
    for (ScalarId id : graph::scalars_in(g, body)) {
      const auto& s = g.scalars[id];
      if (s.op != Op::select || base::contains(decided, s.args[0]) || !depends_on(g, s.args[0], inner))
        continue;
      Interior found{s.args[0], {}};
      if (add_bounds(g, s.args[0], found.nonnegative) &&
          std::all_of(found.nonnegative.begin(), found.nonnegative.end(), bounds_loop))
        return found;
    }
  return std::nullopt;
}

}  // namespace axon::module
