// See trip_counts.h.
#include "task/trip_counts.h"

#include <algorithm>
#include <functional>

namespace axon::task {

std::optional<Var> data_trip_count(const Program& p, LoopId l) {
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

std::vector<Var> data_trip_counts_inside(const Program& p, LoopId l) {
  std::vector<Var> counts;
  each_loop(p, [&](LoopId loop, const std::vector<LoopId>& around) {
    const auto steps = data_trip_count(p, loop);
    if (steps && std::find(around.begin(), around.end(), l) != around.end()) counts.push_back(*steps);
  });
  return counts;
}

std::vector<Fact> range_of_trip_count(const Dim& count) {
  return {shape::at_least(count, Dim(0)), shape::at_most(count, Dim(graph::step_limit))};
}

}  // namespace axon::task
