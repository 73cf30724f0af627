// Pieces of the tree as source text on one line. Levels are those of the grammar: what binds weaker than its
// place allows gets parentheses.
#include <algorithm>
#include "syntax/print.h"

namespace axon::syntax {
namespace {

// How tightly an expression binds, as in grammar.yy from LOW to atom.
enum Level : uint8_t {
  low,
  pipe,
  postfix_update,
  disjunction,
  conjunction,
  relation,
  sum,
  product,
  unary,
  applied,
  atomic
};

Level level(BinaryOp op) {
  switch (op) {
    case BinaryOp::pipe: return pipe;
    case BinaryOp::logical_or: return disjunction;
    case BinaryOp::logical_and: return conjunction;
    case BinaryOp::less:
    case BinaryOp::greater:
    case BinaryOp::less_equal:
    case BinaryOp::greater_equal:
    case BinaryOp::not_equal:
    case BinaryOp::equal: return relation;
    case BinaryOp::add:
    case BinaryOp::subtract: return sum;
    case BinaryOp::multiply:
    case BinaryOp::divide:
    case BinaryOp::modulo:
    case BinaryOp::matmul: return product;
  }
  return low;
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '\n')
      result += "\\n";
    else if (c == '\t')
      result += "\\t";
    else if (c == '\r')
      result += "\\r";
    else if (c == '"' || c == '\\')
      result += {'\\', c};
    else
      result += c;
  }
  return result + "\"";
}

class Writer {
 public:
  explicit Writer(const File& file) : file_(file) {}

  std::string dim(DimId id, Level place = sum) const {
    return std::visit(
        Overloaded{[](const ErrorDim&) -> std::string { return "?"; },
                   [](const NameDim& n) { return n.name.text; },
                   [](const NumberDim& n) { return std::to_string(n.value); },
                   [&](const BinaryDim& n) {
                     Level own = n.op <= DimOp::subtract ? sum : product;
                     Level right = own == sum ? product : unary;
                     bool tight = own == product;
                     std::string space = tight ? "" : " ";
                     return wrap(dim(n.lhs, own) + space + dim_op_text(n.op) + space + dim(n.rhs, right),
                                 own < place);
                   },
                   [&](const CallDim& n) {
                     return n.fn.text + "(" + each(n.args, [&](DimId d) { return dim(d); }) + ")";
                   }},
        file_[id].node);
  }

  // Places of types: 0 anything, 1 left of an arrow, 2 under `*` and `@`.
  std::string type(TypeId id, int place = 0) const {
    return std::visit([&](const auto& node) { return of(node, place); }, file_[id].node);
  }

  std::string expr(ExprId id, Level place = low) const {
    return std::visit([&](const auto& node) { return of(node, place); }, file_[id].node);
  }

 private:
  static std::string wrap(std::string text, bool needed) { return needed ? "(" + text + ")" : text; }
  template <class T, class Text>
  static std::string each(const std::vector<T>& all, Text text, std::string_view separator = ", ") {
    std::string result;
    for (const T& one : all) {
      if (&one != &all.front()) result += separator;
      result += text(one);
    }
    return result;
  }
  std::string name(const Name& n) const { return n.text; }

  // ---- Types
  std::string item(const Item& item) const {
    return std::visit(Overloaded{[&](const DimItem& n) { return dim(n.dim); },
                                 [](const SpreadItem& n) { return ".." + n.name.text; },
                                 [](const AnySpreadItem&) -> std::string { return ".."; },
                                 [](const JoinItem& n) {
                                   return "..(" +
                                          each(n.names, [](const Name& x) { return x.text; }, "|") + ")";
                                 },
                                 [](const InferItem&) -> std::string { return "_"; },
                                 [&](const TypeItem& n) { return type(n.type); }},
                      item.node);
  }
  std::string items(const std::vector<Item>& all) const {
    return "[" + each(all, [&](const Item& i) { return item(i); }) + "]";
  }
  std::string fact(const Fact& f) const {
    return dim(f.lhs) + " " + relation_text(f.relation) + " " + dim(f.rhs);
  }

