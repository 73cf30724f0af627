// Tile programs of attention: an online softmax that weights values, in blocks of keys (Dao et al. 2022,
// "FlashAttention"; Milakov and Gimelshein 2018). Only from_task.cpp includes this.
//
// In: a form, a machine whose worker is one thread. Out: a program: for a part of the rows and of the
// columns, blocks of keys: scores by matrix products; row by row their maximum, weights, and the sum of
// these; then the values, weighted, added to what earlier blocks have given, which is rescaled where the
// maximum grows.
//
// Invariant: between blocks of keys the maximum, the sum and the weighted sums of each row are in scratch.
// Keys that no row of the part can look at are left out in whole blocks. Keys ascend, in one chain.
#pragma once
#include "tile/from_task/contractions.h"
#include "tile/from_task/online_form.h"

namespace axon::tile {

class OnlineMaker : ContractionMaker {
 public:
  /// With `few_rows`, which the guard says, scores are dot products, and nothing is packed.
  OnlineMaker(const Origin& of, const OnlineForm& form, const Machine& machine,
              const ContractionBlocks& blocks, bool few_rows)
      : ContractionMaker(of, form.all, machine, blocks_of_keys(blocks)), online_(form), few_rows_(few_rows) {}
  /// Throws Declined.
  MadeProgram run();

 private:
  static ContractionBlocks blocks_of_keys(ContractionBlocks);
  bool is_statistic(uint32_t reduction) const override;
  CountUses steps_by_data(Var, int64_t) override;
  void part_of_rows(const std::function<void()>& inside);
  void part_of_task();
  void begin_rows();
  Stretch range_of_keys() const;
  CountUses blocks_by_data(const Dim& first);
  bool is_known_of_rows(graph::ScalarId bound) const;
  Use extreme_of_rows(graph::ScalarId bound, Pointwise);
  CountUses steps_of_keys(const Dim& first, int64_t at_once);
  Use block_of(const Use& key, const Dim& first, int64_t at_once, int64_t more);
  Use key_in_block(graph::ScalarId bound);
  void mask_by_data(Map& score, const BlockPlace&);
  std::optional<Dim> at_extreme(const Dim& bound, bool greatest) const;
  void block_of_keys();

  // Of a block of keys:
  void scores();
  void dot_products(const Product&);
  void weigh(const Dim& block);
  void each_block(const std::vector<TileId>& carries, const std::function<void(const BlockPlace&)>& inside);
  TileId greatest_score(const Dim& block, const Dim& row);
  TileId weights_of_row(const Dim& block, const Dim& row);
  void values(const Product&);
  void rescale(const Dim& block, const Dim& row);
  std::vector<const Product*> of_values() const;
  /// What is kept of rows from one block of keys to the next.
  std::vector<TileId> of_rows() const;

  // Numbers of rows, in scratch, those of a block next to each other, as many as lanes are computed at once:
  int64_t numbers_at_once() const;
  TileId numbers(const char* name, int64_t blocks);
  Access numbers_of_block(TileId numbers, const Dim& block) const;
  Use of_block(const char* name);
  Use vector_of(const char* name, int64_t elements);
  Use of_block(const char* name, std::vector<Expr>);
  Use read(TileId numbers, const Dim& block);
  void write(TileId numbers, const Dim& block, const Use&);
  TileId read_number(TileId numbers, const Dim& block, const Dim& row);
  void write_number(TileId numbers, const Dim& block, const Dim& row, TileId number);
  std::vector<Expr> power(const Use& of, const Use& shift) const;

  void outputs();
  void where_columns_are(const std::function<void()>& inside);
  void reduce_elements(uint32_t number, const BlockPlace&);

  const OnlineForm& online_;
  const bool few_rows_;
  Part keys_;  ///< a block
  Elem elem_ = Elem::f32;
  TileId maximum_, sum_, weights_;       ///< of all rows, in scratch
  TileId row_scores_;                    ///< of a block of rows, as the next four
  TileId here_, shift_, factor_, more_;  ///< of these keys: maxima, what is subtracted, scales, sums
  std::map<graph::ScalarId, Use> bounds_in_block_;
  TileId first_key_, end_of_keys_;  ///< in scratch: numbers that the data says, of all rows
};

}  // namespace axon::tile
