// The messages about an entry as a whole: those of the stages behind core.
#pragma once
#include <string>
#include <vector>

#include "core/core.h"
#include "graph/graph.h"
#include "source/diagnostic.h"
#include "task/storage.h"

namespace axon::entry {

/// The file, whose entries have these names, has none that is called `wanted`.
source::Diagnostic no_such_entry(const std::string& wanted, const std::vector<std::string>& names);
/// Reports each wanted entry that the file lacks, or that it has none at all; `wanted` is empty if every
/// entry is built.
void report_no_entry(const core::Program&, const std::vector<std::string>& wanted, source::Diagnostics&);

/// Compiling the entry takes more work than one entry may; `why` says of what.
void report_too_large(const graph::Graph&, const core::Program&, source::Diagnostics&,
                      const std::string& why);

/// A result of the node has a data-dependent size without a bound where one is needed.
void report_unbounded(const graph::Graph&, const core::Program&, graph::NodeId, const shape::Dim& size,
                      source::Diagnostics&);

/// A consumed (`*`) state cannot be updated in place: shows the update, and what needs the old value.
void report_copy(const graph::Graph&, const core::Program&, const task::CopiedState&, source::Diagnostics&);

/// The proof of an obligation of the entry's tasks or plan fails.
void report_unproved(const graph::Graph&, const std::string& obligation, source::Diagnostics&);

}  // namespace axon::entry
