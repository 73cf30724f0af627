// Integers that a loop carries and moves on by the same amount in every step: positions.
//
// In: the function that makes a step, and the state before the loop. Out: which numbers of the state it gives
// back as they were, or with something added or subtracted that does not change from step to step, as `p` in
// `fn (c, p) x => (c with [p] = x, p + 1)`. Such a number is known in every iteration from the index of the
// loop.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "core/bound_names.h"
#include "graph/from_core/value.h"

namespace axon::graph {

/// What one step adds to a position: nothing, or the value of an expression outside of the step.
struct PositionStep {
  core::ExprId by;         // invalid: it stays
  bool backwards = false;  // subtracted
};

class LoopPositions {
 public:
  LoopPositions(const core::Program& program, const Val& step, const Val& state, bool scanning);
  /// By the number of the leaf in the state.
  std::map<uint32_t, PositionStep> find();

 private:
  using Path = std::vector<size_t>;  // items of tuples and records, the outermost first
  void name_parts(const core::Pattern& pattern, const Path& path);
  core::ExprId without_lets(core::ExprId id);
  const Val& part(const Path& path) const;
  std::optional<Path> path_of(core::ExprId id) const;
  void compare(const Path& path, core::ExprId next);
  std::optional<core::ExprId> part_of(core::ExprId next, const Val& whole, size_t item);
  std::optional<PositionStep> step_of(const Path& path, core::ExprId next);
  bool stands_outside(core::ExprId id) const;

  const core::Program& p_;
  const Val& state_;
  core::ExprId next_;                    // the state after a step; invalid: not known by its form
  core::BoundNames names_;               // of the step
  std::map<core::LocalId, Path> parts_;  // names of parts of the state
  std::map<core::LocalId, core::ExprId> lets_;
  std::map<uint32_t, PositionStep> found_;
  uint32_t leaf_ = 0;
};

}  // namespace axon::graph
