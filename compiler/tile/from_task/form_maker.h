// What the forms of a node have in common: locals are written out where they are read, reductions are taken
// out of what is left, inner ones first. Only the *_form.cpp include this.
//
// In: a task type. Out: outputs and reductions of a form. Invariant: reductions stand before those that read
// their results.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/binder_range.h"
#include "tile/from_task/row_form.h"

namespace axon::tile {

using graph::Axis;
using graph::Scalar;
using graph::ScalarId;
using shape::Dim;
using shape::Fact;
using shape::Var;

/// [first, end): the points of an axis that the masks leave. Integers of the program lie anywhere: the
/// difference of two that are not held to the axis may leave i64.
std::pair<Dim, Dim> interval_of(const graph::Graph&, const graph::BinderRange&, const Dim& extent);
/// What bounds may check. Who goes through fewer points evaluates them wherever there is a point.
enum class BoundChecks : uint8_t { none, of_all_points };
/// What the data says of it, in a reduction whose masks check nothing but their bounds. False where that is
/// not all: bounds that are sums with integers of the program are left out.
bool add_range_by_data(graph::Graph&, const Scalar& reduction, const graph::BinderRange&, const Dim& extent,
                       BoundChecks, DataRange&);

constexpr int64_t shortest_row = 16;  ///< elements that are worth vectors

struct NoForm {
  std::string why;
};

class FormMaker {
 protected:
  FormMaker(const task::Program& p, const task::TaskType& type, graph::Graph& g, bool short_rows)
      : p_(p), type_(type), g_(g), node_(g.nodes[type.node]), short_rows_(short_rows) {}
  ~FormMaker() = default;

  /// Throws where the form has no such expressions: checks, and loads that the data decides.
  void decline_data(const Scalar&) const;
  void write_out_locals();
  ScalarId result(uint32_t number);
  ScalarId without_reductions(ScalarId id);
  /// The number of the reduction of `term` over the scalar's binders.
  uint32_t reduction(graph::Monoid monoid, const Scalar& of, base::Elem elem, ScalarId term);
  /// What stands for a reduction that stays where it is, as the form's elements have it; nullopt of one that
  /// is taken out.
  virtual std::optional<ScalarId> own_reduction(ScalarId) { return std::nullopt; }
  /// An earlier maximum or minimum that is the same: an argmax needs the maximum, which may be asked for, too.
  std::optional<uint32_t> alike(const RowReduction&);
  /// The least position where the term is the maximum, or not a number where that is; 0 of no positions.
  ScalarId argmax(const Scalar& s);
  /// Positions of that maximum and, elsewhere, what no position is.
  struct Positions {
    base::Elem elem;
    ScalarId none;
  };
  Positions positions_along(const Axis&);
  ScalarId position_of(ScalarId best, ScalarId term, Var along, const Positions&);
  ScalarId found_or_zero(ScalarId least, const Positions&);
  /// Between which bounds masks leave points, as far as indices say. A mask that says no more is not
  /// evaluated.
  void bound_along(RowReduction& r, const Scalar& of);
  /// A maximum of scores, or a sum of exponentials, which needs the maximum. Rows of -inf alone have the sum
  /// of the formula, e^(-inf + inf) of each key, or 0 (the note in graph.h).
  virtual ScalarId online(const Scalar& proj);
  /// The weight of a key with the score, in the type that weights are summed in: e^(score - maximum). Where
  /// rows of -inf alone have the sum 0, so is their weight.
  ScalarId weight_of(const Scalar& online, ScalarId score, ScalarId maximum);
  /// The score where masks leave it, as `leaf` has it, else the number.
  ScalarId in_masks(ScalarId score, base::Elem elem, double outside,
                    const std::function<ScalarId(ScalarId)>& leaf);
  /// Loads of the expression that move by one element where the variable does, less those that move in any
  /// other way.
  int loads_along(ScalarId body, Var v) const;
  /// The innermost binder that most loads run along.
  void choose_along(RowReduction& r) const;
  /// Axes of the domain that results of reductions in an expression, and the expression itself, depend on.
  std::set<uint32_t> axes_of(ScalarId body) const;
  std::set<uint32_t> axes_kept(const RowReduction& r) const;
  static std::vector<Dim> ranges_of(const RowReduction& r);
  void choose_types();
  void order_rows();
  /// A term may mention binders of its own reduction only: one inside of another is computed there.
  void check_binders(const RowReduction& r) const;
  bool is_steps(Var v) const;
  /// The stride of an output along an axis of the domain, where that is a number.
  std::optional<int64_t> store_step(uint32_t output, uint32_t axis) const;
  /// The ranges of the loops around, and of the axes of the domain.
  std::vector<Fact> ranges_around() const;
  static void add_range(std::vector<Fact>& facts, const Axis& axis) {
    facts.push_back(shape::at_least(Dim(axis.var), Dim(0)));
    facts.push_back(shape::less(Dim(axis.var), axis.extent));
  }
  /// Indices without the minima, maxima and divisions that ranges and conditions around them decide.
  void simplify_loads();
  ScalarId simplified(ScalarId id, const std::vector<Fact>& facts);
  using Simplified = std::map<ScalarId, ScalarId>;
  ScalarId simplified(ScalarId id, const std::vector<Fact>& facts, Simplified& known);
  void check_loads(ScalarId body, Var v) const;
  /// Does the data decide an index of the load, and another one for each value of the variable?
  bool is_gathered(ScalarId load, Var v) const;
  /// Does the expression load elements of a tensor so?
  bool gathers(ScalarId body, Var v) const;
  std::optional<int64_t> step_of(ScalarId load, Var v) const { return step_of_load(p_, g_, load, v); }

  const task::Program& p_;
  const task::TaskType& type_;
  graph::Graph& g_;
  const graph::Node node_;
  const bool short_rows_;
  bool has_data_ = false;  ///< the form may have checks, and loads where the data says
  RowForm form_;
  std::vector<ScalarId> whole_;             ///< the outputs, without locals
  std::map<ScalarId, ScalarId> rewritten_;  ///< without reductions
  std::map<ScalarId, uint32_t> maxima_, sums_;
  std::vector<std::pair<ScalarId, uint32_t>> products_;  ///< sums as they stand, and their numbers
  std::vector<std::set<uint32_t>> kept_;  ///< axes of the domain that each reduction depends on
};

}  // namespace axon::tile
