// See instantiate.h.
#include "core/instantiate.h"

#include <algorithm>
#include <set>

#include "base/interrupt.h"

namespace axon::core {

using shape::Dim;
using shape::Fact;
using shape::Relation;
using shape::Var;

// ---- Instantiation ----

Shape Instantiator::rename(const Shape& s, Fresh& fresh) {
  base::poll();
  auto renamed = [&](ShapeVarId v) {
    auto it = fresh.shapes.find(v);
    return it == fresh.shapes.end() ? v : it->second;
  };
  Shape out;
  for (const ShapeItem& item : s) {
    switch (item.kind) {
      case ShapeItem::Kind::dim:
        out.push_back(dim_item(item.dim.substitute(fresh.dims)));
        break;
      case ShapeItem::Kind::var:
        out.push_back(var_item(renamed(item.var)));
        break;
      case ShapeItem::Kind::join: {
        const ShapeVarId result = vars_.shape(vars_.types.shape_vars[item.join[0]].name);
        std::vector<Shape> operands;
        for (ShapeVarId v : item.join) operands.push_back({var_item(renamed(v))});
        solver_.join({var_item(result)}, operands, fresh.why);
        out.push_back(var_item(result));
        break;
      }
    }
  }
  return out;
}

TypeId Instantiator::rename(TypeId id, Fresh& fresh) {
  vars_.work();
  id = vars_.head(id);
  Type t = vars_[id];
  if (!t.bound.empty()) {
    Fresh inside = fresh;
    for (Var& v : t.bound) {
      const Var own = vars_.dim(shape::var_name(v), VarKind::bound, vars_.is_size(v), vars_.origin(v));
      scopes_.add_argument(own, {});
      inside.dims[v] = Dim(own);
      v = own;
    }
    for (TypeId& item : t.items) item = rename(item, inside);
    return vars_.add(std::move(t));
  }
  auto renamed = [&](TypeVarId v) {
    auto it = fresh.types.find(v);
    return it == fresh.types.end() ? v : it->second;
  };
  Vars::each_size(t, [&](const Dim& d) { return vars_.zonk(d).substitute(fresh.dims); });
  switch (t.kind) {
    case Type::Kind::tensor:
      t.elem = vars_.zonk(t.elem);
      if (!t.elem.elem) t.elem.var = renamed(t.elem.var);
      t.shape = rename(vars_.zonk(t.shape), fresh);
      break;
    case Type::Kind::stack:
      break;
    case Type::Kind::record:
      if (t.row.valid()) t.row = renamed(t.row);
      break;
    case Type::Kind::var:
      t.var = renamed(t.var);
      break;
    case Type::Kind::tuple:
    case Type::Kind::function:
    case Type::Kind::string:
    case Type::Kind::error:
      break;
  }
  for (TypeId& item : t.items) item = rename(item, fresh);
  for (AliasArg& a : t.alias.args) {
    if (a.dim) a.dim = vars_.zonk(*a.dim).substitute(fresh.dims);
    if (a.shape) a.shape = rename(vars_.zonk(*a.shape), fresh);
    if (a.type.valid()) a.type = rename(a.type, fresh);
  }
  return vars_.add(std::move(t));
}

/// The variables of a type that stand for element types (others stand for types or for the rest of a record).
static std::set<TypeVarId> element_variables(const Vars& vars, TypeId id) {
  std::set<TypeVarId> out;
  const Type& t = vars[vars.head(id)];
  if (t.kind == Type::Kind::tensor && !t.elem.elem) out.insert(vars.zonk(t.elem).var);
  for (TypeId item : t.items) out.merge(element_variables(vars, item));
  return out;
}

/// The remainder that a fact says to be 0.
static std::optional<shape::Atom> remainder_of(const Fact& f) {
  if (f.relation != Relation::eq || !f.rhs.is(0) || f.lhs.terms().size() != 1) return std::nullopt;
  const shape::Term& t = f.lhs.terms()[0];
  if (t.factors.size() != 1 || t.factors[0].kind() != shape::AtomKind::mod) return std::nullopt;
  return t.factors[0];
}

TypeId Instantiator::instantiate(const Scheme& s, ExprId at, WhyId w) {
  Fresh fresh;
  fresh.why = w;
  Instantiation sizes;
  ElemInstantiation elems;
  ShapeInstantiation shapes;
  for (Var v : s.dims) {
    const Dim d(vars_.dim(shape::var_name(v), VarKind::meta, vars_.is_size(v), whys_[w].span));
    fresh.dims.emplace(v, d);
    sizes.emplace_back(v, d);
  }
  const ShownBy result = ShownBy::result(whys_[w].expr.valid() ? whys_[w].expr : at);
  for (Var v : s.exists) fresh.dims.emplace(v, opened_.open(s, v, whys_[w].span, result));
  for (ShapeVarId v : s.shapes) {
    const ShapeVarId mine = vars_.shape(vars_.types.shape_vars[v].name);
    fresh.shapes.emplace(v, mine);
    shapes.emplace_back(v, Shape{var_item(mine)});
  }
  for (TypeVarId v : s.types) {
    const auto declared = vars_.types.vars[v];
    const TypeVarId mine = vars_.type(declared.name, declared.cls);
    fresh.types.emplace(v, mine);
    elems.emplace_back(v, ElemTerm{std::nullopt, mine});
  }
  const std::set<TypeVarId> element = element_variables(vars_, s.type);
  std::erase_if(elems, [&](const auto& e) { return !element.count(e.first); });
  const TypeId t = rename(s.type, fresh);
  for (const IntoConstraint& i : s.into)
    solver_.into(rename(Shape{var_item(i.var)}, fresh), rename(i.target, fresh), w);
  for (const Requirement& f : s.where) {
    const Dim l = f.lhs.substitute(fresh.dims), r = f.rhs.substitute(fresh.dims);
    const bool opened = std::any_of(s.exists.begin(), s.exists.end(),
                                    [&](Var v) { return f.lhs.contains(v) || f.rhs.contains(v); });
    if (opened) {
      solver_.assume({l, f.relation, r});
    } else {
      Why mine = whys_[w];
      Names names(p_.types);
      mine.stated = print(f, names);
      mine.left_to_run = f.left_to_run;
      if (const auto mod = remainder_of(f))
        mine.remainder = {mod->lhs().substitute(fresh.dims), mod->rhs().substitute(fresh.dims)};
      solver_.require({l, f.relation, r}, whys_.add(std::move(mine)));
    }
  }
  p_.exprs[at].instantiation = std::move(sizes);
  p_.exprs[at].elems = std::move(elems);
  p_.exprs[at].shapes = std::move(shapes);
  return t;
}

TypeId Instantiator::open(TypeId written, WhyId w) {
  Fresh none;
  none.why = w;
  return rename(written, none);
}

}  // namespace axon::core
