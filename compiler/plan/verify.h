// The proof of a plan variant, and its parts: each adds the obligations of one subject. Nothing here is
// shared with from_task.cpp.
#pragma once
#include "plan/plan.h"
#include "task/verify.h"

namespace axon::plan {

/// The plan's own obligations, for a program that is proved: segments and their waits, the ranges of workers,
/// memory, words and epochs, and exit conditions and data-dependent sizes.
std::vector<task::Obligation> verify(const Variant&);
/// All obligations of a variant: those of its program (task::verify) and, where they are proved, its own.
std::vector<task::Obligation> obligations(const Variant&);

void verify_segments(const Variant&, task::Report&);        ///< steps, waits, ranges of workers
void verify_memory(const Variant&, task::Report&);          ///< slots
void verify_words(const Variant&, task::Report&);           ///< words of the event area, epochs
void verify_data_dependent(const Variant&, task::Report&);  ///< exit conditions and data-dependent sizes

}  // namespace axon::plan
