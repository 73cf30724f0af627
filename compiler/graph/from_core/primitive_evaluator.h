// The primitives: pointwise operators with broadcasting, conversions, reductions and loops.
//
// In: a primitive and the values of its arguments. Out: its result. Functions among the arguments are called
// through the evaluator. Bodies: prim.cpp; order.cpp; loop.cpp and while.cpp.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/from_core/checked_integers.h"
#include "graph/from_core/loop_builder.h"
#include "graph/from_core/runtime_checks.h"
#include "graph/from_core/size_merger.h"

namespace axon::graph {

class CoreEvaluator;

class PrimitiveEvaluator : Part {
 public:
  PrimitiveEvaluator(Context& context, SizeEnvironment& sizes, BoundsChecker& bounds, GraphBuilder& builder,
                     CheckedIntegers& checked, RuntimeChecks& checks, SizeMerger& merger,
                     CoreEvaluator& evaluator)
      : Part(context),
        sizes_(sizes),
        bounds_(bounds),
        builder_(builder),
        checked_(checked),
        checks_(checks),
        merger_(merger),
        loop_(context, sizes, builder),
        evaluator_(evaluator) {}

  Val prim(core::Prim prim, const Closure& closure, std::vector<Val> args);
  Val pointwise(Op op, const std::vector<Val>& args, const std::string& name);

 private:
  Val convert(const Val& value, Elem to);
  void require_divisor(const Array& divisor, const std::vector<Dim>& shape);
  Val reduction(Monoid monoid, const std::shared_ptr<Array>& of, const std::optional<ScalarId>& start);
  std::optional<Axis> number_axis(const Array& number, const Array& of) const;
  Val order(bool descending, const Array& number, const std::shared_ptr<Array>& of);
  Val reduce_with(const std::vector<Val>& args);
  Val reduce_in_order(const Val& f, const Val& unit, const std::shared_ptr<Array>& of);
  Val loop(core::Prim prim, const std::vector<Val>& args);
  bool has_element(const shape::Dim& extent);
  bool knows_sizes(core::ExprId id) const;
  std::optional<Dim> amount_of(const Closure& step, const OpenLoop& build, core::ExprId id);
  void find_positions(const Val& step, const Val& init, bool scanning, OpenLoop& build);
  bool end_step(const Val& state, const Val& next, ScalarId here, OpenLoop& build);
  using Step = std::function<Val(const Val& state)>;
  Val loop_while(const std::string& name, const Val& init, const Step& holds, const Step& step);
  Val while_condition_holds(const std::vector<Val>& args);
  Val iterate_by_data(const std::vector<Val>& args);

  SizeEnvironment& sizes_;
  BoundsChecker& bounds_;
  GraphBuilder& builder_;
  CheckedIntegers& checked_;
  RuntimeChecks& checks_;
  SizeMerger& merger_;
  LoopBuilder loop_;
  CoreEvaluator& evaluator_;
};

}  // namespace axon::graph
