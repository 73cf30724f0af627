// See page.h: the fused graph for `dot` of Graphviz.
#include <fmt/format.h>

#include "graph/uses.h"
#include "page/describe_graph.h"
#include "page/page.h"
#include "task/names.h"

namespace axon::page {

namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeOp;

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + "\"";
}

class Dot {
 public:
  Dot(const Graph& g, const task::Names& names) : g_(g), names_(names), numbers_(node_numbers(g)) {}

  std::string run() {
    out_ = fmt::format("digraph {} {{\n  node [shape=box fontname=\"sans-serif\"];\n", quoted(g_.name));
    region(g_.root, 1);
    for (const NodeId id : graph::all_nodes(g_)) edges(id);
    for (size_t r = 0; r < g_.results.size(); ++r) result(r);
    return out_ + "}\n";
  }

 private:
  void line(int depth, const std::string& text) {
    out_ += std::string(static_cast<size_t>(depth) * 2, ' ') + text + "\n";
  }

  void region(graph::RegionId id, int depth) {
    for (const NodeId n : g_.regions[id].nodes) {
      const Node& node = g_.nodes[n];
      if (node.op != NodeOp::loop) {
        line(depth, fmt::format("n{} [label={}{}];", numbers_.at(n), quoted(label(node)),
                                node.op == NodeOp::input ? " style=rounded" : ""));
        continue;
      }
      line(depth, fmt::format("subgraph cluster_{} {{", numbers_.at(n)));
      line(depth + 1, fmt::format("label={};", quoted("for " + names_(node.index.var) + " < " +
                                                      names_(node.index.extent))));
      line(depth + 1, fmt::format("n{} [label=\"next\" style=rounded];", numbers_.at(n)));
      region(node.body, depth + 1);
      line(depth, "}");
    }
  }

  std::string label(const Node& node) const {
    if (node.op == NodeOp::input) return g_.inputs[node.input].path;
    if (node.op == NodeOp::param) return "carried";
    if (node.op == NodeOp::empty) return "empty";
    return node.name.empty() ? "compute" : node.name;
  }

  std::string type(graph::Value v) const {
    const graph::TensorType& t = g_.type(v);
    return fmt::format("{}[{}]", base::elem_name(t.elem), names_(t.shape));
  }

  void edges(NodeId id) {
    graph::for_each_use(g_, id, [&](graph::Value value, const graph::Use&) {
      const std::string edge = fmt::format("n{} -> n{} [label={}];", numbers_.at(value.node), numbers_.at(id),
                                           quoted(type(value)));
      if (seen_.insert(edge).second) line(1, edge);
    });
  }

  void result(size_t r) {
    const graph::Result& result = g_.results[r];
    line(1, fmt::format("r{} [label={} style=rounded];", r,
                        quoted(result.path.empty() ? "result" : result.path)));
    line(1, fmt::format("n{} -> r{} [label={}];", numbers_.at(result.value.node), r,
                        quoted(type(result.value))));
  }

  const Graph& g_;
  const task::Names& names_;
  const std::map<NodeId, int> numbers_;
  std::set<std::string> seen_;
  std::string out_;
};

}  // namespace

std::string dot(const Subject& s) {
  const task::Names names(s.plan.variants.front().program);
  return Dot(*s.plan.graph, names).run();
}

}  // namespace axon::page