  std::string of(const ErrorType&, int) const { return "?"; }
  std::string of(const NamedType& n, int) const {
    return each(n.path, [](const Name& x) { return x.text; }, ".") + (n.items ? items(*n.items) : "");
  }
  std::string of(const VariableType& n, int) const {
    return "'" + n.name.text + (n.items ? items(*n.items) : "");
  }
  std::string of(const ShapeType& n, int) const { return items(n.items); }
  std::string of(const TupleType& n, int) const {
    return "(" + each(n.elements, [&](TypeId t) { return type(t); }) + ")";
  }
  std::string of(const RecordType& n, int) const {
    std::string fields =
        each(n.fields, [&](const TypeField& f) { return f.name.text + " : " + type(f.type); });
    return "{ " + fields + (n.rest ? ", .." + n.rest->text : "") + " }";
  }
  std::string of(const ArrowType& n, int place) const {
    return wrap(type(n.from, 1) + " -> " + type(n.to), place > 0);
  }
  std::string of(const OwnedType& n, int place) const { return wrap("*" + type(n.type, 2), place > 1); }
  std::string of(const PlacedType& n, int place) const {
    return wrap(type(n.type, 1) + " @ " + layout(n.layout), place > 1);
  }
  std::string of(const ExistsType& n, int place) const {
    std::string facts =
        n.facts.empty() ? n.names[0].text : each(n.facts, [&](const Fact& f) { return fact(f); });
    return wrap("?" + facts + ". " + type(n.body), place > 0);
  }

  std::string spot(const Spot& s) const { return dim(s.size, product) + (s.axis ? "@" + s.axis->text : ""); }
  std::string iter(const Iter& spots) const {
    std::string text = each(spots, [&](const Spot& s) { return spot(s); });
    return wrap(text, spots.size() > 1);
  }
  std::string layout(LayoutId id) const {
    return each(file_[id].parts, [&](const LayoutPart& part) { return layout_part(part); }, " + ");
  }
  std::string layout_part(const LayoutPart& part) const {
    return std::visit(
        Overloaded{
            [&](const NameLayout& n) {
              std::string spots = each(n.spots, [&](const Spot& s) { return spot(s); });
              return n.name.text + (n.bracketed ? "[" + spots + "]" : "");
            },
            [&](const MapLayout& n) { return n.name.text + "[" + iter(n.from) + " : " + iter(n.to) + "]"; },
            [&](const OffsetLayout& n) { return dim(n.amount, unary) + "@" + n.axis.text; }},
        part);
  }

  // ---- Patterns and pieces of expressions
  std::string pattern(PatternId id, bool in_brackets) const {
    const Pattern& p = file_[id];
    std::string text =
        std::visit(Overloaded{[](const ErrorPattern&) -> std::string { return "?"; },
                              [](const NamePattern& n) { return n.name.text; },
                              [](const WildcardPattern&) -> std::string { return "_"; },
                              [&](const TuplePattern& n) { return "(" + bindings(n.elements) + ")"; }},
                   p.node);
    return p.type.valid() ? wrap(text + " : " + type(p.type), !in_brackets) : text;
  }
  std::string bindings(const std::vector<PatternId>& all) const {
    return each(all, [&](PatternId p) { return pattern(p, true); });
  }
  std::string params(const std::vector<PatternId>& all) const {
    return each(all, [&](PatternId p) { return pattern(p, false); }, " ");
  }
  std::string index(const Index& index) const {
    return std::visit(Overloaded{[&](const ElementIndex& n) { return expr(n.value); },
                                 [](const RestIndex&) -> std::string { return ".."; },
                                 [](const SpreadIndex& n) { return ".." + n.name.text; },
                                 [&](const SliceIndex& n) {
                                   std::string step = n.step.valid() ? ":" + expr(n.step) : "";
                                   return part(n.first) + ":" + part(n.last) + step;
                                 }},
                      index.node);
  }
  std::string part(ExprId id) const { return id.valid() ? expr(id) : ""; }
  std::string indices(const std::vector<Index>& all) const {
    return each(all, [&](const Index& i) { return index(i); });
  }
  std::string let(const Let& n) const {
    std::string head = "let " + pattern(n.pattern, false) + (n.params.empty() ? "" : " " + params(n.params));
    if (n.result.valid()) head += " : " + type(n.result);
    if (!n.where.empty()) head += " where " + each(n.where, [&](const Fact& f) { return fact(f); });
    return head + " = " + expr(n.value) + " ";
  }
  std::string binder(const Binder& n) const {
    std::string text = (n.spread ? ".." : "") + n.name.text;
    return n.bound.valid() ? "(" + text + " < " + expr(n.bound) + ")" : text;
  }
  std::string arguments(const std::vector<ExprId>& args) const {
    return each(args, [&](ExprId e) { return " " + expr(e, atomic); }, "");
  }

