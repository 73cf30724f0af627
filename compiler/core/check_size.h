// Integer expressions that are used as sizes: which ones they are, and the size that each is.
#pragma once
#include <map>
#include <set>

#include "core/known_values.h"
#include "core/opened_sizes.h"

namespace axon::core {

class ExprChecker;

/// The name of a value or of a field in one: `a`, `m.embed`; empty for what is computed. The same values have
/// the same path.
std::string path_of(const Program& p, ExprId id);

class SizeChecker : InferencePart {
 public:
  SizeChecker(InferenceContext& c, OpenedSizes& opened, LoopScopes& scopes, KnownValues& known,
              ExprChecker& exprs)
      : InferencePart(c), opened_(opened), scopes_(scopes), known_(known), exprs_(exprs) {}

  /// Finds the names that stand for sizes, by where they are used: what is bound to them by `let` is inferred
  /// before those uses. Called once, before inference.
  void find_names_of_sizes();
  bool is_name_of_size(LocalId l) const { return names_of_sizes_.count(l) > 0; }

  /// Infers the expression and returns the size that it is.
  shape::Dim size_of(ExprId id);
  /// What a size is computed from is a size, also where the type of a parameter is open until here.
  void operands_are_sizes(ExprId id);
  /// The type of an indexing: an element that is used as a size in several places is one number in all of
  /// them.
  TypeId same_read(ExprId id, TypeId type);

 private:
  shape::Dim as_size(ExprId id, TypeId t);
  std::vector<ExprId> size_operands(ExprId id) const;
  std::string read_key(ExprId id) const;

  struct Read {
    int count = 0;
    std::optional<shape::Var> value;
  };

  OpenedSizes& opened_;
  LoopScopes& scopes_;
  KnownValues& known_;
  ExprChecker& exprs_;
  std::map<std::string, Read> reads_;  ///< elements that are used as sizes: how often, and their value
  std::set<LocalId> names_of_sizes_;
};

}  // namespace axon::core
