// An entry from the core to its plan, for who has no pipeline: pages, costs.
//
// In: a program without errors and an entry of it. Out: its graphs and its plan, or null with what it is
// refused for. Layouts of weights are those of the entry alone; in a bundle all entries agree on them.
#pragma once
#include <memory>
#include <optional>

#include "core/core.h"
#include "plan/plan.h"
#include "source/diagnostic.h"

namespace axon::page {

struct Planned {
  graph::Graph written;  ///< before it was fused
  graph::Graph fused;
  plan::Plan plan;  ///< of the fused graph
};

/// The plan of a fused graph; nothing, with an error, where that is more work than an entry may take.
std::optional<plan::Plan> plan_of(const graph::Graph& fused, const core::Program&, source::Diagnostics&,
                                  plan::Schedule = plan::Schedule::events);

std::unique_ptr<const Planned> planned(const core::Program&, core::GlobalId entry,
                                       const source::SourceManager&, source::Diagnostics&,
                                       plan::Schedule = plan::Schedule::events);

}  // namespace axon::page
