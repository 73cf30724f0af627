// See loop_scopes.h.
#include "core/loop_scopes.h"

namespace axon::core {

using shape::Var;

void LoopScopes::place(ExprId id) {
  if (!loops_.empty()) around_[id.index] = loops_.back();
}

void LoopScopes::add(Var v) {
  if (!loops_.empty()) loop_of_[v.id] = loops_.back();
}

void LoopScopes::add_with_value(Var v, const shape::Dim& value) {
  loop_of_.erase(v.id);
  for (ExprId around : loops_)
    for (Var part : value.vars())
      if (const auto loop = loop_of_.find(part.id); loop != loop_of_.end() && loop->second == around)
        loop_of_[v.id] = around;
}

bool LoopScopes::in_scope(Var v, ExprId at) const {
  const auto loop = loop_of_.find(v.id);
  if (loop == loop_of_.end()) return true;
  for (auto in = around_.find(at.index); in != around_.end(); in = around_.find(in->second.index))
    if (in->second == loop->second) return true;
  return false;
}

std::optional<Var> LoopScopes::out_of_scope(TypeId type, ExprId at) const {
  if (!type.valid()) return std::nullopt;
  const Type& t = vars_[vars_.zonk(type)];
  for (const ShapeItem& item : t.shape)
    if (is_dim(item))
      for (Var v : item.dim.vars())
        if (!in_scope(v, at)) return v;
  for (TypeId item : t.items)
    if (const auto found = out_of_scope(item, at)) return found;
  return std::nullopt;
}

std::optional<Var> LoopScopes::out_of_scope(const Pattern& pattern, ExprId at) const {
  std::optional<Var> found;
  if (pattern.kind == Pattern::Kind::name) found = out_of_scope(p_.locals[pattern.local].type, at);
  for (const Pattern& item : pattern.items) found = found ? found : out_of_scope(item, at);
  return found;
}

}  // namespace axon::core
