// What stands between the generated parser and the tree: hands out tokens, makes nodes, words syntax errors.
//
// Recovery works as follows. An error pops the parser back to the innermost place with an `error` rule: a
// pair of brackets, a `let`, or the declaration. From there the parser throws tokens away until one fits, and
// while it does so next() skips whole bracket groups, so that it meets only what can end that place: its
// closing bracket, `in` or `let`, a declaration, the end of the file. Before each of those it is offered
// LET_END and, before the last two, DECL_END and closing brackets; an offer that does not fit is thrown away
// like any other token.
// When the offending token is itself such an ending, the parser has thrown it away by then, and it is handed
// out again.
#pragma once
#include <string>
#include <vector>

#include "source/diagnostic.h"
#include "syntax/ast.h"
#include "syntax/tokens.h"

namespace axon::syntax {

/// `: type where facts` after a parameter list.
struct Result {
  TypeId type;
  std::vector<Condition> where;
};

class Builder {
 public:
  Builder(const source::SourceFile& file, source::Diagnostics& diagnostics);
  File take() { return std::move(tree_); }

  // ---- Tokens
  /// `discarding`: the parser throws tokens away; `waiting`: symbols on its stack.
  const Token& next(bool discarding, size_t waiting);
  /// Whether END was handed out, and is not to be taken back because it ended what nothing has ended yet.
  bool at_end(bool discarding) const {
    return position_ >= stream_.tokens.size() && (was_discarding_ || !discarding);
  }
  Span end() const { return {file_.id(), file_.size(), file_.size()}; }
  Span span(const Token& token) const { return {file_.id(), token.begin, token.end}; }
  std::string_view text(const Token& token) const {
    return file_.text().substr(token.begin, token.end - token.begin);
  }
  /// The token handed out last is none of the expected ones.
  void syntax_error(std::vector<TokenKind> expected);
  /// Whether the first error was that the text ended.
  bool ended_early() const { return ended_early_; }

  // ---- Nodes. A node that would make the tree too high becomes an error node.
  ExprId add(Expr node);
  TypeId add(Type node);
  DimId add(Dim node);
  PatternId add(Pattern node);
  ExprId error_expr(Span span) { return add(Expr{span, ErrorExpr{}}); }
  LayoutId add(Layout node);
  void add(Decl decl);

  ExprId apply(Span span, std::vector<ExprId> parts);
  ExprId reduce(Span span, std::vector<ExprId> parts, ExprId body);
  ExprId tuple(Span span, std::vector<ExprId> elements);
  ExprId binary(Span span, BinaryOp op, Span op_span, ExprId lhs, ExprId rhs);
  ExprId number(Span span, std::string text);
  DimId number_dim(Span span, const std::string& text);
  TypeId tuple(Span span, std::vector<TypeId> elements);
  TypeId tuple_of_items(Span span, std::vector<Item> items);
  TypeId shape(Span span, std::vector<Item> items);
  TypeId exists(Span span, std::vector<Fact> facts, TypeId body);
  /// A word before a type: `weights`, which is a word only there and may be a name elsewhere.
  TypeId mode(Span span, const Name& word, TypeId type);
  Condition into(Span span, Name shape, Name word, std::vector<Item> target);
  PatternId tuple(Span span, std::vector<PatternId> elements, TypeId type = {});

 private:
  template <class Id, class Store, class Node>
  Id add_limited(Store& store, std::vector<uint16_t>& heights, Node node, size_t steps = 0);
  uint16_t height(ExprId id) const { return expr_heights_[id.index]; }
  uint16_t height(TypeId id) const { return type_heights_[id.index]; }
  uint16_t height(DimId id) const { return dim_heights_[id.index]; }
  uint16_t height(PatternId id) const { return pattern_heights_[id.index]; }
  uint16_t height(LayoutId id) const { return layout_heights_[id.index]; }

  static int offers_before(const Token& token);
  bool is_inside(const Token& token) const;
  const Token& next_discarded();
  const Token& stop_at_depth();
  void too_deep(Span at, std::string note);
  void count_error();
  void add_helps(source::Diagnostic& report, const std::vector<TokenKind>& kinds, bool at_end) const;
  const Token* name_after_type(const std::vector<TokenKind>& expected) const;
  bool is_second_mode(const std::vector<TokenKind>& expected) const;

  const source::SourceFile& file_;
  source::Diagnostics& diagnostics_;
  File tree_;
  std::vector<uint16_t> expr_heights_, type_heights_, dim_heights_, pattern_heights_, layout_heights_;

  TokenStream stream_;
  size_t position_ = 0;              // of the next token in the stream
  Token last_{TokenKind::END};       // handed out last
  Token last_real_{TokenKind::END};  // the one before it that has bytes, for errors at the end of something
  bool was_discarding_ = false;
  int offers_ = 0;                  // made before the next token
  int discard_depth_ = 0;           // tokens deeper than this are inside a group that is thrown away
  bool too_deep_reported_ = false;  // in this declaration
  size_t errors_ = 0;
  bool ended_early_ = false;
};

}  // namespace axon::syntax
