// See decided.h.
#include "task/decided.h"

#include <algorithm>
#include <functional>

namespace axon::task {

std::optional<Var> steps_of(const Program& p, LoopId l) {
  const graph::Node& loop = p.graph->nodes[p.loops[l].node];
  if (!loop.condition) return std::nullopt;
  return graph::steps_var(loop);
}

namespace {

using Visit = std::function<void(LoopId loop, const std::vector<LoopId>& around)>;

void each_loop(const std::vector<Step>& steps, std::vector<LoopId>& around, const Visit& visit) {
  for (const Step& step : steps) {
    if (!step.loop.valid()) continue;
    visit(step.loop, around);
    around.push_back(step.loop);
    each_loop(step.body, around, visit);
    around.pop_back();
  }
}

void each_loop(const Program& p, const Visit& visit) {
  std::vector<LoopId> around;
  each_loop(p.steps, around, visit);
}

}  // namespace

bool is_nested(const Program& p, LoopId l) {
  bool nested = false;
  each_loop(p, [&](LoopId loop, const auto& around) { nested = nested || (loop == l && !around.empty()); });
  return nested;
}

std::vector<Var> decided_inside(const Program& p, LoopId l) {
  std::vector<Var> decided;
  each_loop(p, [&](LoopId loop, const std::vector<LoopId>& around) {
    const auto steps = steps_of(p, loop);
    if (steps && std::find(around.begin(), around.end(), l) != around.end()) decided.push_back(*steps);
  });
  return decided;
}

std::vector<Fact> range_of_decided(const Dim& value) {
  return {shape::at_least(value, Dim(0)), shape::at_most(value, Dim(graph::step_limit))};
}

}  // namespace axon::task
