// See expr_lowering.h.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/expr_lowering.h"
#include "core/library_names.h"
#include "source/limits.h"

namespace axon::core {

using source::Code;
using source::error;
using source::Span;
namespace stx = axon::syntax;
using Kind = Expr::Kind;

/// `reshape` is a form, not a function: the number of axes of its result is the length of its first argument.
bool ExprLowering::is_reshape(stx::ExprId fn) {
  const auto* name = stx::as<stx::NameExpr>(file()[fn]);
  return name && name->name == "reshape" && !find("reshape") && !find_value("reshape").valid();
}

ExprId ExprLowering::apply(ExprId fn, std::vector<ExprId> args, Span span) {
  const ExprId id = add(Kind::apply, span);
  args.insert(args.begin(), fn);
  at(id).args = std::move(args);
  return id;
}

ExprId ExprLowering::number(const std::string& text, bool is_float, Span span) {
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
    const uint64_t most = uint64_t{std::numeric_limits<int64_t>::max()} + (negative ? 1 : 0);
    if (errno != 0 || value > most) {
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

ExprId ExprLowering::expr(stx::ExprId id) {
  const stx::Expr& x = file()[id];
  const Span span = x.span;
  return std::visit(
      stx::Overloaded{
          [&](const stx::ErrorExpr&) { return add(Kind::error, span); },
          [&](const stx::NameExpr& n) { return names_.name(n.name, span); },
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
            return fn.valid() ? apply(fn, std::move(args), span) : indices_.reshape(args[0], args[1], span);
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
            std::vector<source::Span> places;
            for (const stx::FieldValue& f : r.fields) {
              if (std::find(fields.begin(), fields.end(), f.name.text) != fields.end()) {
                report(error(Code::E0404, f.name.span,
                             fmt::format("the record has two fields `{}`", f.name.text)));
                continue;
              }
              fields.push_back(f.name.text);
              places.push_back(f.name.span);
              note(Use::Kind::field, f.name.span, f.name.span);
              values.push_back(expr(f.value));
            }
            const ExprId e = add(Kind::record, span);
            at(e).args = std::move(values);
            at(e).fields = std::move(fields);
            at(e).places = std::move(places);
            return e;
          },
          [&](const stx::LambdaExpr& l) {
            const size_t scope = scope_.size();
            std::vector<Pattern> params = names_.parameters(l.params);
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
          [&](const stx::ForExpr& f) { return indices_.for_expr(f.binders, f.body, span); },
          [&](const stx::ReduceExpr& r) {
            const auto* head = stx::as<stx::NameExpr>(file()[r.head]);
            if (head && head->name == "rearrange" && !find("rearrange")) return indices_.rearrange(r, span);
            return indices_.reduction(r, span);
          },
          [&](const stx::WithIndexExpr& w) {
            const ExprId base = expr(w.base);
            std::vector<IndexItem> items = indices_.indices(w.indices);
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
            note(Use::Kind::field, w.field.span, span);
            return e;
          },
          [&](const stx::CheckExpr& c) {
            const ExprId value = expr(c.value);
            const Unbound unbound = unbound_;
            unbound_ = Unbound::refuse;
            const TypeId t = types_.type(c.type);
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
            return apply(names_.prelude("neg", span), {value}, span);
          },
          [&](const stx::FieldExpr& f) {
            const auto* qualifier = stx::as<stx::NameExpr>(file()[f.base]);
            if (qualifier && !find(qualifier->name) && !find_own(qualifier->name).valid() &&
                e_.lookups.import(*module_, qualifier->name))
              return names_.imported({qualifier->name, file()[f.base].span}, f.field, span);
            const ExprId base = expr(f.base);
            const ExprId e = add(Kind::field, span);
            at(e).args = {base};
            at(e).text = f.field.text;
            note(Use::Kind::field, f.field.span, span);
            return e;
          },
          [&](const stx::IndexExpr& i) { return indices_.index(i, span); }},
      x.node);
}

ExprId ExprLowering::list(const stx::ListExpr& l, Span span) {
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

ExprId ExprLowering::let_value(const stx::Let& l) {
  if (l.params.empty()) return expr(l.value);
  const size_t scope = scope_.size();
  const ExprId lambda = add(Kind::lambda, l.span);
  std::vector<Pattern> params = names_.parameters(l.params);
  std::optional<TypeId> result;
  if (l.result.valid()) result = types_.type(l.result);
  const ExprId body = expr(l.value);
  scope_.resize(scope);
  at(lambda).params = std::move(params);
  at(lambda).args = {body};
  at(lambda).annotation = result;
  return lambda;
}

ExprId ExprLowering::lets(const stx::LetExpr& l, size_t from, Span span) {
  if (from == l.lets.size()) return expr(l.body);
  const stx::Let& let = l.lets[from];
  const size_t scope = scope_.size();
  const ExprId value = let_value(let);
  Pattern p = names_.let(let.pattern);
  names_.hide_from_types(p, value);
  if (let.params.empty() && let.result.valid()) {
    p.annotation = types_.type(let.result);
    names_.hide_from_types(p, *p.annotation);
  }
  const ExprId rest = lets(l, from + 1, source::join(let.span, span));
  scope_.resize(scope);
  const ExprId e = add(Kind::let, span);
  at(e).params = {std::move(p)};
  at(e).args = {value, rest};
  return e;
}

ExprId ExprLowering::binary(const stx::BinaryExpr& b, Span span) {
  if (b.op == stx::BinaryOp::pipe) {
    const ExprId value = expr(b.lhs);
    if (const auto* call = stx::as<stx::ApplyExpr>(file()[b.rhs])) {
      const bool reshapes = is_reshape(call->fn) && call->args.size() == 1;
      const ExprId fn = reshapes ? ExprId{} : expr(call->fn);
      std::vector<ExprId> args;
      for (stx::ExprId a : call->args) args.push_back(expr(a));
      args.push_back(value);
      return reshapes ? indices_.reshape(args[0], args[1], span) : apply(fn, std::move(args), span);
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
      fn = library::matmul;
      break;
  }
  const ExprId lhs = expr(b.lhs), rhs = expr(b.rhs);
  const ExprId op = names_.prelude(fn, b.op_span);
  if (at(op).kind == Kind::global) note(Use::Kind::value, b.op_span, e_.infos[at(op).global.index].id);
  at(op).text = stx::binary_op_text(b.op);  // how it was written, for messages
  return apply(op, {lhs, rhs}, span);
}

}  // namespace axon::core