  // ---- Expressions
  std::string of(const ErrorExpr&, Level) const { return "?"; }
  std::string of(const NameExpr& n, Level) const { return n.name; }
  std::string of(const NumberExpr& n, Level) const { return n.text; }
  std::string of(const StringExpr& n, Level) const { return quoted(n.value); }
  std::string of(const BoolExpr& n, Level) const { return n.value ? "true" : "false"; }
  std::string of(const ApplyExpr& n, Level place) const {
    return wrap(expr(n.fn, atomic) + arguments(n.args), place > applied);
  }
  std::string of(const TupleExpr& n, Level) const {
    return "(" + each(n.elements, [&](ExprId e) { return expr(e); }) + ")";
  }
  std::string of(const ListExpr& n, Level) const { return "[" + indices(n.elements) + "]"; }
  std::string of(const RecordExpr& n, Level) const {
    return "{ " + each(n.fields, [&](const FieldValue& f) { return f.name.text + " = " + expr(f.value); }) +
           " }";
  }
  std::string of(const LambdaExpr& n, Level place) const {
    return wrap("fn " + params(n.params) + " => " + expr(n.body), place > low);
  }
  std::string of(const LetExpr& n, Level place) const {
    std::string lets = each(n.lets, [&](const Let& l) { return let(l); }, "");
    return wrap(lets + "in " + expr(n.body), place > low);
  }
  std::string of(const IfExpr& n, Level place) const {
    return wrap("if " + expr(n.condition) + " then " + expr(n.then_value) + " else " + expr(n.else_value),
                place > low);
  }
  std::string of(const ForExpr& n, Level place) const {
    return wrap("for " +
                    each(
                        n.binders, [&](const Binder& x) { return binder(x); }, " ") +
                    " => " + expr(n.body),
                place > low);
  }
  std::string of(const ReduceExpr& n, Level place) const {
    return wrap(expr(n.head, atomic) + arguments(n.args) + " => " + expr(n.body), place > low);
  }
  std::string of(const WithIndexExpr& n, Level place) const {
    std::string text = expr(n.base, postfix_update) + " with [" + indices(n.indices) + "] = ";
    return wrap(text + expr(n.value, disjunction), place > postfix_update);
  }
  std::string of(const WithFieldExpr& n, Level place) const {
    std::string text = expr(n.base, postfix_update) + " with " + n.field.text + " = ";
    return wrap(text + expr(n.value, disjunction), place > postfix_update);
  }
  std::string of(const CheckExpr& n, Level place) const {
    return wrap(expr(n.value, postfix_update) + " :> " + type(n.type, 2), place > postfix_update);
  }
  std::string of(const BinaryExpr& n, Level place) const {
    Level own = level(n.op);
    Level left = own == relation ? sum : own;  // comparisons do not chain
    std::string text =
        expr(n.lhs, left) + " " + binary_op_text(n.op) + " " + expr(n.rhs, static_cast<Level>(own + 1));
    return wrap(text, place > own);
  }
  std::string of(const NegateExpr& n, Level place) const {
    std::string value = expr(n.value, unary);
    return wrap((value.starts_with('-') ? "- " : "-") + value, place > unary);  // `--` would begin a comment
  }
  std::string of(const FieldExpr& n, Level) const { return expr(n.base, atomic) + "." + n.field.text; }
  std::string of(const IndexExpr& n, Level) const {
    std::string otherwise = n.otherwise.valid() ? " else " + expr(n.otherwise) : "";
    return expr(n.base, atomic) + "[" + indices(n.indices) + otherwise + "]";
  }

  const File& file_;
};

}  // namespace

std::string to_source(const File& file, TypeId type) { return Writer(file).type(type); }
std::string to_source(const File& file, DimId dim) { return Writer(file).dim(dim); }
std::string to_source(const File& file, ExprId expr) { return Writer(file).expr(expr); }

}  // namespace axon::syntax
