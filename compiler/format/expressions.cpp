// Expressions in the style of printer.h.
//
//   let x = value in        one let with its `in`, then the body below it
//   let x = value           several lets, then `in body`
//   f a (g b)               arguments are packed; a function written as the last one begins on the same line,
//   one
//                           before others makes them all begin lines
//   a + b * c               over several lines, each operator begins one
//   2*i                     an integer coefficient is written tight
//   x[i:n], x[i : i + n]    a slice is written tight when its parts are names and numbers
//   if a then b             each condition on a line with its value where that fits
//   else c
#include <algorithm>

#include "format/printer.h"

namespace axon::format {

using namespace syntax;

namespace {

Level level_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::pipe:
      return pipe;
    case BinaryOp::logical_or:
      return disjunction;
    case BinaryOp::logical_and:
      return conjunction;
    case BinaryOp::less:
    case BinaryOp::greater:
    case BinaryOp::less_equal:
    case BinaryOp::greater_equal:
    case BinaryOp::not_equal:
    case BinaryOp::equal:
      return relation;
    case BinaryOp::add:
    case BinaryOp::subtract:
      return sum;
    case BinaryOp::multiply:
    case BinaryOp::divide:
    case BinaryOp::modulo:
    case BinaryOp::matmul:
      return product;
  }
  return low;
}

/// What a chain of operators goes on from: `a + b` in `a + b + c`. Invalid when the node is no link of one.
ExprId left_of(const Expr& e) {
  if (const auto* n = as<BinaryExpr>(e)) return n->lhs;
  if (const auto* n = as<WithIndexExpr>(e)) return n->base;
  if (const auto* n = as<WithFieldExpr>(e)) return n->base;
  if (const auto* n = as<CheckExpr>(e)) return n->value;
  return {};
}

bool is_function(const Expr& e) { return as<LambdaExpr>(e) || as<ForExpr>(e) || as<ReduceExpr>(e); }

}  // namespace

Level ExprPrinter::level(ExprId id) const {
  const Expr& e = file_[id];
  if (is_function(e) || as<LetExpr>(e) || as<IfExpr>(e)) return low;
  if (const auto* n = as<BinaryExpr>(e)) return level_of(n->op);
  if (left_of(e).valid()) return postfix_update;
  if (as<NegateExpr>(e)) return unary;
  return as<ApplyExpr>(e) ? applied : atomic;
}

int ExprPrinter::parentheses(ExprId id) const {
  return at_.parentheses_around(file_[id].span.begin, file_[id].span.end);
}

Doc ExprPrinter::expr(ExprId id, Level place, bool block, bool open) {
  const Expr& e = file_[id];
  Level own = level(id);
  bool written = parentheses(id) > 0;
  bool may_stay = own == atomic ? as<FieldExpr>(e) || as<IndexExpr>(e) : own == low || place != low;
  open = open || place == low;
  bool fits_here = own >= place || (open && own == low && !written);
  if (fits_here && !(written && may_stay)) return bare(id, block, open);
  Docs parts{written ? at_.token("(") : d_.text("(")};
  parts.push_back(d_.align(bare(id, false, true)));
  parts.push_back(written ? at_.token(")") : d_.text(")"));
  return concat(std::move(parts));
}

Doc ExprPrinter::bare(ExprId id, bool block, bool open) {
  const auto print = [&]<class Node>(const Node& node) {
    if constexpr (requires { of(node, block); })
      return of(node, block);
    else
      return chain(id, open);
  };
  return std::visit(print, file_[id].node);
}

// ---- Operators

/// A coefficient is a plain integer before a name or something in brackets: the `2` of `2*i`.
bool ExprPrinter::is_coefficient(const BinaryExpr& n) const {
  if (n.op != BinaryOp::multiply || (level(n.rhs) != atomic && parentheses(n.rhs) == 0)) return false;
  const NumberExpr* number = as<NumberExpr>(file_[n.lhs]);
  return axes_ || (number && !number->is_float);
}

