// The parts of simplify that other passes use to clean up behind themselves.
#pragma once
#include "graph/passes/edit.h"

namespace axon::graph::edit {

/// The body with indices, comparisons and identities simplified under the scope.
ScalarId simplify_body(Graph&, ScalarId, Scope&);
/// All bodies, extents and stores of a compute node.
void simplify_node(Graph&, NodeId);
/// A carried value that the region hands on unchanged is its initial value.
void forward_unchanged(Graph&);
/// Equal compute nodes become one; a region sees the nodes of those around it.
void share_common(Graph&);
/// May evaluating the node fail? A checked index, an integer division. `checked`: edit::checked_nodes.
bool can_fail(const Graph&, NodeId, const std::set<NodeId>& checked);
/// Compute nodes that no iteration changes leave their loops.
void hoist_invariants(Graph&);

}  // namespace axon::graph::edit
