// while, and iterate by a number that the data decides: loop nodes with a condition.
//
// The loop exit condition is one more carried value, computed before the loop and again at the end of every
// step, so that it is known before an iteration starts. Inside of a `for`, every point of the index variables
// has a condition of its own: the loop runs while any of them holds, and a point whose condition is false
// keeps its state.
#include <fmt/format.h>

#include "base/bug.h"
#include "graph/from_core/evaluator.h"

namespace axon::graph {

LoopCondition LoopBuilder::store_condition(const Array& holds, const OpenLoop& build) {
  const TensorType truth{Elem::boolean, {}};
  if (build.lead.empty()) {
    const Value any = builder_.emit({}, holds.body, truth, "while");
    return {any, any};
  }
  Array whole = holds;
  for (const Axis& a : build.lead)  // elements past a size do not count
    if (sizes_.varies(a.extent)) whole.body = apply(g, Op::and_, {sizes_.is_inside(a), whole.body});
  const Value points = builder_.store(whole, build.lead);
  std::vector<Axis> binders;
  std::vector<ScalarId> at;
  for (const Axis& a : build.lead) {
    binders.push_back({shape::fresh_var(shape::var_name(a.var)), sizes_.bound_of(a.extent)});
    at.push_back(index_of(g, Dim(binders.back().var)));
  }
  const ScalarId body = load(g, points, at, Elem::boolean);
  return {builder_.emit({}, reduce(g, Monoid::any, binders, body), truth, "while"), points};
}

Val PrimitiveEvaluator::loop_while(const std::string& name, const Val& init, const Step& holds,
                                   const Step& step) {
  if (failed_) return {};
  OpenLoop build = loop_.begin_loop(name, Dim(shape::fresh_var("steps")));
  const Val state = loop_.carried_tree(init, build);
  if (failed_) return {};
  const std::vector<ScalarId> reached = conditions_;  // in a branch that is not taken there is no step
  const auto decide_on = [&](Value Carried::* which) {
    Array truth = builder_.leaf(holds(map_leaves(init, [&](uint32_t c, const Array& a) {
      return Val::of(loop_.carried_like(a, g.nodes[build.node].carried[c].*which, build));
    })));
    if (failed_) return LoopCondition{};
    for (ScalarId taken : reached) truth.body = apply(g, Op::and_, {taken, truth.body});
    return loop_.store_condition(truth, build);
  };
  const LoopCondition first = decide_on(&Carried::init);
  if (failed_) return {};
  const uint32_t any = loop_.carry(build, first.any, g.type(first.any));
  const uint32_t points = build.lead.empty() ? any : loop_.carry(build, first.points, g.type(first.points));

  loop_.enter_loop(build);
  ScalarId here;
  if (!build.lead.empty()) {
    here = builder_.element_at(builder_.array_of(g.type(first.points), {build.param, points}, build.lead_at),
                               {});
    conditions_.push_back(here);  // a point that has ended need not have its indices in range
  }
  const Val next = step(state);
  if (here.valid()) conditions_.pop_back();
  if (failed_) return {};
  if (!end_step(state, next, here, build)) return {};
  const LoopCondition again = decide_on(&Carried::result);
  if (failed_) return {};
  Node& node = g.nodes[build.node];
  node.carried[any].result = again.any;
  node.carried[points].result = again.points;
  node.condition = any;
  const std::string words = quoted(span_here());
  node.unending = (words.empty() ? "`" + name + "`" : words) + " goes on for more than {rhs} steps";
  if (loop_.shows_any()) return unsupported("`debug` in a loop whose number of steps the data decides");
  loop_.leave_loop(build);
  return loop_.loop_results(init, build);
}

Val PrimitiveEvaluator::while_condition_holds(const std::vector<Val>& args) {
  return loop_while(
      "while", args[2], [&](const Val& state) { return evaluator_.call(args[0], {state}); },
      [&](const Val& state) { return evaluator_.call(args[1], {state}); });
}

/// A loop that counts its steps beside the state.
Val PrimitiveEvaluator::iterate_by_data(const std::vector<Val>& args) {
  const Val last = loop_while(
      "iterate", Val::tuple({args[2], builder_.scalar(constant_int(g, Elem::i64, 0))}),
      [&](const Val& state) { return pointwise(Op::lt, {state.items[1], args[0]}, "iterate"); },
      [&](const Val& state) {
        const Val one = builder_.scalar(constant_int(g, Elem::i64, 1));
        return Val::tuple({evaluator_.call(args[1], {state.items[0]}),
                           pointwise(Op::add, {state.items[1], one}, "iterate")});
      });
  return failed_ ? Val{} : last.items[0];
}

}  // namespace axon::graph
