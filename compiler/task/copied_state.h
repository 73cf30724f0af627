// Explains why a state that is given up (`*`) cannot be updated in place, for the message that refuses a
// copy.
//
// In: the graph, the storage classes that it would have without the copy, and the use of the state that needs
// one. Out: the node that would overwrite the state, and the reader that needs the old value.
#pragma once
#include "task/storage.h"

namespace axon::task {

/// `updater` writes over `v`, the version of the state `input` that stands before it: a compute node whose
/// output `slot` updates it, or a loop that carries it as number `slot`.
CopiedState why_copied(const graph::Graph&, const Storage&, uint32_t input, graph::Value v,
                       graph::NodeId updater, uint32_t slot);

}  // namespace axon::task
