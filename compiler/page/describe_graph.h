// A tensor graph as JSON.
#pragma once
#include <map>

#include "page/expressions.h"
#include "source/span.h"

namespace axon::page {

/// The numbers that printed graphs give to nodes.
std::map<graph::NodeId, int> node_numbers(const graph::Graph&);
Json describe_type(const graph::TensorType&, const NameOf&);
Json describe_graph(const graph::Graph&, const source::SourceFile&, const NameOf&);
/// Where the node's expression stands in the file; null where it is from a library.
Json place_of(const graph::Node&, const source::SourceFile&);

}  // namespace axon::page
