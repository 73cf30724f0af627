// See decl_lowering.h.
#include <fmt/format.h>

#include <algorithm>

#include "core/decl_lowering.h"

namespace axon::core {

using shape::Dim;
using source::Code;
using source::error;
namespace stx = axon::syntax;

bool says_not_read(Code code) {
  const std::string_view name = source::code_name(code);
  return name.starts_with("E01") || name.starts_with("E02") || name.starts_with("E04");
}

bool holds_unread_text(const Written& written) {
  const source::Span text = written->span;
  return std::any_of(written.file->errors.begin(), written.file->errors.end(),
                     [&](source::Span at) { return text.begin < at.begin && at.begin <= text.end; });
}

void lower(Elaborator& e, GlobalId g) {
  const DeclInfo& info = e.infos[g.index];
  for (const Written& text : {info.written, info.stated})
    if (text && holds_unread_text(text)) e.infos[g.index].not_read = e.program.globals[g].has_error = true;
  LoweringContext context(e, g);
  DeclLowering(context).run();
}

void DeclLowering::run() {
  DeclInfo& info = e_.infos[g_.index];
  info.first_expr = p_.exprs.size();
  info.first_local = p_.locals.size();
  const stx::Decl& decl = *info.written;
  if (info.stated) {
    file_ = info.stated.file;
    const auto& s = *stx::as<stx::SignatureDecl>(*info.stated);
    const auto* function = stx::as<stx::FunDecl>(decl);
    if (function && function->is_entry)
      for (const auto* arrow = stx::as<stx::ArrowType>(file()[s.type]); arrow;
           arrow = stx::as<stx::ArrowType>(file()[arrow->to]))
        types_.allow_weights(arrow->from);
    lower_signature(s);
    types_.clear();
    file_ = info.written.file;
  }
  std::visit(stx::Overloaded{[&](const stx::FunDecl& f) { lower_function(f); },
                             [&](const stx::ValueDecl& v) { lower_value(v.body); },
                             [&](const stx::TestDecl& t) { lower_value(t.body); },
                             [&](const stx::SignatureDecl& s) { lower_signature(s); },
                             [&](const stx::TypeDecl& d) { lower_alias(d); },
                             [&](const stx::LayoutDecl& d) { lower_layout(d); },
                             [&](const stx::ErrorDecl&) { lower_unread(); }, [](const auto&) {}},
             decl.node);
  DeclInfo& done = e_.infos[g_.index];
  done.end_expr = p_.exprs.size();
  done.end_local = p_.locals.size();
}

/// Nothing is known of it, and nothing is said of that.
void DeclLowering::lower_unread() {
  not_read();
  p_.globals[g_].has_error = true;
  p_.globals[g_].scheme.type = e_.vars.error();
}

void DeclLowering::lower_value(stx::ExprId value) {
  top_level_ = false;
  unbound_ = Unbound::meta;
  const ExprId body = exprs_.expr(value);
  p_.globals[g_].body = body;
}

void DeclLowering::lower_signature(const stx::SignatureDecl& s) {
  types_.collect_bracketed(file(), s.type);
  types_.collect_bracketed(s.where);
  find_primitive();
  DeclInfo& info = e_.infos[g_.index];
  exists_ = &info.exists;
  exists_facts_ = &info.exists_facts;
  info.signature = types_.signature(s.type);
  types_.lower_where(s.where, info);
  exists_ = nullptr;
  exists_facts_ = nullptr;
}

void DeclLowering::find_primitive() {
  Global& g = p_.globals[g_];
  if (g.kind != Global::Kind::prim) return;
  static constexpr std::pair<const char*, Prim> all[] = {
#define PRIM(name, word, arity) {word, Prim::name},
#include "core/prims.def"
  };
  for (const auto& [word, prim] : all)
    if (g.name == word) {
      g.prim = prim;
      return;
    }
  report(error(Code::E0406, g.span, fmt::format("the compiler has no primitive `{}`", g.name)));
}

void DeclLowering::lower_alias(const stx::TypeDecl& d) {
  unbound_ = Unbound::refuse;
  types_.collect_bracketed(file(), d.type);
  types_.declare_sizes(d.params);
  const TypeId t = types_.type(d.type);
  p_.globals[g_].scheme.type = t;
}

void DeclLowering::lower_function(const stx::FunDecl& f) {
  entry_ = f.is_entry;
  std::vector<stx::PatternId> todo = f.params;
  while (!todo.empty()) {
    const stx::Pattern& p = file()[todo.back()];
    todo.pop_back();
    types_.collect_bracketed(file(), p.type);
    if (const auto* t = stx::as<stx::TuplePattern>(p))
      todo.insert(todo.end(), t->elements.begin(), t->elements.end());
  }
  types_.collect_bracketed(file(), f.result);
  types_.collect_bracketed(f.where);
  types_.declare_sizes(f.sizes);
  unbound_ = e_.infos[g_.index].stated ? Unbound::meta : Unbound::rigid;
  for (stx::PatternId p : f.params)
    if (entry_ && stx::as<stx::NamePattern>(file()[p])) types_.allow_weights(file()[p].type);
  p_.globals[g_].params = names_.parameters(f.params);
  DeclInfo& info = e_.infos[g_.index];
  if (f.result.valid()) {
    exists_ = &info.exists;
    exists_facts_ = &info.exists_facts;
    unbound_ = Unbound::refuse;
    info.result = types_.type(f.result);
    info.result_span = file()[f.result].span;
    exists_ = nullptr;
    exists_facts_ = nullptr;
  }
  unbound_ = Unbound::refuse;
  types_.lower_where(f.where, info);
  top_level_ = false;
  unbound_ = Unbound::meta;
  const ExprId body = exprs_.expr(f.body);
  p_.globals[g_].body = body;
}

void DeclLowering::lower_layout(const stx::LayoutDecl& d) {
  types_.declare_sizes(d.params);
  for (const stx::SizeParam& param : d.params)
    if (param.kind != stx::SizeParamKind::dim)
      report(error(Code::E0318, param.name.span, "a parameter of a layout is a size"));
  types_.layout(d.layout);
}

}  // namespace axon::core
