// See type_lowering.h.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/type_lowering.h"

namespace axon::core {

using shape::Dim;
using shape::Var;
using source::Code;
using source::error;
using source::Span;
namespace stx = axon::syntax;

namespace {
Shape to_shape(ShapeVarId v) { return {var_item(v)}; }
}  // namespace

// ---- Shapes ----

/// Notes a name that lives for the whole declaration, of its first mention on.
void TypeLowering::note_named(Use::Kind kind, const stx::Name& n) {
  if (!open_aliases_.empty()) return;
  note(kind, n.span, named_.try_emplace({kind, n.text}, n.span).first->second);
}

ShapeVarId TypeLowering::shape_name(const stx::Name& n) {
  note_named(Use::Kind::shape, n);
  auto it = shapes_.find(n.text);
  if (it != shapes_.end() && lone(it->second)) return *lone(it->second);
  if (it != shapes_.end()) {  // an alias's argument that is a whole shape: joins name variables only
    ShapeVarId v = e_.vars.shape(n.text);
    e_.vars.solve(v, it->second);
    return v;
  }
  if (unbound_ == Unbound::refuse)
    report(error(Code::E0405, n.span, fmt::format("nothing here names a shape `..{}`", n.text)));
  ShapeVarId v = e_.vars.shape(n.text, unbound_ == Unbound::rigid ? VarKind::rigid : VarKind::meta);
  shapes_[n.text] = to_shape(v);
  return v;
}

Shape TypeLowering::shape_of(const std::vector<stx::Item>& items) {
  Shape out;
  for (const stx::Item& item : items) {
    std::visit(stx::Overloaded{
                   [&](const stx::DimItem& d) {
                     const Dim size = dim(d.dim);
                     if (shape::too_complex(size)) throw TooComplex{item.span};
                     if (size.constant() && *size.constant() < 0)
                       report(error(Code::E0313, item.span,
                                    fmt::format("a size is at least 0, and this is {}", *size.constant())));
                     if (const auto v = size.as_var(); v && integer_names_.count(v->id))
                       e_.vars.make_size(*v);
                     out.push_back(dim_item(size));
                   },
                   [&](const stx::SpreadItem& s) {
                     shape_name(s.name);
                     const Shape& whole = shapes_[s.name.text];
                     out.insert(out.end(), whole.begin(), whole.end());
                   },
                   [&](const stx::AnySpreadItem&) { out.push_back(var_item(e_.vars.shape("a"))); },
                   [&](const stx::JoinItem& j) {
                     ShapeItem joined;
                     joined.kind = ShapeItem::Kind::join;
                     for (const stx::Name& n : j.names) joined.join.push_back(shape_name(n));
                     out.push_back(joined);
                   },
                   [&](const stx::InferItem&) {
                     out.push_back(dim_item(Dim(e_.vars.dim("n", VarKind::meta, true, item.span))));
                   },
                   [&](const stx::TypeItem&) {
                     report(error(Code::E0217, item.span, "a size was expected here, not a type"));
                   }},
               item.node);
  }
  return out;
}

// ---- Types ----

void TypeLowering::collect_bracketed(const stx::File& f, stx::TypeId id) {
  if (!id.valid()) return;
  std::visit(stx::Overloaded{[&](const stx::VariableType& v) {
                               if (v.items) bracketed_.insert(v.name.text);
                             },
                             [&](const stx::TupleType& t) {
                               for (stx::TypeId e : t.elements) collect_bracketed(f, e);
                             },
                             [&](const stx::RecordType& r) {
                               for (const stx::TypeField& field : r.fields) collect_bracketed(f, field.type);
                             },
                             [&](const stx::ArrowType& a) {
                               collect_bracketed(f, a.from);
                               collect_bracketed(f, a.to);
                             },
                             [&](const stx::IntegerType& i) { collect_bracketed(f, i.type); },
                             [&](const stx::OwnedType& o) { collect_bracketed(f, o.type); },
                             [&](const stx::WeightsType& w) { collect_bracketed(f, w.type); },
                             [&](const stx::PlacedType& p) { collect_bracketed(f, p.type); },
                             [&](const stx::ExistsType& e) { collect_bracketed(f, e.body); },
                             [&](const stx::NamedType& n) {
                               const bool stack = n.path.size() == 1 && n.path[0].text == "Stack";
                               if (!n.items) return;
                               for (const stx::Item& i : *n.items) {
                                 const auto* t = std::get_if<stx::TypeItem>(&i.node);
                                 if (!t) continue;
                                 const auto* v = stx::as<stx::VariableType>(f[t->type]);
                                 if (v && !stack) bracketed_.insert(v->name.text);
                                 collect_bracketed(f, t->type);
                               }
                             },
                             [](const auto&) {}},
             f[id].node);
}

void TypeLowering::collect_bracketed(const std::vector<stx::Condition>& where) {
  for (const stx::Condition& c : where)
    if (const auto* k = stx::as<stx::ClassFact>(c)) bracketed_.insert(k->element.text);
}

TypeId TypeLowering::type_variable(const std::string& name) {
  auto it = type_names_.find(name);
  if (it != type_names_.end()) return it->second;
  const VarKind kind = unbound_ == Unbound::rigid ? VarKind::rigid : VarKind::meta;
  const TypeVarId v = e_.vars.type(name, ElemClass::any, kind);
  const TypeId t = bracketed_.count(name) ? e_.vars.tensor({std::nullopt, v}, {}) : e_.vars.variable(v);
  return type_names_[name] = t;
}

/// The type that a type variable stands for, as an element type. A variable that only the body gives a shape
/// has been taken for a whole type; that is said once.
ElemTerm TypeLowering::elem_of(const std::string& variable, TypeId t, Span at) {
  const Type type = e_.vars[e_.vars.head(t)];
  if (type.kind == Type::Kind::tensor && type.shape.empty()) return type.elem;
  const ElemTerm elem{std::nullopt, e_.vars.type(variable)};
  if (type.kind != Type::Kind::var) {
    report(error(Code::E0217, at, "an element type was expected"));
    return elem;
  }
  auto d = error(Code::E0217, at, fmt::format("`'{}` is not declared as an element type", variable));
  if (!stx::as<stx::TestDecl>(*e_.infos[g_.index].written))  // nothing stands behind the name of a test
    d.help(fmt::format("declare it behind the name: `{}['{}]`", p_.globals[g_].name, variable));
  report(std::move(d));
  type_names_[variable] = e_.vars.tensor(elem, {});
  return elem;
}

/// `*` on the type, or inside of it.
bool TypeLowering::gives_up(TypeId id) const {
  const Type& t = e_.vars[id];
  return t.consumed || std::any_of(t.items.begin(), t.items.end(), [&](TypeId i) { return gives_up(i); });
}

TypeId TypeLowering::weights_type(stx::TypeId id, const stx::WeightsType& written) {
  const Span at = file()[id].span;
  const TypeId inner = type(written.type);
  const std::string_view text = e_.sources.text(at);
  const size_t word =
      std::min(text.find_first_not_of(" \t", std::string_view("weights").size()), text.size());
  const source::Edit without{
      {at.file, at.begin, at.begin + static_cast<uint32_t>(word)}, "", source::Applicability::safe};
  if (!may_be_weights_.count({file_, id})) {
    report(error(Code::E0330, at)
               .label("not the type of a named parameter of an entry")
               .help("leave it out", without));
    return inner;
  }
  if (gives_up(inner)) {
    report(error(Code::E0330, at, "weights are not updated: `weights` and `*` exclude each other")
               .help("leave out `weights`: the parameter is given at each call", without));
    return inner;
  }
  Type weights = e_.vars[inner];
  weights.weights = true;
  return e_.vars.add(weights);
}

TypeId TypeLowering::type(stx::TypeId id) {
  if (!id.valid()) return e_.vars.fresh("t");
  const stx::Type& t = file()[id];
  return std::visit(
      stx::Overloaded{[&](const stx::ErrorType&) { return e_.vars.error(); },
                      [&](const stx::NamedType& n) { return named_type(n, t.span); },
                      [&](const stx::VariableType& v) {
                        note_named(Use::Kind::element, v.name);
                        const TypeId variable = type_variable(v.name.text);
                        if (!v.items) return variable;
                        const ElemTerm elem = elem_of(v.name.text, variable, t.span);
                        return e_.vars.tensor(elem, shape_of(*v.items));
                      },
                      [&](const stx::ShapeType& s) {
                        return e_.vars.tensor({std::nullopt, e_.vars.type("t")}, shape_of(s.items));
                      },
                      [&](const stx::TupleType& tuple) {
                        std::vector<TypeId> items;
                        for (stx::TypeId e : tuple.elements) items.push_back(type(e));
                        return e_.vars.tuple(items);
                      },
                      [&](const stx::RecordType& r) { return record_type(r); },
                      [&](const stx::IntegerType& n) { return named_integer(n, t.span); },
                      [&](const stx::ArrowType& a) { return arrow(a, false); },
                      [&](const stx::OwnedType& o) {
                        Type owned = e_.vars[type(o.type)];
                        owned.consumed = true;
                        return e_.vars.add(owned);
                      },
                      [&](const stx::WeightsType& w) { return weights_type(id, w); },
                      [&](const stx::PlacedType& p) { return placed_type(p, id); },
                      [&](const stx::ExistsType& x) { return exists(x, t.span); }},
      t.node);
}

/// Sizes that only the data decides, in the result of a function.
TypeId TypeLowering::exists(const stx::ExistsType& x, Span at) {
  const size_t scope = scope_.size();
  for (const stx::Name& n : x.names) {
    const Var v = e_.vars.dim(n.text, VarKind::rigid, true, n.span);
    scope_.push_back({n.text, {}, Dim(v), ScopeEntry::Seen::anywhere, n.span});
    if (x.facts.empty()) note(scope_.back(), n.span);  // else it stands in one of these
    if (exists_) exists_->push_back(v);
  }
  if (!exists_) report(error(Code::E0217, at, "an unknown size `?k` can only stand in a result type"));
  for (const stx::Fact& f : x.facts) {
    const FactAt known = fact(f);
    if (exists_facts_) exists_facts_->push_back(known);
  }
  const TypeId body = type(x.body);
  scope_.resize(scope);
  return body;
}

/// `(k : i64)`: from here on k is a size in the function type whose parameter it is in.
TypeId TypeLowering::named_integer(const stx::IntegerType& n, Span at) {
  const TypeId written = type(n.type);
  const Type t = e_.vars[e_.vars.head(written)];
  const bool integer =
      t.kind == Type::Kind::tensor && t.shape.empty() && t.elem.elem && base::is_integer(*t.elem.elem);
  if (!integer || !integers_) {
    if (t.kind != Type::Kind::error)
      report(error(Code::E0217, at,
                   integer ? "a name for an integer stands in the type of a parameter: `(k : i64) -> f32[k]`"
                           : "a name in a type stands for an integer: `(k : i64) -> f32[k]`"));
    return written;
  }
  const ScopeEntry* known =
      top_level_ && integers_->kind != VarKind::bound ? find_size(n.name.text) : nullptr;
  const auto with_value = [&](const Dim& value) {
    Type out = t;
    out.value = value;
    return e_.vars.add(std::move(out));
  };
  if (known && known->size) {
    note(*known, n.name.span);
    return with_value(*known->size);
  }
  const Var v = e_.vars.dim(n.name.text, integers_->kind, false, n.name.span);
  integer_names_.insert(v.id);
  integers_->all.push_back(v);
  add_size(n.name, Dim(v));
  return with_value(Dim(v));
}

/// `outermost`: of the declaration itself, whose scheme binds what its parameters name.
TypeId TypeLowering::arrow(const stx::ArrowType& a, bool outermost) {
  NamedIntegers own{outermost ? VarKind::rigid : VarKind::bound, {}};
  NamedIntegers* const around = std::exchange(integers_, &own);
  auto* const exists = std::exchange(exists_, nullptr);
  const TypeId from = type(a.from);
  integers_ = nullptr;
  if (outermost) exists_ = exists;
  const auto* rest = outermost ? stx::as<stx::ArrowType>(file()[a.to]) : nullptr;
  const TypeId to = rest ? arrow(*rest, true) : type(a.to);
  integers_ = around;
  exists_ = exists;
  if (outermost) return e_.vars.function({from}, to);
  std::erase_if(scope_, [&](const ScopeEntry& e) {
    const auto v = e.size ? e.size->as_var() : std::nullopt;
    return v && std::find(own.all.begin(), own.all.end(), *v) != own.all.end();
  });
  return e_.vars.function({from}, to, own.all);
}

TypeId TypeLowering::signature(stx::TypeId t) {
  const auto* a = t.valid() ? stx::as<stx::ArrowType>(file()[t]) : nullptr;
  return a ? arrow(*a, true) : type(t);
}

TypeId TypeLowering::record_type(const stx::RecordType& r) {
  Type out;
  out.kind = Type::Kind::record;
  for (const stx::TypeField& f : r.fields) {
    if (std::find(out.fields.begin(), out.fields.end(), f.name.text) != out.fields.end()) {
      report(error(Code::E0404, f.name.span, fmt::format("the record has two fields `{}`", f.name.text)));
      continue;
    }
    out.fields.push_back(f.name.text);
    out.places.push_back(f.type.valid() ? source::join(f.name.span, file()[f.type].span) : f.name.span);
    note(Use::Kind::field, f.name.span, out.places.back());
    out.items.push_back(type(f.type));
  }
  if (r.rest) {
    note_named(Use::Kind::row, *r.rest);
    const auto known = rows_.find(r.rest->text);
    out.row = known != rows_.end()
                  ? known->second
                  : e_.vars.type(r.rest->text, ElemClass::any,
                                 unbound_ == Unbound::rigid ? VarKind::rigid : VarKind::meta);
    rows_[r.rest->text] = out.row;
  }
  return e_.vars.add(out);
}

GlobalId TypeLowering::find_type(const std::vector<stx::Name>& path, Span at) {
  const Module* m = module_;
  if (path.size() > 1) {  // what a module imports is its own business
    const auto imported = path.size() == 2 ? e_.lookups.import(*m, path[0].text) : std::nullopt;
    if (!imported) {
      report(error(Code::E0403, path[0].span, fmt::format("no module is imported as `{}`", path[0].text)));
      return {};
    }
    note(Use::Kind::module, path[0].span, Span{});
    m = *imported;
    if (!m) {
      not_read();
      return {};
    }
  }
  const std::string& name = path.back().text;
  if (const DeclId found = e_.lookups.find(*m, DeclKey::Space::types, name); found.valid()) {
    note(Use::Kind::type, path.back().span, found);
    if (m == module_ || !e_.modules.is_private(found)) return e_.global(found);
    report(error(Code::E0409, path.back().span,
                 fmt::format("the type `{}` is private to the module `{}`", name, path[0].text))
               .also(e_.modules[found].span, "declared here"));
    return {};
  }
  if (GlobalId g = e_.library_type(name); g.valid() && path.size() == 1) {
    note(Use::Kind::type, path.back().span, e_.infos[g.index].id);
    return g;
  }
  std::vector<std::string> known = {"Stack"};
  for (const base::Elem elem : base::all_elems) known.emplace_back(base::elem_name(elem));
  for (std::string& other : e_.lookups.names(*m, DeclKey::Space::types, m == module_))
    known.push_back(std::move(other));
  auto d = error(Code::E0402, at, fmt::format("no type is called `{}`", name));
  if (auto other = nearest(name, known))
    d.help(fmt::format("a type with a similar name is `{}`", *other),
           source::Edit{path.back().span, *other, source::Applicability::maybe});
  report(std::move(d));
  return {};
}

TypeId TypeLowering::named_type(const stx::NamedType& n, Span at) {
  const std::string& name = n.path.back().text;
  if (n.path.size() == 1) {
    if (auto elem = base::elem_from_name(name))
      return e_.vars.tensor({*elem, {}}, n.items ? shape_of(*n.items) : Shape{});
    if (name == "string") return e_.vars.string();
    if (name == "Stack") {
      const bool two =
          n.items && n.items->size() == 2 && std::holds_alternative<stx::DimItem>((*n.items)[0].node);
      if (!two) {
        report(error(Code::E0318, at, "`Stack` takes a size and a type: `Stack[n, t]`"));
        return e_.vars.error();
      }
      const Dim count = dim(std::get<stx::DimItem>((*n.items)[0].node).dim);
      const stx::Item& element = (*n.items)[1];
      NamedIntegers* const integers = std::exchange(integers_, nullptr);  // each element has another one
      const auto* written = std::get_if<stx::TypeItem>(&element.node);
      const auto* d = std::get_if<stx::DimItem>(&element.node);
      const auto* bare = d ? stx::as<stx::NameDim>(file()[d->dim]) : nullptr;
      const TypeId of = written ? type(written->type)
                        : bare  ? named_type({{bare->name}, std::nullopt}, element.span)
                                : TypeId{};
      integers_ = integers;
      if (of.valid()) return e_.vars.stack(count, of);
      report(error(Code::E0217, element.span, "a type was expected"));
      return e_.vars.error();
    }
  }
  GlobalId g = find_type(n.path, at);
  if (!g.valid()) return e_.vars.error();
  return alias(g, n.items ? &*n.items : nullptr, at);
}

std::string counts_differ(const std::string& name, const std::string& what, size_t has,
                          const std::string& given) {
  return fmt::format("`{}` has {} {}{}, and {} {} given", name, has, what, has == 1 ? "" : "s", given,
                     given == "1" ? "is" : "are");
}

/// `Pair['t, [..s]]`: how a type with these parameters is written.
static std::string written_as(const std::string& name, const std::vector<stx::SizeParam>& params) {
  if (params.empty()) return fmt::format("it is written `{}`", name);
  std::string all;
  for (const stx::SizeParam& p : params) {
    const bool axes = p.kind == stx::SizeParamKind::shape, element = p.kind == stx::SizeParamKind::element;
    all += all.empty() ? "" : ", ";
    all += axes ? "[.." + p.name.text + "]" : element ? "'" + p.name.text : p.name.text;
  }
  return fmt::format("it is written `{0}[{1}]`; `{0}[..]` leaves all of it to inference", name, all);
}

/// The declared type with its parameters replaced: lowered anew in a scope of its own.
TypeId TypeLowering::alias(GlobalId g, const std::vector<stx::Item>* items, Span at) {
  const DeclInfo& info = e_.infos[g.index];
  const auto* declared = stx::as<stx::TypeDecl>(*info.written);
  if (!declared || holds_unread_text(info.written)) {  // which may lack parameters and fields
    not_read();
    for (const stx::Item& item : items ? *items : std::vector<stx::Item>{}) {  // what these name is named
      const auto* size = std::get_if<stx::DimItem>(&item.node);
      const auto* name = size ? stx::as<stx::NameDim>(file()[size->dim]) : nullptr;
      if (name && !base::elem_from_name(name->name.text)) dim(size->dim);
    }
    return e_.vars.error();
  }
  const stx::TypeDecl& decl = *declared;
  if (std::find(open_aliases_.begin(), open_aliases_.end(), g) != open_aliases_.end()) {
    report(error(Code::E0317, at, fmt::format("the type `{}` contains itself", p_.globals[g].name)));
    return e_.vars.error();
  }
  const bool all_fresh =
      items && items->size() == 1 && std::holds_alternative<stx::AnySpreadItem>((*items)[0].node);
  const size_t given = items ? items->size() : 0;
  if (!all_fresh && given != decl.params.size()) {
    report(error(Code::E0318, at,
                 counts_differ(p_.globals[g].name, "parameter", decl.params.size(), std::to_string(given)))
               .also(p_.globals[g].span, "declared here")
               .help(written_as(p_.globals[g].name, decl.params)));
    return e_.vars.error();
  }
  if (auto known = e_.plain_aliases.find(g); known != e_.plain_aliases.end()) return known->second;
  std::vector<ScopeEntry> scope;
  std::map<std::string, Shape> shapes;
  std::map<std::string, TypeId> names;
  std::map<std::string, TypeVarId> rows;
  std::vector<AliasArg> args;
  for (size_t i = 0; i < decl.params.size(); ++i) {
    const stx::SizeParam& param = decl.params[i];
    const stx::Item* item = all_fresh ? nullptr : &(*items)[i];
    const bool inferred = !item || std::holds_alternative<stx::InferItem>(item->node);
    switch (param.kind) {
      case stx::SizeParamKind::dim: {
        Dim d;
        if (inferred) {
          d = Dim(e_.vars.dim(param.name.text, VarKind::meta, true, at));
        } else if (const auto* written = std::get_if<stx::DimItem>(&item->node)) {
          d = dim(written->dim);
        } else {
          report(error(Code::E0318, item->span, fmt::format("`{}` stands for a size", param.name.text)));
        }
        scope.push_back({param.name.text, {}, d, ScopeEntry::Seen::anywhere, param.name.span});
        args.push_back({d, std::nullopt, {}});
        break;
      }
      case stx::SizeParamKind::shape: {
        Shape s;
        if (inferred) {
          s = to_shape(e_.vars.shape(param.name.text));
        } else if (const auto* written = std::get_if<stx::TypeItem>(&item->node);
                   written && stx::as<stx::ShapeType>(file()[written->type])) {  // L[d, [n, m]]
          s = shape_of(stx::as<stx::ShapeType>(file()[written->type])->items);
        } else {
          s = shape_of({*item});
        }
        shapes[param.name.text] = s;
        args.push_back({std::nullopt, s, {}});
        break;
      }
      case stx::SizeParamKind::element: {
        TypeId t;
        if (inferred) {
          t = e_.vars.tensor({std::nullopt, e_.vars.type(param.name.text)}, {});
        } else if (const auto* written = std::get_if<stx::TypeItem>(&item->node)) {
          t = type(written->type);
        } else if (const auto* d = std::get_if<stx::DimItem>(&item->node);
                   d && stx::as<stx::NameDim>(file()[d->dim])) {
          t = named_type({{stx::as<stx::NameDim>(file()[d->dim])->name}, std::nullopt}, item->span);
        } else {
          report(error(Code::E0318, item->span,
                       fmt::format("`'{}` stands for an element type", param.name.text)));
          t = e_.vars.error();
        }
        names[param.name.text] = t;
        args.push_back({std::nullopt, std::nullopt, t});
        break;
      }
    }
  }
  scope_.swap(scope);
  shapes_.swap(shapes);
  type_names_.swap(names);
  rows_.swap(rows);
  open_aliases_.push_back(g);
  const stx::File* file = file_;
  Module* module = module_;
  const Unbound unbound = unbound_;
  file_ = info.written.file;
  module_ = info.module;
  unbound_ = Unbound::refuse;
  NamedIntegers* const integers = std::exchange(integers_, nullptr);
  Type named = e_.vars[type(decl.type)];
  integers_ = integers;
  named.alias = {g, std::move(args), !named.layout.empty()};
  const TypeId out = e_.vars.add(std::move(named));
  unbound_ = unbound;
  file_ = file;
  module_ = module;
  open_aliases_.pop_back();
  scope_.swap(scope);
  shapes_.swap(shapes);
  type_names_.swap(names);
  rows_.swap(rows);
  if (decl.params.empty()) e_.plain_aliases.emplace(g, out);
  return out;
}

}  // namespace axon::core
