// What an entry costs, in words: for the REPL and for editors.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.h"

namespace axon::page {

/// Sizes by name.
using GivenSizes = std::vector<std::pair<std::string, int64_t>>;

/// Operations, bytes and the least time on one worker, a line each: numbers where all sizes are given, else
/// formulas over those that are not. Empty, with what is wrong in `problem`, for a name that is no size of
/// the entry, or sizes that it refuses.
std::string cost_text(const plan::Variant&, const GivenSizes&, std::string& problem);

/// So many nanoseconds in the unit that suits them: 16.7 ms.
std::string time_text(double nanoseconds);

/// The formulas in one line.
std::string cost_line(const plan::Variant&);

}  // namespace axon::page
