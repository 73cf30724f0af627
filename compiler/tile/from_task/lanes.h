// Reductions that each lane of a block has for itself, or that are computed element by element. Only
// from_task/ includes this.
//
// In: an expression with reductions (lane_form.h). Out: loops over their points, whose tiles have the labels
// of the block around. Invariant: a value that a point of a reduction does not change is computed before the
// loops; what was computed inside of them is not known behind them.
#pragma once
#include "tile/from_task/values.h"

namespace axon::tile {

class LaneMaker : protected ValueMaker {
 protected:
  using ValueMaker::ValueMaker;

  Use reduced_there(ScalarId reduction, const BlockPlace&) override;
  /// sum = sum `op` term, where the place's bounds hold; elsewhere it stays as it is.
  void accumulate(Pointwise op, const Use& sum, ScalarId term, const BlockPlace&);

 private:
  /// Its points, of those that masks leave, and what is folded there.
  struct Points {
    std::vector<graph::Axis> binders;
    std::vector<std::pair<Dim, Dim>> intervals;
    ScalarId term;
  };
  Points points_of(ScalarId reduction, const BlockPlace&) const;
  void over(const Points&, size_t next, TileId sum, const std::function<void()>& inside);
  void compute_before(ScalarId term, const std::vector<graph::Axis>& binders, const BlockPlace&);
};

}  // namespace axon::tile
