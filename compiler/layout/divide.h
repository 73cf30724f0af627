// Division of sizes without a remainder. Only layout/ includes this.
#pragma once
#include <optional>

#include "layout/outcome.h"
#include "shape/dim.h"

namespace axon::layout {

using shape::Dim;

/// a / b, which has no remainder if the need holds.
struct Quotient {
  Dim value;
  std::optional<shape::Fact> need;  ///< `a % b == 0`; none where every size satisfies it
};
/// For b >= 1. nullopt: there is a remainder for certain.
inline std::optional<Quotient> exact_quotient(const Dim& a, const Dim& b) {
  Dim quotient = shape::floor_div(a, b);
  if (!b.constant()) quotient = shape::simplify(quotient, {shape::at_least(b, 1)});
  if (quotient * b == a) return Quotient{quotient, std::nullopt};
  const Dim remainder = shape::mod(a, b);
  if (remainder.constant()) return std::nullopt;
  return Quotient{quotient, shape::equal(remainder, 0)};
}

}  // namespace axon::layout
