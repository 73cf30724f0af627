// Where values of scalar expressions can be computed. Only from_task/ includes this.
//
// In: a scalar, and a place, the loops and choices around. Out: whether it is the same for all elements of a
// block, for all rows, or at a point of reductions, and can be had before these. Invariant: what a value
// loads can be read wherever it is said to stand, and what it checks is evaluated there.
#pragma once
#include "tile/from_task/tensors.h"

namespace axon::tile {

class ValuePlaces : protected TensorMaker {
 protected:
  using TensorMaker::TensorMaker;

  /// Is it a check, or is a part of it one?
  bool has_checks(ScalarId) const;
  /// Is it a tile, so that what it is part of stays short?
  bool is_large(ScalarId) const;
  /// Is every index of the load inside of its axis where the facts hold, over variables of the graph?
  bool in_range(ScalarId load, const std::vector<Fact>& facts) const;
  /// Can all that it loads be read at every point of the loops around?
  bool can_be_read(ScalarId id) const { return can_be_read(id, around_, true); }
  /// The same where these variables have no values.
  bool loads_stand_before(ScalarId, const std::vector<Var>& inside, bool has_results) const;
  bool is_outside_of_blocks(ScalarId, const BlockPlace&) const;
  bool is_of_rows(ScalarId, const BlockPlace&) const;
  bool is_of_columns(ScalarId, const BlockPlace&) const;
  bool is_of_point(ScalarId, const BlockPlace&) const;
  /// Does a choice decide whether what is being emitted is evaluated?
  bool is_conditional() const { return !arms_.empty() || !conditions_.empty(); }
  /// Has the reduction one result, instead of one of each row or element?
  bool is_number(uint32_t result) const { return out_.tiles[results_[result]].shape.empty(); }
  /// What is had of the rows at once, whose loop is around.
  BlockPlace place_of_rows() const;
  /// What all of them have of the block.
  BlockPlace columns_of(const BlockPlace&) const;

  std::vector<TileId> results_;  ///< of the reductions: numbers, of rows at once, or blocks
  Stretch at_once_;              ///< of which rows are had at once
  Dim row_base_;                 ///< the first of these
  std::vector<Var> binders_;     ///< of the reductions around, which each lane has for itself
  bool may_check_before_ =
      true;  ///< do facts say where a block's loop, and the reductions around, have elements?
  /// What of the conditions of choices decides that what is being emitted is evaluated, and with which value.
  /// Only where it has checks.
  std::vector<std::pair<ScalarId, bool>> conditions_;
  std::vector<Fact> arms_;  ///< of the graph's indices, what holds by the choices whose arm is being emitted

 private:
  bool can_be_read(ScalarId, const std::vector<Fact>&, bool has_results) const;
  bool can_stand_before(ScalarId, const std::vector<Var>& inside, bool has_results) const;
  size_t written_size(ScalarId) const;

  mutable std::map<ScalarId, bool> has_checks_;
  mutable std::map<ScalarId, size_t> written_sizes_;
};

}  // namespace axon::tile
