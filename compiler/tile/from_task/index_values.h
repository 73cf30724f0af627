// Indices as values of a block, where they do not move by steps. Only from_task/ includes this.
//
// In: a dimension over labels. Out: expressions of a map that compute it. Invariant: the value is that of the
// dimension in unbounded integers wherever the element is one.
#pragma once
#include <optional>
#include <vector>

#include "tile/tile.h"

namespace axon::tile {

/// Is a dimension linear in each of these?
bool moves_by_steps(const Dim&, const std::vector<Var>& labels);

class IndexValue {
 public:
  /// Labels are 0 to `last` at most.
  IndexValue(Map& map, std::vector<Var> labels, int64_t last)
      : map_(map), labels_(std::move(labels)), last_(last) {}
  /// Of i64. Throws Declined.
  uint32_t number_of(const Dim&);

 private:
  struct LaneNumber;
  std::optional<LaneNumber> lane_number(const Dim&);
  std::optional<LaneNumber> divided(const shape::Atom&);

  Map& map_;
  const std::vector<Var> labels_;
  const int64_t last_;
};

}  // namespace axon::tile
