// An integer that is needed at some points of the `for`s around, over as few of their variables as will do.
//
// In: an integer, and the conditions of the branches that it stands in. Out: the integer and conditions such
// that the integers under true conditions are the same ones. A variable that only the conditions mention is
// left out: they hold where they hold at one of its values. So is one that an equation decides: in
// for r => sum k => if row[k] == r then x[col[k]] else 0.0 an index is needed at k, not at each r and k.
#pragma once
#include <optional>
#include <vector>

#include "graph/from_core/graph_builder.h"

namespace axon::graph {

class Projection : Part {
 public:
  Projection(Context& context, SizeEnvironment& sizes, GraphBuilder& builder)
      : Part(context), sizes_(sizes), builder_(builder) {}

  struct Needed {
    ScalarId integer;
    std::vector<ScalarId> conditions;  ///< all of them
  };
  /// Of an integer that is needed where evaluation stands. `hoist`: nodes for it may leave the loops around.
  Needed run(ScalarId integer, bool hoist);

 private:
  std::vector<ScalarId> conjuncts();
  bool may_leave(const Needed&, const Axis&) const;
  std::optional<ScalarId> determined_by(ScalarId condition, const Axis&);
  std::optional<Needed> by_equation(const Needed&, const Axis&);
  Needed at_some_value(const Needed&, const Axis&, bool hoist);
  std::optional<ScalarId> replaced(ScalarId, const Axis&, ScalarId value);

  SizeEnvironment& sizes_;
  GraphBuilder& builder_;
};

}  // namespace axon::graph
