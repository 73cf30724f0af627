// See interface.h.
#include "core/interface.h"

#include <fmt/format.h>

#include "core/copy_types.h"

namespace axon::core {

using shape::Dim;
using shape::Var;
using source::Span;

namespace {

/// The header of a global, without what belongs to one table of variables.
Global header(const Global& g) {
  Global out;
  out.kind = g.kind;
  out.name = g.name;
  out.module = g.module;
  out.span = g.span;
  out.prim = g.prim;
  out.checked = g.checked;
  out.has_error = g.has_error;
  out.aliases = g.aliases;
  return out;
}

/// Gives how many size variables it has.
uint32_t copy_scheme(const Global& from, Global& to, TypeCopier& copier) {
  copier.mention(from.scheme);
  for (const auto& [name, v] : from.sizes) copier.mention(v);
  for (const auto& [name, v] : from.elems) copier.mention(v);
  const uint32_t variables = copier.make_variables();
  to.scheme = copier.copy(from.scheme);
  for (const auto& [name, v] : from.sizes) to.sizes.emplace_back(name, copier.copy(v));
  for (const auto& [name, v] : from.elems) to.elems.emplace_back(name, copier.copy(v));
  return variables;
}

}  // namespace

Interface::Interface(const Elaborator& e, GlobalId g)
    : global_(header(e.program.globals[g])),
      declared_(e.infos[g.index].declared),
      not_read_(e.infos[g.index].not_read) {
  shape::Arena& there = shape::Arena::current();
  const shape::UseArena here(arena_);
  TypeCopier copier(e.vars, there, vars_, [&](GlobalId type) {
    aliases_.push_back(e.modules.key(e.infos[type.index].id));
    return GlobalId{static_cast<uint32_t>(aliases_.size() - 1)};
  });
  variables_ = copy_scheme(e.program.globals[g], global_, copier);
  fingerprint_ = described();
}

void Interface::give(Elaborator& e, GlobalId g) const {
  DeclInfo& info = e.infos[g.index];
  info.declared = declared_;
  info.not_read = not_read_;
  info.state = DeclInfo::State::done;
  info.given = true;
  TypeCopier copier(vars_, arena_, e.vars, [&](GlobalId alias) {
    const DeclId type = e.modules.find(aliases_[alias.index]);
    return type.valid() ? e.global(type) : GlobalId{};
  });
  Global given = header(global_);
  given.doc = e.program.globals[g].doc;
  copy_scheme(global_, given, copier);
  e.program.globals[g] = std::move(given);
}

// ---- Fingerprint ----

namespace {

/// Writes down what interfaces are made of: variables by number, texts with their length before them.
class Description {
 public:
  void number(int64_t n) { fmt::format_to(std::back_inserter(text_), "{} ", n); }
  void text(const std::string& t) { fmt::format_to(std::back_inserter(text_), "{}:{} ", t.size(), t); }
  template <class Tag>
  void id(base::Id<Tag> id) {
    number(id.valid() ? static_cast<int64_t>(id.index) : -1);
  }
  template <class All, class Each>
  void list(const All& all, Each each) {
    number(static_cast<int64_t>(all.size()));
    for (const auto& one : all) each(one);
  }
  void place(Span at) {
    id(at.file);
    number(at.begin);
    number(at.end);
  }
  void var(Var v) { number(v.id); }
  void dim(const Dim& d) {
    text(d.str([](Var v) { return fmt::format("v{}", v.id); }));
  }
  void shape(const Shape& shape);
  void type(const Type& t);
  void alias(const Alias& alias);
  void layout(const LayoutPart& part);
  void scheme(const Scheme& s);
  void aliases(const AliasSet& set);
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void Description::shape(const Shape& shape) {
  list(shape, [&](const ShapeItem& item) {
    number(static_cast<int>(item.kind));
    if (is_dim(item)) dim(item.dim);
    if (is_var(item)) id(item.var);
    list(item.join, [&](ShapeVarId v) { id(v); });
  });
}

void Description::layout(const LayoutPart& part) {
  number(static_cast<int>(part.kind));
  text(part.name);
  for (const auto* spots : {&part.from, &part.to})
    list(*spots, [&](const LayoutSpot& spot) {
      dim(spot.size);
      text(spot.axis);
    });
  list(part.meaning, [&](const LayoutPart& meant) { layout(meant); });
}

void Description::alias(const Alias& alias) {
  id(alias.declared);
  number(alias.places ? 1 : 0);
  list(alias.args, [&](const AliasArg& a) {
    number((a.dim ? 1 : 0) + (a.shape ? 2 : 0));
    if (a.dim) dim(*a.dim);
    if (a.shape) shape(*a.shape);
    id(a.type);
  });
}

void Description::type(const Type& t) {
  number(static_cast<int>(t.kind));
  number(t.elem.elem ? static_cast<int>(*t.elem.elem) : -1);
  for (TypeVarId v : {t.elem.var, t.row, t.var}) id(v);
  shape(t.shape);
  list(t.items, [&](TypeId item) { id(item); });
  list(t.fields, [&](const std::string& field) { text(field); });
  list(t.places, [&](Span at) { place(at); });
  number((t.value ? 1 : 0) + (t.range ? 2 : 0) + (t.consumed ? 4 : 0) + (t.weights ? 8 : 0));
  if (t.value) dim(*t.value);
  if (t.range) {
    dim(t.range->low);
    dim(t.range->high);
  }
  list(t.elements, [&](const Dim& d) { dim(d); });
  dim(t.count);
  list(t.bound, [&](Var v) { var(v); });
  alias(t.alias);
  list(t.layout, [&](const LayoutPart& part) { layout(part); });
}

void Description::scheme(const Scheme& s) {
  id(s.type);
  for (const auto* all : {&s.dims, &s.exists, &s.integers}) list(*all, [&](Var v) { var(v); });
  list(s.shapes, [&](ShapeVarId v) { id(v); });
  list(s.types, [&](TypeVarId v) { id(v); });
  list(s.into, [&](const IntoConstraint& i) {
    id(i.var);
    shape(i.target);
  });
  list(s.where, [&](const Requirement& f) {
    dim(f.lhs);
    number(static_cast<int>(f.relation));
    dim(f.rhs);
    number(static_cast<int>(f.left_to_run));
  });
}

void Description::aliases(const AliasSet& set) {
  number(set.mixed ? 1 : 0);
  list(set.places, [&](const Place& p) {
    id(p.local);
    text(p.path);
  });
  list(set.parts, [&](const auto& part) {
    text(part.first);
    aliases(part.second);
  });
}

}  // namespace

std::string Interface::described() const {
  Description out;
  out.text(global_.module);
  out.text(global_.name);
  out.place(global_.span);
  for (bool flag : {global_.checked, global_.has_error, not_read_}) out.number(flag ? 1 : 0);
  out.number(static_cast<int>(global_.kind));
  out.number(static_cast<int>(global_.prim));
  out.list(declared_, [&](const syntax::SizeParam& param) {
    out.number(static_cast<int>(param.kind));
    out.text(param.name.text);
    out.place(param.name.span);
  });
  out.list(aliases_, [&](const DeclKey& key) {
    out.text(key.module);
    out.text(key.name);
  });
  for (uint32_t v = 0; v < variables_; ++v) {
    out.text(shape::var_name({v}));
    out.number(static_cast<int>(vars_.kind({v})) * 2 + (vars_.is_size({v}) ? 1 : 0));
    out.place(vars_.origin({v}));
  }
  out.list(types_.shape_vars, [&](const TypeStore::ShapeVar& v) { out.text(v.name); });
  out.list(types_.vars, [&](const TypeStore::TypeVar& v) {
    out.text(v.name);
    out.number(static_cast<int>(v.cls) * 2 + (v.stated ? 1 : 0));
  });
  out.list(types_.types, [&](const Type& t) { out.type(t); });
  out.scheme(global_.scheme);
  out.number(global_.aliases ? static_cast<int64_t>(global_.aliases->arguments) : -1);
  if (global_.aliases) out.aliases(global_.aliases->result);
  for (const auto& [name, v] : global_.sizes) {
    out.text(name);
    out.var(v);
  }
  for (const auto& [name, v] : global_.elems) {
    out.text(name);
    out.id(v);
  }
  return out.take();
}

}  // namespace axon::core
