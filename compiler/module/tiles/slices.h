// Blocks at an edge, register by register.
//
// In: the body of a loop whose bounds do not hold for a whole block. Out: the registers that its tiles have,
// and the facts without which one of them does nothing: its stores store nothing, and what is added to the
// carried tiles is neutral. Invariant: registers do not depend on each other in such a body.
#pragma once
#include <optional>
#include <vector>

#include "module/tiles/context.h"

namespace axon::module::tiles {

struct Slices {
  std::vector<std::vector<Dim>> conditions;  ///< of each register: all are not negative, or it does nothing
};

/// nullopt where the body has other operations than such. Each register's conditions are false wherever those
/// of the one before are.
std::optional<Slices> slices_of(Context&, const tile::Loop&);

}  // namespace axon::module::tiles
