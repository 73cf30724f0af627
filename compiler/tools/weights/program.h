// What a program says of its weights, without code for it: the part of a bundle's manifest that binding
// reads.
#pragma once
#include "host/manifest.h"
#include "pipeline.h"

namespace axon::tools {

/// The weights of all entries, and of each entry its sizes and inputs. The compilation has run up to the
/// graphs.
host::Result<host::Manifest> weights_of(const Compilation&);
/// How many of the axes of each of these weights are those of stacks of records.
std::vector<size_t> stacks_of(const Compilation&, const std::vector<host::Weight>&);

}  // namespace axon::tools
