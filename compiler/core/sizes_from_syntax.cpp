// Written sizes and facts, and the names that stand for sizes. See type_lowering.h.
#include <fmt/format.h>

#include "core/type_lowering.h"
#include "core/unify.h"

namespace axon::core {

using shape::Dim;
using source::Code;
using source::error;
using source::Span;
namespace stx = axon::syntax;

void TypeLowering::clear() {
  scope_.clear();
  shapes_.clear();
  type_names_.clear();
  rows_.clear();
  named_.clear();
  bracketed_.clear();
}

void TypeLowering::declare_sizes(const std::vector<stx::SizeParam>& sizes) {
  DeclInfo& info = e_.infos[g_.index];
  info.declared = sizes;
  const VarKind kind =
      info.stated ? VarKind::meta : VarKind::rigid;  // what a `val` states has names of its own
  for (const stx::SizeParam& s : sizes) {
    switch (s.kind) {
      case stx::SizeParamKind::dim: {
        const Dim d = named_size(s.name, kind);
        if (auto v = d.as_var()) p_.globals[g_].sizes.emplace_back(s.name.text, *v);
        break;
      }
      case stx::SizeParamKind::shape: {
        note_named(Use::Kind::shape, s.name);
        const ShapeVarId v = e_.vars.shape(s.name.text, kind);
        shapes_[s.name.text] = {var_item(v)};
        info.declared_shapes.push_back(v);
        break;
      }
      case stx::SizeParamKind::element:
        note_named(Use::Kind::element, s.name);
        if (entry_) {
          e_.entry_elems.insert(s.name.text);
          auto fixed = e_.options.elems.find(s.name.text);
          const base::Elem elem = fixed == e_.options.elems.end() ? base::Elem::f32 : fixed->second;
          type_names_[s.name.text] = e_.vars.scalar(elem);
        } else {
          const TypeVarId v = e_.vars.type(s.name.text, ElemClass::any, kind);
          type_names_[s.name.text] = e_.vars.tensor({std::nullopt, v}, {});
          p_.globals[g_].elems.emplace_back(s.name.text, v);
        }
        break;
    }
  }
}

/// A new name of a size. A value of the same name, which names no size, keeps the name in expressions.
Dim TypeLowering::named_size(const stx::Name& written, VarKind kind) {
  const std::string& name = written.text;
  const auto seen = find(name) ? ScopeEntry::Seen::in_types : ScopeEntry::Seen::anywhere;
  if (entry_) {
    e_.entry_sizes.insert(name);
    auto fixed = e_.options.sizes.find(name);
    if (fixed != e_.options.sizes.end()) {
      Dim value(fixed->second);
      add_size(written, value, seen);
      return value;
    }
  }
  Dim d(e_.vars.dim(name, kind, true, written.span));
  add_size(written, d, seen);
  return d;
}

void TypeLowering::add_size(const stx::Name& n, const Dim& size, ScopeEntry::Seen seen) {
  scope_.push_back({n.text, {}, size, seen, n.span});
  note(scope_.back(), n.span);
}

std::optional<Dim> TypeLowering::size_of(const ScopeEntry& entry) {
  if (entry.size) return entry.size;
  const Local& local = p_.locals[entry.local];
  if (local.kind == Local::Kind::rank) return std::nullopt;
  if (local.type.valid() && e_.vars[local.type].value) return e_.vars[local.type].value;
  auto it = e_.local_sizes.find(entry.local.index);
  if (it == e_.local_sizes.end())
    it = e_.local_sizes.emplace(entry.local.index, e_.vars.dim(entry.name, VarKind::meta, false)).first;
  return Dim(it->second);
}

/// What a name in a written size stands for.
Dim TypeLowering::dim_of(const stx::Name& name) {
  if (const ScopeEntry* entry = find_size(name.text))
    if (auto size = size_of(*entry)) {
      note(Use::Kind::size, name.span, entry->binding);
      return *size;
    }
  switch (unbound_) {
    case Unbound::rigid:
      return named_size(name, VarKind::rigid);
    case Unbound::meta:
      return named_size(name, VarKind::meta);
    case Unbound::refuse:
      break;
  }
  report(
      error(Code::E0405, name.span, fmt::format("nothing here names a size `{}`", name.text))
          .text("Sizes are named in the types of parameters or in brackets after the declared name; `_` asks "
                "for inference."));
  return Dim(e_.vars.dim(name.text));
}

WrittenSizes TypeLowering::sizes() {
  return WrittenSizes({e_.sources, file(), [this](const stx::Name& name) { return dim_of(name); },
                       [this] { return Dim(e_.vars.dim("n")); },
                       [this](source::Diagnostic d) { report(std::move(d)); }});
}

Dim TypeLowering::dim(stx::DimId id) { return sizes().dim(id); }

FactAt TypeLowering::fact(const stx::Fact& f) { return {sizes().fact(f), f.span}; }

void TypeLowering::lower_where(const std::vector<stx::Condition>& where, DeclInfo& info) {
  for (const stx::Condition& c : where)
    std::visit(stx::Overloaded{[&](const stx::Fact& f) { info.where.push_back(fact(f)); },
                               [&](const stx::IntoFact& i) {
                                 const ShapeVarId v = shape_name(i.shape);
                                 info.into.push_back({{v, shape_of(i.target)}, c.span});
                               },
                               [&](const stx::ClassFact& k) { lower_class(k); }},
               c.node);
}

/// `'t : float`: what the name stands for is one of these, and the body may not ask for less.
void TypeLowering::lower_class(const stx::ClassFact& c) {
  note_named(Use::Kind::element, c.element);
  const std::map<std::string, ElemClass> classes = {
      {"num", ElemClass::num}, {"float", ElemClass::flt}, {"int", ElemClass::int_}};
  const auto cls = classes.find(c.cls.text);
  const auto named = type_names_.find(c.element.text);
  if (cls == classes.end()) {
    report(error(Code::E0402, c.cls.span, fmt::format("no class of element types is called `{}`", c.cls.text))
               .text("The classes are num, float and int."));
    return;
  }
  if (named == type_names_.end()) {
    report(error(Code::E0402, c.element.span, fmt::format("no type here mentions `'{}`", c.element.text)));
    return;
  }
  const ElemTerm term = elem_of(c.element.text, named->second, c.element.span);
  const auto both = meet(e_.vars.elem_class(term), cls->second);
  if (!both) {
    report(error(Code::E0302, c.element.span,
                 fmt::format("`'{}` stands for {}", c.element.text, base::elem_name(*term.elem))));
  } else if (!term.elem) {
    e_.vars.types.vars[term.var].cls = *both;
    e_.vars.types.vars[term.var].stated = true;
  }
}

}  // namespace axon::core
