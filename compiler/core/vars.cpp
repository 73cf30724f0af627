// The tables of vars.h: solutions, and replacing variables by them.
#include "core/vars.h"

#include <algorithm>

#include "base/bug.h"
#include "base/interrupt.h"

namespace axon::core {

using shape::Dim;
using shape::Var;

ShapeVarId Vars::shape(const std::string& hint, VarKind kind) {
  ShapeVarId id = types.shape_vars.add({hint});
  shapes_.resize(id.index + 1);
  shapes_[id.index].kind = kind;
  return id;
}
bool Vars::is_meta(ShapeVarId v) const {
  const ShapeInfo& info = shapes_[v.index];
  return info.kind == VarKind::meta && !info.solution;
}
void Vars::solve(ShapeVarId v, Shape s) {
  shapes_[v.index].solution = std::move(s);
  note_solution();
}
void Vars::make_rigid(ShapeVarId v) { shapes_[v.index].kind = VarKind::rigid; }
Shape Vars::zonk(const Shape& s) const {
  base::poll();
  Shape out;
  for (const ShapeItem& item : s) {
    switch (item.kind) {
      case ShapeItem::Kind::dim:
        out.push_back(dim_item(zonk(item.dim)));
        break;
      case ShapeItem::Kind::var:
        if (const auto& solution = shapes_[item.var.index].solution) {
          Shape inner = zonk(*solution);
          out.insert(out.end(), inner.begin(), inner.end());
        } else {
          out.push_back(item);
        }
        break;
      case ShapeItem::Kind::join: {
        ShapeItem joined;
        joined.kind = ShapeItem::Kind::join;
        for (ShapeVarId v : item.join) {
          Shape inner = zonk(Shape{var_item(v)});
          for (const ShapeItem& i : inner) {
            if (is_var(i)) joined.join.push_back(i.var);
            if (i.kind == ShapeItem::Kind::join)
              joined.join.insert(joined.join.end(), i.join.begin(), i.join.end());
          }
        }
        std::vector<ShapeVarId> distinct;
        for (ShapeVarId v : joined.join)
          if (std::find(distinct.begin(), distinct.end(), v) == distinct.end()) distinct.push_back(v);
        joined.join = distinct;
        if (distinct.size() == 1) out.push_back(var_item(distinct[0]));
        if (distinct.size() > 1) out.push_back(joined);
        break;
      }
    }
  }
  return out;
}

TypeVarId Vars::type(const std::string& hint, ElemClass cls, VarKind kind) {
  TypeVarId id = types.vars.add({hint, cls});
  infos_.resize(id.index + 1);
  infos_[id.index].kind = kind;
  return id;
}
bool Vars::is_meta(TypeVarId v) const {
  const TypeInfo& info = infos_[v.index];
  return info.kind == VarKind::meta && !info.type && !info.elem;
}
void Vars::make_rigid(TypeVarId v) { infos_[v.index].kind = VarKind::rigid; }
void Vars::solve(TypeVarId v, TypeId t) {
  infos_[v.index].type = t;
  note_solution();
}
void Vars::solve(TypeVarId v, ElemTerm e) {
  infos_[v.index].elem = e;
  note_solution();
}
ElemTerm Vars::zonk(ElemTerm e) const {
  while (!e.elem && e.var.valid() && infos_[e.var.index].elem) e = *infos_[e.var.index].elem;
  return e;
}
ElemClass Vars::elem_class(ElemTerm e) const {
  if (!e.elem) return types.vars[e.var].cls;
  if (base::is_float(*e.elem)) return ElemClass::flt;
  return base::is_integer(*e.elem) ? ElemClass::int_ : ElemClass::bool_;
}

TypeId Vars::head(TypeId t) const {
  while (types.types[t].kind == Type::Kind::var && infos_[types.types[t].var.index].type)
    t = *infos_[types.types[t].var.index].type;
  return t;
}

void Vars::each_size(Type& t, const std::function<Dim(const Dim&)>& change) {
  if (t.value) t.value = change(*t.value);
  for (Dim& d : t.elements) d = change(d);
  if (t.range) t.range = {change(t.range->low), change(t.range->high)};
  if (t.kind == Type::Kind::stack) t.count = change(t.count);
  each_spot(t.layout, [&](LayoutSpot& s) { s.size = change(s.size); });
}

TypeId Vars::without_layouts(TypeId id) {
  work();
  id = head(id);
  Type t = types.types[id];
  if (t.kind == Type::Kind::function) return id;
  bool changed = !t.layout.empty();
  forget_layout(t);
  for (TypeId& item : t.items) {
    const TypeId bare = without_layouts(item);
    if (bare != item) t.alias = {};  // which states the layout
    changed |= bare != item;
    item = bare;
  }
  return changed ? add(std::move(t)) : id;
}

TypeId Vars::zonk(TypeId id) {
  id = head(id);
  const auto make_room = [&](TypeId t) {
    if (t.index >= zonked_.size()) zonked_.resize(std::max<size_t>(2 * zonked_.size(), t.index + 64));
  };
  make_room(id);
  if (zonked_[id.index].first == solved_) return zonked_[id.index].second;
  const TypeId out = zonk_anew(id);
  for (TypeId t : {id, out}) {
    make_room(t);
    zonked_[t.index] = {solved_, out};
  }
  return out;
}

/// The type itself where nothing in it has been solved.
TypeId Vars::zonk_anew(TypeId id) {
  work();
  const Type::Kind kind = types.types[id].kind;
  if (kind == Type::Kind::var || kind == Type::Kind::string || kind == Type::Kind::error) return id;
  Type t = types.types[id];
  bool changed = false;
  auto size = [&](const Dim& d) {
    Dim known = zonk(d);
    changed |= known != d;
    return known;
  };
  auto shape = [&](Shape& s) {
    Shape known = zonk(s);
    changed |= !same(known, s);
    s = std::move(known);
  };
  const bool wraps = t.value && may_wrap(*t.value);
  each_size(t, size);
  if (wraps && shape::too_complex(*t.value)) t.value = std::nullopt;
  if (kind == Type::Kind::tensor) {
    const ElemTerm known = zonk(t.elem);
    changed |= known.elem != t.elem.elem || known.var != t.elem.var;
    t.elem = known;
    shape(t.shape);
  }
  while (kind == Type::Kind::record && t.row.valid() && infos_[t.row.index].type) {
    const Type rest = types.types[head(*infos_[t.row.index].type)];
    if (rest.kind != Type::Kind::record) break;  // the row of a poisoned record
    t.fields.insert(t.fields.end(), rest.fields.begin(), rest.fields.end());
    t.items.insert(t.items.end(), rest.items.begin(), rest.items.end());
    t.places.insert(t.places.end(), rest.places.begin(), rest.places.end());
    t.row = rest.row;
    changed = true;
  }
  auto inner = [&](TypeId& item) {
    const TypeId known = zonk(item);
    changed |= known != item;
    item = known;
  };
  for (TypeId& item : t.items) inner(item);
  for (AliasArg& a : t.alias.args) {
    if (a.dim) a.dim = size(*a.dim);
    if (a.shape) shape(*a.shape);
    if (a.type.valid()) inner(a.type);
  }
  if (kind == Type::Kind::stack && types.types[t.items[0]].kind == Type::Kind::tensor) {
    Type tensor = types.types[t.items[0]];  // a stack of tensors is a tensor with one more axis
    tensor.shape.insert(tensor.shape.begin(), dim_item(t.count));
    tensor.value = std::nullopt;
    tensor.elements.clear();
    return add(std::move(tensor));
  }
  if (kind == Type::Kind::function) {  // curried results are one function
    const Type result = types.types[t.items.back()];
    if (result.kind == Type::Kind::function) {
      t.items.pop_back();
      t.items.insert(t.items.end(), result.items.begin(), result.items.end());
      t.bound.insert(t.bound.end(), result.bound.begin(), result.bound.end());
      changed = true;
    }
  }
  return changed ? add(std::move(t)) : id;
}

TypeId Vars::substituted(TypeId id, const shape::Substitution& sizes) {
  work();
  if (sizes.empty()) return id;
  id = head(id);
  Type t = types.types[id];
  if (t.kind == Type::Kind::var || t.kind == Type::Kind::string || t.kind == Type::Kind::error) return id;
  const shape::Substitution* here = &sizes;
  shape::Substitution outer;
  if (!t.bound.empty()) {
    outer = sizes;
    for (Var v : t.bound) outer.erase(v);
    here = &outer;
  }
  const auto changed = [&](const Dim& d) { return zonk(d).substitute(*here); };
  const auto shape = [&](const Shape& s) {
    Shape known = zonk(s);
    for (ShapeItem& item : known)
      if (is_dim(item)) item.dim = item.dim.substitute(*here);
    return known;
  };
  const bool wraps = t.value && may_wrap(*t.value);
  each_size(t, changed);
  if (wraps && shape::too_complex(*t.value)) t.value = std::nullopt;
  t.shape = shape(t.shape);
  for (TypeId& item : t.items) item = substituted(item, *here);
  for (AliasArg& a : t.alias.args) {
    if (a.dim) a.dim = changed(*a.dim);
    if (a.shape) a.shape = shape(*a.shape);
    if (a.type.valid()) a.type = substituted(a.type, *here);
  }
  return add(std::move(t));
}

void Vars::begin_declaration() {
  work_ = 0;
  first_type_ = types.types.size();
}

void Vars::after_too_complex() {
  most_types_ = std::max<size_t>(most_types_ / 2, 10'000);
  begin_declaration();
}

TypeId Vars::tensor(ElemTerm e, Shape s, std::optional<Dim> value) {
  Type t;
  t.kind = Type::Kind::tensor;
  t.elem = e;
  t.shape = std::move(s);
  t.value = std::move(value);
  return add(std::move(t));
}
TypeId Vars::scalar(base::Elem e, std::optional<Dim> value) { return tensor({e, {}}, {}, std::move(value)); }
TypeId Vars::function(std::vector<TypeId> params, TypeId result, std::vector<Var> bound) {
  if (params.empty()) return result;
  Type t;
  t.kind = Type::Kind::function;
  t.bound = std::move(bound);
  t.items = std::move(params);
  t.items.push_back(result);
  return add(std::move(t));
}
TypeId Vars::tuple(std::vector<TypeId> items) {
  Type t;
  t.kind = Type::Kind::tuple;
  t.items = std::move(items);
  return add(std::move(t));
}
TypeId Vars::variable(TypeVarId v) {
  Type t;
  t.kind = Type::Kind::var;
  t.var = v;
  return add(std::move(t));
}
TypeId Vars::stack(Dim count, TypeId element) {
  Type t;
  t.kind = Type::Kind::stack;
  t.count = std::move(count);
  t.items = {element};
  return add(std::move(t));
}
TypeId Vars::error() {
  if (!error_.valid()) error_ = types.types.add({});
  return error_;
}
TypeId Vars::string() {
  Type t;
  t.kind = Type::Kind::string;
  return add(std::move(t));
}

source::Span place_of_field(const Type& record, const std::string& field) {
  const auto at = std::find(record.fields.begin(), record.fields.end(), field) - record.fields.begin();
  return static_cast<size_t>(at) < record.places.size() ? record.places[static_cast<size_t>(at)]
                                                        : source::Span{};
}
std::optional<ShapeVarId> lone(const Shape& s) {
  if (s.size() == 1 && is_var(s[0])) return s[0].var;
  return std::nullopt;
}
bool known_rank(const Shape& s) { return std::all_of(s.begin(), s.end(), is_dim); }
bool same(const Shape& a, const Shape& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].kind != b[i].kind) return false;
    if (is_dim(a[i]) ? a[i].dim != b[i].dim : is_var(a[i]) ? a[i].var != b[i].var : a[i].join != b[i].join)
      return false;
  }
  return true;
}

