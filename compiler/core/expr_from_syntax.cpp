// Declarations and expressions of the syntax tree to the core: names resolved, sugar gone, no types yet.
//
// The desugaring is the one that core.h states. Every name is found here or reported (names_from_syntax.cpp);
// later stages know no names.
#include <fmt/format.h>

#include <algorithm>

#include "core/lowering.h"
#include "source/limits.h"

namespace axon::core {

using shape::Dim;
using source::Code;
using source::error;
using source::Span;
namespace stx = axon::syntax;
using Kind = Expr::Kind;

void lower(Elaborator& e, GlobalId g) { Lowering(e, g).run(); }

void Lowering::report(source::Diagnostic d) {
  e_.diagnostics.report(std::move(d));
  p_.globals[g_].has_error = true;
}

ExprId Lowering::add(Kind kind, Span at) {
  Expr e;
  e.kind = kind;
  e.span = at;
  return p_.exprs.add(std::move(e));
}

// ---- Declarations ----

void Lowering::run() {
  DeclInfo& info = e_.infos[g_.index];
  info.first_expr = p_.exprs.size();
  info.first_local = p_.locals.size();
  const stx::Decl& decl = *info.decl;
  if (info.stated) {
    const auto& s = *stx::as<stx::SignatureDecl>(*info.stated);
    collect_bracketed(file(), s.type);
    prepare_signature();
    e_.infos[g_.index].signature = type(s.type);
    lower_facts(s.where, e_.infos[g_.index].where);
    scope_.clear();
    shapes_.clear();
    type_names_.clear();
    bracketed_.clear();
  }
  std::visit(stx::Overloaded{[&](const stx::FunDecl& f) { lower_function(f); },
                             [&](const stx::ValueDecl& v) { lower_value(v.body); },
                             [&](const stx::TestDecl& t) { lower_value(t.body); },
                             [&](const stx::SignatureDecl& s) {
                               collect_bracketed(file(), s.type);
                               prepare_signature();
                               const TypeId t = type(s.type);
                               e_.infos[g_.index].signature = t;
                               lower_facts(s.where, e_.infos[g_.index].where);
                               exists_ = nullptr;
                             },
                             [&](const stx::TypeDecl& d) { lower_alias(d); },
                             [&](const stx::LayoutDecl& d) { lower_layout(d); }, [](const auto&) {}},
             decl.node);
  DeclInfo& done = e_.infos[g_.index];
  done.end_expr = p_.exprs.size();
  done.end_local = p_.locals.size();
}

void Lowering::lower_value(stx::ExprId value) {
  top_level_ = false;
  unbound_ = Unbound::meta;
  const ExprId body = expr(value);
  p_.globals[g_].body = body;
}

void Lowering::prepare_signature() {
  DeclInfo& info = e_.infos[g_.index];
  exists_ = &info.exists;
  exists_facts_ = &info.exists_facts;
  Global& g = p_.globals[g_];
  if (g.kind != Global::Kind::prim) return;
  for (int i = 0;; ++i) {
    static constexpr const char* names[] = {
#define PRIM(name, arity, cls) #name,
#include "core/prims.def"
#undef PRIM
    };
    if (i == static_cast<int>(std::size(names))) {
      report(error(Code::E0406, g.span, fmt::format("the compiler has no primitive `{}`", g.name)));
      return;
    }
    if (g.name == names[i]) {
      g.prim = static_cast<Prim>(i);
      return;
    }
  }
}

void Lowering::declare_sizes(const std::vector<stx::SizeParam>& sizes) {
  DeclInfo& info = e_.infos[g_.index];
  info.declared = sizes;
  for (const stx::SizeParam& s : sizes) {
    switch (s.kind) {
      case stx::SizeParamKind::dim: {
        const Dim d = named_size(s.name.text, VarKind::rigid, s.name.span);
        if (auto v = d.as_var()) p_.globals[g_].sizes.emplace_back(s.name.text, *v);
        break;
      }
      case stx::SizeParamKind::shape: {
        const ShapeVarId v = e_.vars.shape(s.name.text, VarKind::rigid);
        shapes_[s.name.text] = {var_item(v)};
        info.declared_shapes.push_back(v);
        break;
      }
      case stx::SizeParamKind::element:
        if (entry_) {
          e_.entry_names.insert(s.name.text);
          auto fixed = e_.options.elems.find(s.name.text);
          const base::Elem elem = fixed == e_.options.elems.end() ? base::Elem::f32 : fixed->second;
          type_names_[s.name.text] = e_.vars.scalar(elem);
        } else {
          const TypeVarId v = e_.vars.type(s.name.text, ElemClass::any, VarKind::rigid);
          type_names_[s.name.text] = e_.vars.tensor({std::nullopt, v}, {});
          p_.globals[g_].elems.emplace_back(s.name.text, v);
        }
        break;
    }
  }
}

void Lowering::lower_alias(const stx::TypeDecl& d) {
  unbound_ = Unbound::refuse;
  collect_bracketed(file(), d.type);
  declare_sizes(d.params);
  const TypeId t = type(d.type);
  p_.globals[g_].scheme.type = t;
}

void Lowering::lower_function(const stx::FunDecl& f) {
  entry_ = f.is_entry;
  std::vector<stx::PatternId> todo = f.params;
  while (!todo.empty()) {
    const stx::Pattern& p = file()[todo.back()];
    todo.pop_back();
    collect_bracketed(file(), p.type);
    if (const auto* t = stx::as<stx::TuplePattern>(p))
      todo.insert(todo.end(), t->elements.begin(), t->elements.end());
  }
  collect_bracketed(file(), f.result);
  declare_sizes(f.sizes);
  unbound_ = Unbound::rigid;
  names_differ(f.params);
  std::vector<Pattern> params;
  for (stx::PatternId p : f.params) params.push_back(pattern(p, true));
  p_.globals[g_].params = std::move(params);
  DeclInfo& info = e_.infos[g_.index];
  if (f.result.valid()) {
    exists_ = &info.exists;
    exists_facts_ = &info.exists_facts;
    unbound_ = Unbound::refuse;
    info.result = type(f.result);
    info.result_span = file()[f.result].span;
    exists_ = nullptr;
    exists_facts_ = nullptr;
  }
  unbound_ = Unbound::refuse;
  lower_facts(f.where, info.where);
  top_level_ = false;
  unbound_ = Unbound::meta;
  const ExprId body = expr(f.body);
  p_.globals[g_].body = body;
}

// ---- Expressions ----

/// `reshape` is a form, not a function: the number of axes of its result is the length of its first argument.
bool Lowering::is_reshape(stx::ExprId fn) {
  const auto* name = stx::as<stx::NameExpr>(file()[fn]);
  return name && name->name == "reshape" && !find("reshape") && !find_value("reshape").valid();
}

ExprId Lowering::apply(ExprId fn, std::vector<ExprId> args, Span span) {
  const ExprId id = add(Kind::apply, span);
  args.insert(args.begin(), fn);
  at(id).args = std::move(args);
  return id;
}

ExprId Lowering::number(const std::string& text, bool is_float, Span span) {
  std::string digits;
  for (char c : text)
    if (c != '_') digits += c;
  if (!is_float) {
    const bool negative = !digits.empty() && digits[0] == '-';
    const std::string magnitude = negative ? digits.substr(1) : digits;
    const bool hex = magnitude.starts_with("0x") || magnitude.starts_with("0X");
    const bool binary = magnitude.starts_with("0b") || magnitude.starts_with("0B");
    if (magnitude.size() - (hex || binary ? 2 : 0) > source::limits::number_digits)
      return add(Kind::error, span);  // the lexer said so
    errno = 0;
    const auto value = std::strtoull(magnitude.c_str() + (binary ? 2 : 0), nullptr,
                                     hex      ? 16
                                     : binary ? 2
                                              : 10);
    if (errno != 0 || value > 9223372036854775807ULL) {
      report(error(Code::E0320, span, fmt::format("`{}` does not fit into 64 bits", text)));
      return add(Kind::error, span);
    }
    digits = (negative ? "-" : "") + std::to_string(value);
  }
  const ExprId id = add(Kind::number, span);
  at(id).text = digits;
  at(id).flag = is_float;
  return id;
}

ExprId Lowering::expr(stx::ExprId id) {
  const stx::Expr& x = file()[id];
  const Span span = x.span;
  return std::visit(
      stx::Overloaded{
          [&](const stx::ErrorExpr&) { return add(Kind::error, span); },
          [&](const stx::NameExpr& n) { return name(n.name, span); },
          [&](const stx::NumberExpr& n) { return number(n.text, n.is_float, span); },
          [&](const stx::StringExpr& s) {
            const ExprId e = add(Kind::string, span);
            at(e).text = s.value;
            return e;
          },
          [&](const stx::BoolExpr& b) {
            const ExprId e = add(Kind::boolean, span);
            at(e).flag = b.value;
            return e;
          },
          [&](const stx::ApplyExpr& a) {
            const ExprId fn = is_reshape(a.fn) && a.args.size() == 2 ? ExprId{} : expr(a.fn);
            std::vector<ExprId> args;
            for (stx::ExprId arg : a.args) args.push_back(expr(arg));
            return fn.valid() ? apply(fn, std::move(args), span) : reshape(args[0], args[1], span);
          },
          [&](const stx::TupleExpr& t) {
            std::vector<ExprId> items;
            for (stx::ExprId e : t.elements) items.push_back(expr(e));
            const ExprId e = add(Kind::tuple, span);
            at(e).args = std::move(items);
            return e;
          },
          [&](const stx::ListExpr& l) { return list(l, span); },
          [&](const stx::RecordExpr& r) {
            std::vector<ExprId> values;
            std::vector<std::string> fields;
            for (const stx::FieldValue& f : r.fields) {
              if (std::find(fields.begin(), fields.end(), f.name.text) != fields.end()) {
                report(error(Code::E0404, f.name.span,
                             fmt::format("the record has two fields `{}`", f.name.text)));
                continue;
              }
              fields.push_back(f.name.text);
              values.push_back(expr(f.value));
            }
            const ExprId e = add(Kind::record, span);
            at(e).args = std::move(values);
            at(e).fields = std::move(fields);
            return e;
          },
          [&](const stx::LambdaExpr& l) {
            const size_t scope = scope_.size();
            names_differ(l.params);
            std::vector<Pattern> params;
            for (stx::PatternId p : l.params) params.push_back(pattern(p, true));
            const ExprId body = expr(l.body);
            scope_.resize(scope);
            const ExprId e = add(Kind::lambda, span);
            at(e).params = std::move(params);
            at(e).args = {body};
            return e;
          },
          [&](const stx::LetExpr& l) { return lets(l, 0, span); },
          [&](const stx::IfExpr& i) {
            std::vector<ExprId> args = {expr(i.condition), expr(i.then_value), expr(i.else_value)};
            const ExprId e = add(Kind::conditional, span);
            at(e).args = std::move(args);
            return e;
          },
          [&](const stx::ForExpr& f) { return for_expr(f.binders, f.body, span); },
          [&](const stx::ReduceExpr& r) {
            const auto* head = stx::as<stx::NameExpr>(file()[r.head]);
            if (head && head->name == "rearrange" && !find("rearrange")) return rearrange(r, span);
            return reduction(r, span);
          },
          [&](const stx::WithIndexExpr& w) {
            const ExprId base = expr(w.base);
            std::vector<IndexItem> items = indices(w.indices);
            const ExprId value = expr(w.value);
            const ExprId e = add(Kind::with_index, span);
            at(e).args = {base, value};
            at(e).indices = std::move(items);
            return e;
          },
          [&](const stx::WithFieldExpr& w) {
            const ExprId base = expr(w.base), value = expr(w.value);
            const ExprId e = add(Kind::with_field, span);
            at(e).args = {base, value};
            at(e).text = w.field.text;
            return e;
          },
          [&](const stx::CheckExpr& c) {
            const ExprId value = expr(c.value);
            const Unbound unbound = unbound_;
            unbound_ = Unbound::refuse;
            const TypeId t = type(c.type);
            unbound_ = unbound;
            const ExprId e = add(Kind::check_as, span);
            at(e).args = {value};
            at(e).annotation = t;
            return e;
          },
          [&](const stx::BinaryExpr& b) { return binary(b, span); },
          [&](const stx::NegateExpr& n) {
            if (const auto* literal = stx::as<stx::NumberExpr>(file()[n.value]))
              return number("-" + literal->text, literal->is_float, span);
            const ExprId value = expr(n.value);
            return apply(prelude("neg", span), {value}, span);
          },
          [&](const stx::FieldExpr& f) {
            const auto* qualifier = stx::as<stx::NameExpr>(file()[f.base]);
            if (qualifier && !find(qualifier->name) && !module_->values.count(qualifier->name) &&
                module_->imports.count(qualifier->name))
              return imported(qualifier->name, f.field, span);
            const ExprId base = expr(f.base);
            const ExprId e = add(Kind::field, span);
            at(e).args = {base};
            at(e).text = f.field.text;
            return e;
          },
          [&](const stx::IndexExpr& i) { return index(i, span); }},
      x.node);
}

ExprId Lowering::list(const stx::ListExpr& l, Span span) {
  std::vector<ExprId> items;
  for (const stx::Index& i : l.elements) {
    if (const auto* e = std::get_if<stx::ElementIndex>(&i.node)) {
      items.push_back(expr(e->value));
    } else {
      report(error(Code::E0210, i.span, "a list holds values; `..` and slices belong into an index"));
    }
  }
  const ExprId e = add(Kind::list, span);
  at(e).args = std::move(items);
  return e;
}

ExprId Lowering::let_value(const stx::Let& l) {
  if (l.params.empty()) return expr(l.value);
  const size_t scope = scope_.size();
  const ExprId lambda = add(Kind::lambda, l.span);
  names_differ(l.params);
  std::vector<Pattern> params;
  for (stx::PatternId p : l.params) params.push_back(pattern(p, true));
  std::optional<TypeId> result;
  if (l.result.valid()) result = type(l.result);
  const ExprId body = expr(l.value);
  scope_.resize(scope);
  at(lambda).params = std::move(params);
  at(lambda).args = {body};
  at(lambda).annotation = result;
  return lambda;
}

ExprId Lowering::lets(const stx::LetExpr& l, size_t from, Span span) {
  if (from == l.lets.size()) return expr(l.body);
  const stx::Let& let = l.lets[from];
  const size_t scope = scope_.size();
  const ExprId value = let_value(let);
  names_differ({let.pattern});
  Pattern p = pattern(let.pattern, false);
  if (let.params.empty() && let.result.valid()) p.annotation = type(let.result);
  const ExprId rest = lets(l, from + 1, source::join(let.span, span));
  scope_.resize(scope);
  const ExprId e = add(Kind::let, span);
  at(e).params = {std::move(p)};
  at(e).args = {value, rest};
  return e;
}

ExprId Lowering::binary(const stx::BinaryExpr& b, Span span) {
  if (b.op == stx::BinaryOp::pipe) {
    const ExprId value = expr(b.lhs);
    if (const auto* call = stx::as<stx::ApplyExpr>(file()[b.rhs])) {
      const bool reshapes = is_reshape(call->fn) && call->args.size() == 1;
      const ExprId fn = reshapes ? ExprId{} : expr(call->fn);
      std::vector<ExprId> args;
      for (stx::ExprId a : call->args) args.push_back(expr(a));
      args.push_back(value);
      return reshapes ? reshape(args[0], args[1], span) : apply(fn, std::move(args), span);
    }
    const ExprId fn = expr(b.rhs);
    return apply(fn, {value}, span);
  }
  const char* fn = nullptr;
  switch (b.op) {
    case stx::BinaryOp::pipe:
      break;
    case stx::BinaryOp::logical_or:
      fn = "or";
      break;
    case stx::BinaryOp::logical_and:
      fn = "and";
      break;
    case stx::BinaryOp::less:
      fn = "lt";
      break;
    case stx::BinaryOp::greater:
      fn = "gt";
      break;
    case stx::BinaryOp::less_equal:
      fn = "le";
      break;
    case stx::BinaryOp::greater_equal:
      fn = "ge";
      break;
    case stx::BinaryOp::not_equal:
      fn = "ne";
      break;
    case stx::BinaryOp::equal:
      fn = "eq";
      break;
    case stx::BinaryOp::add:
      fn = "add";
      break;
    case stx::BinaryOp::subtract:
      fn = "sub";
      break;
    case stx::BinaryOp::multiply:
      fn = "mul";
      break;
    case stx::BinaryOp::divide:
      fn = "div";
      break;
    case stx::BinaryOp::modulo:
      fn = "mod";
      break;
    case stx::BinaryOp::matmul:
      fn = "matmul";
      break;
  }
  const ExprId lhs = expr(b.lhs), rhs = expr(b.rhs);
  const ExprId op = prelude(fn, b.op_span);
  at(op).text = stx::binary_op_text(b.op);  // how it was written, for messages
  return apply(op, {lhs, rhs}, span);
}

}  // namespace axon::core