/// Operators of one level that follow each other, and what they join. `open`: nothing follows that a body
/// without parentheses at the end could take for its own.
Doc ExprPrinter::chain(ExprId id, bool open) {
  Level own = level(id);
  std::vector<ExprId> links{id};
  ExprId first = left_of(file_[id]);
  while (own != relation && level(first) == own && parentheses(first) == 0) {
    links.push_back(first);
    first = left_of(file_[first]);
  }
  Docs parts{expr(first, own == relation ? sum : own)};
  Docs following;
  for (size_t i = links.size(); i-- > 0;) following.push_back(link(links[i], open && i == 0));
  parts.push_back(d_.nest(2, concat(std::move(following))));
  return d_.group(concat(std::move(parts)));
}

/// One operator and its right side.
Doc ExprPrinter::link(ExprId id, bool open) {
  const Expr& e = file_[id];
  if (const auto* n = as<BinaryExpr>(e)) {
    Level right = static_cast<Level>(level_of(n->op) + 1);
    if (is_coefficient(*n)) return concat({at_.token("*"), expr(n->rhs, right, false, open)});
    return concat({d_.line(), at_.token(binary_op_text(n->op)), blank(), expr(n->rhs, right, false, open)});
  }
  if (const auto* n = as<CheckExpr>(e))
    return concat({d_.line(), at_.token(":>"), blank(), types_.type(n->type, TypePlace::mode)});
  if (const auto* n = as<WithFieldExpr>(e))
    return concat({d_.line(), at_.token("with"), blank(), name(n->field), blank(), at_.token("="), blank(),
                   expr(n->value, disjunction, false, open)});
  const auto& n = std::get<WithIndexExpr>(e.node);
  return concat({d_.line(), at_.token("with"), blank(), indices(n.indices), blank(), at_.token("="), blank(),
                 expr(n.value, disjunction, false, open)});
}

Doc ExprPrinter::of(const NegateExpr& n, bool) {
  Docs parts{at_.token("-")};
  // Two signs without a blank would begin a comment.
  if (as<NegateExpr>(file_[n.value]) && parentheses(n.value) == 0) parts.push_back(blank());
  parts.push_back(expr(n.value, unary));
  return concat(std::move(parts));
}

// ---- Application, selection, brackets

Doc ExprPrinter::of(const ApplyExpr& n, bool) {
  std::vector<ExprId> args = n.args;
  bool hugs = is_function(file_[args.back()]);
  if (hugs) args.pop_back();
  bool one_each = std::any_of(args.begin(), args.end(), [&](ExprId arg) { return is_function(file_[arg]); });
  Docs parts{expr(n.fn, atomic)};
  for (ExprId arg : args) {
    Doc piece = concat({d_.line(), at_.before(), expr(arg, atomic)});
    parts.push_back(one_each ? piece : d_.group(piece));
  }
  Doc packed = d_.nest(2, concat(std::move(parts)));
  if (!hugs) return d_.group(packed);
  return d_.group(concat({packed, blank(), hugged(n.args.back())}));
}

/// `(fn x => body)` whose lines are indented from the line where it begins.
Doc ExprPrinter::hugged(ExprId id) {
  bool written = parentheses(id) > 0;
  return concat({written ? at_.token("(") : d_.text("("), bare(id, false, true),
                 written ? at_.token(")") : d_.text(")")});
}

Doc ExprPrinter::of(const TupleExpr& n, bool) {
  return listed("(", n.elements, [&](ExprId e) { return expr(e); }, ")");
}
Doc ExprPrinter::of(const ListExpr& n, bool) { return indices(n.elements); }
Doc ExprPrinter::of(const RecordExpr& n, bool) { return fields(n.fields); }

Doc ExprPrinter::fields(const std::vector<FieldValue>& all) {
  const auto print = [&](const FieldValue& f) {
    Docs parts{name(f.name), blank(), at_.token("=")};
    Docs value{d_.line(), at_.before(), expr(f.value)};
    parts.push_back(d_.group(d_.nest(4, concat(std::move(value)))));
    return concat(std::move(parts));
  };
  return braced(all, print);
}

