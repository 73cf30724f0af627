// Tile programs of matrix products by multiply-adds of vectors. Only from_task.cpp includes this.
//
// In: products, a machine whose worker is one thread. Out: a program: what rows need before (norms), sums,
// then the outputs, row by row. Sums are in registers while a block of the depth is gone through, and in
// scratch memory between; so what comes before and after goes through rows as programs without products do.
//
// Invariant: a sum goes through its depth in one chain, in ascending order; of one row through as many parts
// of a panel as the machine reads at once (`streams`), each in a chain, which are added at the end; through
// windows that slide in blocks of the depth, line by line, step by step of the window. Outside of the depth
// and of the tensors everything is 0. Tiles in scratch have the extents of a part of the task, at most
// `most_rows` by `most_columns`.
#pragma once
#include "tile/from_task/contraction_operands.h"

namespace axon::tile {

/// Steps of a block that each part of a depth has.
Dim steps_of_part(const Dim& length, int64_t block, int64_t parts);
/// The blocks for a machine: accumulators that leave registers for both operands.
ContractionBlocks blocks_for(const Machine&, bool one_row);

class ContractionMaker : protected OperandViews {
 public:
  ContractionMaker(const Origin& of, const ProductForm& form, const Machine& machine,
                   const ContractionBlocks& blocks)
      : OperandViews(of, form, machine, blocks) {}
  virtual ~ContractionMaker() = default;
  /// Throws Declined.
  MadeProgram run();

 protected:
  // Loops around the product of two matrices:
  void in_parts(std::optional<uint32_t> axis, int64_t most, Part& part, const std::function<void()>& inside);
  bool strides_are_known(const Tensor&) const;
  void sum_side_by_side();
  void part_of_task();
  void bound_rows();
  void note_first_read();

  // Right operands that the data chooses by the row (contraction_runs.cpp):
  void index_row();
  void number_runs();
  void number_row(const std::vector<Use>& before, const Use& run, const Dim& block, const Dim& row);
  void over_runs(const Product&, const Dim& first, const Dim& length);
  void add_run(const Product&, const Dim& block, const Use& run, const Dim& first, const Dim& length);
  void keep_rows_of_run(const Product&, TileId part, const Dim& column, const Dim& block, const Use& run);
  std::map<ScalarId, std::vector<Fact>> choices_of_rows() const;
  Use kept_number(TileId kept, const Dim& block, const Dim& row);

  /// Rows one by one, with their number in blocks and in a block. `results_` of statistics are set.
  void each_row(const std::function<void(const Dim& block, const Dim& row)>& inside,
                const std::vector<TileId>& carries = {});
  void each_block_of_rows(const std::function<void(const Dim& block)>& inside,
                          const std::vector<TileId>& carries);
  void rows_of_block(const Dim& block, const std::function<void(const Dim& row)>& inside,
                     const std::vector<TileId>& carries);

  MadeProgram finish(const Body& statements);

  // What rows need before:
  void statistics();
  /// Is it computed once for a row, before all products?
  virtual bool is_statistic(uint32_t reduction) const { return !product_.is_product(reduction); }

  // Sums:
  void multiply_one_row(const Product&);
  void over_packed(const Product&, TileId sums, const Dim& column);
  void multiply_all();
  void clear(const Product&);
  void over_blocks(const std::vector<const Product*>&, const std::vector<TileId>& sums);
  void over_columns(const Product&, const Dim& first, const Dim& length);
  void add_block(const Product&, const Dim& row, const Dim& column, const Dim& first, const Dim& length);
  Use with_block(const Product&, const Dim& row, const Dim& column, const Dim& first, const Dim& length);
  int64_t parts_of_depth(const Product&) const;
  std::vector<TileId> sums_of_parts(const Product&, TileId sums);
  void ask_for_beginnings();
  Use use_of_sums(TileId) const;
  void set_to_zero(TileId sums);
  void add_part(const Use& sums, TileId part);
  /// What the sums of some parts of the depth get: `steps` of each from one on.
  struct Steps {
    Dim from, steps;
  };
  void accumulate(const Product&, const std::vector<TileId>& parts, const Dim& row, const Dim& column,
                  const Dim& first, const Dim& length, const std::optional<Steps>& = {});
  /// Of steps of so many points along the axis of a product those that the data leaves.
  virtual CountUses steps_by_data(Var, int64_t) { return {}; }

  // Sums of integers of 8 bits (exact_products.cpp):
  void add_block_exactly(const Product&, const Dim& row, const Dim& column, const Dim& first,
                         const Dim& length);
  void multiply_one_row_exactly(const Product&);
  void add_exact_part(const Product&, const Use& part, const Dim& row, const Dim& column);

  // Results (contraction_results.cpp):
  void outputs();
  void prefetch_scattered_outputs();
  bool is_stored_turned(uint32_t output) const;
  void keep_turned(uint32_t output, const Dim& row, const BlockPlace&);
  void store_turned(uint32_t output);
  void turned_outputs(const std::set<uint32_t>& turned);
  Use result_at(graph::ScalarId, const BlockPlace&) override;
  void read_sum(const Product&, const Dim& number, const Dim& block, const Dim& row);

  /// Registers for a block of sums, which are of the reduction's type in scratch.
  Use accumulators(const Product&, Elem);
  Access sums_at(const Product&, const Dim& column, const Dim& block, const std::vector<Index>& rest) const;

  std::map<uint32_t, TileId> sums_;    ///< in scratch, by reduction
  std::map<uint32_t, TileId> exact_parts_;  ///< in scratch, by reduction
  std::map<uint32_t, TileId> turned_;  ///< outputs in scratch, which are stored turned
  /// Of rows, in scratch: what the data chooses, by scalar; the run; and 1 of the first row of a run.
  std::map<graph::ScalarId, TileId> chosen_;
  TileId runs_of_rows_, starts_;
};

}  // namespace axon::tile
