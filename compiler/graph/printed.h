// The text of a graph by its nodes.
#pragma once
#include <string>
#include <vector>

#include "graph/graph.h"

namespace axon::graph {

/// What print() says of one node: of a loop its first line. `number` is what it calls the node.
struct PrintedNode {
  NodeId node;
  int number;
  size_t begin;  ///< in the text of the graph
  std::string text;
};
/// In program order.
std::vector<PrintedNode> print_nodes(const Graph&);

}  // namespace axon::graph
