// Where along a loop a choice has one outcome: between the edges of an image every read is in range.
#pragma once
#include <functional>

#include "module/body.h"

namespace axon::module {

/// A condition of a choice that holds exactly where all of `nonnegative` are at least 0. Each is a constant
/// times the loop's variable plus what does not change in the loop; the variable occurs in at least one.
struct Interior {
  ScalarId condition;
  std::vector<Dim> nonnegative;
};

/// The first choice in the bodies, users before what they use, with such a condition. `usable` says whether
/// a variable other than `inner` has a value before the loop, and counts without wrapping.
std::optional<Interior> find_interior(const Graph&, const std::vector<ScalarId>& bodies, Var inner,
                                      const std::vector<ScalarId>& decided,
                                      const std::function<bool(Var)>& usable);

}  // namespace axon::module
