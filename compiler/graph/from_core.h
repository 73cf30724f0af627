// From the functional core to a tensor graph: one entry, evaluated on symbolic tensors.
//
// In: a checked program and an entry without errors. Out: a graph that verify() accepts, with dynamic extents
// (graph.h), or diagnostics. Functions are inlined, so shapes are lists of Dims and element types are known
// everywhere; what the data decides becomes loads, what sizes decide becomes Dims. `sources` lets messages of
// run-time checks quote the expression they guard.
#pragma once
#include <optional>

#include "core/core.h"
#include "graph/graph.h"
#include "source/diagnostic.h"

namespace axon::graph {

std::optional<Graph> from_core(const core::Program& program, core::GlobalId entry,
                               source::Diagnostics& diagnostics,
                               const source::SourceManager* sources = nullptr);

}  // namespace axon::graph
