// Which names an expression may share storage with.
//
// In: checked expressions. Out: for each, the places (a parameter, or a field or item of one) that it may be
// a view of, with the structure of tuples and records kept apart. What a function aliases is what its result
// may, whatever its arguments are. A call of a declared function is read in what was found out of that; of a
// local function that is known where it stands, by its name or as it is written, in its body; where the
// function is not known, any part of the result may alias any part of the arguments, and what the function
// does. Of a loop, only what it begins with: what its steps exchange or bring in is found later, in an entry
// (task/copied_state.h).
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/alias_set.h"
#include "core/core.h"

namespace axon::core {

class Aliases {
 public:
  explicit Aliases(const Program& p) : p_(p) {}
  AliasSet of(ExprId id);
  /// Of a checked declaration; nothing is known here of what is outside of it.
  CallAliases of_calls(const Global& g);
  /// What the expression is known by in the body of this `let`.
  void bind_let(const Expr& let);
  void set(LocalId local, AliasSet aliases) { known_[local] = std::move(aliases); }
  /// A branch of the conditional gives these up. What the other one makes of them is not what was before.
  void give_up_in(ExprId conditional, std::vector<Place> places) {
    given_up_[conditional] = std::move(places);
  }
  /// `x`, `p.a.b`: the name and the fields; nothing for other expressions.
  std::optional<Place> path_of(ExprId id) const;

 private:
  void bind(const Pattern& p, const AliasSet& aliases);
  AliasSet of_structure(const Expr& e);
  AliasSet of_index(const Expr& e);
  std::vector<AliasSet> of_arguments(const Expr& call);
  AliasSet of_apply(ExprId id);
  AliasSet of_call(ExprId callee, std::vector<AliasSet> given, ExprId at);
  AliasSet of_known_call(ExprId callee, std::vector<AliasSet> given, ExprId at);
  AliasSet of_global(const Global& g, const std::vector<AliasSet>& given, ExprId at);
  AliasSet of_result(const AliasSet& result, const std::vector<AliasSet>& given, ExprId at) const;
  AliasSet of_body(const std::vector<Pattern>& params, ExprId body, const std::vector<AliasSet>& given,
                   ExprId at);
  bool reorders_axes(const Expr& e) const;
  AliasSet by_parts(const AliasSet& whole, TypeId type) const;

  const Program& p_;
  std::map<LocalId, AliasSet> known_;
  std::map<LocalId, ExprId> bound_;                ///< by `let`, to this expression
  std::map<ExprId, std::vector<Place>> given_up_;  ///< by a branch of a conditional
  int depth_ = 0, calls_ = 0;  ///< into and of calls, for the expression that is asked for
};

}  // namespace axon::core
