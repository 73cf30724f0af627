// Tile programs of matrix products by multiply-adds of vectors. Only from_task.cpp includes this.
//
// In: products, a machine whose worker is one thread. Out: a program: what rows need before (norms), sums,
// then the outputs, row by row. Sums are in registers while a block of the depth is gone through, and in
// scratch memory between; so what comes before and after goes through rows as programs without products do.
//
// Invariant: tiles in scratch have the extents of a part of the task, at most `most_rows` by `most_columns`.
// Outside of the depth and of the tensors everything is 0.
#pragma once
#include "tile/from_task/block_sums.h"

namespace axon::tile {

/// The blocks for a machine: accumulators that leave registers for both operands.
ContractionBlocks blocks_for(const Machine&, bool one_row);

class ContractionMaker : protected BlockSums {
 public:
  ContractionMaker(const Origin& of, const ProductForm& form, const Machine& machine,
                   const ContractionBlocks& blocks)
      : BlockSums(of, form, machine, blocks) {}
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
  void multiply_all();
  void over_blocks(const std::vector<const Product*>&, const std::vector<TileId>& sums);
  void over_columns(const Product&, const Dim& first, const Dim& length);
  void ask_for_beginnings();

  // Results (contraction_results.cpp):
  void outputs();
  void prefetch_scattered_outputs();
  bool is_stored_turned(uint32_t output) const;
  void keep_turned(uint32_t output, const Dim& row, const BlockPlace&);
  void store_turned(uint32_t output);
  void turned_outputs(const std::set<uint32_t>& turned);
  Use result_at(graph::ScalarId, const BlockPlace&) override;
  void read_sum(const Product&, const Dim& number, const Dim& block, const Dim& row);

  std::map<uint32_t, TileId> turned_;  ///< outputs in scratch, which are stored turned
  /// Of rows, in scratch: what the data chooses, by scalar; the run; and 1 of the first row of a run.
  std::map<graph::ScalarId, TileId> chosen_;
  TileId runs_of_rows_, starts_;
};

}  // namespace axon::tile
