// See planned.h.
#include "page/planned.h"

#include "entry/fused.h"
#include "task/placements.h"

namespace axon::page {

namespace {

/// More than the models of the tests take from a fused graph to a plan.
constexpr uint64_t steps_of_a_plan = 80'000'000;

plan::Plan made_of(const graph::Graph& graph, plan::Schedule schedule) {
  const target::Class& machines = target::x86_64();
  const auto chosen = task::choose_placements({&graph}, machines.panel_columns);
  task::Program program = task::from_graph(graph, task::placements_of(graph, chosen), {}, machines);
  task::derive_events(program);
  plan::Plan plan;
  plan.graph = &graph;
  plan.variants.push_back(plan::from_task(std::move(program), graph.name, schedule));
  return plan;
}

}  // namespace

std::optional<plan::Plan> plan_of(const graph::Graph& fused, const core::Program& program,
                                  source::Diagnostics& diagnostics, plan::Schedule schedule) {
  std::optional<plan::Plan> plan;
  const bool whole = entry::within_allowance(fused, program, diagnostics, steps_of_a_plan,
                                             [&] { plan = made_of(fused, schedule); });
  return whole ? std::move(plan) : std::nullopt;
}

std::unique_ptr<const Planned> planned(const core::Program& program, core::GlobalId entry,
                                       const source::SourceManager& sources, source::Diagnostics& diagnostics,
                                       plan::Schedule schedule) {
  auto written = entry::graph_of(program, entry, sources, diagnostics);
  if (!written || diagnostics.has_errors()) return nullptr;
  auto out = std::make_unique<Planned>();
  out->written = *written;
  out->fused = std::move(*written);
  if (!entry::fuse(out->fused, program, diagnostics) ||
      !entry::update_in_place(out->fused, program, diagnostics) ||
      !entry::refuse_unbounded_sizes(out->fused, program, diagnostics))
    return nullptr;
  auto plan = plan_of(out->fused, program, diagnostics, schedule);
  if (!plan) return nullptr;
  out->plan = std::move(*plan);
  return out;
}

}  // namespace axon::page
