// Both operands of matrix products as multiply-adds have them. Only from_task/ includes this.
//
// In: products, a part of the rows and of the columns. Out: code that makes a left operand which is computed,
// row by row, in scratch; views of a block of both operands along the depth; and prefetches of what later
// blocks read. Invariant: what a view has outside of the depth and of the tensors is 0.
#pragma once
#include "tile/from_task/packed_operands.h"

namespace axon::tile {

class OperandViews : protected OperandMaker {
 protected:
  using OperandMaker::OperandMaker;

  void at_row(const Dim& row);
  /// Is the right operand brought together block by block?
  bool packs(const Product&) const;
  /// Is it packed by rows, of which those of the next block are asked for while this one is multiplied?
  bool asks_for_next_rows(const Product&) const;
  void ask_while_packing(const Product&, const Dim& first, const Dim& step);

  // Left operands in scratch:
  /// Sets `results_` of what was computed of the row before.
  void read_statistics(const Dim& row);
  /// Blocks of rows that tiles in scratch have.
  int64_t most_blocks_of_rows() const { return (rows_.most + blocks_of_.rows - 1) / blocks_of_.rows; }
  bool is_direct(graph::ScalarId left, Elem in) const;
  TileId staged_for(graph::ScalarId left, Elem in);
  void stage(const Product&, const Stretch&);

  // Blocks of the depth, of which `line` is one of a window that slides, or one of the parts of the depth
  // that are gone through together:
  void view_left(const Product&, const Dim& row, const Dim& first, const Dim& step, int64_t line);
  void view_right(const Product&, const Dim& row, const Dim& column, const Dim& first, const Dim& length,
                  const Dim& step, int64_t line);
  std::pair<TileId, TileId> views_of(const Product&, int64_t line);
  std::vector<Var> labels_of_depth(const Product&, std::vector<Var> before,
                                   const std::vector<Var>& behind) const;

  static constexpr int64_t most_depth = 8192;  ///< of a row that is kept in scratch
  Part rows_;
  std::map<graph::ScalarId, TileId> staged_;  ///< left operands in scratch
  std::map<uint32_t, TileId> numbers_;        ///< of rows: statistics in scratch, by reduction
  bool may_pack_ = true;    ///< right operands that lie in no panels; else they are read where they lie
  bool prefetches_ = true;  ///< what later blocks read of right operands

 private:
  void stage_row(const Product&, const Stretch&, const Dim& row);
  void in_run(const Product&);
  BlockPlace depth_place(const Product&, const Dim& first) const;
  BlockPlace place_of_right(const Product&, const Dim& column, const Dim& first) const;
  void bound_window(const Product&, BlockPlace&) const;
  bool asks_ahead(const Product&, const Access& right) const;
  void prefetch_steps(const Product&, Access right, Prefetch, const Dim& first);
  void prefetch_next_block(const Product&, const Access& right, const Dim& row, const Dim& length,
                           const Dim& step);
  /// Rows of a right operand: every `apart`th from `first` on, and columns that lie `further`.
  struct Rows {
    Dim first;
    int64_t count = 1;
    Dim further = Dim(0);
    int64_t apart = 1;
  };
  void ask_for_rows(const Product&, const Rows&, std::vector<Fact>);
  Dim blocks_of_rows() const;
  void ask_while_multiplying(const Product&, const Dim& row, const Dim& column, const Dim& first,
                             const Dim& step);
  void prefetch_along(const Product&, const Access& right, const Dim& row);

  static constexpr int64_t several_blocks = 4;  ///< of rows, which take much longer than packing
  const Var window_label_ = shape::fresh_var("t");
  /// Of both operands, by reduction and line.
  std::map<std::pair<uint32_t, int64_t>, std::pair<TileId, TileId>> views_;
  std::map<std::pair<uint32_t, int64_t>, TileId> panels_;  ///< views of weights, by the same
};

}  // namespace axon::tile
