// See name_lowering.h.
#include <fmt/format.h>

#include <algorithm>

#include "base/interrupt.h"
#include "core/name_lowering.h"

namespace axon::core {

using shape::Dim;
using source::Code;
using source::error;
using source::Span;
namespace stx = axon::syntax;
using Kind = Expr::Kind;

namespace {

bool stands_for_axes(const Program& p, LocalId local) {
  return local.valid() && p.locals[local].kind == Local::Kind::rank;
}

}  // namespace

// ---- What every part does ----

/// What is lowered of another declaration, such as a type that is used, has its names noted there.
static bool is_text_of(const DeclInfo& info, Span at) {
  const auto holds = [at](const Written& text) {
    return text && text->span.file == at.file && text->span.begin <= at.begin && at.end <= text->span.end;
  };
  return holds(info.written) || holds(info.stated);
}

void LoweringPart::report(source::Diagnostic d) {
  DeclInfo& info = e_.infos[g_.index];
  // What was not read may have named the size, or be what a type is given that is written elsewhere.
  if (info.not_read && (d.code == Code::E0405 || !is_text_of(info, d.primary.span))) return not_read();
  if (says_not_read(d.code)) info.not_read = true;
  e_.diagnostics->report(std::move(d));
  p_.globals[g_].has_error = true;
}

void LoweringPart::not_read() {
  e_.infos[g_.index].not_read = true;
  p_.globals[g_].has_error = true;
}

void LoweringPart::note(Use::Kind kind, Span at, DeclId declared) {
  DeclInfo& info = e_.infos[g_.index];
  if (is_text_of(info, at)) info.names.push_back({at, kind, declared, {}});
}

void LoweringPart::note(Use::Kind kind, Span at, Span binding) {
  DeclInfo& info = e_.infos[g_.index];
  if (is_text_of(info, at)) info.names.push_back({at, kind, {}, binding});
}

void LoweringPart::note(const ScopeEntry& entry, Span at) {
  Use::Kind kind = Use::Kind::size;
  if (entry.local.valid()) {
    const Local::Kind local = p_.locals[entry.local].kind;
    kind = local == Local::Kind::rank    ? Use::Kind::axes
           : local == Local::Kind::index ? Use::Kind::index
                                         : Use::Kind::local;
  }
  note(kind, at, entry.binding);
}

ExprId LoweringPart::add(Kind kind, Span at) {
  base::poll();
  Expr e;
  e.kind = kind;
  e.span = at;
  return p_.exprs.add(std::move(e));
}

const ScopeEntry* LoweringPart::find(const std::string& name) const {
  for (size_t i = scope_.size(); i-- > 0;)
    if (scope_[i].name == name && scope_[i].seen != ScopeEntry::Seen::in_types &&
        !stands_for_axes(p_, scope_[i].local))
      return &scope_[i];
  return nullptr;
}

const ScopeEntry* LoweringPart::find_size(const std::string& name) const {
  for (size_t i = scope_.size(); i-- > 0;)
    if (scope_[i].name == name && scope_[i].seen != ScopeEntry::Seen::in_expressions &&
        !stands_for_axes(p_, scope_[i].local))
      return &scope_[i];
  return nullptr;
}

const ScopeEntry* LoweringPart::find_axes(const std::string& name) const {
  for (size_t i = scope_.size(); i-- > 0;)
    if (scope_[i].name == name && stands_for_axes(p_, scope_[i].local)) return &scope_[i];
  return nullptr;
}

GlobalId LoweringPart::find_value(const std::string& name) const {
  const DeclId own = find_own(name);
  return own.valid() ? e_.global(own) : e_.library_value(name);
}

DeclId LoweringPart::find_own(const std::string& name) const {
  return e_.lookups.find(*module_, DeclKey::Space::values, name);
}

// ---- Patterns ----

LocalId NameLowering::add_local(const std::string& name, Span at, Local::Kind kind, Span binding) {
  Local l;
  l.name = name;
  l.span = at;
  l.kind = kind;
  const LocalId id = p_.locals.add(std::move(l));
  scope_.push_back({name, id, {}, ScopeEntry::Seen::anywhere, binding.valid() ? binding : at});
  note(scope_.back(), at);
  return id;
}

void NameLowering::names_differ(const std::vector<stx::PatternId>& patterns) {
  std::vector<const stx::Name*> seen;
  std::vector<stx::PatternId> todo(patterns.rbegin(), patterns.rend());
  while (!todo.empty()) {
    const stx::Pattern& p = file()[todo.back()];
    todo.pop_back();
    if (const auto* t = stx::as<stx::TuplePattern>(p))
      todo.insert(todo.end(), t->elements.rbegin(), t->elements.rend());
    const auto* n = stx::as<stx::NamePattern>(p);
    if (!n) continue;
    auto first = std::find_if(seen.begin(), seen.end(), [&](auto* s) { return s->text == n->name.text; });
    if (first == seen.end()) {
      seen.push_back(&n->name);
    } else {
      report(error(Code::E0404, n->name.span, fmt::format("`{}` is named twice here", n->name.text))
                 .also((*first)->span, "here first"));
    }
  }
}

std::vector<Pattern> NameLowering::parameters(const std::vector<stx::PatternId>& patterns) {
  names_differ(patterns);
  const size_t since = top_level_ ? 0 : scope_.size();
  std::vector<Pattern> out;
  for (stx::PatternId p : patterns) out.push_back(pattern(p, true, since));
  return out;
}

Pattern NameLowering::let(stx::PatternId id) {
  names_differ({id});
  return pattern(id, false, scope_.size());
}

/// `since`: names in scope from here on belong to the same list of parameters.
Pattern NameLowering::pattern(stx::PatternId id, bool parameter, size_t since) {
  const stx::Pattern& p = file()[id];
  Pattern out;
  out.span = p.span;
  const auto* name = stx::as<stx::NamePattern>(p);
  std::optional<Dim> value;
  Span binding;
  if (p.type.valid()) {
    const VarKind kind = unbound_ == Unbound::rigid ? VarKind::rigid : VarKind::meta;
    NamedIntegers named{kind, {}};
    if (parameter) integers_ = &named;
    const TypeId written = types_.type(p.type);
    integers_ = nullptr;
    out.consumed = e_.vars[written].consumed;
    out.weights = e_.vars[written].weights;
    const Type t = e_.vars[written];
    out.annotation = written;
    const bool integer =
        t.kind == Type::Kind::tensor && t.shape.empty() && t.elem.elem && base::is_integer(*t.elem.elem);
    if (name && parameter && integer) {  // the name of an integer scalar is a dimension, of either sign
      const ScopeEntry* entry = find_size(name->name.text);
      const bool same_list = entry && entry >= scope_.data() + since;
      if (same_list && entry->size) binding = entry->binding;
      value =
          same_list && entry->size ? *entry->size : Dim(e_.vars.dim(name->name.text, kind, false, p.span));
      Type known = t;
      known.value = value;
      out.annotation = e_.vars.add(std::move(known));
    }
  }
  std::visit(stx::Overloaded{[&](const stx::NamePattern& n) {
                               out.kind = Pattern::Kind::name;
                               out.local = add_local(n.name.text, n.name.span, Local::Kind::value, binding);
                               p_.locals[out.local].type = value ? *out.annotation : TypeId{};
                             },
                             [&](const stx::TuplePattern& t) {
                               out.kind = t.elements.empty() ? Pattern::Kind::unit : Pattern::Kind::tuple;
                               for (stx::PatternId e : t.elements)
                                 out.items.push_back(pattern(e, parameter, since));
                             },
                             [&](const stx::ErrorPattern&) {
                               out.kind = Pattern::Kind::wildcard;
                               broken_.push_back(p.span);
                             },
                             [&](const stx::WildcardPattern&) { out.kind = Pattern::Kind::wildcard; }},
             p.node);
  if (out.annotation) hide_from_types(out, *out.annotation);
  return out;
}

void NameLowering::hide_from_types(LocalId name) {
  for (ScopeEntry& entry : scope_)
    if (entry.local == name) entry.seen = ScopeEntry::Seen::in_expressions;
}

void NameLowering::hide_from_types(const Pattern& p, TypeId type) {
  const Type t = e_.vars[e_.vars.head(type)];
  if (p.kind == Pattern::Kind::name && !may_be_integer(t)) hide_from_types(p.local);
  for (size_t i = 0; t.kind == Type::Kind::tuple && i < std::min(p.items.size(), t.items.size()); ++i)
    hide_from_types(p.items[i], t.items[i]);
}

void NameLowering::hide_from_types(const Pattern& p, ExprId value) {
  const Expr& e = p_.exprs[value];
  constexpr Kind others[] = {Kind::lambda, Kind::boolean, Kind::string, Kind::tuple,
                             Kind::record, Kind::list,    Kind::for_,   Kind::rearrange};
  if (p.kind == Pattern::Kind::name &&
      std::find(std::begin(others), std::end(others), e.kind) != std::end(others))
    hide_from_types(p.local);
  for (size_t i = 0; e.kind == Kind::tuple && i < std::min(p.items.size(), e.args.size()); ++i)
    hide_from_types(p.items[i], e.args[i]);
}

/// Whether a value of the type may be one integer: the type says so, or leaves it open.
bool NameLowering::may_be_integer(const Type& t) const {
  if (t.kind == Type::Kind::error) return true;
  if (t.kind == Type::Kind::var) return e_.vars.is_meta(t.var);
  if (t.kind != Type::Kind::tensor || std::any_of(t.shape.begin(), t.shape.end(), is_dim)) return false;
  return t.elem.elem ? base::is_integer(*t.elem.elem) : e_.vars.is_meta(t.elem.var);
}

// ---- Names ----

/// Whether a pattern that could not be read, which was reported, may have bound the name.
bool NameLowering::may_be_bound(const std::string& name) const {
  return std::any_of(broken_.begin(), broken_.end(), [&](Span span) {
    const std::string_view text = e_.sources.text(span);
    const std::string_view bound = text.substr(0, text.find('='));
    const auto in_a_name = [&](size_t i) {
      return i < bound.size() && (std::isalnum(static_cast<unsigned char>(bound[i])) || bound[i] == '_');
    };
    for (size_t at = bound.find(name); at != std::string_view::npos; at = bound.find(name, at + 1))
      if ((at == 0 || !in_a_name(at - 1)) && !in_a_name(at + name.size())) return true;
    return false;
  });
}

void NameLowering::unknown_name(const std::string& text, Span at) {
  if (may_be_bound(text)) return;
  constexpr size_t most_suggestions = 100;  // each looks at every name that there is
  auto d = error(Code::E0401, at, fmt::format("nothing is called `{}` here", text));
  if (e_.unknown_names++ >= most_suggestions) return report(std::move(d));
  std::vector<std::string> known = {"true", "false"};
  for (const ScopeEntry& s : scope_) known.push_back(s.name);
  for (std::string& other : e_.lookups.names(*module_, DeclKey::Space::values))
    known.push_back(std::move(other));
  for (std::string& other : e_.lookups.names_of_library()) known.push_back(std::move(other));
  if (auto other = nearest(text, known))
    d.help(fmt::format("a similar name is `{}`", *other),
           source::Edit{at, *other, source::Applicability::maybe});
  report(std::move(d));
}

ExprId NameLowering::global(GlobalId g, Span span) {
  auto& uses = e_.infos[g_.index].uses;
  if (std::find(uses.begin(), uses.end(), g) == uses.end()) uses.push_back(g);
  const ExprId id = add(Kind::global, span);
  at(id).global = g;
  return id;
}

ExprId NameLowering::prelude(const std::string& name, Span span) {
  const GlobalId g = e_.library_value(name);
  if (g.valid()) return global(g, span);
  report(error(Code::E0401, span, fmt::format("the library defines no `{}`", name)));
  return add(Kind::error, span);
}

ExprId NameLowering::cast_to(base::Elem elem, Span span) {
  const ExprId id = prelude("cast", span);
  at(id).text = base::elem_name(elem);  // what the result is made of; the checker reads it
  return id;
}

/// A name that is empty is a hole (hole.h).
ExprId NameLowering::name(const std::string& text, Span span) {
  if (text.empty()) {
    const ExprId id = add(Kind::error, span);
    at(id).flag = true;
    return id;
  }
  if (const ScopeEntry* entry = find(text)) {
    note(*entry, span);
    if (entry->size) {
      const Dim d = *entry->size;
      const ExprId id = add(Kind::size, span);
      at(id).dim = d;
      return id;
    }
    const LocalId local = entry->local;
    const ExprId id = add(Kind::local, span);
    at(id).local = local;
    return id;
  }
  if (const GlobalId g = find_value(text); g.valid()) {
    note(Use::Kind::value, span, e_.infos[g.index].id);
    return global(g, span);
  }
  if (auto elem = base::elem_from_name(text)) return cast_to(*elem, span);
  if (text == "reshape" || text == "rearrange") {
    report(error(Code::E0215, span,
                 text == "reshape"
                     ? "`reshape` is applied to a list of sizes and a value: `reshape [n, -1] x`"
                     : "`rearrange` is written `rearrange x [t, h*k] => [h, t, k]`"));
  } else if (find_axes(text)) {
    report(error(Code::E0401, span, fmt::format("`..{}` stands for axes; it has no value", text)));
  } else if (e_.lookups.import(*module_, text)) {
    report(error(Code::E0401, span, fmt::format("`{}` is a module; write `{}.name`", text, text)));
  } else {
    unknown_name(text, span);
  }
  return add(Kind::error, span);
}

ExprId NameLowering::imported(const stx::Name& qualifier, const stx::Name& field, Span span) {
  const Module* m = e_.lookups.import(*module_, qualifier.text).value_or(nullptr);
  note(Use::Kind::module, qualifier.span, Span{});
  if (!m) {  // reported where it is imported
    not_read();
    return add(Kind::error, span);
  }
  const DeclId value = e_.lookups.find(*m, DeclKey::Space::values, field.text);
  if (value.valid()) note(Use::Kind::value, field.span, value);
  if (value.valid() && !e_.modules.is_private(value)) return global(e_.global(value), span);
  if (value.valid()) {
    report(error(Code::E0409, field.span,
                 fmt::format("`{}` is private to the module `{}`", field.text, qualifier.text))
               .also(e_.modules[value].span, "declared here"));
    return add(Kind::error, span);
  }
  const std::vector<std::string> known = e_.lookups.names(*m, DeclKey::Space::values, false);
  auto d =
      error(Code::E0401, field.span, fmt::format("the module `{}` has no `{}`", qualifier.text, field.text));
  if (auto other = nearest(field.text, known))
    d.help(fmt::format("a similar name is `{}`", *other),
           source::Edit{field.span, *other, source::Applicability::maybe});
  report(std::move(d));
  return add(Kind::error, span);
}

}  // namespace axon::core
