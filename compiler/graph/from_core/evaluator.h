// The evaluator of expressions: environments, calls, and one case per kind of expression; see from_core.h.
//
// In: core expressions, in the environment that the context holds. Out: values (value.h). Its parts, from
// below:
//   context.h              what all share: the graph, the position, messages
//   size_environment.h     what sizes are called here, and what is known of them
//   bounds_checker.h       what holds by proof, under a guard, or by a check
//   graph_builder.h        arrays to nodes
//   projection.h           integers of a branch over fewer index variables
//   checked_integers.h     indices and sizes that the data decides
//   runtime_checks.h       what is checked where evaluation stands
//   size_merger.h          arrays from several places with one shape
//   loop_builder.h         loop nodes
//   index_evaluator.h      x[...] and `with`
//   primitive_evaluator.h  the primitives
//   entry.cpp              inputs, sizes, facts and results of the entry
// Bodies of this class: expression.cpp; call.cpp (environments, calls); for.cpp (`for`, rank binders,
// rearrange).
//
// Invariant: a reduction is always a node of its own; a closed `for` or pointwise call becomes a node as soon
// as anything but a single reduction reads it; with index variables free, it stays an expression.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/from_core.h"
#include "graph/from_core/index_evaluator.h"
#include "graph/from_core/primitive_evaluator.h"

namespace axon::graph {

class CoreEvaluator : Part {
 public:
  CoreEvaluator(Context& context, SizeEnvironment& sizes, BoundsChecker& bounds, GraphBuilder& builder,
                CheckedIntegers& checked, RuntimeChecks& checks)
      : Part(context),
        sizes_(sizes),
        bounds_(bounds),
        builder_(builder),
        checked_(checked),
        checks_(checks),
        merger_(context, sizes, bounds, builder, checked, checks),
        indices_(context, sizes, bounds, builder, checked, checks, *this),
        primitives_(context, sizes, bounds, builder, checked, checks, merger_, *this) {}

  Val evaluate(core::ExprId id);
  /// Applies a function; with fewer arguments than it has parameters, the result is a function.
  Val call(const Val& fn, std::vector<Val> args);
  /// Binds the names of the pattern in `env`, and what the value says about sizes and element types.
  void bind(const core::Pattern& pattern, const Val& value, Environment& env);
  /// The index variables that a rank binder stands for, or null.
  const std::vector<Axis>* find_rank(core::LocalId local) const;
  /// The element type that a term of the core is here.
  Elem elem_of(const core::ElemTerm& term) const;

 private:
  // ---- call.cpp ----
  Val enter(const Closure& closure, const std::vector<core::Pattern>& params, core::ExprId body);
  void check_stated(const core::Global& callee);
  // places.cpp
  void place_names(const core::Pattern& pattern);
  Val placed(const Val& value, core::TypeId type);
  Val stored_at(const Val& value, const core::Type& type);
  void match(core::TypeId type, const Val& value, Environment& env, size_t lead = 0);
  void learn_value(Var v, const Dim& known, Environment& env);
  void match_shape(const core::Shape& shape, const Array& array, Environment& env, size_t lead);
  const Val* find(core::LocalId local) const;
  std::optional<Elem> known_elem(core::TypeVarId v) const;
  std::optional<std::vector<Dim>> axes_of(const core::Shape& shape,
                                          const std::map<core::ShapeVarId, std::vector<Dim>>& own) const;
  void instantiate_shapes(const core::Expr& occurrence, const shape::Substitution& named,
                          Closure& closure) const;
  void instantiate(const core::Expr& occurrence, Closure& closure) const;
  Val instance(const Val& named, const core::Expr& use) const;
  int uses_of(core::LocalId local, core::ExprId body);
  void count_uses(core::ExprId id);

  // ---- expression.cpp ----
  Val expression(const core::Expr& e);
  Val number(const core::Expr& e);
  Val in_branch(ScalarId condition, bool holds, const std::function<Val()>& branch);
  void bound_integers(size_t mark, Environment& env);
  Val conditional(const core::Expr& e);
  Val choose(ScalarId condition, const Val& then_value, const Val& else_value, bool differ);
  Val field(const Val& of, const std::string& name);
  Val empty_list(const core::Expr& e);
  Val list(const core::Expr& e);
  Val check_as(const core::Expr& e);
  Val global(const core::Expr& e);
  std::map<core::TypeVarId, Elem> elems_of(const core::Expr& use) const;
  std::optional<Val> evaluated_for(const core::Expr& use);
  std::vector<Fact> facts_of(ScalarId condition, bool holds) const;

  // ---- for.cpp ----
  Val for_expr(const core::Expr& e);
  std::optional<Dim> range_of(const core::Binder& binder, ScalarId bound);
  Dim found_range(const core::Binder& binder, const core::Expr& e);
  std::vector<Dim> rank_shape(const core::Binder& binder);
  Val rearrange(const core::Expr& e);
  Val merged_view(const Array& of, const std::vector<Dim>& shape, const std::vector<Axis>& domain,
                  const std::vector<Dim>& target, ScalarId body);

  // ---- data_size.cpp ----
  void note_integers(const std::vector<core::OpenedSize>& opens, core::TypeId type, const Val& value,
                     const std::string& name, Environment& env) const;
  const OpenedInteger* find_integer(Var v) const;
  bool is_read_from_data(Var size) const;  ///< an integer that is neither a size nor an index
  void learn_integers(const Dim& size);

  SizeEnvironment& sizes_;
  BoundsChecker& bounds_;
  GraphBuilder& builder_;
  CheckedIntegers& checked_;
  RuntimeChecks& checks_;
  SizeMerger merger_;
  IndexEvaluator indices_;
  PrimitiveEvaluator primitives_;
  /// Values of `val` declarations, for the element types that uses decide.
  std::map<std::pair<core::GlobalId, std::map<core::TypeVarId, Elem>>, Val> constants_;
  std::map<core::LocalId, int> uses_;  // how often bodies in `counted_` read a local
  std::set<core::ExprId> counted_;
  bool opened_ = false;  ///< an expression that opens a size has been met
};

}  // namespace axon::graph
