// Integer expressions that are used as sizes: which ones they are, and the size that each is.
#pragma once
#include <map>

#include "core/known_values.h"
#include "core/opened_sizes.h"
#include "core/size_names.h"

namespace axon::core {

class ExprChecker;

class SizeChecker : InferencePart {
 public:
  SizeChecker(InferenceContext& c, OpenedSizes& opened, LoopScopes& scopes, KnownValues& known,
              ExprChecker& exprs)
      : InferencePart(c), opened_(opened), scopes_(scopes), known_(known), exprs_(exprs), names_(c) {}

  /// Finds the names that stand for sizes. Called once, before inference.
  void find_names() { names_.find(); }
  /// Infers the expression and returns the size that it is.
  shape::Dim size_of(ExprId id);
  /// Where the expression is a name that stands for a size, its type says that it is an integer.
  void name_integer(ExprId id);
  /// Requires that the axes of a value are sizes here, where what holds inside of a `for` or of a step of a
  /// loop is not known: with no index at all they are the axes of the result all the same.
  void require_sizes(TypeId type, source::Span at);
  /// The type of an indexing: an element that is used as a size in several places is one number in all of
  /// them.
  TypeId same_read(ExprId id, TypeId type);

 private:
  shape::Dim as_size(ExprId id, TypeId t);
  OpenedSizes& opened_;
  LoopScopes& scopes_;
  KnownValues& known_;
  ExprChecker& exprs_;
  SizeNames names_;
  std::map<std::string, std::optional<shape::Var>>
      reads_;  ///< by key: the value of an element that is a size
};

}  // namespace axon::core
