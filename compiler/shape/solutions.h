// The natural numbers for which facts hold, in order.
//
// In: facts, and their variables in the order in which solutions are compared. Out: the least solutions.
// Invariant: each one satisfies every fact, and none is left out before the last; where `end` is `all`, none
// is left out at all. What ends the search is counted, never timed, so equal questions have equal answers.
#pragma once
#include <vector>

#include "shape/prover.h"

namespace axon::shape {

using Solution = std::vector<int64_t>;  ///< the value of each variable, in their order

struct SolutionLimits {
  size_t most = 1000;    ///< solutions
  size_t steps = 20000;  ///< values that are tried, of all variables together
};

struct Solutions {
  enum class End : uint8_t {
    all,      ///< there are no others
    most,     ///< as many as were asked for, and there are others
    limited,  ///< the steps were used up: there may be others
    far       ///< there may be others with values beyond largest_candidate, which are not tried
  };
  std::vector<Solution> found;  ///< sorted
  End end = End::all;
};

/// Every variable of the facts is one of `order`.
Solutions solutions_of(const std::vector<Fact>& facts, const std::vector<Var>& order,
                       const SolutionLimits& = {});

}  // namespace axon::shape
