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
  int64_t lanes = 1;                         ///< of a register
  /// May elements be computed twice? Then a block at the edge may have the elements before it again: the last
  /// ones, all of which are inside.
  bool can_repeat = false;
  /// Does each register the same with its own elements, none of which another body has made or reads? Then a
  /// loop may go through them.
  bool are_alike = false;
};

/// nullopt where the body has other operations than such. Each register's conditions are false wherever those
/// of the one before are.
std::optional<Slices> slices_of(Context&, const tile::Loop&);

}  // namespace axon::module::tiles
