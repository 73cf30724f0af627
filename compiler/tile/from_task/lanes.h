// Reductions that each lane of a block has for itself, or that are computed element by element. Only
// from_task/ includes this.
//
// In: an expression with reductions (lane_form.h). Out: loops over their points, whose tiles have the labels
// of the block around. Invariant: a value that a point of a reduction does not change is computed before the
// loops; what was computed inside of them is not known behind them.
#pragma once
#include "tile/from_task/values.h"
#include "tile/from_task/windows.h"

namespace axon::tile {

class LaneMaker : protected ValueMaker {
 protected:
  using ValueMaker::ValueMaker;

  Use reduced_there(ScalarId reduction, const BlockPlace&) override;
  /// Its points, of those that masks leave, and what is folded there.
  struct Points {
    std::vector<graph::Axis> binders;
    std::vector<std::pair<Dim, Dim>> intervals;
    ScalarId term;
    std::vector<DataRange> by_data;  ///< of each binder; the term is neutral elsewhere
    std::vector<ScalarId> unmasked;  ///< what it is where both bounds of this one hold, if masks say no more
  };
  static Elem type_of_sum(const graph::Scalar& reduction);
  Points points_of(ScalarId reduction, const BlockPlace&) const;
  /// inside() with the binders from number `next` on in loops, which carry the tile.
  void over(const Points&, size_t next, TileId sum, const std::function<void()>& inside,
            const std::vector<CountUses>& counted = {});
  /// sum = sum `op` term, where the place's bounds hold; elsewhere it stays as it is.
  void accumulate(Pointwise op, const Use& sum, ScalarId term, const BlockPlace&);
  /// The same of lanes that stay apart: elsewhere the sum is undefined.
  void accumulate_in_lanes(Pointwise op, const Use& sum, ScalarId term, const BlockPlace&);
  /// The largest parts of the term that are the same at all points, and may be computed of no points; what
  /// they check, they check where there are points.
  void compute_before(const Points&, const BlockPlace&);
  /// Of a binder: where its points begin, and how many they are.
  std::pair<Dim, Dim> stretch_of_binder(const Points&, size_t binder) const;
  /// What is known of a binder where it has a point.
  void add_range(const Points&, size_t binder);
  using ProgramFrame::add_range;

  std::map<ScalarId, TileId> in_scratch_;  ///< reductions of all blocks, which are computed already

 private:
  void compute_before(ScalarId part, const std::vector<graph::Axis>& binders, const BlockPlace&, bool always);
  void note_points(const Points&);
  std::vector<Fact> has_points(const Points&) const;
  Use zero_outside(ScalarId, const BoundedValue&, const BlockPlace&);
  bool multiply_add(Pointwise op, const Use& sum, ScalarId term, const BlockPlace&);
  std::vector<CountUses> counted(Points&, const BlockPlace&);
  bool can_be_counted(ScalarId bound, const Points&) const;
  /// The least or the greatest of the numbers that lanes have.
  Use folded_lanes(const Use&, Pointwise, const BlockPlace&);
  void reduce_at(ScalarId reduction, const Use& sum, const BlockPlace&);
};

}  // namespace axon::tile
