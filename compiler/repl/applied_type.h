// What the checker has found out about a function that is applied to shapes (shape_call.h).
//
// In: the record of the declaration that applies it. Out: the type of what is left, and how its sizes were
// found.
#pragma once
#include <string>
#include <vector>

#include "session/record.h"

namespace axon::repl {

struct AppliedType {
  std::string type;  ///< without the parameters that were given a shape
  std::string why;   ///< lines: the function, what its sizes are here, each argument, and what is left
};

/// The element type of each parameter of a declaration that is a number of a known one; empty for another.
std::vector<std::string> number_types(const session::Record& record);

/// From the parameter `first` on, `given` have a shape; those before it are no part of the answer. Nor are
/// `assumed`, conditions that the declaration states.
AppliedType applied_type(const session::Record& record, size_t first, size_t given,
                         const std::vector<std::string>& assumed);

}  // namespace axon::repl
