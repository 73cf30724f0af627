// See placements.h.
#include "task/placements.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "graph/contraction.h"

namespace axon::task {

namespace {

using graph::Graph;
using layout::Placement;

// What a kernel takes for an element, as a multiple of streaming it from panels. Estimates, for one row and
// many alike; what counts is on which side of `least_gain` they are.
constexpr double streaming = 1.0;
constexpr double packing_columns = 1.25;  ///< rows of a tile are short runs, far apart
constexpr double packing_depth = 1.08;    ///< columns lie one after the other; many rows transpose blocks
constexpr double least_gain = 0.97;

/// How one load of a weight wants it.
struct Use {
  std::optional<layout::PanelAxes> streams;
  std::string by;  ///< in words: the node, and the entry
};

struct Weight {
  graph::TensorType type;
  std::vector<Use> uses;
};

class Uses {
 public:
  explicit Uses(std::map<std::string, Weight>& weights) : weights_(weights) {}

  void collect(const Graph& g) {
    for (const auto& input : g.inputs)
      if (input.kind == graph::InputKind::weight) weights_[input.path].type = input.type;
    for (const auto& node : g.nodes) {
      if (node.op != graph::NodeOp::compute) continue;
      std::map<graph::ScalarId, layout::PanelAxes> streamed;
      for (const auto& placed : contractions_of(g, node))
        if (const auto axes = panel_axes(g, placed.contraction))
          streamed.emplace(placed.contraction.load, *axes);
      for (const auto& local : node.locals) visit(g, node, local.body, streamed);
      for (const auto& output : node.outputs) visit(g, node, output.body, streamed);
    }
  }

 private:
  void visit(const Graph& g, const graph::Node& node, graph::ScalarId body,
             const std::map<graph::ScalarId, layout::PanelAxes>& streamed) {
    for (graph::ScalarId id : loads_in(g, body)) {
      const auto& load = g.scalars[id];
      if (load.target.is_local()) continue;
      const auto& source = g.nodes[load.target.node];
      if (source.op != graph::NodeOp::input) continue;
      const auto& input = g.inputs[source.input];
      if (input.kind != graph::InputKind::weight) continue;
      const auto found = streamed.find(id);
      weights_[input.path].uses.push_back(
          {found == streamed.end() ? std::nullopt : std::optional(found->second),
           node.name.empty() ? fmt::format("`{}`", g.name) : fmt::format("`{}` of `{}`", node.name, g.name)});
    }
  }

  std::map<std::string, Weight>& weights_;
};

double row_major_cost(const Weight& weight) {
  double cost = 0;
  for (const Use& use : weight.uses)
    cost += !use.streams                                          ? streaming
            : use.streams->column + 1 == weight.type.shape.size() ? packing_columns
                                                                  : packing_depth;
  return cost;
}

ChosenPlacement choose(const Weight& weight, int64_t panel_columns) {
  ChosenPlacement out{weight.type, {}, "row-major: nothing reads it"};
  if (weight.uses.empty()) return out;
  if (panel_columns == 0) {
    out.why = "row-major: its machines have no panels";
    return out;
  }
  const auto other =
      std::find_if(weight.uses.begin(), weight.uses.end(), [](const Use& use) { return !use.streams; });
  if (other != weight.uses.end()) {
    out.why = fmt::format("row-major: {} reads it element by element", other->by);
    return out;
  }
  const layout::PanelAxes axes = *weight.uses.front().streams;
  const auto turned = std::find_if(weight.uses.begin(), weight.uses.end(),
                                   [&](const Use& use) { return *use.streams != axes; });
  if (turned != weight.uses.end()) {
    out.why = fmt::format("row-major: {} and {} stream it along different axes", weight.uses.front().by,
                          turned->by);
    return out;
  }
  const double as_panels = streaming * static_cast<double>(weight.uses.size()),
               as_it_is = row_major_cost(weight);
  if (as_panels > least_gain * as_it_is) {
    out.why = "row-major: panels gain less than 3 %";
    return out;
  }
  out.placement = layout::panels(weight.type.shape.size(), axes, panel_columns);
  out.why = fmt::format("panels: {} product{} stream{} it, row-major would take {:.2f} times as long",
                        weight.uses.size(), weight.uses.size() == 1 ? "" : "s",
                        weight.uses.size() == 1 ? "s" : "", as_it_is / as_panels);
  return out;
}

}  // namespace

ChosenPlacements choose_placements(const std::vector<const Graph*>& graphs, int64_t panel_columns) {
  std::map<std::string, Weight> weights;
  for (const Graph* g : graphs) Uses(weights).collect(*g);
  ChosenPlacements out;
  for (const auto& [path, weight] : weights) out.emplace(path, choose(weight, panel_columns));
  return out;
}

std::vector<Placement> placements_of(const Graph& g, const ChosenPlacements& chosen) {
  std::vector<Placement> out;
  for (const auto& input : g.inputs)
    out.push_back(input.kind == graph::InputKind::weight ? chosen.at(input.path).placement
                                                         : Placement{{}, input.place});
  return out;
}

std::string print(const ChosenPlacements& chosen) {
  std::string out;
  for (const auto& [path, one] : chosen) {
    std::vector<std::string> shape;
    for (const auto& extent : one.type.shape) shape.push_back(extent.str());
    out += fmt::format("{} {}[{}] {}\n  {}\n", path, base::elem_name(one.type.elem), fmt::join(shape, ", "),
                       layout::print(one.placement), one.why);
  }
  return out;
}

}  // namespace axon::task
