// One entry up to its fused graph, and what is refused on the way.
//
// In: a checked program without errors, and an entry of it. Out: the graph that tasks are made of, whose
// updates happen in place, or errors: this is all that a build can refuse before it makes tasks. Invariant:
// the work for an entry is counted, and ends in an error where it is more than one may take.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "core/core.h"
#include "graph/graph.h"
#include "source/diagnostic.h"

namespace axon::entry {

/// What one entry may take of a stage up to the fused graph: more than the models of the tests take.
inline constexpr uint64_t steps_of_a_graph = 40'000'000;

/// The entry, evaluated on symbolic tensors.
std::optional<graph::Graph> graph_of(const core::Program& program, core::GlobalId entry,
                                     const source::SourceManager& sources, source::Diagnostics& diagnostics);

/// Runs the graph passes: for machines whose products stream panels, or for others. Returns false, with an
/// error, if that takes too much work: the graph is then in the middle of them.
bool fuse(graph::Graph& graph, const core::Program& program, source::Diagnostics& diagnostics,
          bool has_panels = true);

/// Lets every update happen in place: inserts copies where a value would be overwritten that is still read.
/// Reports an error for each copy of a consumed (`*`) state. Returns false as fuse() does.
bool update_in_place(graph::Graph& graph, const core::Program& program, source::Diagnostics& diagnostics);

/// Memory for a data-dependent size is laid out for its bound. Returns false, with an error, if one has none
/// that is known before the entry runs.
bool refuse_unbounded_sizes(const graph::Graph& graph, const core::Program& program,
                            source::Diagnostics& diagnostics);

/// Takes a step for the entry; false, with an error, when that is more work than it may take.
bool within_allowance(const graph::Graph& graph, const core::Program& program,
                      source::Diagnostics& diagnostics, uint64_t steps, const std::function<void()>& step);

}  // namespace axon::entry
