// Tile programs of matrix products by multiply-adds of vectors. Only from_task.cpp includes this.
//
// In: products, a machine whose worker is one thread. Out: a program: what rows need before (norms), sums,
// then the outputs, row by row. Sums are in registers while a block of the depth is gone through, and in
// scratch memory between; so what comes before and after goes through rows as programs without products do.
//
// Invariant: a sum goes through its depth in ascending order, in one chain. Outside of the depth and of the
// tensors everything is 0. Tiles in scratch have the extents of a part of the task, at most `most_rows` by
// `most_columns`.
#pragma once
#include "tile/from_task/maker.h"
#include "tile/from_task/product_form.h"

namespace axon::tile {

/// How a product is cut.
struct ContractionBlocks {
  int64_t rows = 1;      ///< of accumulators in registers
  int64_t vectors = 2;   ///< of columns of these
  int64_t depth = 256;   ///< gone through before the next accumulators
  bool one_row = false;  ///< the guard says that a task has one row, whose depth is one block
};

/// The blocks for a machine: accumulators that leave registers for both operands.
ContractionBlocks blocks_for(const Machine&, bool one_row);

/// An index without a table.
inline Index at(const Dim& d) { return {std::nullopt, d}; }

class ContractionMaker : ProgramMaker {
 public:
  ContractionMaker(const Origin& of, const ProductForm& form, const Machine& machine,
                   const ContractionBlocks& blocks)
      : ProgramMaker(of, machine, {blocks.vectors}), product_(form), blocks_of_(blocks) {}
  /// Throws Declined.
  MadeProgram run();

 private:
  /// A part of an axis that tiles in scratch hold all of.
  struct Part {
    std::optional<uint32_t> axis;
    Stretch stretch;
    int64_t most = 1;  ///< elements
  };
  // Loops around the product of two matrices:
  void in_parts(std::optional<uint32_t> axis, int64_t most, Part& part, const std::function<void()>& inside);
  void part_of_task();
  void note_first_read();
  /// Rows one by one, with their number in blocks and in a block. `results_` of statistics are set.
  void each_row(const std::function<void(const Dim& block, const Dim& row)>& inside);
  void at_row(const Dim& row);

  // What rows need before:
  void statistics();
  void read_statistics(const Dim& row);
  bool is_direct(graph::ScalarId left, Elem in) const;
  TileId staged_for(graph::ScalarId left, Elem in);
  void stage(const Product&, const Stretch&);
  void stage_row(const Product&, const Stretch&, const Dim& row);
  void in_run(const Product&);

  // Sums:
  void multiply_one_row(const Product&);
  void multiply_all();
  void clear(const Product&);
  void over_blocks(const std::vector<const Product*>&, const std::vector<TileId>& sums);
  void over_columns(const Product&, const Dim& first, const Dim& length);
  void accumulate(const Product&, TileId sums, const Dim& row, const Dim& column, const Dim& first,
                  const Dim& length);
  void view_left(const Product&, const Dim& row, const Dim& first, const Dim& step);
  void view_right(const Product&, const Dim& column, const Dim& first, const Dim& step);
  void pack(const Product&, const Dim& column, const Dim& first, const Dim& length);
  bool needs_packing(const Product&) const;

  // Right operands of any values (packed_operands.cpp):
  void pack_all(const Product&, const Dim& first, const Dim& length);
  std::vector<Fact> at_depth(const Product&, const Dim& number);
  void pack_block(const Product&, const Dim& step, const std::vector<Fact>& facts, const BlockPlace&);
  void pack_lines(const Product&, const Dim& first, const Dim& length);
  TileId line_of(const Product&, Elem);
  int64_t vectors_of_line(const Product&) const;
  int64_t taps_of(const Product&) const;
  int64_t columns_beyond(const Product&) const;
  Use copied(graph::ScalarId load, TileId to, const BlockPlace&);
  Use converted_to(Elem, const Use&);

  // Results:
  void outputs();
  void read_sums(const Dim& column, const Dim& block, const Dim& row);

  TileId scratch(const std::string& name, Elem, std::vector<int64_t> shape);
  Use accumulators(const Product&);
  Access sums_at(const Product&, const Dim& column, const Dim& block, const std::vector<Index>& rest) const;
  std::vector<Var> left_labels(const Product&) const;
  std::vector<Var> right_labels(const Product&) const;
  BlockPlace depth_place(const Product&, const Dim& first) const;
  int64_t depth_of(const Product&) const;
  int64_t columns() const { return block_; }

  const ProductForm& product_;
  const ContractionBlocks blocks_of_;
  const Var depth_label_ = shape::fresh_var("d"), tap_label_ = shape::fresh_var("t");
  Part rows_, columns_;
  std::map<uint32_t, TileId> numbers_;                   ///< of rows: statistics in scratch, by reduction
  std::map<uint32_t, TileId> sums_;                      ///< in scratch, by reduction
  std::map<graph::ScalarId, TileId> staged_;             ///< left operands in scratch
  std::map<uint32_t, TileId> packed_;                    ///< right operands in scratch, by reduction
  std::map<uint32_t, std::pair<TileId, TileId>> views_;  ///< of both operands, by reduction
  std::map<uint32_t, TileId> panels_;                    ///< views of weights, by reduction
};

}  // namespace axon::tile
