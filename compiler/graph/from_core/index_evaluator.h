// Index notation: x[...] as a view, and `x with [...] = v` as an update.
//
// In: an expression with its index items, and the values of its operands. Out: arrays. Indices that an index
// contains are evaluated by the evaluator. Bodies: index.cpp, update.cpp.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/from_core/checked_integers.h"
#include "graph/from_core/runtime_checks.h"

namespace axon::graph {

class CoreEvaluator;

class IndexEvaluator : Part {
 public:
  IndexEvaluator(Context& context, SizeEnvironment& sizes, BoundsChecker& bounds, GraphBuilder& builder,
                 CheckedIntegers& checked, RuntimeChecks& checks, CoreEvaluator& evaluator)
      : Part(context),
        sizes_(sizes),
        bounds_(bounds),
        builder_(builder),
        checked_(checked),
        checks_(checks),
        evaluator_(evaluator) {}

  Val index(const core::Expr& e);
  Val update(const core::Expr& e, const Val& of, const Val& value);
  /// One of two branches is the other with updates: the updates with a choice inside, so that the tensor can
  /// be updated in place; nullopt for other branches.
  std::optional<Array> chosen_update(ScalarId condition, const Array& changed, const Array& kept);

 private:
  /// What x[...] selects: the axes of the result, and the index on every axis of x as a scalar over their
  /// variables.
  struct Selection {
    std::vector<Dim> shape;
    std::vector<Var> vars;
    std::vector<ScalarId> indices;
    /// Per axis of x: the elements from `start` on, `count` of them along `var`, or the one at `start`;
    /// nullopt for other selections.
    struct Run {
      ScalarId start;
      std::optional<Var> var;
      Dim count;
    };
    std::vector<std::optional<Run>> runs;
    ScalarId inside;  // with `else`: whether the indices were in range
    std::vector<Dim>
        need_elements;  // axes that may have none while the result has some: nothing is read then
  };
  enum class Use : uint8_t {
    read,
    read_or_else,  ///< of what lies outside something else is the value
    update         ///< checks itself that data-dependent runs lie inside
  };
  /// What messages call the parts of a slice: its start, its end, what shows that the one is not past the
  /// other, and all of it.
  struct SliceWords {
    std::string start, stop, order, whole;
  };
  Val index_leaf(const core::Expr& e, const Val& of, const std::optional<Val>& otherwise);
  Selection select(const core::Expr& e, const Array& of, Use);
  void select_point(core::ExprId point, const Dim& extent, bool has_else, const std::string& what,
                    Selection& out);
  void select_slice(const core::IndexItem& item, const Dim& extent, const SliceWords& said, Use,
                    Selection& out);
  bool is_proved(ScalarId from, ScalarId to, const Dim& extent) const;
  ScalarId as_data(ScalarId index);
  ScalarId from_end(ScalarId number, const Dim& extent);
  void require_end(ScalarId stop, const Dim& extent, const SliceWords& said);
  void require_inside(ScalarId start, ScalarId stop, const Dim& extent, const SliceWords& said);
  void require_room(const Dim& length, const Dim& extent, const SliceWords& said);
  bool holds(const shape::Fact& fact, const std::string& what);
  std::optional<Dim> start_as_size(ScalarId start, const Dim& extent) const;
  std::optional<std::string> check_data_start(ScalarId start, bool may_be_empty, const Dim& extent,
                                              const SliceWords& said);
  void slice_by_data(ScalarId start, ScalarId stop, int64_t stride, const Dim& extent, const SliceWords& said,
                     Use, Selection& out);
  void select_rank(core::LocalId rank, const std::vector<Dim>& axes, Selection& out);
  std::string words(const core::Expr& e, const std::string& role, core::ExprId part) const;
  SliceWords words(const core::Expr& e, const core::IndexItem& slice) const;

  struct Target;
  Array updated(const core::Expr& e, const std::shared_ptr<Array>& of, const Array& value);
  Array stored_at(const std::shared_ptr<Array>& of, Target target);
  bool is_certain(ScalarId index, const Dim& extent, const Selection& s) const;
  bool along_whole_axis(const Selection& s, size_t axis, const Dim& extent, const std::string& what,
                        Target& target);
  void require_start(ScalarId start, const Dim& extent, const std::string& what);
  Array fitted(const core::Expr& e, Array value, const Selection& s);
  bool reads_others(ScalarId value, const Array& of, const Selection& s) const;

  SizeEnvironment& sizes_;
  BoundsChecker& bounds_;
  GraphBuilder& builder_;
  CheckedIntegers& checked_;
  RuntimeChecks& checks_;
  CoreEvaluator& evaluator_;
};

}  // namespace axon::graph