Dim atom_dim(const shape::Atom& a) {
  switch (a.kind()) {
    case shape::AtomKind::var:
      return Dim(a.var());
    case shape::AtomKind::floor_div:
      return shape::floor_div(a.lhs(), a.rhs());
    case shape::AtomKind::mod:
      return shape::mod(a.lhs(), a.rhs());
    case shape::AtomKind::min:
      return shape::min(a.lhs(), a.rhs());
    case shape::AtomKind::max:
      return shape::max(a.lhs(), a.rhs());
  }
  return Dim(0);
}

namespace {
template <class T>
void add_once(std::vector<T>& list, T v) {
  if (std::find(list.begin(), list.end(), v) == list.end()) list.push_back(v);
}
}  // namespace

void Occurrences::add(const Dim& d) {
  for (Var v : d.vars()) add_once(dims, v);
}
void Occurrences::add(const Shape& s) {
  for (const ShapeItem& i : s) {
    if (is_dim(i)) add(i.dim);
    if (is_var(i)) add_once(shapes, i.var);
    for (ShapeVarId v : i.join) add_once(shapes, v);
  }
}
void Occurrences::add(ElemTerm e) {
  if (!e.elem && e.var.valid()) add_once(types, e.var);
}
void Occurrences::add(const Vars& vars, TypeId id) {
  vars.work();
  const Type& t = vars[id];
  if (!t.bound.empty()) {
    Occurrences inside;
    for (TypeId item : t.items) inside.add(vars, item);
    for (Var v : inside.dims)
      if (std::find(t.bound.begin(), t.bound.end(), v) == t.bound.end()) add_once(dims, v);
    for (ShapeVarId v : inside.shapes) add_once(shapes, v);
    for (TypeVarId v : inside.types) add_once(types, v);
    return;
  }
  if (t.kind == Type::Kind::tensor) {
    add(t.elem);
    add(t.shape);
    if (t.value) add(*t.value);
    for (const Dim& d : t.elements) add(d);
    if (t.range) {
      add(t.range->low);
      add(t.range->high);
    }
  }
  if (t.kind == Type::Kind::stack) add(t.count);
  each_spot(t.layout, [&](const LayoutSpot& s) { add(s.size); });
  if (t.kind == Type::Kind::var) add_once(types, t.var);
  for (TypeId item : t.items) add(vars, item);
  if (t.kind == Type::Kind::record && t.row.valid()) add_once(types, t.row);
}
bool Occurrences::has(Var v) const { return std::find(dims.begin(), dims.end(), v) != dims.end(); }
bool Occurrences::has(ShapeVarId v) const {
  return std::find(shapes.begin(), shapes.end(), v) != shapes.end();
}
bool Occurrences::has(TypeVarId v) const { return std::find(types.begin(), types.end(), v) != types.end(); }

}  // namespace axon::core
