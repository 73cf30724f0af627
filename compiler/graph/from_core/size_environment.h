// The size environment: what sizes of the core are called in the graph, and what is known of them.
//
// In: dimensions over the core's variables, and values with shapes. Out: dimensions over the sizes of the
// entry, index variables in scope, and data-dependent sizes. Sizes that known equalities make equal are
// written alike. Bodies: entry.cpp (equalities), call.cpp (names), dynamic_sizes.cpp and data_size.cpp
// (data-dependent sizes), bounds.cpp (facts).
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "graph/from_core/context.h"

namespace axon::graph {

class SizeEnvironment : Part {
 public:
  explicit SizeEnvironment(Context& context) : Part(context) {}

  // ---- names ----
  /// A dimension of the core in the graph's variables.
  Dim resolve(const Dim& dim) const;
  /// The value that the environments in scope give to a variable of the core.
  std::optional<Dim> known_dim(Var v) const;
  /// Is it a size of the graph?
  bool is_size(Var v) const;
  /// Is it a variable of the graph or an index in scope, and none of the core?
  bool is_known_here(Var v) const;
  /// The same of every variable of a dimension.
  bool is_known_here(const Dim& d) const;
  /// Does the dimension mention sizes of the graph only?
  bool over_sizes(const Dim& d) const;
  /// The size of an axis in a message; one that the program does not name is called what it is.
  std::string shown(const Dim& extent) const;
  /// Learns sizes that a type mentions and nothing else defines from the axes of a value of that type: n - k
  /// against an axis of the graph gives k, if k is `wanted`.
  void learn_opened_sizes(core::TypeId type, const Val& value, const std::function<bool(Var)>& wanted);

  // ---- equalities and facts ----
  /// Lets rewritten() apply an equality.
  void learn_rewrite(const Fact& fact);
  /// The dimension with the left sides of known equalities replaced.
  Dim rewritten(const Dim& dim) const;
  /// What holds of sizes and of the index variables in scope, conditions of `if`s left out.
  std::vector<Fact> known_facts() const;

  // ---- data-dependent sizes ----
  /// The size with that value and bound, made when there is none.
  Dim make_data_dependent(ScalarId value, const Dim& bound);
  const std::vector<DynamicSize>& data_dependent_sizes() const { return data_dependent_; }
  /// Notes the integer that a size is wherever evaluation reaches the place that decides it.
  void note_integer(Var size, ScalarId integer) { integers_.emplace(size, integer); }
  /// That integer; nullopt for a size that the data does not decide.
  std::optional<ScalarId> integer_of(Var size) const;
  /// The data-dependent size that the variable is, or null.
  const DynamicSize* data_dependent(Var v) const;
  /// Does the dimension mention one of the data-dependent sizes?
  bool is_data_dependent(const Dim& d) const;
  /// May the size differ between iterations of a loop, or elements of a `for`?
  bool varies(const Dim& d) const;
  /// The extent of memory for a size: an upper bound over sizes of the entry, never negative.
  Dim bound_of(const Dim& d) const;
  TensorType bound_of(TensorType type) const;
  /// Of an extent that depends on the index of a loop: the most that it is in any iteration, over sizes;
  /// nullopt for others.
  std::optional<Dim> most_in_loops(const Dim& d) const;
  /// Such an extent as a data-dependent size, for what the graph needs alike in every iteration: the trip
  /// count of a loop, what an update stores. Others are returned as they are.
  Dim data_dependent_in_loops(const Dim& d);
  /// Reports an axis of the value that has no bound.
  void refuse_unbounded(const Val& value);
  /// The dimension as an integer of the data.
  ScalarId value_of(const Dim& d);
  /// The condition that the axis has this element.
  ScalarId is_inside(const Axis& axis);

 private:
  struct Rewrite {
    shape::Atom atom;
    int64_t coefficient;
    Dim replacement;
  };
  static Dim product_of(const shape::Term& term);
  bool is_index(Var v) const;
  bool is_indexed(const Dim& d) const;
  std::optional<Dim> upper_bound(const Dim& d) const;

  std::vector<Rewrite> rewrites_;            // equalities among the facts, oriented
  std::map<Var, ScalarId> integers_;         // what the sizes are that the data decides
  std::vector<DynamicSize> data_dependent_;  // those of loops and `for`s; others are sizes of the graph
  std::map<Var, Dim> equals_;  // of those that the indices of the loops around decide: what they are
};

}  // namespace axon::graph