/// What `[` or `.` stands behind: a literal keeps its parentheses, for only a name and a bracket are indexed;
/// so does what has a comment before the `)`, for only what is directly before a `[` is indexed.
Doc ExprPrinter::selected(ExprId id) {
  const Expr& e = file_[id];
  const bool literal = as<NumberExpr>(e) || as<StringExpr>(e) || as<BoolExpr>(e);
  const bool kept = parentheses(id) > 0 && (literal || at_.is_comment_inside(e.span.end));
  return kept ? concat({at_.token("("), d_.align(bare(id, false, true)), at_.last_closing()})
              : expr(id, atomic);
}

Doc ExprPrinter::of(const FieldExpr& n, bool) {
  return concat({selected(n.base), at_.token("."), name(n.field)});
}

Doc ExprPrinter::of(const IndexExpr& n, bool) {
  Docs parts{selected(n.base)};
  if (!n.otherwise.valid()) {
    parts.push_back(indices(n.indices));
    return concat(std::move(parts));
  }
  parts.push_back(at_.token("["));
  Docs inside;
  for (const Index& one : n.indices) {
    Docs element;
    if (!inside.empty()) element.push_back(d_.line());
    element.push_back(index(one));
    if (&one != &n.indices.back()) element.push_back(at_.token(","));
    inside.push_back(d_.group(concat(std::move(element))));
  }
  inside.push_back(
      d_.group(concat({d_.line(), at_.token("else"), blank(), expr(n.otherwise), at_.token("]")})));
  parts.push_back(d_.align(concat(std::move(inside))));
  return d_.group(concat(std::move(parts)));
}

Doc ExprPrinter::indices(const std::vector<Index>& all) {
  return listed("[", all, [&](const Index& i) { return index(i); }, "]");
}

Doc ExprPrinter::index(const Index& index) {
  return std::visit(Overloaded{[&](const ElementIndex& n) { return expr(n.value); },
                               [&](const RestIndex&) { return at_.token(".."); },
                               [&](const SpreadIndex& n) { return concat({at_.token(".."), name(n.name)}); },
                               [&](const SliceIndex& n) { return slice(n); }},
                    index.node);
}

Doc ExprPrinter::slice(const SliceIndex& n) {
  const auto is_short = [&](ExprId id) {
    if (!id.valid()) return true;
    const NegateExpr* minus = as<NegateExpr>(file_[id]);
    return level(minus ? minus->value : id) == atomic;
  };
  bool tight = is_short(n.first) && is_short(n.last) && is_short(n.step);
  Docs parts;
  if (n.first.valid()) parts.push_back(expr(n.first));
  std::vector<ExprId> following{n.last};
  if (n.step.valid()) following.push_back(n.step);
  for (ExprId part : following) {
    if (!tight && !parts.empty()) parts.push_back(blank());
    parts.push_back(at_.token(":"));
    if (!part.valid()) continue;
    if (!tight) parts.push_back(blank());
    parts.push_back(expr(part));
  }
  return concat(std::move(parts));
}

// ---- Functions and comprehensions

/// `head => body`.
Doc ExprPrinter::arrow_to(Doc head, ExprId body, bool block) {
  Docs parts{head, blank(), at_.token("=>")};
  Docs below{d_.line(), at_.before(), expr(body, low, block)};
  parts.push_back(d_.nest(2, concat(std::move(below))));
  return d_.group(concat(std::move(parts)));
}

Doc ExprPrinter::of(const LambdaExpr& n, bool block) {
  Doc head = at_.token("fn");
  head = packed(head, n.params, [&](PatternId p) { return types_.pattern(p, false); });
  return arrow_to(d_.nest(4, head), n.body, block);
}

Doc ExprPrinter::of(const ForExpr& n, bool block) {
  Doc head = at_.token("for");
  head = packed(head, n.binders, [&](const Binder& b) { return binder(b); });
  return arrow_to(d_.nest(4, head), n.body, block);
}

