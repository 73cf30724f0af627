// See loop_scopes.h.
#include "core/loop_scopes.h"

#include <algorithm>

namespace axon::core {

using shape::Var;

void LoopScopes::place(ExprId id) {
  if (!loops_.empty()) around_[id.index] = loops_.back();
}

/// `changes`: whether it differs between iterations of the `for` that binds these names.
void LoopScopes::add_outside(Var v, const std::function<bool(const BoundNames&)>& changes) {
  size_t depth = loops_.size();
  for (; depth > 0 && p_.exprs[loops_[depth - 1]].kind == Expr::Kind::for_; --depth) {
    const ExprId loop = loops_[depth - 1];
    const auto [names, is_new] = names_.try_emplace(loop);
    if (is_new) names->second.add(p_, loop);
    if (changes(names->second)) break;
  }
  if (depth > 0) loop_of_[v.id] = loops_[depth - 1];
}

void LoopScopes::add_with_expr(Var v, ExprId expr) {
  add_outside(v, [&](const BoundNames& names) { return depends_on(p_, expr, names); });
}

void LoopScopes::add_with_name(Var v, LocalId name) {
  add_outside(v, [&](const BoundNames& names) {
    const auto let = names.lets.find(name);
    return let == names.lets.end() || depends_on(p_, let->second, names);
  });
}

bool LoopScopes::is_argument_of(Var v, ExprId lambda) const {
  const auto loop = loop_of_.find(v.id);
  return loop != loop_of_.end() && loop->second == lambda;
}

/// The parts of its value may have been found since that was noted.
std::vector<Var> LoopScopes::made_of(Var v) const {
  std::vector<Var> all = {v};
  for (size_t i = 0; i < all.size(); ++i) {
    const auto value = values_.find(all[i].id);
    if (value == values_.end()) continue;
    for (Var part : vars_.zonk(value->second).vars())
      if (std::find(all.begin(), all.end(), part) == all.end()) all.push_back(part);
  }
  std::erase_if(all, [&](Var part) { return values_.count(part.id) > 0; });
  return all;
}

bool LoopScopes::is_of_for(Var v) const {
  const std::vector<Var> parts = made_of(v);
  return std::any_of(parts.begin(), parts.end(), [&](Var part) {
    const auto loop = loop_of_.find(part.id);
    return loop != loop_of_.end() && loop->second.valid() && p_.exprs[loop->second].kind == Expr::Kind::for_;
  });
}

bool LoopScopes::in_scope(Var v, ExprId at) const {
  const std::vector<Var> parts = made_of(v);
  return std::all_of(parts.begin(), parts.end(), [&](Var part) {
    const auto loop = loop_of_.find(part.id);
    if (loop == loop_of_.end()) return true;
    for (auto in = around_.find(at.index); in != around_.end(); in = around_.find(in->second.index))
      if (in->second == loop->second) return true;
    return false;
  });
}

std::optional<Var> LoopScopes::out_of_scope(TypeId type, ExprId at) const {
  if (!type.valid()) return std::nullopt;
  std::vector<Var> bound;
  return out_of_scope(vars_.zonk(type), at, bound);
}

/// `bound`: by the functions around, whose types these are parts of.
std::optional<Var> LoopScopes::out_of_scope(TypeId zonked, ExprId at, std::vector<Var>& bound) const {
  const Type& t = vars_[zonked];
  const size_t around = bound.size();
  bound.insert(bound.end(), t.bound.begin(), t.bound.end());
  std::optional<Var> found;
  for (const ShapeItem& item : t.shape)
    if (is_dim(item))
      for (Var v : item.dim.vars())
        if (std::find(bound.begin(), bound.end(), v) == bound.end() && !in_scope(v, at)) found = v;
  for (TypeId item : t.items)
    if (!found) found = out_of_scope(item, at, bound);
  bound.resize(around);
  return found;
}

std::optional<Var> LoopScopes::out_of_scope(const Pattern& pattern, ExprId at) const {
  std::optional<Var> found;
  if (pattern.kind == Pattern::Kind::name) found = out_of_scope(p_.locals[pattern.local].type, at);
  for (const Pattern& item : pattern.items) found = found ? found : out_of_scope(item, at);
  return found;
}

}  // namespace axon::core
