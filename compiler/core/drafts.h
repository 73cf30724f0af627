// Drafts of the edits that may repair an error about shapes, one method for each mistake that people make.
//
// In: the tensors that take part in the error, and the sizes that something else in it has. Out: helps with
// edits in the diagnostic. A draft costs a trial, so each is offered only where the shapes at
// hand make it likely. A repair is written with what the user wrote: the text of an operand, the names of its
// sizes.
//
// A draft is tentative: it is made in the text, and dropped where its error stays or another one comes
// (session/try_edits.h). Whether an edit is safe is a property of its kind, stated where it is drafted
// (Changes): it changes only spelling, types, `where`, size parameters or imports. Of what changes which
// elements are computed, or which inputs an entry takes, a person has to think: the type of a parameter of an
// entry, a declared type, the `where` of an entry. A size there that nothing else names and that is spelt
// nearly like another one is misspelt, which is safe.
#pragma once
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "core/reporter.h"

namespace axon::core {

/// A tensor that takes part in the error.
struct Operand {
  ExprId id;
  source::Span span;
  std::string text, role;  ///< "the left operand"
  Shape shape;
  bool infix = false;  ///< of an operator: an application needs no parentheses there
  bool whole = false;  ///< a body, a branch, ...: not applied to
};

/// What an edit changes: only how the program is written (spelling, types, `where`, size parameters,
/// imports), or which elements it computes, or which inputs an entry takes: the sizes of its parameters, of a
/// declared type, or its `where`. The first kind is safe.
enum class Changes : uint8_t { writing, result, inputs };

/// Ranks of edits that say that sizes which are written with distinct names are equal, or stand the other way
/// round. A slip in an expression looks the same, so edits of expressions are tried before. Another type is
/// offered behind them, another relation only where nothing else repairs.
constexpr uint8_t rank_of_type = 200, rank_of_relation = 201;

class Drafts {
 public:
  Drafts(source::Diagnostic& d, const source::SourceManager& sources, const Program& p, Names& names,
         std::function<Type(TypeId)> type_of,
         std::function<bool(const Expr&, const char*)> is_library_function)
      : d_(d),
        sources_(sources),
        p_(p),
        names_(names),
        type_of_(std::move(type_of)),
        is_library_function_(std::move(is_library_function)) {}

  std::vector<Operand> operands;
  std::vector<shape::Dim> wanted;  ///< sizes that something else in the error has

  void offer(uint8_t rank, const std::string& text, source::Span at, std::string replacement,
             Changes changes = Changes::result);
  void add(ExprId id, std::string role, bool infix, bool whole = false);
  void want(TypeId id);
  void about(const Operand& o);
  /// Two sizes that are not equal: another number, another range, or whole groups only.
  void sizes(const Expr& e, const Failure& f, const std::vector<ExprId>& loops, const Vars& vars);
  /// Joined along the first axis where the last was meant.
  void other_axis(const Expr& concat);
  /// One condition for the whole where one for each element was meant.
  void by_element(const Expr& conditional);
  /// Two arguments of one application, exchanged.
  void swapped();
  /// A name that no operand mentions.
  std::string free_name(const char* wanted) const;
  /// The product of a matrix, or several, and a vector, as index notation writes it.
  void vector_product(source::Span whole);
  /// `*` where `@` was meant, or the other way; a product of two vectors, or with one.
  void other_product(source::Span op, source::Span whole);
  /// What is left over after whole groups of `group` is dropped.
  void without_remainder(const Operand& o, size_t axis, int64_t size, int64_t group);
  /// A size that is given, `heads[6, 64] x`, where another one fits: all sizes are numbers.
  void other_size(const Expr& callee, int64_t expected, int64_t found);
  /// An index that leaves its axis: a shorter range, or a value for what lies outside.
  void index(const Expr& e, const std::vector<ExprId>& loops, const Vars& vars, const shape::Fact& fact);
  /// The items of the stated result that differ, as the body gives them.
  void stated(const std::vector<syntax::Item>& items, const Shape& expected, const Shape& found);
  /// An argument with more axes than the indices name in what is called: they are those of a parameter
  /// without a type.
  void rest_of_parameter(const Pattern& parameter, uint32_t first, uint32_t end, size_t axes);
  /// `x with [i] = v`, where what is stored has axes that the brackets do not name.
  void rest_of_update(const Expr& update);
  /// `f(x, y)`, as other languages write a call.
  void untupled(ExprId argument, ExprId callee);
  /// The relation that the types do not say, stated: `at` is where a `where` goes on or begins.
  void related(const shape::Dim& a, const shape::Dim& b, const std::function<bool(shape::Var)>& written,
               source::Span at, bool first, Changes changes);
  void converted(const Operand& o, const std::string& elem);
  /// Ranges written in the text whose size is off by a constant.
  void other_range(const std::vector<ExprId>& loops, const Vars& vars, const shape::Dim& size, int64_t by);

 private:
  /// The size that an integer is, when its type says so.
  std::optional<shape::Dim> value_of(ExprId id, const Vars& vars) const;
  bool enclosed(source::Span at) const;
  void replace(uint8_t rank, const Operand& o, const std::string& why, std::string by, bool reaches_on);
  /// Of a matrix product the right operand is the one that people write transposed; for other operators it is
  /// rare.
  void transposed(const Operand& o);
  /// An element where what is left of the axes was meant: a parameter without a type has those that its
  /// indices name.
  void with_rest(const Operand& o);
  static constexpr int most_nested = 4;  ///< how deep in an operand a reduction is looked for
  ExprId bound_to(ExprId id) const;
  void kept(ExprId operand, int depth = 0);
  /// Names for the axes of an operand, as `rearrange` takes them.
  std::vector<std::string> axis_names(const Shape& s);
  static std::string joined(const std::vector<std::string>& items, const char* by);
  bool is_wanted(const shape::Dim& d) const {
    return std::find(wanted.begin(), wanted.end(), d) != wanted.end();
  }
  void flattened(const Operand& o);
  void split_heads(const Operand& o);
  /// Axes of 1 where another operand has more axes: one, or as many as make the ranks equal, at the end.
  void with_unit_axis(const Operand& o);
  source::Diagnostic& d_;
  const source::SourceManager& sources_;
  const Program& p_;
  Names& names_;
  std::function<Type(TypeId)> type_of_;
  std::function<bool(const Expr&, const char*)> is_library_function_;
  bool product_ = false;  ///< the operator is `@`
};

}  // namespace axon::core