Doc ExprPrinter::of(const ReduceExpr& n, bool block) {
  bool is_list = as<ListExpr>(file_[n.body]) != nullptr;
  Doc head = expr(n.head, atomic);
  head = packed(head, n.args, [&](ExprId arg) {
    axes_ = is_list && arg == n.args.back() && as<ListExpr>(file_[arg]);
    Doc doc = expr(arg, atomic);
    axes_ = false;
    return doc;
  });
  axes_ = is_list && as<ListExpr>(file_[n.args.back()]);
  Doc all = arrow_to(d_.nest(4, head), n.body, block);
  axes_ = false;
  return all;
}

Doc ExprPrinter::binder(const Binder& n) {
  if (n.bound.valid())
    return concat(
        {at_.token("("), name(n.name), blank(), at_.token("<"), blank(), expr(n.bound), at_.token(")")});
  if (!n.spread) return name(n.name);
  return concat({at_.token(".."), name(n.name)});
}

Doc ExprPrinter::of(const IfExpr& n, bool) {
  Docs parts;
  const IfExpr* arm = &n;
  while (true) {
    Docs condition{at_.token("if"), blank(), d_.align(expr(arm->condition))};
    condition.insert(condition.end(),
                     {d_.line(), at_.token("then"), blank(), d_.align(expr(arm->then_value))});
    parts.push_back(d_.group(concat(std::move(condition))));
    parts.insert(parts.end(), {d_.line(), at_.token("else"), blank()});
    const IfExpr* next = as<IfExpr>(file_[arm->else_value]);
    if (!next || parentheses(arm->else_value) > 0) break;
    arm = next;
  }
  parts.push_back(d_.align(expr(arm->else_value)));
  return d_.group(d_.align(concat(std::move(parts))));
}

// ---- Lets

Doc ExprPrinter::of(const LetExpr& n, bool block) {
  if (block) return lines(n);
  Docs parts;
  for (const Let& one : n.lets) parts.insert(parts.end(), {let(one, n.lets.size() == 1), d_.line()});
  if (n.lets.size() > 1) parts.insert(parts.end(), {at_.token("in"), blank()});
  parts.insert(parts.end(), {at_.before(), d_.align(expr(n.body))});
  return d_.group(d_.align(concat(std::move(parts))));
}

/// Over several lines.
Doc ExprPrinter::lines(const LetExpr& n) {
  Docs parts;
  for (const Let& one : n.lets) {
    bool first = &one == &n.lets.front();
    if (!first) parts.push_back(d_.hard_line());
    parts.push_back(at_.before(first ? Blanks::dropped : Blanks::kept));
    parts.push_back(let(one, n.lets.size() == 1));
  }
  parts.push_back(d_.hard_line());
  if (n.lets.size() == 1) {
    parts.insert(parts.end(), {at_.before(Blanks::kept), expr(n.body, low, true)});
  } else {
    parts.insert(parts.end(), {at_.before(), at_.token("in"), blank(), at_.before()});
    parts.push_back(d_.align(expr(n.body, low, true)));
  }
  return concat(std::move(parts));
}

/// `let x = value`; with its `in` when `closed`.
Doc ExprPrinter::let(const Let& n, bool closed) {
  Docs head{at_.token("let"), blank()};
  const Pattern& p = file_[n.pattern];
  const TuplePattern* tuple = as<TuplePattern>(p);
  bool is_plain = !p.type.valid() &&
                  (as<NamePattern>(p) || as<WildcardPattern>(p) || (tuple && !tuple->elements.empty()));
  if (is_plain)
    head.push_back(types_.bare(p));
  else
    head.insert(head.end(), {at_.token("("), types_.pattern(n.pattern, true), at_.token(")")});
  head.push_back(packed(d_.empty(), n.params, [&](PatternId param) { return types_.pattern(param, false); }));
  head.push_back(types_.signature(n.result, n.where));
  head.insert(head.end(), {blank(), at_.token("=")});
  Docs parts{d_.group(d_.nest(4, concat(std::move(head))))};
  Docs below{d_.line(), at_.before(), expr(n.value, low, true)};
  parts.push_back(d_.nest(2, concat(std::move(below))));
  if (closed) parts.insert(parts.end(), {d_.line(), at_.token("in")});
  return d_.group(concat(std::move(parts)));
}

}  // namespace axon::format
