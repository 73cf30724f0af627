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

/// The first `given` parameters have a shape. `assumed` are conditions that the declaration states and that
/// are no part of the answer.
AppliedType applied_type(const session::Record& record, size_t given,
                         const std::vector<std::string>& assumed);

}  // namespace axon::repl
