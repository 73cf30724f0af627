// The names that an expression binds, and what an expression mentions of them: whether the iterations of a
// `for` can differ in it.
#pragma once
#include <functional>
#include <map>
#include <set>

#include "core/core.h"

namespace axon::core {

/// Calls f for each expression that is a direct part of e.
void each_part(const Expr& e, const std::function<void(ExprId)>& f);

/// What is bound anywhere in an expression.
struct BoundNames {
  std::set<LocalId> all;
  std::map<LocalId, ExprId> lets;  ///< of these, names of `let`, and what they are names of

  void add(const Program& p, ExprId id);
  void add(const Pattern& pattern);
};

/// Whether a name among these, other than one of `let` for what mentions none, occurs free in the expression.
bool depends_on(const Program& p, ExprId id, const BoundNames& names);

}  // namespace axon::core
