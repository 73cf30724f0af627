// Unification of types; see unify.h.
#include "core/unify.h"

#include <algorithm>

namespace axon::core {

using Kind = Type::Kind;

std::optional<ElemClass> meet(ElemClass a, ElemClass b) {
  if (a == b || b == ElemClass::any || b == ElemClass::none) return a;
  if (a == ElemClass::any || a == ElemClass::none) return b;
  auto number = [](ElemClass c) { return c == ElemClass::flt || c == ElemClass::int_; };
  if (a == ElemClass::num && number(b)) return b;
  if (b == ElemClass::num && number(a)) return a;
  return std::nullopt;
}

bool Unifier::failed(Failure::Kind kind, WhyId why, std::string text) {
  solver_.fail({kind, why, {}, {}, std::move(text)});
  return false;
}

bool Unifier::restrict(ElemTerm e, ElemClass cls, WhyId why) {
  if (solver_.skips(why)) return true;
  e = vars_.zonk(e);
  auto both = meet(vars_.elem_class(e), cls);
  if (!both) return failed(Failure::Kind::element, why);
  if (!e.elem) vars_.types.vars[e.var].cls = *both;
  return true;
}

bool Unifier::unify(ElemTerm a, ElemTerm b, WhyId why) {
  if (solver_.skips(why)) return true;
  a = vars_.zonk(a);
  b = vars_.zonk(b);
  if (a.elem && b.elem) return *a.elem == *b.elem || failed(Failure::Kind::element, why);
  if (!a.elem && !b.elem && a.var == b.var) return true;
  if (a.elem || !vars_.is_meta(a.var)) std::swap(a, b);  // a is now a variable to bind, if one is
  if (a.elem || !vars_.is_meta(a.var)) return failed(Failure::Kind::element, why);
  if (!restrict(b, vars_.elem_class(a), why)) return false;
  if (!b.elem && vars_.is_meta(b.var) && a.var < b.var) {
    vars_.types.vars[a.var].cls = vars_.types.vars[b.var].cls;
    std::swap(a, b);
  }
  vars_.solve(a.var, b);
  return true;
}

bool Unifier::occurs(TypeVarId v, TypeId t) {
  vars_.work();
  t = vars_.head(t);
  const Type type = vars_[t];
  if (type.kind == Kind::var) return type.var == v;
  if (type.kind == Kind::record && type.row == v) return true;
  return std::any_of(type.items.begin(), type.items.end(), [&](TypeId i) { return occurs(v, i); });
}

TypeId Unifier::without_value(TypeId id) {
  const Type t = vars_[id];
  const bool refined = t.value || t.range || !t.elements.empty();
  return t.kind == Kind::tensor && refined ? vars_.tensor(t.elem, t.shape) : id;
}

bool Unifier::bind(TypeVarId v, TypeId t, WhyId why) {
  if (vars_[t].kind == Kind::var && vars_[t].var == v) return true;
  if (occurs(v, t)) return failed(Failure::Kind::infinite, why);
  vars_.solve(v, without_value(t));
  return true;
}

bool Unifier::unify(TypeId x, TypeId y, WhyId why) {
  if (solver_.skips(why)) return true;
  vars_.work();
  x = vars_.head(x);
  y = vars_.head(y);
  if (x == y) return true;
  Type a = vars_[x], b = vars_[y];
  if (a.kind == Kind::error || b.kind == Kind::error) return true;
  if (b.kind == Kind::var && vars_.is_meta(b.var)) {
    if (a.kind == Kind::var && vars_.is_meta(a.var) && b.var < a.var) return bind(a.var, y, why);
    return bind(b.var, x, why);
  }
  if (a.kind == Kind::var && vars_.is_meta(a.var)) return bind(a.var, y, why);
  if (a.kind == Kind::stack || b.kind == Kind::stack) {
    const TypeId u = vars_.head(shape_view(x)), w = vars_.head(shape_view(y));
    a = vars_[u];
    b = vars_[w];
    if (a.kind == Kind::stack && b.kind == Kind::stack) {
      solver_.equal(a.count, b.count, why);
      return unify(a.items[0], b.items[0], why);
    }
    if (a.kind == Kind::stack) return unstack(a.count, a.items[0], w, why);
    if (b.kind == Kind::stack) return unstack(b.count, b.items[0], u, why);
    x = u;
    y = w;
  }
  if (a.kind != b.kind) return failed(Failure::Kind::structure, why);
  switch (a.kind) {
    case Kind::tensor: {
      const bool elem = unify(a.elem, b.elem, why);
      solver_.equal(a.shape, b.shape, why);
      return elem;
    }
    case Kind::tuple: {
      if (a.items.size() != b.items.size()) return failed(Failure::Kind::structure, why);
      bool ok = true;
      for (size_t i = 0; i < a.items.size(); ++i) ok &= unify(a.items[i], b.items[i], why);
      return ok;
    }
    case Kind::record:
      return unify_records(x, y, why);
    case Kind::function:
      return unify_functions(a, b, why);
    case Kind::var:
      return a.var == b.var || failed(Failure::Kind::structure, why);
    case Kind::string:
      return true;
    case Kind::stack:
    case Kind::error:
      return true;
  }
  return true;
}

bool Unifier::unify_functions(Type a, Type b, WhyId why) {
  const size_t common = std::min(a.items.size(), b.items.size()) - 1;
  bool ok = true;
  for (size_t i = 0; i < common; ++i) ok &= unify(a.items[i], b.items[i], why);
  auto rest = [&](const Type& t) {
    return vars_.function({t.items.begin() + static_cast<long>(common), t.items.end() - 1}, t.items.back());
  };
  return unify(rest(a), rest(b), why) && ok;
}

bool Unifier::unify_records(TypeId x, TypeId y, WhyId why) {
  const Type a = vars_[vars_.zonk(x)], b = vars_[vars_.zonk(y)];
  auto find = [](const Type& t, const std::string& name) -> TypeId {
    for (size_t i = 0; i < t.fields.size(); ++i)
      if (t.fields[i] == name) return t.items[i];
    return {};
  };
  bool ok = true;
  Type only_a, only_b;  // the fields that the other does not have
  only_a.kind = only_b.kind = Kind::record;
  for (size_t i = 0; i < a.fields.size(); ++i) {
    if (TypeId theirs = find(b, a.fields[i]); theirs.valid()) {
      ok &= unify(a.items[i], theirs, why);
    } else {
      only_a.fields.push_back(a.fields[i]);
      only_a.items.push_back(a.items[i]);
    }
  }
  for (size_t i = 0; i < b.fields.size(); ++i) {
    if (find(a, b.fields[i]).valid()) continue;
    only_b.fields.push_back(b.fields[i]);
    only_b.items.push_back(b.items[i]);
  }
  auto open = [&](TypeVarId row) { return row.valid() && vars_.is_meta(row); };
  if (!only_a.fields.empty() && !open(b.row)) return failed(Failure::Kind::field, why, only_a.fields[0]);
  if (!only_b.fields.empty() && !open(a.row)) return failed(Failure::Kind::field, why, only_b.fields[0]);
  if (a.row.valid() && b.row.valid() && a.row == b.row) return ok;
  if (open(a.row) && open(b.row)) {
    only_a.row = only_b.row = vars_.type("r");
    vars_.solve(a.row, vars_.add(only_b));
    vars_.solve(b.row, vars_.add(only_a));
  } else if (open(a.row)) {
    only_b.row = b.row;
    vars_.solve(a.row, vars_.add(only_b));
  } else if (open(b.row)) {
    only_a.row = a.row;
    vars_.solve(b.row, vars_.add(only_a));
  } else if (a.row.valid() != b.row.valid()) {
    return failed(Failure::Kind::structure, why);
  }
  return ok;
}

/// whole = Stack[count, element], where whole is a tensor, tuple or record and the element not yet one.
bool Unifier::unstack(const shape::Dim& count, TypeId element, TypeId whole, WhyId why) {
  const Type t = vars_[vars_.zonk(whole)];
  switch (t.kind) {
    case Kind::tensor: {
      Shape rest;
      if (!t.shape.empty() && is_dim(t.shape[0])) {
        solver_.equal(count, t.shape[0].dim, why);
        rest.assign(t.shape.begin() + 1, t.shape.end());
      } else {
        rest = {var_item(vars_.shape("s"))};
        Shape longer = rest;
        longer.insert(longer.begin(), dim_item(count));
        solver_.equal(longer, t.shape, why);
      }
      return unify(element, vars_.tensor(t.elem, rest), why);
    }
    case Kind::tuple:
    case Kind::record: {
      Type inner = t;
      bool ok = true;
      for (TypeId& item : inner.items) {
        const TypeId piece = vars_.fresh("t");
        ok &= unify(vars_.stack(count, piece), item, why);
        item = piece;
      }
      return unify(element, vars_.add(inner), why) && ok;
    }
    default:
      return failed(Failure::Kind::structure, why);
  }
}

TypeId Unifier::shape_view(TypeId id) {
  id = vars_.head(id);
  const Type t = vars_[id];
  if (t.kind != Kind::stack) return id;
  const TypeId element = vars_.head(shape_view(t.items[0]));
  Type inner = vars_[vars_.zonk(element)];
  switch (inner.kind) {
    case Kind::tensor: {
      Shape s = inner.shape;
      s.insert(s.begin(), dim_item(t.count));
      return vars_.tensor(inner.elem, s);
    }
    case Kind::record:
      if (inner.row.valid()) return id;
      [[fallthrough]];
    case Kind::tuple:
      for (TypeId& item : inner.items) item = shape_view(vars_.stack(t.count, item));
      return vars_.add(inner);
    case Kind::error:
      return element;
    default:
      return id;
  }
}

TypeId Unifier::field(TypeId record, const std::string& name, WhyId why) {
  if (solver_.skips(why)) return vars_.fresh("t");
  const TypeId id = vars_.zonk(record);
  Type t = vars_[id];
  if (t.kind == Kind::stack) {
    const TypeId inner = field(t.items[0], name, why);
    return inner.valid() ? shape_view(vars_.stack(t.count, inner)) : inner;
  }
  if (t.kind == Kind::error) return id;
  if (t.kind == Kind::record) {
    for (size_t i = 0; i < t.fields.size(); ++i)
      if (t.fields[i] == name) return t.items[i];
  }
  TypeVarId row;
  if (t.kind == Kind::record && t.row.valid() && vars_.is_meta(t.row)) row = t.row;
  if (t.kind == Kind::var && vars_.is_meta(t.var)) row = t.var;
  if (!row.valid()) {
    failed(t.kind == Kind::record ? Failure::Kind::field : Failure::Kind::structure, why, name);
    return {};
  }
  const TypeId type = vars_.fresh("t");
  Type longer;
  longer.kind = Kind::record;
  longer.fields = {name};
  longer.items = {type};
  longer.row = vars_.type("r");
  vars_.solve(row, vars_.add(longer));
  return type;
}

}  // namespace axon::core
