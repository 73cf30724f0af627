// See assumptions.h.
#include "core/assumptions.h"

#include <algorithm>

#include "shape/conditions.h"

namespace axon::core {

using shape::Dim;
using shape::Fact;
using shape::Var;

std::vector<Shape> Assumptions::stated_targets(ShapeVarId operand) const {
  std::vector<Shape> out;
  for (const auto& [stated, target] : given_into_)
    if (stated == operand) out.push_back(vars_.zonk(target));
  return out;
}

bool Assumptions::is_stated_into(const Shape& operand, const Shape& target) const {
  const auto v = lone(operand);
  const std::vector<Shape> stated = v ? stated_targets(*v) : std::vector<Shape>();
  return std::any_of(stated.begin(), stated.end(), [&](const Shape& s) {
    return s.size() <= target.size() &&
           same(s, Shape(target.end() - static_cast<ptrdiff_t>(s.size()), target.end()));
  });
}

std::vector<Fact> Assumptions::facts_for(const Fact& goal, const std::vector<Fact>& context) const {
  // Only what is connected with the goal through shared variables: an empty range of an unrelated index must
  // not prove anything.
  std::vector<Var> reach = goal.lhs.vars();
  goal.rhs.collect_vars(reach);
  std::vector<Fact> pool, out;
  for (const std::vector<Fact>* list : {&given_, &context})
    for (const Fact& f : *list) pool.push_back({vars_.zonk(f.lhs), f.relation, vars_.zonk(f.rhs)});
  // A condition over numbers alone, that a size was fixed to: where it is false nothing is reached.
  for (size_t i = given_.size(); i < pool.size(); ++i)
    if (pool[i].lhs.vars().empty() && pool[i].rhs.vars().empty()) out.push_back(pool[i]);
  for (const size_t i : shape::connected(pool, reach)) out.push_back(pool[i]);
  for (Var v : reach)
    if (vars_.kind(v) != VarKind::index && vars_.is_size(v)) out.push_back(shape::at_least(Dim(v), 0));
  return out;
}

}  // namespace axon::core
