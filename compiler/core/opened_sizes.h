// Sizes that depend on data: existential sizes, opened at each application whose result has `?k` and at each
// integer of the data that is used as a size, and closed again in the result of the declaration.
//
// Each is a variable of kind `opened`, which stands for one number of one run, with what is known of it
// assumed in the solver. It is visible only where the number is known: never in a parameter, never in the
// type of a function that is a value (all calls of it would share one number), never outside of the loop body
// that determines it (LoopScopes).
#pragma once
#include <set>

#include "core/loop_scopes.h"
#include "core/reporter.h"

namespace axon::core {

/// Where an opened size is found when the program runs (OpenedSize).
struct ShownBy {
  ExprId expr;                 ///< the value of an expression,
  LocalId local;               ///< or of a name
  std::vector<uint32_t> item;  ///< the integer at this part of it
  bool in_type = false;        ///< no integer: where the type of the expression mentions the size

  static ShownBy integer(ExprId e, std::vector<uint32_t> item = {}) {
    return {e, {}, std::move(item), false};
  }
  static ShownBy name(LocalId l) { return {{}, l, {}, false}; }
  static ShownBy result(ExprId e) { return {e, {}, {}, true}; }
};

class OpenedSizes : InferencePart {
 public:
  OpenedSizes(InferenceContext& c, Reporter& reporter, LoopScopes& scopes)
      : InferencePart(c), reporter_(reporter), scopes_(scopes) {}

  // ---- Opening.
  /// A new variable for an integer of the data; `size`: it is known not to be negative.
  shape::Dim open(const std::string& hint, source::Span at, ShownBy by, bool size = true);
  /// A new variable for one that is closed in the scheme, at a use of that.
  shape::Dim open(const Scheme& scheme, shape::Var closed, source::Span at, ShownBy by);
  /// The size that this value is, with the bounds that the value's form shows; one for equal values.
  shape::Dim size_of_value(const shape::Dim& value, source::Span at, ShownBy by);
  /// The size that an integer is, of which nothing is known.
  shape::Dim size_of_unknown(source::Span at, ShownBy by);
  /// The type of an integer scalar of unknown value with a variable for the value, so that all uses agree.
  TypeId name_value(TypeId type, const std::string& hint, source::Span at, ShownBy by);

  /// The program checks that the size is at most `most`, where this expression stands for it.
  void note_check(shape::Var size, ExprId at, const shape::Dim& most);

  // ---- Queries.
  /// How many were opened so far: what is opened later is "opened since" that mark.
  size_t mark() const { return opened_.size(); }
  /// Whether an integer of the data that may be negative occurs in the value.
  bool reads_data(const shape::Dim& d) const;
  /// Whether an integer of the data occurs in the value; `sizes`: also one that is used as a size.
  bool depends_on_integer(const shape::Dim& d, bool sizes) const;
  /// Whether the size is an integer of the data, which the program checks where it is used, not the size of
  /// a result.
  bool is_checked_integer(const shape::Dim& size) const;

  // ---- Where they must not be.
  /// Value restriction: a function that is a value must not return sizes opened since; reports it where it
  /// does.
  TypeId as_value(ExprId id, TypeId type, size_t mark);
  /// Whether opened sizes are in the parameters of a declaration's type: an error, which it reports.
  bool refuse_in_parameters(TypeId type);

  // ---- Closing.
  /// What was opened since and occurs in the scheme's type becomes existential, with what is known of it.
  void close(Scheme& scheme, size_t mark);
  /// An equal size without opened ones, where an assumed equation gives one: k + l is n where k + l == n.
  shape::Dim without_opened(const shape::Dim& d) const;

  // ---- Into the program.
  /// Fills Expr::opens and Local::opens; the types of the declaration are written back already.
  void write_back();

 private:
  struct Opening {
    shape::Var size;
    ShownBy by;
    std::optional<shape::Dim> checked;  ///< the program checks that it is at most this
  };
  void write_results(ExprId id, std::vector<Opening> unknown);
  std::optional<shape::Dim> bound_of(const Opening& o) const;
  bool mentions_since(TypeId type, size_t mark);
  /// Whether another call of a function may have another size there than this one, which was opened in it, as
  /// it stands behind the mark; `own`: what the function is generalised over.
  bool is_of_one_call(shape::Var v, size_t mark, const std::vector<shape::Var>& own) const;
  std::vector<shape::Fact> given_without_others(const Occurrences& kept) const;

  static constexpr size_t most_bounds = 1000;  ///< derived facts that are looked for when a scheme is closed

  Reporter& reporter_;
  LoopScopes& scopes_;
  std::vector<Opening> openings_;
  std::vector<shape::Var> opened_;                            ///< in order
  std::set<uint32_t> data_;                                   ///< of these, integers that may be negative
  std::set<uint32_t> checked_;                                ///< of these, integers that are used as sizes
  std::vector<std::pair<shape::Dim, shape::Dim>> of_values_;  ///< a value, and the size that it is
};

}  // namespace axon::core
