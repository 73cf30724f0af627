// Which weights are stored as panels. A bundle keeps one copy of each weight, so all uses in all entries must
// agree: a weight is a panel when every load of it is the right operand of a contraction that streams panels,
// else row-major. Arguments and states of other entries may have the path of a weight; they are the caller's,
// and stay as they are.
#include <map>
#include <set>

#include "graph/contraction.h"
#include "task/task.h"

namespace axon::task {

std::vector<std::vector<Placement>> choose_placements(const std::vector<const graph::Graph*>& graphs,
                                                const Tiling& tiling) {
  std::map<std::string, bool> panel;  // by path: every use so far streams panels
  for (const graph::Graph* g : graphs)
    for (const auto& node : g->nodes) {
      if (node.op != graph::NodeOp::compute) continue;
      std::set<graph::ScalarId> streamed;
      for (const auto& placed : contractions_of(*g, node)) {
        if (streams_panels(*g, placed.contraction)) streamed.insert(placed.contraction.load);
      }
      const auto visit = [&](graph::ScalarId body) {
        for (graph::ScalarId l : loads_in(*g, body)) {
          const auto& load = g->scalars[l];
          if (load.target.is_local()) continue;
          const auto& source = g->nodes[load.target.node];
          if (source.op != graph::NodeOp::input) continue;
          const auto& input = g->inputs[source.input];
          if (input.kind != graph::InputKind::weight) continue;
          const bool streams = streamed.contains(l);
          const auto [it, fresh] = panel.emplace(input.path, streams);
          if (!fresh) it->second = it->second && streams;
        }
      };
      for (const auto& local : node.locals) visit(local.body);
      for (const auto& output : node.outputs) visit(output.body);
    }
  std::vector<std::vector<Placement>> placements;
  for (const graph::Graph* g : graphs) {
    auto& of_graph = placements.emplace_back();
    for (const auto& input : g->inputs) {
      const auto it = panel.find(input.path);
      const bool is_panel = input.kind == graph::InputKind::weight && it != panel.end() && it->second &&
                            input.type.shape.size() >= 2;
      of_graph.push_back(is_panel ? layout::panels(input.type.shape.size(), tiling.panel) : Placement{});
    }
  }
  return placements;
}

}  // namespace axon::task
