// Loop nodes under construction: what they carry, what they emit, what `debug` shows of their iterations.
//
// In: the state before the loop, and what a step makes of the parameters that stand for it. Out: a loop node
// with its region. Inside of a `for`, the index variables around become leading axes of what is carried.
// Bodies: loop.cpp, while.cpp.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/from_core/graph_builder.h"

namespace axon::graph {

/// A loop node that is not finished.
struct OpenLoop {
  NodeId node, param;
  RegionId outside, inside;
  Axis index;
  std::vector<Axis> lead;  // index variables of the `for`s around
  std::vector<Dim> lead_at;
  struct Slot {
    uint32_t carried;
    bool emitted = false;  // its update is among what the scan emits
  };
  std::vector<Slot> stacks;  // carried leaves of the scanned stack
  std::map<uint32_t, Dim>
      positions;  // carried integers, by number, that are known from the index: what they are
};

/// Whether a loop goes on: anywhere, and at which points of the `for`s around (the same value when there are
/// none).
struct LoopCondition {
  Value any, points;
};

class LoopBuilder : Part {
 public:
  LoopBuilder(Context& context, SizeEnvironment& sizes, GraphBuilder& builder)
      : Part(context), sizes_(sizes), builder_(builder) {}

  /// A loop node with an empty region; it stands in no region until leave_loop().
  OpenLoop begin_loop(const std::string& name, const Dim& extent);
  /// Between these two, evaluation takes place in the region of the loop.
  void enter_loop(const OpenLoop& build);
  void leave_loop(OpenLoop& build);

  /// One more carried tensor that starts as `init`; returns its number.
  uint32_t carry(OpenLoop& build, Value init, TensorType type);
  /// Carries the arrays of a structure; returns what the step sees: parameters in their place.
  Val carried_tree(const Val& init, OpenLoop& build);
  /// The carried tensor `v` (the axes of the `for`s around, then those of `like`) as an array like `like`.
  Array carried_like(const Array& like, Value v, const OpenLoop& build);
  /// Carried value c after a step: `next` where `here` holds, else its value before the step.
  Array where_it_goes_on(ScalarId here, const Array& next, const OpenLoop& build, uint32_t c);
  /// The element of a stack at `at`; leaves that are states of a scan are carried.
  Val slices(const Val& stack, const Dim& at, OpenLoop& build, bool scanning);
  /// Stores what a step emits: as the update of a carried stack where it is one, else into storage of its
  /// own. Returns a structure of arrays that `after` fills in with the stacked results once the loop is
  /// closed.
  Val emitted_tree(const Val& value, OpenLoop& build, std::vector<std::function<void()>>& after);
  /// The state with the positions in it (OpenLoop::positions) as they are when the index is `at`.
  Val at_positions(const Val& state, const OpenLoop& build, const Dim& at);
  /// The first outputs of the loop, in the structure of `like`.
  Val loop_results(const Val& like, const OpenLoop& build);
  /// Stores a loop exit condition, a bool of rank 0.
  LoopCondition store_condition(const Array& holds, const OpenLoop& build);

  /// Shows the array under the name, as `debug` does, where the branches around are taken.
  void show(const std::string& name, Array array);
  /// Does the innermost loop show anything?
  bool shows_any() const { return !shown_.back().empty(); }

 private:
  using Shown = std::vector<Debug>;
  uint32_t carry_storage(OpenLoop& build, const TensorType& type);
  Shown traces(OpenLoop& build);
  /// Whether the branches around are taken, as far as that is one value; nullopt: they always are.
  std::optional<Value> taken();

  SizeEnvironment& sizes_;
  GraphBuilder& builder_;
  std::vector<Shown> shown_;  // per loop around: what `debug` shows of its iterations
};

/// Does a tensor continue the state of the entry: through updates and loops back to a consumed input?
bool derives_from_state(const Graph& g, Value v);
/// Does a tensor continue one that the innermost loops carry?
bool derives_from_param(const Graph& g, Value v);

/// Every array of a structure, in order.
void each_leaf(const Val& v, const std::function<void(const std::shared_ptr<Array>&)>& f);
/// The structure with leaf number c, in order, replaced by f(c, leaf).
Val map_leaves(const Val& like, const std::function<Val(uint32_t, const Array&)>& f);

}  // namespace axon::graph
