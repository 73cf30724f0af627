// Small wrong changes to a plan, one at a time: what its proof must refuse, unless they do no harm.
//
// In: a plan variant. Out: variants that differ from it in one place and keep its task program.
#pragma once
#include <string>
#include <vector>

#include "plan/plan.h"

namespace axon::plan {

struct Mutant {
  std::string kind;    ///< "dropped wait", "dropped slot", ...
  std::string change;  ///< what was changed, in words
  Variant variant;
};

/// Mutants of every kind that the plan has something to change for, at most `per_kind` of each, evenly spread
/// over what there is. Estimates (work, handoffs) are never changed.
std::vector<Mutant> mutants_of(const Variant&, size_t per_kind);

}  // namespace axon::plan
