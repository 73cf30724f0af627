// One entry as a page to look at: its program, graph, tasks, schedule and costs, for sizes that are typed in.
//
// In: what the pipeline made of the entry, up to its plan. Out: JSON (the format is in docs/page.md), that
// JSON in one HTML file with the script that draws it, or DOT. Invariant: a page depends on nothing outside
// of it; the same entry gives the same bytes; and what the page says of sizes it computes from formulas that
// hold for all of them.
#pragma once
#include <string>

#include "core/core.h"
#include "page/expressions.h"
#include "plan/plan.h"
#include "source/span.h"

namespace axon::page {

struct Subject {
  const core::Program& program;
  core::GlobalId entry;
  const source::SourceManager& sources;
  source::FileId file;                    ///< the entry's
  const plan::Plan& plan;                 ///< of the fused graph
  const graph::Graph* written = nullptr;  ///< the graph before it was fused, if it was kept
  std::string path = {};  ///< of the file, from the root, for an editor; empty where there is none
};

Json describe(const Subject&);
std::string html(const Subject&);
/// The fused graph, loops as clusters.
std::string dot(const Subject&);

}  // namespace axon::page
