// The style: every node of the tree as a document. Nodes are taken in source order, because each piece of
// text comes from the cursor.
#pragma once
#include <functional>

#include "format/cursor.h"
#include "format/document.h"
#include "syntax/ast.h"

namespace axon::format {

/// How tightly an expression binds, as in grammar.yy from LOW to atom. A node that binds less tightly than
/// its place asks for gets parentheses.
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

/// What the place of a type asks for, as in the grammar's type, placed, mode and base.
enum class TypePlace : uint8_t { type, placed, mode, base };

/// What every part takes pieces of text from, and what it puts them together with.
class PrinterPart {
 protected:
  using Docs = std::vector<Doc>;

  PrinterPart(const syntax::File& file, Cursor& cursor, Documents& documents)
      : file_(file), at_(cursor), d_(documents) {}

  Doc concat(Docs parts) { return d_.concat(std::move(parts)); }
  Doc blank() { return d_.text(" "); }
  Doc name(const syntax::Name& n) { return at_.token(n.text); }
  Doc path(const std::vector<syntax::Name>& names);
  /// An opener, elements packed to lines with a comma behind each, and the closer.
  template <class T, class Print>
  Doc listed(std::string_view open, const std::vector<T>& all, Print print, std::string_view close);
  /// The same without an opener and a closer.
  template <class T, class Print>
  Doc separated(const std::vector<T>& all, Print print);
  /// `{ a, b }`: over several lines each begins with its comma.
  template <class T, class Print>
  Doc braced(const std::vector<T>& all, Print print, const syntax::Name* rest = nullptr);
  /// Elements packed to lines, with a blank between two.
  template <class T, class Print>
  Doc packed(Doc head, const std::vector<T>& all, Print print);

  const syntax::File& file_;
  Cursor& at_;
  Documents& d_;
};

/// Types, sizes, layouts and patterns (types.cpp).
class TypePrinter : PrinterPart {
 public:
  TypePrinter(const syntax::File& file, Cursor& cursor, Documents& documents)
      : PrinterPart(file, cursor, documents) {}

  Doc type(syntax::TypeId id, TypePlace place = TypePlace::type);
  Doc facts(const std::vector<syntax::Fact>& all);
  /// ` : type where facts`, what is there of it. A head of several lines gives `where` one of its own.
  Doc signature(syntax::TypeId result, const std::vector<syntax::Condition>& where);
  Doc layout(syntax::LayoutId id);
  /// `in_list`: between the parentheses of a parameter or a tuple, where a type needs none of its own.
  Doc pattern(syntax::PatternId id, bool in_list);
  Doc bare(const syntax::Pattern& pattern);  ///< without its type

 private:
  Doc of(const syntax::ErrorType&) { return d_.empty(); }
  Doc of(const syntax::NamedType& n);
  Doc of(const syntax::VariableType& n);
  Doc of(const syntax::ShapeType& n) { return items(n.items); }
  Doc of(const syntax::TupleType& n);
  Doc of(const syntax::IntegerType& n);
  Doc of(const syntax::RecordType& n);
  Doc of(const syntax::ArrowType& n);
  Doc of(const syntax::OwnedType& n);
  Doc of(const syntax::WeightsType& n);
  Doc of(const syntax::PlacedType& n);
  Doc of(const syntax::ExistsType& n);
  Doc items(const std::vector<syntax::Item>& all);
  Doc item(const syntax::Item& item);
  Doc dim(syntax::DimId id, Level place = sum);
  Doc fact(const syntax::Fact& fact);
  Doc condition(const syntax::Condition& condition);
  Doc part(const syntax::LayoutPart& part);
  Doc spot(const syntax::Spot& spot);
  Doc iteration(const syntax::Iter& spots);
};

/// Expressions (expressions.cpp).
class ExprPrinter : PrinterPart {
 public:
  ExprPrinter(const syntax::File& file, Cursor& cursor, Documents& documents, TypePrinter& types)
      : PrinterPart(file, cursor, documents), types_(types) {}

  /// `block`: it has lines of its own, as the body of a declaration has; then a `let` takes them. `open`:
  /// nothing follows that would become part of a body without parentheses; at the place `low` nothing ever
  /// does.
  Doc expr(syntax::ExprId id, Level place = low, bool block = false, bool open = false);
  Doc fields(const std::vector<syntax::FieldValue>& all);

