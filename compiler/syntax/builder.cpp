// Nodes with their limits, and tokens for the parser with what recovery needs.
#include "syntax/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "source/limits.h"
#include "syntax/children.h"

namespace axon::syntax {

using source::Code;
namespace limits = source::limits;

Builder::Builder(const source::SourceFile& file, source::Diagnostics& diagnostics)
    : file_(file), diagnostics_(diagnostics), stream_(lex(file, diagnostics)) {
  balance(stream_, file, diagnostics);
  tree_.source = file.id();
  tree_.comments = std::move(stream_.comments);
  tree_.doc = stream_.file_doc.value_or("");
}

// ---- Tokens

const Token& Builder::next(bool discarding, size_t waiting) {
  if (last_.end > last_.begin) last_real_ = last_;
  if (discarding) return next_discarded();
  was_discarding_ = false;
  if (waiting > limits::parser_stack) return stop_at_depth();
  return last_ = stream_.tokens[position_++];
}

namespace {

/// What is offered before an ending, in order. Where the parser takes up again behind a bracket that is
/// closed already, no token closes it any more: the end of the declaration does.
constexpr TokenKind offered[] = {TokenKind::LET_END, TokenKind::DECL_END, TokenKind::RPAREN,
                                 TokenKind::RBRACKET, TokenKind::RBRACE};

}  // namespace

/// How many offers come before this token: none before one that ends no place.
int Builder::offers_before(const Token& token) {
  if (starts_declaration(token) || token.kind == TokenKind::END) return std::size(offered);
  return is_closer(token.kind) || token.kind == TokenKind::IN || token.kind == TokenKind::LET ? 1 : 0;
}

const Token& Builder::next_discarded() {
  if (!was_discarding_) {
    discard_depth_ = last_.depth + (is_closer(last_.kind) ? 1 : 0);
    offers_ = 0;
    if (offers_before(last_) != 0) --position_;
  }
  was_discarding_ = true;
  while (is_inside(stream_.tokens[position_])) ++position_;
  const Token& token = stream_.tokens[position_];
  if (offers_ < offers_before(token)) {
    return last_ = {offered[offers_++], false, true, false, token.depth, token.begin, token.begin};
  }
  offers_ = 0;
  if (is_closer(token.kind)) discard_depth_ = token.depth;
  ++position_;
  return last_ = token;
}

/// Is this token part of a bracket group inside the place that is being thrown away?
bool Builder::is_inside(const Token& token) const {
  if (token.kind == TokenKind::END) return false;
  return token.depth > discard_depth_ || is_opener(token.kind) ||
         (is_closer(token.kind) && token.depth >= discard_depth_);
}

/// The parser's stack is full: gives a token that fits nowhere, at the end of the place where it happened.
const Token& Builder::stop_at_depth() {
  too_deep(span(last_), "the parts around this place are too many to be held open at once");
  uint16_t depth = last_.depth;
  if (is_opener(last_.kind)) ++depth;
  for (; position_ + 1 < stream_.tokens.size(); ++position_) {
    const Token& token = stream_.tokens[position_];
    if (token.depth < depth || starts_declaration(token)) break;
  }
  return last_ = {TokenKind::DECL_END, false, true, false, depth, last_.end, last_.end};
}

void Builder::too_deep(Span at, std::string note) {
  if (!too_deep_reported_) diagnostics_.report(source::error(Code::E0201, at).note(std::move(note)));
  too_deep_reported_ = true;
}

// ---- Nodes

template <class Id, class Store, class Node>
Id Builder::add_limited(Store& store, std::vector<uint16_t>& heights, Node node, size_t steps) {
  int below = 0;
  for_each_child(node, [&](auto child) { below = std::max<int>(below, height(child)); });
  below += static_cast<int>(std::min<size_t>(steps, limits::tree_height));
  if (below >= limits::tree_height) {
    too_deep(node.span, fmt::format("a declaration may be at most {} levels deep; give a part of it a name",
                                    limits::tree_height));
    Node failed;  // the first alternative of every kind of node is its error node
    failed.span = node.span;
    node = failed;
    below = 0;
  }
  heights.push_back(static_cast<uint16_t>(below + 1));
  return store.add(std::move(node));
}

ExprId Builder::add(Expr node) {
  // Each let of a list sees those before it, so later stages go down them as if they were nested.
  const LetExpr* list = as<LetExpr>(node);
  size_t steps = list ? list->lets.size() - 1 : 0;
  return add_limited<ExprId>(tree_.exprs, expr_heights_, std::move(node), steps);
}
TypeId Builder::add(Type node) { return add_limited<TypeId>(tree_.types, type_heights_, std::move(node)); }
DimId Builder::add(Dim node) { return add_limited<DimId>(tree_.dims, dim_heights_, std::move(node)); }
PatternId Builder::add(Pattern node) {
  return add_limited<PatternId>(tree_.patterns, pattern_heights_, std::move(node));
}
LayoutId Builder::add(Layout node) {
  return add_limited<LayoutId>(tree_.layouts, layout_heights_, std::move(node));
}

void Builder::add(Decl decl) {
  too_deep_reported_ = false;
  bool is_error = std::holds_alternative<ErrorDecl>(decl.node);
  bool follows_error = !tree_.decls.empty() && std::holds_alternative<ErrorDecl>(tree_.decls.back().node);
  if (is_error && follows_error && decl.name.text.empty()) {
    tree_.decls.back().span = source::join(tree_.decls.back().span, decl.span);
    return;
  }
  auto doc = stream_.docs.find(decl.span.begin);
  if (doc != stream_.docs.end()) decl.doc = std::move(doc->second);
  tree_.decls.push_back(std::move(decl));
}

ExprId Builder::apply(Span span, std::vector<ExprId> parts) {
  if (parts.size() == 1) return parts[0];
  ExprId fn = parts[0];
  parts.erase(parts.begin());
  return add(Expr{span, ApplyExpr{fn, std::move(parts)}});
}

ExprId Builder::reduce(Span span, std::vector<ExprId> parts, ExprId body) {
  ExprId head = parts[0];
  auto is = [&]<class T>(ExprId id, T*) { return as<T>(tree_[id]) != nullptr; };
  ExprId name = head;
  if (const IndexExpr* sized = as<IndexExpr>(tree_[head])) name = sized->base;
  bool named = is(name, static_cast<NameExpr*>(nullptr)) || is(name, static_cast<FieldExpr*>(nullptr));
  if (named && parts.size() > 1) {
    parts.erase(parts.begin());
    return add(Expr{span, ReduceExpr{head, std::move(parts), body}});
  }
  if (!is(head, static_cast<ErrorExpr*>(nullptr))) {
    Span left = source::join(tree_[head].span, tree_[parts.back()].span);
    auto report =
        source::error(Code::E0215, left).label("expected as in `sum k => ...` or `rearrange x [n] => [n]`");
    if (parts.size() == 1)
      report.help("a function without a name begins with `fn`",
                  source::Edit{{left.file, left.begin, left.begin}, "fn ", source::Applicability::maybe});
    diagnostics_.report(std::move(report));
  }
  return add(Expr{span, ErrorExpr{}});
}

ExprId Builder::tuple(Span span, std::vector<ExprId> elements) {
  return elements.size() == 1 ? elements[0] : add(Expr{span, TupleExpr{std::move(elements)}});
}

ExprId Builder::binary(Span span, BinaryOp op, Span op_span, ExprId lhs, ExprId rhs) {
  return add(Expr{span, BinaryExpr{op, op_span, lhs, rhs}});
}

ExprId Builder::number(Span span, std::string text) {
  bool based = text.starts_with("0x") || text.starts_with("0b");
  bool is_float = !based && text.find_first_of(".eE") != std::string::npos;
  return add(Expr{span, NumberExpr{std::move(text), is_float}});
}

DimId Builder::number_dim(Span span, const std::string& text) {
  std::string digits = text;
  std::erase(digits, '_');
  int base = digits.starts_with("0x") ? 16 : digits.starts_with("0b") ? 2 : 10;
  const char* begin = digits.data() + (base == 10 ? 0 : 2);
  uint64_t value = 0;
  auto [end, status] = std::from_chars(begin, digits.data() + digits.size(), value, base);
  const bool integer = status == std::errc() && end == digits.data() + digits.size();
  const bool large = status == std::errc::result_out_of_range || value > uint64_t{1} << 63;
  if (integer && !large) return add(Dim{span, NumberDim{value}});
  bool reported = digits.size() > limits::number_digits;  // by the lexer
  if (large && !reported)
    diagnostics_.report(
        source::error(Code::E0320, span, fmt::format("`{}` does not fit into 64 bits", text)));
  else if (!reported)
    diagnostics_.report(source::error(Code::E0214, span).label("not an integer"));
  return add(Dim{span, ErrorDim{}});
}

TypeId Builder::tuple(Span span, std::vector<TypeId> elements) {
  return elements.size() == 1 ? elements[0] : add(Type{span, TupleType{std::move(elements)}});
}

/// `(a, f32[n])` among type arguments was read as items: a bare name there is a type.
TypeId Builder::tuple_of_items(Span span, std::vector<Item> items) {
  std::vector<TypeId> elements;
  for (const Item& item : items) {
    const DimItem* dim = std::get_if<DimItem>(&item.node);
    const NameDim* name = dim ? as<NameDim>(tree_[dim->dim]) : nullptr;
    if (const TypeItem* type = std::get_if<TypeItem>(&item.node)) {
      elements.push_back(type->type);
    } else if (name) {
      elements.push_back(add(Type{item.span, NamedType{{name->name}, {}}}));
    } else {
      if (!dim || !as<ErrorDim>(tree_[dim->dim])) diagnostics_.report(source::error(Code::E0217, item.span));
      elements.push_back(add(Type{item.span, ErrorType{}}));
    }
  }
  return add(Type{span, TupleType{std::move(elements)}});
}

TypeId Builder::shape(Span span, std::vector<Item> items) {
  for (Item& item : items) {
    const TypeItem* type = std::get_if<TypeItem>(&item.node);
    if (!type) continue;
    if (!as<ErrorType>(tree_[type->type]))
      diagnostics_.report(source::error(Code::E0214, item.span, "a dimension was expected, found a type"));
    item.node = InferItem{};
  }
  return add(Type{span, ShapeType{std::move(items)}});
}

TypeId Builder::exists(Span span, std::vector<Fact> facts, TypeId body) {
  std::vector<Name> names;
  for (const Fact& fact : facts) {
    const NameDim* lhs = as<NameDim>(tree_[fact.lhs]);
    bool is_new = lhs && std::none_of(names.begin(), names.end(),
                                      [&](const Name& n) { return n.text == lhs->name.text; });
    if (is_new) names.push_back(lhs->name);
  }
  if (!names.empty()) return add(Type{span, ExistsType{std::move(names), std::move(facts), body}});
  if (!as<ErrorDim>(tree_[facts[0].lhs]))
    diagnostics_.report(
        source::error(Code::E0216, facts[0].span).label("begin with the name: `?k <= n. i64[k]`"));
  return add(Type{span, ErrorType{}});
}

TypeId Builder::mode(Span span, const Name& word, TypeId type) {
  if (word.text == "weights") return add(Type{span, WeightsType{type}});
  auto report =
      source::error(Code::E0210, tree_[type].span, fmt::format("unexpected type after `{}`", word.text));
  report.note("the only word that stands before a type is `weights`, on a parameter of an entry");
  diagnostics_.report(std::move(report));
  count_error();
  return add(Type{span, ErrorType{}});
}

/// `into` is no reserved word.
Condition Builder::into(Span span, Name shape, Name word, std::vector<Item> target) {
  if (word.text != "into")
    diagnostics_.report(source::error(Code::E0210, word.span, "`into` was expected: `..w into [..s, n]`"));
  return {span, IntoFact{std::move(shape), std::move(target)}};
}

PatternId Builder::tuple(Span span, std::vector<PatternId> elements, TypeId type) {
  if (elements.size() != 1) return add(Pattern{span, TuplePattern{std::move(elements)}, type});
  Pattern& only = tree_.patterns[elements[0]];
  if (!type.valid()) return elements[0];
  if (only.type.valid()) {
    diagnostics_.report(source::error(Code::E0210, tree_[type].span, "the parameter already has a type")
                            .also(tree_[only.type].span, "here"));
    return elements[0];
  }
  Pattern typed{span, only.node, type};
  return add(std::move(typed));
}

}  // namespace axon::syntax
