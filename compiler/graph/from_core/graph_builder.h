// The graph builder: arrays (templates over index variables) become nodes.
//
// In: arrays whose bodies may mention the index variables in scope. Out: compute nodes in the outermost
// region where everything that they read is defined; equal nodes of a region are one. Bodies: emit.cpp;
// broadcasting in prim.cpp, tabulate in for.cpp.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "graph/from_core/bounds_checker.h"

namespace axon::graph {

class GraphBuilder : Part {
 public:
  GraphBuilder(Context& context, SizeEnvironment& sizes, BoundsChecker& bounds)
      : Part(context), sizes_(sizes), bounds_(bounds) {}

  // ---- arrays ----
  /// The element of the array at the indices.
  ScalarId element(const Array& a, const std::vector<ScalarId>& indices);
  ScalarId element_at(const Array& a, const std::vector<Dim>& indices);
  /// The element of an array that broadcasts to `shape`, at the point `vars` of that shape.
  ScalarId stretched(const Array& a, const std::vector<Dim>& shape, const std::vector<Var>& vars);
  /// The shape that all of the shapes broadcast to: aligned from the right; literal-1 and missing axes
  /// stretch.
  static std::vector<Dim> join(const std::vector<std::vector<Dim>>& shapes);
  /// The tensor in `v`, with its first axes fixed at `lead`.
  Array array_of(const TensorType& type, Value v, const std::vector<Dim>& lead = {},
                 const std::vector<Var>& named_like = {});
  Array fresh_array(Elem elem, std::vector<Dim> shape,
                    const std::function<ScalarId(const std::vector<Var>&)>& body,
                    const std::vector<Var>& named_like = {});
  /// An array of rank 0.
  Val scalar(ScalarId id);
  /// The array that a value is; a value with an error is a constant.
  Array leaf(const Val& v);
  std::shared_ptr<Array> leaf_ptr(const Val& v);
  /// The array, or structure of arrays, with the axes in front.
  Val tabulate(const std::vector<Axis>& axes, const Val& body);

  // ---- storage ----
  /// The index variables in scope that an expression depends on, or the sizes of a tensor with that element.
  std::vector<Axis> free_axes(ScalarId id, const std::vector<Dim>& shape = {}) const;
  /// Stores a closed array with axes, once; open arrays and plain views stay expressions.
  void force(Array& a);
  void force_all(const Val& v);
  /// Stores any array, a view too: what it reads may be overwritten after that.
  void keep(Array& a);
  /// The stored tensor that an array is, and the indices of its first axes, when its body is just that load.
  std::optional<std::pair<Value, std::vector<Dim>>> place_of(const Array& a) const;
  /// A tensor that holds the array: its axes are those of `lead`, then the array's own. `hoist`: it may be
  /// one from outside of the loops around.
  Value store(Array& a, const std::vector<Axis>& lead, bool hoist = true);
  /// A node over index variables in scope and placeholders.
  Value emit(std::vector<Axis> domain, ScalarId body, TensorType type, const std::string& name,
             std::optional<Value> base = std::nullopt, std::vector<Dim> at = {}, bool hoist = true);
  /// Adds a compute node with one output, or finds an equal one. It gets variables of its own, also for the
  /// data-dependent sizes that it mentions.
  Value add(Node node, bool hoist = true);

  // ---- regions ----
  /// The depth of the outermost region where everything that is read is defined.
  size_t region_for(const std::vector<Axis>& domain, const std::vector<ScalarId>& bodies,
                    std::optional<Value> base, const std::vector<Dim>& at) const;
  size_t depth_of(RegionId region) const;
  /// What has to hold for evaluation to come here, as far as a node for an expression does not depend on it.
  struct Ranges {
    std::vector<ScalarId>
        not_empty;  ///< the `for`s around that it does not range over, the loops that it leaves
    bool may_leave_loops =
        true;  ///< of a loop with a condition nobody knows beforehand whether it has an iteration
    bool always() const { return not_empty.empty() && may_leave_loops; }
  };
  Ranges ranges_around(ScalarId body) const;

 private:
  using NodeKey = std::tuple<uint32_t, std::vector<ScalarId>, std::vector<const shape::DimNode*>, uint64_t,
                             std::optional<Value>>;
  NodeKey key_of(const Node& node);
  void note_sizes(Node& node) const;
  bool outlives_ranges(const Node& node, size_t depth) const;
  Var canonical(size_t position);

  SizeEnvironment& sizes_;
  BoundsChecker& bounds_;
  std::map<NodeKey, Value> known_nodes_;
  std::vector<Var> canonical_;  // the variables of keys
};

}  // namespace axon::graph
