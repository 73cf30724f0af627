// See known_values.h.
#include "core/known_values.h"

#include <algorithm>

namespace axon::core {

using shape::Dim;
using Kind = Expr::Kind;

void KnownValues::note_let(const Pattern& pattern, ExprId value) { note_let(pattern, value, {}); }

void KnownValues::note_let(const Pattern& p, ExprId value, Steps steps) {
  if (p.kind == Pattern::Kind::name) lets_[p.local] = {value, steps};
  for (size_t i = 0; i < p.items.size(); ++i) {
    Steps inner = steps;
    inner.push_back(std::to_string(i));
    note_let(p.items[i], value, std::move(inner));
  }
}

ExprId KnownValues::let_value(LocalId l) const {
  const auto let = lets_.find(l);
  return let != lets_.end() && let->second.steps.empty() ? let->second.value : ExprId{};
}

/// The parameter that the expression is a part of, and which part.
std::optional<std::pair<LocalId, KnownValues::Steps>> KnownValues::parameter_of(ExprId id) const {
  const Expr& e = p_.exprs[id];
  if (e.kind == Kind::field) {
    auto whole = parameter_of(e.args[0]);
    if (whole) whole->second.push_back(e.text);
    return whole;
  }
  if (e.kind != Kind::local || p_.locals[e.local].kind != Local::Kind::value) return std::nullopt;
  const auto let = lets_.find(e.local);
  if (let == lets_.end()) return std::pair(e.local, Steps{});
  auto whole = parameter_of(let->second.value);
  if (whole) whole->second.insert(whole->second.end(), let->second.steps.begin(), let->second.steps.end());
  return whole;
}

/// The type with the value at the part, where it has that part.
TypeId KnownValues::refined(TypeId id, const Steps& steps, size_t done, const Dim& value) {
  Type t = vars_[vars_.zonk(id)];
  if (done == steps.size()) {
    if (t.kind != Type::Kind::tensor) return id;
    t.value = value;
    return vars_.add(std::move(t));
  }
  if (t.kind != Type::Kind::record && t.kind != Type::Kind::tuple) return id;
  for (size_t i = 0; i < t.items.size(); ++i)
    if (steps[done] == (t.fields.empty() ? std::to_string(i) : t.fields[i]))
      t.items[i] = refined(t.items[i], steps, done + 1, value);
  return vars_.add(std::move(t));
}

/// All names on the way from the expression to its parameter know the value.
void KnownValues::refine(ExprId id, Steps steps, const Dim& value) {
  const Expr& e = p_.exprs[id];
  if (e.kind == Kind::field) {
    steps.insert(steps.begin(), e.text);
    return refine(e.args[0], std::move(steps), value);
  }
  p_.locals[e.local].type = refined(p_.locals[e.local].type, steps, 0, value);
  const auto let = lets_.find(e.local);
  if (let == lets_.end()) {
    parts_[e.local].push_back({steps, value});
  } else {
    steps.insert(steps.begin(), let->second.steps.begin(), let->second.steps.end());
    refine(let->second.value, std::move(steps), value);
  }
}

std::optional<Dim> KnownValues::name_part(ExprId id, ElemTerm elem) {
  if (!parameter_of(id)) return std::nullopt;
  name_parts(id, vars_.tensor(elem, {}));
  return vars_[p_.exprs[id].type].value;
}

void KnownValues::name_parts(ExprId id, TypeId type) {
  if (!parameter_of(id)) return;
  const Expr& e = p_.exprs[id];
  Steps steps;
  p_.exprs[id].type = type;
  name_parts(id, type, e.kind == Kind::local ? p_.locals[e.local].name : e.text, steps);
}

void KnownValues::name_parts(ExprId id, TypeId type, const std::string& hint, Steps& steps) {
  const Type t = vars_[vars_.zonk(type)];
  if (t.kind == Type::Kind::tensor) {
    const Dim value(vars_.dim(hint, VarKind::meta, false, p_.exprs[id].span));
    refine(id, steps, value);
    p_.exprs[id].type = refined(p_.exprs[id].type, steps, 0, value);
  }
  for (size_t i = 0; i < t.items.size(); ++i) {
    steps.push_back(t.fields.empty() ? std::to_string(i) : t.fields[i]);
    name_parts(id, t.items[i], t.fields.empty() ? hint : t.fields[i], steps);
    steps.pop_back();
  }
}

TypeId KnownValues::with_parts(const Pattern& p, TypeId type) {
  if (p.kind == Pattern::Kind::name) {
    const auto parts = parts_.find(p.local);
    if (parts == parts_.end()) return type;
    for (const Part& part : parts->second) type = refined(type, part.steps, 0, part.value);
    return type;
  }
  Type t = vars_[vars_.head(type)];
  if (t.kind != Type::Kind::tuple || t.items.size() != p.items.size()) return type;
  bool changed = false;
  for (size_t i = 0; i < p.items.size(); ++i) {
    const TypeId known = with_parts(p.items[i], t.items[i]);
    changed |= known != t.items[i];
    t.items[i] = known;
  }
  return changed ? vars_.add(std::move(t)) : type;
}

TypeId KnownValues::with_field(TypeId record, const std::string& field, TypeId value) {
  Type t = vars_[vars_.zonk(record)];
  if (t.kind != Type::Kind::record) return record;
  const auto at = std::find(t.fields.begin(), t.fields.end(), field) - t.fields.begin();
  t.items[static_cast<size_t>(at)] = value;
  return vars_.add(std::move(t));
}

TypeId KnownValues::common(TypeId x, TypeId y) {
  x = vars_.zonk(x);
  y = vars_.zonk(y);
  if (x == y) return x;
  Type a = vars_[x];
  const Type b = vars_[y];
  if (a.kind != b.kind || a.items.size() != b.items.size()) {
    const TypeId known = unifier_.plain(x);
    return known.valid() ? known : x;
  }
  if (a.kind == Type::Kind::function) return x;
  if (a.value != b.value) a.value = std::nullopt;
  if (a.elements != b.elements) a.elements.clear();
  if (a.range && !(b.range && a.range->low == b.range->low && a.range->high == b.range->high))
    a.range = std::nullopt;
  for (size_t i = 0; i < a.items.size(); ++i) {
    const auto field = std::find(b.fields.begin(), b.fields.end(), a.fields.empty() ? "" : a.fields[i]);
    const size_t k = a.fields.empty() ? i : static_cast<size_t>(field - b.fields.begin());
    if (k < b.items.size()) a.items[i] = common(a.items[i], b.items[k]);
  }
  return vars_.add(std::move(a));
}

}  // namespace axon::core
