// See describe_graph.h.
#include "page/describe_graph.h"

#include <algorithm>

#include "graph/printed.h"
#include "graph/uses.h"
#include "page/places.h"

namespace axon::page {

namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeOp;

const char* name_of(NodeOp op) {
  static constexpr const char* names[] = {"input", "empty", "compute", "loop", "param"};
  return names[static_cast<int>(op)];
}

const char* name_of(graph::UseKind kind) {
  switch (kind) {
    case graph::UseKind::base:
      return "update";
    case graph::UseKind::init:
      return "init";
    case graph::UseKind::next:
      return "next";
    case graph::UseKind::output_load:
    case graph::UseKind::local_load:
    case graph::UseKind::extent_load:
    case graph::UseKind::result:
    case graph::UseKind::check:
    case graph::UseKind::size:
    case graph::UseKind::debug:
      return "load";
  }
}

/// How a node is called to a reader: what it was made from, or what it is.
std::string title_of(const Graph& g, const Node& node, const NameOf& name) {
  if (node.op == NodeOp::input) return g.inputs[node.input].path;
  if (node.op == NodeOp::loop)
    return "for " + name(node.index.var) + (node.name.empty() ? "" : ": " + node.name);
  if (node.op == NodeOp::param) return "carried";
  return node.name.empty() ? name_of(node.op) : node.name;
}

/// What a node reads, each value once.
Json uses_of(const Graph& g, NodeId id, const std::map<NodeId, int>& numbers) {
  Json uses = Json::array();
  graph::for_each_use(g, id, [&](graph::Value value, const graph::Use& use) {
    const auto number = numbers.find(value.node);
    if (number == numbers.end()) return;
    Json one = {{"node", number->second}, {"output", value.output}, {"kind", name_of(use.kind)}};
    if (std::find(uses.begin(), uses.end(), one) == uses.end()) uses.push_back(std::move(one));
  });
  return uses;
}

Json describe_node(const Graph& g, const graph::PrintedNode& printed, const std::map<NodeId, int>& numbers,
                   const source::SourceFile& file, const NameOf& name) {
  const Node& node = g.nodes[printed.node];
  Json types = Json::array();
  for (const graph::TensorType& type : node.types) types.push_back(describe_type(type, name));
  const NodeId loop = g.regions[node.region].loop;
  Json out = {{"id", printed.number},
              {"op", name_of(node.op)},
              {"title", title_of(g, node, name)},
              {"types", std::move(types)},
              {"uses", uses_of(g, printed.node, numbers)},
              {"loop", loop.valid() ? Json(numbers.at(loop)) : Json(nullptr)},
              {"place", place_of(node, file)},
              {"text", printed.text}};
  if (node.op == NodeOp::loop) out["trips"] = expression(node.index.extent, name);
  if (node.op == NodeOp::input) {
    static constexpr const char* kinds[] = {"weight", "argument", "state", "size"};
    out["kind"] = kinds[static_cast<int>(g.inputs[node.input].kind)];
  }
  return out;
}

}  // namespace

Json place(const source::SourceFile& file, uint32_t begin, uint32_t end) {
  const source::Position at = file.position(begin);
  return {{"line", at.line}, {"column", at.column}, {"end", file.line_of(std::max(begin, end))}};
}

Json place_of(const Node& node, const source::SourceFile& file) {
  if (node.source_begin == 0 || node.source_begin > file.size()) return nullptr;
  return place(file, node.source_begin, std::min(node.source_end, file.size()));
}

std::map<NodeId, int> node_numbers(const Graph& g) {
  std::map<NodeId, int> numbers;
  for (const graph::PrintedNode& printed : graph::print_nodes(g)) numbers[printed.node] = printed.number;
  return numbers;
}

Json describe_type(const graph::TensorType& type, const NameOf& name) {
  return {{"elem", base::elem_name(type.elem)}, {"shape", expressions(type.shape, name)}};
}

Json describe_graph(const Graph& g, const source::SourceFile& file, const NameOf& name) {
  const std::vector<graph::PrintedNode> printed = graph::print_nodes(g);
  std::map<NodeId, int> numbers;
  for (const graph::PrintedNode& node : printed) numbers[node.node] = node.number;
  Json nodes = Json::array(), results = Json::array();
  for (const graph::PrintedNode& node : printed) nodes.push_back(describe_node(g, node, numbers, file, name));
  for (const graph::Result& result : g.results)
    results.push_back({{"path", result.path},
                       {"node", numbers.at(result.value.node)},
                       {"output", result.value.output},
                       {"type", describe_type(g.type(result.value), name)}});
  return {{"nodes", std::move(nodes)}, {"results", std::move(results)}};
}

}  // namespace axon::page
