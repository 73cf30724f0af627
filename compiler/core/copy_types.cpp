// See copy_types.h.
#include "core/copy_types.h"

#include <algorithm>

namespace axon::core {

using shape::Dim;
using shape::Fact;
using shape::Var;

// ---- What is mentioned ----

void TypeCopier::mention(const Dim& d) {
  for (Var v : d.vars()) dims_.insert(v);
}

void TypeCopier::mention(const Shape& shape) {
  for (const ShapeItem& item : shape) {
    if (is_dim(item)) mention(item.dim);
    if (is_var(item)) shapes_.insert(item.var);
    shapes_.insert(item.join.begin(), item.join.end());
  }
}

void TypeCopier::mention(TypeId id) {
  if (!id.valid() || !seen_.insert(id).second) return;
  Type t = from_[id];
  Vars::each_size(t, [&](const Dim& d) {
    mention(d);
    return d;
  });
  mention(t.shape);
  for (TypeVarId v : {t.elem.var, t.row, t.var})
    if (v.valid()) types_.insert(v);
  dims_.insert(t.bound.begin(), t.bound.end());
  for (TypeId item : t.items) mention(item);
  for (const AliasArg& a : t.alias.args) {
    if (a.dim) mention(*a.dim);
    if (a.shape) mention(*a.shape);
    mention(a.type);
  }
}

void TypeCopier::mention(const Scheme& s) {
  mention(s.type);
  for (const auto* all : {&s.dims, &s.exists, &s.integers}) dims_.insert(all->begin(), all->end());
  shapes_.insert(s.shapes.begin(), s.shapes.end());
  types_.insert(s.types.begin(), s.types.end());
  for (const IntoConstraint& i : s.into) {
    shapes_.insert(i.var);
    mention(i.target);
  }
  for (const Requirement& f : s.where) {
    mention(f.lhs);
    mention(f.rhs);
  }
}

uint32_t TypeCopier::make_variables() {
  std::map<Var, std::string> names;
  {
    const shape::UseArena there(arena_);
    for (Var v : dims_) names.emplace(v, shape::var_name(v));
  }
  for (const auto& [v, name] : names)
    new_dims_.emplace(v, to_.dim(name, from_.kind(v), from_.is_size(v), from_.origin(v)));
  for (ShapeVarId v : shapes_)
    new_shapes_.emplace(v, to_.shape(from_.types.shape_vars[v].name, VarKind::rigid));
  for (TypeVarId v : types_) {
    const auto& info = from_.types.vars[v];
    const TypeVarId mine = to_.type(info.name, info.cls, VarKind::rigid);
    to_.types.vars[mine].stated = info.stated;
    new_types_.emplace(v, mine);
  }
  return static_cast<uint32_t>(new_dims_.size());
}

// ---- Copies ----

template <class V>
std::vector<V> TypeCopier::copy(const std::vector<V>& all) const {
  std::vector<V> out;
  for (V v : all) out.push_back(copy(v));
  return out;
}

Dim TypeCopier::copy(const Dim& d) const {
  return shape::rebuilt(d, [&](Var v) { return Dim(copy(v)); });
}

Shape TypeCopier::copy(const Shape& shape) const {
  Shape out = shape;
  for (ShapeItem& item : out) {
    if (is_dim(item)) item.dim = copy(item.dim);
    if (is_var(item)) item.var = copy(item.var);
    item.join = copy(item.join);
  }
  return out;
}

Fact TypeCopier::copy(const Fact& f) const { return {copy(f.lhs), f.relation, copy(f.rhs)}; }

Alias TypeCopier::copy(const Alias& alias) {
  Alias out = alias;
  if (alias.declared.valid()) out.declared = declared_(alias.declared);
  for (AliasArg& a : out.args) {
    if (a.dim) a.dim = copy(*a.dim);
    if (a.shape) a.shape = copy(*a.shape);
    a.type = copy(a.type);
  }
  return out;
}

TypeId TypeCopier::copy(TypeId id) {
  if (!id.valid()) return id;
  if (const auto known = new_.find(id); known != new_.end()) return known->second;
  Type t = from_[id];
  Vars::each_size(t, [&](const Dim& d) { return copy(d); });
  t.shape = copy(t.shape);
  for (TypeVarId* v : {&t.elem.var, &t.row, &t.var})
    if (v->valid()) *v = copy(*v);
  t.bound = copy(t.bound);
  for (TypeId& item : t.items) item = copy(item);
  t.alias = copy(t.alias);
  const TypeId out = t.kind == Type::Kind::error ? to_.error() : to_.add(std::move(t));
  return new_.emplace(id, out).first->second;
}

Scheme TypeCopier::copy(const Scheme& s) {
  Scheme out;
  out.type = copy(s.type);
  out.dims = copy(s.dims);
  out.shapes = copy(s.shapes);
  out.types = copy(s.types);
  for (const IntoConstraint& i : s.into) out.into.push_back({copy(i.var), copy(i.target)});
  for (const Requirement& f : s.where)
    out.where.push_back({copy(static_cast<const Fact&>(f)), f.left_to_run});
  out.exists = copy(s.exists);
  out.integers = copy(s.integers);
  return out;
}

}  // namespace axon::core
