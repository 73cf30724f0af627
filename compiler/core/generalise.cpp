// See generalise.h.
#include "core/generalise.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/bug.h"
#include "core/defaults.h"

namespace axon::core {

using shape::Dim;
using shape::Fact;
using shape::Relation;
using shape::Var;
using shape::Verdict;
using source::Code;
using source::error;
using CKind = Constraint::Kind;

// ---- What is left becomes part of the scheme ----

/// The shape variables of a type in the order in which they are read.
std::vector<ShapeVarId> Generaliser::shapes_in(TypeId type) {
  Occurrences all;
  all.add(vars_, vars_.zonk(type));
  return all.shapes;
}

void Generaliser::take_joins(Scheme& scheme, const Mine& mine) {
  struct Item {
    ShapeVarId result;
    std::vector<ShapeVarId> parts;
  };
  std::vector<Item> items;
  for (Constraint& c : solver_.parked()) {
    if (c.kind != CKind::join) continue;
    Occurrences all;
    for (const Shape& s : c.shapes) all.add(vars_.zonk(s));
    if (!mine(all)) continue;
    auto result = lone(vars_.zonk(c.shapes[0]));
    if (!result) continue;
    auto parts = solver_.joined(*result);
    std::erase_if(parts, [&](ShapeVarId v) { return solver_.is_into_one_of(v, parts); });
    if (!parts.empty()) items.push_back({*result, parts});
  }
  for (Constraint& c : solver_.parked()) {
    if (c.kind != CKind::join) continue;
    auto result = lone(vars_.zonk(c.shapes[0]));
    c.done =
        result && std::any_of(items.begin(), items.end(), [&](const Item& i) { return i.result == *result; });
  }
  std::erase_if(solver_.parked(), [](const Constraint& c) { return c.done; });
  const std::vector<ShapeVarId> order = shapes_in(scheme.type);
  auto place = [&](ShapeVarId v) { return std::find(order.begin(), order.end(), v) - order.begin(); };
  for (Item& i : items) {
    std::stable_sort(i.parts.begin(), i.parts.end(),
                     [&](ShapeVarId a, ShapeVarId b) { return place(a) < place(b); });
    ShapeItem joined;
    joined.kind = ShapeItem::Kind::join;
    joined.join = i.parts;
    vars_.solve(i.result, {joined});
  }
  // a join that the type does not show must still exist
  std::vector<std::vector<ShapeVarId>> shown;
  std::function<void(TypeId)> collect = [&](TypeId id) {
    const Type& t = vars_[id];
    for (const ShapeItem& item : t.shape)
      if (!item.join.empty()) shown.push_back(item.join);
    for (TypeId item : t.items) collect(item);
  };
  collect(vars_.zonk(scheme.type));
  for (const IntoConstraint& stated : scheme.into)
    for (const ShapeItem& item : vars_.zonk(stated.target))
      if (!item.join.empty()) shown.push_back(item.join);
  for (const Item& i : items) {
    const bool there = i.parts.size() == 1 || std::any_of(shown.begin(), shown.end(), [&](const auto& join) {
                         return std::all_of(i.parts.begin(), i.parts.end(), [&](ShapeVarId v) {
                           return std::find(join.begin(), join.end(), v) != join.end();
                         });
                       });
    const bool concerns = std::any_of(i.parts.begin(), i.parts.end(), [&](ShapeVarId v) {
      return std::find(order.begin(), order.end(), v) != order.end();
    });
    if (there || !concerns || solver_.share_target(i.parts)) continue;
    ShapeItem joined;
    joined.kind = ShapeItem::Kind::join;
    joined.join = i.parts;
    scheme.into.push_back({i.parts[0], {joined}});
    shown.push_back(i.parts);
  }
}

void Generaliser::take_intos(Scheme& scheme, const Mine& mine) {
  Occurrences in_type;
  in_type.add(vars_, vars_.zonk(scheme.type));
  for (Constraint& c : solver_.parked()) {
    if (c.kind != CKind::into) continue;
    const Shape operand = vars_.zonk(c.shapes[0]), target = vars_.zonk(c.shapes[1]);
    Occurrences all;
    all.add(operand);
    all.add(target);
    if (!mine(all)) continue;
    auto v = lone(operand);
    if (!v) continue;
    c.done = true;
    const bool known = std::any_of(scheme.into.begin(), scheme.into.end(), [&](const IntoConstraint& i) {
      return i.var == *v && same(vars_.zonk(i.target), target);
    });
    Occurrences just_it;
    just_it.add(operand);
    const bool outer = !mine(just_it);  // of a local function: a shape of what is around it
    if ((in_type.has(*v) || outer) && !known) scheme.into.push_back({*v, target});
  }
  std::erase_if(solver_.parked(), [](const Constraint& c) { return c.done; });
  auto place = [&](ShapeVarId v) {
    return std::find(in_type.shapes.begin(), in_type.shapes.end(), v) - in_type.shapes.begin();
  };
  std::stable_sort(
      scheme.into.begin(), scheme.into.end(),
      [&](const IntoConstraint& a, const IntoConstraint& b) { return place(a.var) < place(b.var); });
}

/// The sizes of a finished type as its facts allow to write them: max(min(n, 5), 0) is min(n, 5).
TypeId Generaliser::simplified(TypeId id, const std::vector<Requirement>& where) {
  Type t = vars_[id];
  auto plain = [](const Dim& d) {
    return std::all_of(d.terms().begin(), d.terms().end(), [](const shape::Term& term) {
      return std::all_of(term.factors.begin(), term.factors.end(),
                         [](const shape::Atom& a) { return a.kind() == shape::AtomKind::var; });
    });
  };
  bool changed = false;
  auto simplify = [&](Dim& d) {
    const Dim known = opened_.without_opened(d);
    changed |= known != d;
    d = known;
    if (plain(d)) return;
    auto facts = solver_.facts_for(shape::equal(d, Dim(0)), {});
    facts.insert(facts.end(), where.begin(), where.end());
    const Dim simpler = shape::simplify(d, facts);
    changed |= simpler != d;
    d = simpler;
  };
  for (ShapeItem& i : t.shape)
    if (is_dim(i)) simplify(i.dim);
  if (t.value) simplify(*t.value);
  if (t.kind == Type::Kind::stack) simplify(t.count);
  for (TypeId& item : t.items) {
    const TypeId simpler = simplified(item, where);
    changed |= simpler != item;
    item = simpler;
  }
  return changed ? vars_.add(std::move(t)) : id;
}

void Generaliser::refuse_leftovers() {
  if (failed_) return;
  for (const Constraint& c : solver_.parked()) {
    if (c.kind == CKind::holds || c.kind == CKind::equal_dims) continue;
    reporter_.report_undetermined(whys_[c.why]);
    undetermined_ = true;
    return;
  }
}

void default_element(Vars& vars, TypeVarId v) {
  if (!vars.is_meta(v)) return;
  base::Elem elem = base::Elem::f32;
  if (vars.types.vars[v].cls == ElemClass::int_) elem = base::Elem::i64;
  if (vars.types.vars[v].cls == ElemClass::bool_) elem = base::Elem::boolean;
  vars.solve(v, ElemTerm{elem, {}});
}

Scheme Generaliser::generalise_top(TypeId type) {
  const Mine all = [](const Occurrences&) { return true; };
  while (Defaults(vars_, solver_).default_joins() || Defaults(vars_, solver_).default_equations()) {
  }
  reporter_.report_failures();
  Scheme scheme;
  scheme.type = vars_.zonk(type);
  if (p_.globals[g_].kind == Global::Kind::entry) {
    Occurrences open;
    open.add(vars_, scheme.type);
    for (TypeVarId v : open.types) default_element(vars_, v);
  }
  scheme.into = stated_into_;
  take_joins(scheme, all);
  for (IntoConstraint& i : scheme.into) i.target = vars_.zonk(i.target);
  take_intos(scheme, all);
  scheme.type = vars_.zonk(scheme.type);
  undetermined_ |= opened_.refuse_in_parameters(scheme.type);
  if (!failed_) take_facts(scheme, all, true);
  reporter_.report_failures();
  refuse_leftovers();
  const DeclInfo& info = e_.infos[g_.index];
  std::vector<Requirement> stated;  // once, where a definition repeats what its `val` says
  for (const FactAt& f : info.where) {
    const Fact known{vars_.zonk(f.fact.lhs), f.fact.relation, vars_.zonk(f.fact.rhs)};
    if (std::none_of(stated.begin(), stated.end(), [&](const Fact& s) {
          return s.lhs == known.lhs && s.relation == known.relation && s.rhs == known.rhs;
        }))
      stated.push_back({known, mentions_integer(known) ? LeftToRun::by_call : LeftToRun::never});
  }
  scheme.where.insert(scheme.where.begin(), stated.begin(), stated.end());
  const StatedSizes opened = stated_sizes_of(info, vars_, scheme.type);
  for (const FactAt& f : opened.facts) scheme.where.push_back({f.fact});
  scheme.exists = opened.sizes;
  scheme.type = simplified(vars_.zonk(scheme.type), scheme.where);
  name_variables(scheme);
  return scheme;
}

void Generaliser::generalise_let(LocalId id, TypeId type, size_t since, size_t opened) {
  while (Defaults(vars_, solver_, true).default_joins(since)) {
  }
  reporter_.report_failures();
  Occurrences outer;
  for (LocalId l : scope_) outer.add(vars_, vars_.zonk(p_.locals[l].type));
  for (bool grew = true; grew;) {  // a join of outer shapes is an outer shape
    grew = false;
    for (const Constraint& c : solver_.parked()) {
      if (c.kind != CKind::join) continue;
      Occurrences operands, result;
      for (size_t i = 1; i < c.shapes.size(); ++i) operands.add(vars_.zonk(c.shapes[i]));
      result.add(vars_.zonk(c.shapes[0]));
      const bool inside = std::all_of(operands.shapes.begin(), operands.shapes.end(),
                                      [&](ShapeVarId v) { return outer.has(v); });
      for (ShapeVarId v : result.shapes)
        if (inside && !outer.has(v)) {
          outer.shapes.push_back(v);
          grew = true;
        }
    }
  }
  Occurrences own;
  own.add(vars_, vars_.zonk(type));
  std::erase_if(own.dims, [&](Var v) { return outer.has(v) || !vars_.is_meta(v); });
  std::erase_if(own.shapes, [&](ShapeVarId v) { return outer.has(v) || !vars_.is_meta(v); });
  std::erase_if(own.types, [&](TypeVarId v) { return outer.has(v) || !vars_.is_meta(v); });
  const Mine mine = [&](const Occurrences& o) {
    return std::any_of(o.dims.begin(), o.dims.end(), [&](Var v) { return own.has(v); }) ||
           std::any_of(o.shapes.begin(), o.shapes.end(), [&](ShapeVarId v) { return own.has(v); });
  };
  Scheme scheme;
  scheme.type = vars_.zonk(type);
  take_joins(scheme, mine);
  take_intos(scheme, mine);
  scheme.type = vars_.zonk(scheme.type);
  take_facts(scheme, mine, false);
  Occurrences left;
  left.add(vars_, scheme.type);
  for (const IntoConstraint& i : scheme.into) left.add(i.target);
  for (Var v : left.dims)
    if (own.has(v)) scheme.dims.push_back(v), vars_.make_rigid(v);
  for (ShapeVarId v : left.shapes)
    if (own.has(v)) scheme.shapes.push_back(v), vars_.make_rigid(v);
  for (TypeVarId v : left.types)
    if (own.has(v)) scheme.types.push_back(v), vars_.make_rigid(v);
  opened_.close(scheme, opened);
  p_.locals[id].type = scheme.type;
  p_.locals[id].scheme = std::move(scheme);
}

// ---- Names ----

/// A shape variable that is the whole shape of a parameter takes the parameter's initial, unless two would.
void Generaliser::prefer_parameter_initials(Names& names, TypeId type) {
  const Type fn = vars_[type];
  if (fn.kind != Type::Kind::function) return;
  std::vector<std::pair<ShapeVarId, std::string>> wanted;
  std::map<std::string, int> times;
  const auto& params = p_.globals[g_].params;
  for (size_t i = 0; i < params.size() && i + 1 < fn.items.size(); ++i) {
    if (params[i].kind != Pattern::Kind::name) continue;
    const std::string initial = p_.locals[params[i].local].name.substr(0, 1);
    ++times[initial];
    const Type& t = vars_[fn.items[i]];
    if (t.kind != Type::Kind::tensor) continue;
    if (auto v = lone(t.shape); v && vars_.is_meta(*v)) wanted.emplace_back(*v, initial);
  }
  for (const auto& [v, initial] : wanted)
    if (times[initial] == 1) names.prefer(v, initial);
}

/// The variables in brackets, where a `val` has given them other names.
void Generaliser::follow_declared() {
  for (auto& [name, v] : p_.globals[g_].sizes)
    if (const auto stated = vars_.zonk(Dim(v)).as_var()) v = *stated;
  for (auto& [name, v] : p_.globals[g_].elems)
    if (const ElemTerm stated = vars_.zonk(ElemTerm{std::nullopt, v}); !stated.elem) v = stated.var;
}

/// The rests of open records get names that no size or shape has.
void Generaliser::name_rests(Names& names, TypeId type) const {
  const Type& t = vars_[type];
  for (TypeId item : t.items) name_rests(names, item);
  if (t.row.valid() && vars_.is_meta(t.row)) names.rest(t.row);
}

void Generaliser::name_variables(Scheme& s) {
  follow_declared();
  Occurrences all;
  for (const auto& [name, v] : p_.globals[g_].sizes) all.add(Dim(v));
  all.add(vars_, s.type);
  for (IntoConstraint& i : s.into) {
    i.target = vars_.zonk(i.target);
    all.add(i.target);
  }
  for (Fact& f : s.where) {
    f = {vars_.zonk(f.lhs), f.relation, vars_.zonk(f.rhs)};
    all.add(f.lhs);
    all.add(f.rhs);
  }
  Names names(p_.types);
  for (Var v : all.dims)
    if (!vars_.is_meta(v)) names.keep(v, shape::var_name(v));
  for (ShapeVarId v : all.shapes)
    if (!vars_.is_meta(v)) names.keep(v, vars_.types.shape_vars[v].name);
  for (TypeVarId v : all.types)
    if (!vars_.is_meta(v)) names.keep(v, vars_.types.vars[v].name);
  prefer_parameter_initials(names, s.type);
  for (Var v : all.dims) {
    const bool exists = std::find(s.exists.begin(), s.exists.end(), v) != s.exists.end();
    Var named = v;
    if (vars_.is_meta(v)) {
      named = vars_.dim(names.of(v), VarKind::rigid, vars_.is_size(v), vars_.origin(v));
      vars_.solve(v, Dim(named));
    }
    if (!exists) s.dims.push_back(named);
  }
  for (ShapeVarId v : all.shapes) {
    vars_.types.shape_vars[v].name = names.of(v);
    vars_.make_rigid(v);
    s.shapes.push_back(v);
  }
  name_rests(names, s.type);
  for (TypeVarId v : all.types) {
    vars_.types.vars[v].name = names.of(v);
    vars_.make_rigid(v);
    s.types.push_back(v);
  }
  s.type = vars_.zonk(s.type);
  for (IntoConstraint& i : s.into) i.target = vars_.zonk(i.target);
  for (Fact& f : s.where) f = {vars_.zonk(f.lhs), f.relation, vars_.zonk(f.rhs)};
  follow_declared();
  opened_.close(s, 0);
}

}  // namespace axon::core