 private:
  Doc bare(syntax::ExprId id, bool block, bool open);
  Doc of(const syntax::ErrorExpr&, bool) { return d_.empty(); }
  Doc of(const syntax::NameExpr& n, bool) { return at_.token(n.name); }
  Doc of(const syntax::NumberExpr&, bool) { return at_.any(); }
  Doc of(const syntax::StringExpr&, bool) { return at_.any(); }
  Doc of(const syntax::BoolExpr& n, bool) { return at_.token(n.value ? "true" : "false"); }
  Doc of(const syntax::ApplyExpr& n, bool);
  Doc of(const syntax::TupleExpr& n, bool);
  Doc of(const syntax::ListExpr& n, bool);
  Doc of(const syntax::RecordExpr& n, bool);
  Doc of(const syntax::LambdaExpr& n, bool block);
  Doc of(const syntax::LetExpr& n, bool block);
  Doc of(const syntax::IfExpr& n, bool);
  Doc of(const syntax::ForExpr& n, bool block);
  Doc of(const syntax::ReduceExpr& n, bool block);
  Doc of(const syntax::NegateExpr& n, bool);
  Doc of(const syntax::FieldExpr& n, bool);
  Doc of(const syntax::IndexExpr& n, bool);
  Level level(syntax::ExprId id) const;
  int parentheses(syntax::ExprId id) const;
  Doc chain(syntax::ExprId id, bool open);
  Doc link(syntax::ExprId id, bool open);
  bool is_coefficient(const syntax::BinaryExpr& n) const;
  Doc arrow_to(Doc head, syntax::ExprId body, bool block);
  Doc hugged(syntax::ExprId id);
  Doc selected(syntax::ExprId id);
  Doc lines(const syntax::LetExpr& n);
  Doc let(const syntax::Let& n, bool closed);
  Doc indices(const std::vector<syntax::Index>& all);
  Doc index(const syntax::Index& index);
  Doc slice(const syntax::SliceIndex& n);
  Doc binder(const syntax::Binder& n);

  TypePrinter& types_;
  bool axes_ = false;  // inside the axis lists of rearrange, where products are written tight as in types
};

/// A file and its declarations (from_syntax.cpp).
class FilePrinter : PrinterPart {
 public:
  FilePrinter(const syntax::File& file, Cursor& cursor, Documents& documents)
      : PrinterPart(file, cursor, documents),
        types_(file, cursor, documents),
        exprs_(file, cursor, documents, types_) {}

  Doc file();

 private:
  Doc declaration(const syntax::Decl& decl);
  Doc of(const syntax::Decl&, const syntax::ErrorDecl&) { return d_.empty(); }
  Doc of(const syntax::Decl& decl, const syntax::FunDecl& n);
  Doc of(const syntax::Decl& decl, const syntax::ValueDecl& n);
  Doc of(const syntax::Decl& decl, const syntax::SignatureDecl& n);
  Doc of(const syntax::Decl& decl, const syntax::TypeDecl& n);
  Doc of(const syntax::Decl& decl, const syntax::LayoutDecl& n);
  Doc of(const syntax::Decl& decl, const syntax::MeshDecl& n);
  Doc of(const syntax::Decl& decl, const syntax::ImportDecl& n);
  Doc of(const syntax::Decl& decl, const syntax::TestDecl& n);
  Doc sizes(const std::vector<syntax::SizeParam>& sizes);
  Doc definition(Doc head, syntax::ExprId body);

  TypePrinter types_;
  ExprPrinter exprs_;
};

// C++ leaves open in which order arguments are evaluated, a braced list does not: pieces that come from the
// cursor are put together in braces only.

template <class T, class Print>
Doc PrinterPart::listed(std::string_view open, const std::vector<T>& all, Print print,
                        std::string_view close) {
  Docs parts{at_.token(open)};
  Docs inside;
  for (size_t i = 0; i < all.size(); ++i) {
    Docs element;
    if (i > 0) element.push_back(d_.line());
    element.insert(element.end(), {at_.before(), print(all[i])});
    if (i + 1 < all.size()) element.push_back(at_.token(","));
    inside.push_back(d_.group(concat(std::move(element))));
  }
  inside.push_back(at_.token(close));
  parts.push_back(d_.align(concat(std::move(inside))));
  return d_.group(concat(std::move(parts)));
}

template <class T, class Print>
Doc PrinterPart::separated(const std::vector<T>& all, Print print) {
  Docs parts;
  for (const T& one : all) {
    Docs piece;
    if (!parts.empty()) piece.push_back(d_.line());
    piece.push_back(print(one));
    if (&one != &all.back()) piece.push_back(at_.token(","));
    parts.push_back(d_.group(concat(std::move(piece))));
  }
  return concat(std::move(parts));
}

template <class T, class Print>
Doc PrinterPart::braced(const std::vector<T>& all, Print print, const syntax::Name* rest) {
  Docs parts{at_.token("{")};
  if (all.empty() && !rest) return concat({parts[0], at_.token("}")});
  for (size_t i = 0; i < all.size(); ++i) {
    Docs element;
    if (i > 0) element.insert(element.end(), {d_.soft_line(), at_.token(",")});
    element.insert(element.end(), {blank(), at_.before(), print(all[i])});
    parts.push_back(d_.group(concat(std::move(element))));
  }
  if (rest) {
    Docs element;
    if (!all.empty()) element.insert(element.end(), {d_.soft_line(), at_.token(",")});
    element.insert(element.end(), {blank(), at_.token(".."), name(*rest)});
    parts.push_back(d_.group(concat(std::move(element))));
  }
  parts.insert(parts.end(), {blank(), at_.token("}")});
  return d_.group(d_.align(concat(std::move(parts))));
}

template <class T, class Print>
Doc PrinterPart::packed(Doc head, const std::vector<T>& all, Print print) {
  Docs parts{head};
  for (const T& one : all) {
    Docs piece{d_.line(), at_.before(), print(one)};
    parts.push_back(d_.group(concat(std::move(piece))));
  }
  return concat(std::move(parts));
}

}  // namespace axon::format
