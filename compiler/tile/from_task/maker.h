// A tile program from a form: loops over rows, reductions, outputs. Only from_task.cpp and from_task/ include
// this.
//
// In: a form, a machine, choices. Out: a program, or Declined. Invariant: reductions come in the order of the
// form, each behind the loops of its level.
#pragma once
#include <functional>

#include "tile/from_task/lanes.h"

namespace axon::tile {

class ProgramMaker : protected LaneMaker {
 public:
  ProgramMaker(const Origin& of, const Machine& machine, const Choices& choices)
      : LaneMaker(of, machine, choices) {}
  /// Throws Declined.
  MadeProgram run();
  /// Of tasks that compute nothing.
  MadeProgram of_nothing();
  /// Is something kept in scratch?
  bool keeps() const { return !kept_.empty() && !choices_.one_block; }
  /// Are there rows that are whole blocks, where it is made for such? Does only the guard say so?
  bool uses_whole_blocks() const { return uses_whole_blocks_; }
  bool guards_blocks() const { return guards_blocks_; }
  bool uses_one_block() const { return uses_one_block_; }

 protected:
  /// The result of a reduction at the points of the loops around.
  void reduce(uint32_t number);
  /// The sum of a reduction whose points are those of the loops around.
  TileId reduced(const RowReduction&);
  void store_all(const BlockPlace&);
  Use output_at(uint32_t output, const BlockPlace&);
  void store(uint32_t output, std::optional<Use> made, const BlockPlace&);
  bool reads_what_is_stored() const;
  /// Blocks along a stretch. `inside` is given the place of a block; what it needs of the points around, it
  /// computes before.
  void blocks(Var along, const Stretch&, std::vector<TileId> carries,
              const std::function<void(const BlockPlace&)>& inside, const Counts& = {});
  /// Before the loops at hand; what is checked for it is where the facts hold.
  std::optional<Use> number_before(ScalarId, const std::vector<Fact>& facts);

  bool streams_ = false;  ///< a store goes past the caches

 private:
  void level(size_t rows_around);
  void suppose(const Fact&);
  void rows_at_once();
  void add_rows_to(BlockPlace&) const;
  void fold_into(TileId total, Pointwise, Elem, TileId sum);
  TileId shared_for(Elem);
  TileId reduced_at_once(const RowReduction&);
  void reduce_blocks(const RowReduction&, TileId sum);
  void over_outer(const RowReduction&, size_t next, TileId sum);
  bool is_known_before(const DataRange&, const std::vector<Var>& inside) const;
  void reduce_by_data(const RowReduction&, const std::function<void(ScalarId term, const Counts&)>& part);
  void store_outputs();
  // ---- reductions down columns (down_columns.cpp) ----
  void reduce_down_columns();
  std::vector<ScalarId> reductions_down_columns() const;
  void reduce_down(ScalarId reduction, int64_t most_blocks);
  Counts counts_down(const Points&, const BlockPlace& column);
  std::optional<Use> number_of_part(ScalarId row, int64_t more);
  std::optional<Use> number_in_part(ScalarId row, Var part);
  void store_squares();
  bool fills_axis(const graph::Output&) const;
  bool has_steady_steps(const Dim& index, const BlockPlace&) const;
  void plan_kept();
  void keep_shared(ScalarId, Var along, const std::set<ScalarId>& later);
  Dim extent_along(Var) const;

  std::set<Var> kept_along_;
  std::map<Elem, TileId> shared_;  ///< a number for each warp
};

}  // namespace axon::tile
