// Unification of types; see unify.h.
#include "core/unify.h"

#include <algorithm>

#include "base/contains.h"

namespace axon::core {

using shape::Dim;
using shape::Var;

std::optional<ElemClass> meet(ElemClass a, ElemClass b) {
  if (a == b || b == ElemClass::any) return a;
  if (a == ElemClass::any) return b;
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
  if (e.elem) return true;
  TypeStore::TypeVar& var = vars_.types.vars[e.var];
  if (var.stated && var.cls != *both) return failed(Failure::Kind::element, why);
  var.cls = *both;
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
  if (type.kind == Type::Kind::var) return type.var == v;
  if (type.kind == Type::Kind::record && type.row == v) return true;
  return std::any_of(type.items.begin(), type.items.end(), [&](TypeId i) { return occurs(v, i); });
}

// ---- What is known of values ----

/// The variables that are values of parts of a parameter.
static void values_in(const Vars& vars, TypeId id, std::vector<Var>& out) {
  const Type& t = vars[vars.head(id)];
  if (t.kind == Type::Kind::function) return;
  if (t.value) t.value->collect_vars(out);
  for (TypeId item : t.items) values_in(vars, item, out);
}

/// The size variables of a type that occur elsewhere than as a value.
static void sizes_beside_values(const Vars& vars, TypeId id, std::vector<Var>& out) {
  const Type& t = vars[vars.head(id)];
  for (const ShapeItem& i : t.shape)
    if (is_dim(i)) i.dim.collect_vars(out);
  if (t.kind == Type::Kind::stack) t.count.collect_vars(out);
  each_spot(t.layout, [&](const LayoutSpot& s) { s.size.collect_vars(out); });
  for (TypeId item : t.items) sizes_beside_values(vars, item, out);
}

static bool is_refined(const Type& t) { return t.value || t.range || !t.elements.empty(); }
/// Says the type more than what a type variable stands for: of a value, or of its place?
static bool says_more(const Type& t) { return is_refined(t) || !t.layout.empty(); }

TypeId Unifier::plain_tensor(TypeId id) {
  Type t = vars_[id];
  if (!says_more(t)) return id;
  t.value = std::nullopt;
  t.range = std::nullopt;
  t.elements.clear();
  forget_layout(t);
  return vars_.add(std::move(t));
}

TypeId Unifier::plain(TypeId id) {
  vars_.work();
  id = vars_.zonk(id);
  Type t = vars_[id];
  if (t.kind == Type::Kind::tensor) return plain_tensor(id);
  if (t.kind == Type::Kind::function) return plain_function(id);
  bool changed = false;
  for (TypeId& item : t.items) {
    const TypeId known = plain(item);
    if (!known.valid()) return known;
    changed |= known != item;
    item = known;
  }
  return changed ? vars_.add(std::move(t)) : id;
}

/// Whether each part of a parameter may be any integer. `bound`: what the function binds and no part had yet;
/// what is not in `kept` is forgotten.
bool Unifier::plain_parameter(TypeId& id, const std::vector<Var>& kept, std::vector<Var>& bound) {
  id = vars_.zonk(id);
  Type t = vars_[id];
  if (t.kind == Type::Kind::function) {
    id = plain_function(id);
    return id.valid();
  }
  if (t.kind == Type::Kind::tensor) {
    if (!is_refined(t)) return true;
    const auto named = t.value ? t.value->as_var() : std::nullopt;
    if (!named || !base::contains(bound, *named) || t.range || !t.elements.empty()) return false;
    std::erase(bound, *named);  // two parts of one value would have to be equal
    if (!base::contains(kept, *named)) id = plain_tensor(id);
    return true;
  }
  bool changed = false;
  for (TypeId& item : t.items) {
    const TypeId before = item;
    if (!plain_parameter(item, kept, bound)) return false;
    changed |= item != before;
  }
  if (changed) id = vars_.add(std::move(t));
  return true;
}

/// What is bound is kept where something else than values mentions it.
TypeId Unifier::plain_function(TypeId id) {
  Type t = vars_[id];
  const std::vector<TypeId> items = t.items;
  std::vector<Var> bound = t.bound, mentioned;
  t.items.back() = plain(t.items.back());
  if (!t.items.back().valid()) return {};
  for (TypeId item : t.items) sizes_beside_values(vars_, item, mentioned);
  std::erase_if(t.bound, [&](Var v) { return !base::contains(mentioned, v); });
  const bool forgets = t.bound != bound;
  for (size_t i = 0; i + 1 < t.items.size(); ++i)
    if (!plain_parameter(t.items[i], t.bound, bound)) return {};
  return t.items == items && !forgets ? id : vars_.add(std::move(t));
}

bool Unifier::bind(TypeVarId v, TypeId t, WhyId why) {
  if (vars_[t].kind == Type::Kind::var && vars_[t].var == v) return true;
  if (occurs(v, t)) return failed(Failure::Kind::infinite, why);
  const TypeId known = plain(t);
  if (!known.valid()) return failed(Failure::Kind::dependent, why);
  vars_.solve(v, known);
  return true;
}

bool Unifier::unify(TypeId x, TypeId y, WhyId why) {
  if (solver_.skips(why)) return true;
  vars_.work();
  x = vars_.head(x);
  y = vars_.head(y);
  if (x == y) return true;
  Type a = vars_[x], b = vars_[y];
  if (a.kind == Type::Kind::error || b.kind == Type::Kind::error) return true;
  if (b.kind == Type::Kind::var && vars_.is_meta(b.var)) {
    if (a.kind == Type::Kind::var && vars_.is_meta(a.var) && b.var < a.var) return bind(a.var, y, why);
    return bind(b.var, x, why);
  }
  if (a.kind == Type::Kind::var && vars_.is_meta(a.var)) return bind(a.var, y, why);
  if (a.kind == Type::Kind::stack || b.kind == Type::Kind::stack) {
    const TypeId u = vars_.head(shape_view(x)), w = vars_.head(shape_view(y));
    a = vars_[u];
    b = vars_[w];
    if (a.kind == Type::Kind::stack && b.kind == Type::Kind::stack) {
      solver_.equal(a.count, b.count, why);
      return unify(a.items[0], b.items[0], why);
    }
    if (a.kind == Type::Kind::stack) return unstack(a.count, a.items[0], w, why);
    if (b.kind == Type::Kind::stack) return unstack(b.count, b.items[0], u, why);
    x = u;
    y = w;
  }
  if (a.kind != b.kind) return failed(Failure::Kind::structure, why);
  switch (a.kind) {
    case Type::Kind::tensor: {
      const bool elem = unify(a.elem, b.elem, why);
      solver_.equal(a.shape, b.shape, why);
      return elem;
    }
    case Type::Kind::tuple: {
      if (a.items.size() != b.items.size()) return failed(Failure::Kind::structure, why);
      bool ok = true;
      for (size_t i = 0; i < a.items.size(); ++i) ok &= unify(a.items[i], b.items[i], why);
      return ok;
    }
    case Type::Kind::record:
      return unify_records(x, y, why);
    case Type::Kind::function:
      return unify_functions(x, y, why);
    case Type::Kind::var:
      return a.var == b.var || failed(Failure::Kind::structure, why);
    case Type::Kind::string:
      return true;
    case Type::Kind::stack:
    case Type::Kind::error:
      return true;
  }
  return true;
}

// ---- Functions ----

/// Nothing where the first parameters mention an integer of a later one.
std::optional<Unifier::Split> Unifier::split(const Type& fn, size_t count) {
  Split out;
  const auto middle = fn.items.begin() + static_cast<long>(count);
  out.params.assign(fn.items.begin(), middle);
  std::vector<Var> later, mentioned;
  for (auto item = middle; item != fn.items.end() - 1; ++item) values_in(vars_, *item, later);
  std::erase_if(later, [&](Var v) { return !base::contains(fn.bound, v); });
  for (Var v : fn.bound)
    if (!base::contains(later, v)) out.bound.push_back(v);
  for (TypeId p : out.params) sizes_beside_values(vars_, p, mentioned);
  if (std::any_of(later.begin(), later.end(), [&](Var v) { return base::contains(mentioned, v); }))
    return std::nullopt;
  out.rest = vars_.function({middle, fn.items.end() - 1}, fn.items.back(), later);
  return out;
}

/// One new name for what each of two functions calls the value of the same part of a parameter.
void Unifier::pair(TypeId x, TypeId y, const Split& left, const Split& right, shape::Substitution& names) {
  const Type a = vars_[vars_.zonk(x)], b = vars_[vars_.zonk(y)];
  if (a.kind != b.kind || a.kind == Type::Kind::function) return;
  const auto name = [](const Type& t, const Split& fn) -> std::optional<Var> {
    const auto v = t.value ? t.value->as_var() : std::nullopt;
    return v && base::contains(fn.bound, *v) ? v : std::nullopt;
  };
  if (const auto mine = name(a, left), theirs = name(b, right); mine && theirs) {
    const bool size = vars_.is_size(*mine) || vars_.is_size(*theirs);
    const Dim one(vars_.dim(shape::var_name(*mine), VarKind::bound, size));
    names.emplace(*mine, one);
    names.emplace(*theirs, one);
  }
  for (size_t i = 0; i < a.items.size(); ++i) {
    const auto field = std::find(b.fields.begin(), b.fields.end(), a.fields.empty() ? "" : a.fields[i]);
    const size_t k = a.fields.empty() ? i : static_cast<size_t>(field - b.fields.begin());
    if (k < b.items.size()) pair(a.items[i], b.items[k], left, right, names);
  }
}

bool Unifier::unify_functions(TypeId x, TypeId y, WhyId why) {
  x = plain(x);
  y = plain(y);
  if (!x.valid() || !y.valid()) return failed(Failure::Kind::dependent, why);
  const Type a = vars_[x], b = vars_[y];
  const size_t common = std::min(a.items.size(), b.items.size()) - 1;
  const auto left = split(a, common), right = split(b, common);
  if (!left || !right) return failed(Failure::Kind::dependent, why);
  shape::Substitution names;
  for (size_t i = 0; i < common; ++i) pair(left->params[i], right->params[i], *left, *right, names);
  const auto named = [&](Var v) { return names.count(v) > 0; };
  if (!std::all_of(left->bound.begin(), left->bound.end(), named) ||
      !std::all_of(right->bound.begin(), right->bound.end(), named))
    return failed(Failure::Kind::dependent, why);
  bool ok = true;
  for (size_t i = 0; i < common; ++i)
    ok &= unify(vars_.substituted(left->params[i], names), vars_.substituted(right->params[i], names), why);
  ok &= unify(vars_.substituted(left->rest, names), vars_.substituted(right->rest, names), why);
  // What is open in either is the same for all calls of it, so it may not mention an integer of one.
  Occurrences outside;
  for (TypeId fn : {x, y})
    if (ok && !names.empty()) outside.add(vars_, vars_.zonk(fn));
  const bool leaks = std::any_of(names.begin(), names.end(),
                                 [&](const auto& name) { return outside.has(*name.second.as_var()); });
  return leaks ? failed(Failure::Kind::dependent, why) : ok;
}

bool Unifier::lacks(TypeId record, TypeId other, const std::string& field, WhyId why, bool surplus) {
  Failure failure{Failure::Kind::field, why, {}, {}, field};
  failure.record = record;
  failure.other = other;
  failure.surplus = surplus;
  solver_.fail(std::move(failure));
  return false;
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
  only_a.kind = only_b.kind = Type::Kind::record;
  for (size_t i = 0; i < a.fields.size(); ++i) {
    if (TypeId theirs = find(b, a.fields[i]); theirs.valid()) {
      vars_.note_same_field(place_of_field(a, a.fields[i]), place_of_field(b, a.fields[i]));
      ok &= unify(a.items[i], theirs, why);
    } else {
      only_a.fields.push_back(a.fields[i]);
      only_a.places.push_back(place_of_field(a, a.fields[i]));
      only_a.items.push_back(a.items[i]);
    }
  }
  for (size_t i = 0; i < b.fields.size(); ++i) {
    if (find(a, b.fields[i]).valid()) continue;
    only_b.fields.push_back(b.fields[i]);
    only_b.places.push_back(place_of_field(b, b.fields[i]));
    only_b.items.push_back(b.items[i]);
  }
  auto open = [&](TypeVarId row) { return row.valid() && vars_.is_meta(row); };
  if (!only_a.fields.empty() && !open(b.row)) return lacks(y, x, only_a.fields[0], why, false);
  if (!only_b.fields.empty() && !open(a.row)) return lacks(x, y, only_b.fields[0], why, true);
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
    case Type::Kind::tensor: {
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
    case Type::Kind::tuple:
    case Type::Kind::record: {
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
  if (t.kind != Type::Kind::stack) return id;
  const TypeId element = vars_.head(shape_view(t.items[0]));
  Type inner = vars_[vars_.zonk(element)];
  switch (inner.kind) {
    case Type::Kind::tensor: {
      Shape s = inner.shape;
      s.insert(s.begin(), dim_item(t.count));
      return vars_.tensor(inner.elem, s);
    }
    case Type::Kind::record:
      if (inner.row.valid()) return id;
      [[fallthrough]];
    case Type::Kind::tuple:
      for (TypeId& item : inner.items) item = shape_view(vars_.stack(t.count, item));
      return vars_.add(inner);
    case Type::Kind::error:
      return element;
    default:
      return id;
  }
}

TypeId Unifier::field(TypeId record, const std::string& name, WhyId why, source::Span at) {
  if (solver_.skips(why)) return vars_.fresh("t");
  const TypeId id = vars_.zonk(record);
  Type t = vars_[id];
  if (t.kind == Type::Kind::stack) {
    const TypeId inner = field(t.items[0], name, why, at);
    return inner.valid() ? shape_view(vars_.stack(t.count, inner)) : inner;
  }
  if (t.kind == Type::Kind::error) return id;
  if (t.kind == Type::Kind::record) {
    for (size_t i = 0; i < t.fields.size(); ++i)
      if (t.fields[i] == name) {
        vars_.note_same_field(at, place_of_field(t, name));
        return t.items[i];
      }
  }
  TypeVarId row;
  if (t.kind == Type::Kind::record && t.row.valid() && vars_.is_meta(t.row)) row = t.row;
  if (t.kind == Type::Kind::var && vars_.is_meta(t.var)) row = t.var;
  if (!row.valid()) {
    if (t.kind == Type::Kind::record) {
      lacks(id, {}, name, why, false);
    } else {
      failed(Failure::Kind::structure, why, name);
    }
    return {};
  }
  const TypeId type = vars_.fresh("t");
  Type longer;
  longer.kind = Type::Kind::record;
  longer.fields = {name};
  longer.places = {at};
  longer.items = {type};
  longer.row = vars_.type("r");
  vars_.solve(row, vars_.add(longer));
  return type;
}

}  // namespace axon::core
