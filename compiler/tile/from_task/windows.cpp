// See windows.h.
#include "tile/from_task/windows.h"

#include <algorithm>

#include "base/elem.h"
#include "tile/from_task/row_form.h"

namespace axon::tile {

using graph::Axis;
using graph::Graph;
using graph::Scalar;
using graph::ScalarId;
using shape::Dim;
using shape::Fact;
using shape::Var;

namespace {

bool is_zero(const Graph& g, ScalarId id) {
  const Scalar& s = g.scalars[id];
  return s.op == graph::Op::constant && s.number == 0 && s.integer == 0;
}

bool widens(const Graph& g, const Scalar& s) {
  if (s.op != graph::Op::cast) return false;
  const base::Elem from = g.scalars[s.args[0]].elem;
  return base::is_float(s.elem) && base::is_float(from) && base::elem_bytes(s.elem) > base::elem_bytes(from);
}

/// Do the facts that the condition implies say all that it says?
bool is_of_indices(const Graph& g, ScalarId condition) {
  const Scalar& s = g.scalars[condition];
  if (s.op == graph::Op::and_)
    return std::all_of(s.args.begin(), s.args.end(), [&](ScalarId a) { return is_of_indices(g, a); });
  return (s.op == graph::Op::lt || s.op == graph::Op::le || s.op == graph::Op::eq) &&
         std::all_of(s.args.begin(), s.args.end(), [&](ScalarId a) {
           const auto dim = graph::affine_index(g, a);
           return dim && !graph::reads_integer(g, *dim);
         });
}

/// Of one expression, which has both variables.
std::optional<Slide> slide_in(const Dim& d, Var column, Var binder) {
  const auto by_column = d.linear_in(column), by_binder = d.linear_in(binder);
  const auto of_column = by_column ? by_column->first.constant() : std::nullopt;
  const auto of_binder = by_binder ? by_binder->first.constant() : std::nullopt;
  if (!of_column || !of_binder || *of_column == 0 || *of_binder == 0) return std::nullopt;
  if ((*of_column < 0) != (*of_binder < 0)) return std::nullopt;
  if (*of_binder % *of_column == 0) return Slide{1, *of_binder / *of_column};
  if (*of_column % *of_binder == 0) return Slide{*of_column / *of_binder, 1};
  return std::nullopt;
}

}  // namespace

BoundedValue bounded_value(const Graph& g, ScalarId id) {
  BoundedValue out{id, {}};
  for (;;) {
    const Scalar& s = g.scalars[out.value];
    const bool is_choice = s.op == graph::Op::select && is_zero(g, s.args[2]) && is_of_indices(g, s.args[0]);
    if (!is_choice && !widens(g, s)) return out;
    if (is_choice)
      for (const Fact& fact : implied_facts(g, s.args[0], true)) out.facts.push_back(fact);
    out.value = s.args[is_choice ? 1 : 0];
  }
}

bool is_of_windows(const Graph& g, ScalarId load, Var v, const std::vector<Axis>& binders) {
  const auto& at = g.scalars[load].args;
  return std::any_of(at.begin(), at.end(), [&](ScalarId index) {
    return graph::depends_on(g, index, v) && std::any_of(binders.begin(), binders.end(), [&](const Axis& b) {
             return graph::depends_on(g, index, b.var);
           });
  });
}

std::optional<Slide> slide_of(const Graph& g, const BoundedValue& of, Var column, Var binder) {
  const Scalar& s = g.scalars[of.value];
  if (s.op != graph::Op::load || s.target.is_local()) return std::nullopt;
  std::vector<Dim> dims;
  for (const ScalarId arg : s.args) dims.push_back(graph::affine_index(g, arg).value_or(Dim(column)));
  for (const Fact& fact : of.facts) dims.push_back(fact.lhs), dims.push_back(fact.rhs);
  std::optional<Slide> found;
  for (const Dim& d : dims) {
    if (!d.contains(column) && !d.contains(binder)) continue;
    const auto slide = slide_in(d, column, binder);
    if (!slide) return std::nullopt;
    if (found && (found->steps != slide->steps || found->columns != slide->columns)) return std::nullopt;
    found = slide;
  }
  return found;
}

}  // namespace axon::tile
