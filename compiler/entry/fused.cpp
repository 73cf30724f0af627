// See fused.h.
#include "entry/fused.h"

#include "base/bug.h"
#include "base/work.h"
#include "entry/report.h"
#include "graph/from_core.h"
#include "graph/passes/passes.h"
#include "task/storage.h"

namespace axon::entry {

using core::Program;
using graph::Graph;
using source::Diagnostics;

namespace {

void check_graph(const Graph& g, const std::string& after) {
  const auto broken = graph::verify(g);
  if (!broken.empty()) base::bug(after, "the graph of `" + g.name + "` is malformed: " + broken.front());
}

}  // namespace

bool refuse_unbounded_sizes(const Graph& g, const Program& program, Diagnostics& diagnostics) {
  for (uint32_t n = 0; n < g.nodes.size(); ++n)
    for (const graph::TensorType& type : g.nodes[graph::NodeId{n}].types)
      for (const shape::Dim& d : type.shape) {
        if (graph::at_most_before_data(g, d)) continue;
        report_unbounded(g, program, graph::NodeId{n}, d, diagnostics);
        return false;
      }
  return true;
}

bool within_allowance(const Graph& graph, const Program& program, Diagnostics& diagnostics, uint64_t steps,
                      const std::function<void()>& step) {
  try {
    const base::Allowance allowance(steps);
    step();
    return true;
  } catch (const base::TooMuchWork&) {
    report_too_large(
        graph, program, diagnostics,
        "How its steps depend on each other takes more work to find out than one entry may take.");
    return false;
  }
}

std::optional<Graph> graph_of(const Program& program, core::GlobalId entry,
                              const source::SourceManager& sources, Diagnostics& diagnostics) {
  const base::Allowance allowance(steps_of_a_graph);
  return graph::from_core(program, entry, diagnostics, &sources);
}

bool fuse(Graph& graph, const Program& program, Diagnostics& diagnostics, bool has_panels) {
  return within_allowance(graph, program, diagnostics, steps_of_a_graph, [&] {
    for (const graph::Pass& pass : graph::graph_passes()) {
      if (pass.of_panels && !has_panels) continue;
      pass.run(graph);
      check_graph(graph, pass.name);
    }
  });
}

bool update_in_place(Graph& graph, const Program& program, Diagnostics& diagnostics) {
  return within_allowance(graph, program, diagnostics, steps_of_a_graph, [&] {
    task::update_states(graph);
    check_graph(graph, "update_states");
    const auto copied = task::insert_copies(graph);
    check_graph(graph, "insert_copies");
    for (const task::CopiedState& state : copied) report_copy(graph, program, state, diagnostics);
  });
}

}  // namespace axon::entry
