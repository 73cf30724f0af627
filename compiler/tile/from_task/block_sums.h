// Sums of matrix products, block by block. Only from_task/ includes this.
//
// In: products, a part of the rows and of the columns. Out: code that adds products along a stretch of the
// depth to sums, which are in registers meanwhile and in scratch memory between.
//
// Invariant: a sum goes through its depth in one chain, in ascending order; of one row through as many parts
// of a panel as the machine reads at once (`streams`), each in a chain, which are added at the end; through
// windows that slide in blocks of the depth, line by line, step by step of the window. Sums of integers of 8
// bits are exact (exact_products.cpp).
#pragma once
#include "tile/from_task/contraction_operands.h"

namespace axon::tile {

/// Steps of a block that each part of a depth has.
Dim steps_of_part(const Dim& length, int64_t block, int64_t parts);

class BlockSums : protected OperandViews {
 protected:
  using OperandViews::OperandViews;

  /// The sums of all rows and columns, in scratch.
  void clear(const Product&);
  /// Registers for a block of sums, which are of the reduction's type in scratch.
  Use accumulators(const Product&, Elem);
  Access sums_at(const Product&, const Dim& column, const Dim& block, const std::vector<Index>& rest) const;
  Use use_of_sums(TileId) const;
  void set_to_zero(TileId sums);

  /// What the sums of some parts of the depth get: `steps` of each from one on.
  struct Steps {
    Dim from, steps;
  };
  void accumulate(const Product&, const std::vector<TileId>& parts, const Dim& row, const Dim& column,
                  const Dim& first, const Dim& length, const std::optional<Steps>& = {});
  void add_block(const Product&, const Dim& row, const Dim& column, const Dim& first, const Dim& length);
  Use with_block(const Product&, const Dim& row, const Dim& column, const Dim& first, const Dim& length);
  /// Of steps of so many points along the axis of a product those that the data leaves.
  virtual CountUses steps_by_data(Var, int64_t) { return {}; }

  // Of one row:
  void multiply_one_row(const Product&);
  int64_t parts_of_depth(const Product&) const;

  std::map<uint32_t, TileId> sums_;  ///< in scratch, by reduction

 private:
  void over_packed(const Product&, TileId sums, const Dim& column);
  std::vector<TileId> sums_of_parts(const Product&, TileId sums);
  void add_part(const Use& sums, TileId part);

  // Of integers of 8 bits (exact_products.cpp):
  void add_block_exactly(const Product&, const Dim& row, const Dim& column, const Dim& first,
                         const Dim& length);
  void multiply_one_row_exactly(const Product&);
  void add_exact_part(const Product&, const Use& part, const Dim& row, const Dim& column);

  std::map<uint32_t, TileId> exact_parts_;  ///< in scratch, by reduction
};

}  // namespace axon::tile
