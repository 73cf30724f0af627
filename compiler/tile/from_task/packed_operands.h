// Right operands of products in scratch memory, which may be any values: those of windows with zeros around
// the tensor, those that lie across memory. Only from_task/ includes this.
//
// In: products, a machine whose worker is one thread, a part of the columns. Out: code that packs a block of
// the depth for all columns of the part, in blocks of columns that rows go over. Invariant: outside of the
// columns and of the depth what is packed is 0, or not there. What a choice leaves out as 0 is not read.
//
// What windows that slide along the columns have in common is packed once: a block has the columns that its
// windows reach beyond it, too, and a step of the window reads it some columns further along. With windows
// that go on by whole columns after several steps only, there is a line for each of these steps.
#pragma once
#include <tuple>

#include "tile/from_task/maker.h"
#include "tile/from_task/product_form.h"

namespace axon::tile {

/// How a product is cut.
struct ContractionBlocks {
  int64_t rows = 1;       ///< of accumulators in registers
  int64_t vectors = 2;    ///< of columns of these
  int64_t depth = 256;    ///< gone through before the next accumulators
  bool one_row = false;   ///< the guard says that a task has one row, whose depth is one block
  bool slides = false;    ///< windows slide, of which the guard says that they are short
  bool few_rows = false;  ///< the guard says that they take no longer than memory for right operands
};

/// Does the right operand lie along the depth, and across the columns? Throws Declined where it does neither.
bool runs_along_depth(const Origin&, const Product&);
/// Is it brought next to each other in scratch? A weight that lies in panels is multiplied where it lies.
bool needs_packing(const Origin&, const Product&);

/// Do all right operands lie along the depth, and have to be turned? Throws Declined.
bool is_all_turned(const Origin&, const ProductForm&);

class OperandMaker : protected ProgramMaker {
 protected:
  OperandMaker(const Origin& of, const ProductForm& form, const Machine& machine,
               const ContractionBlocks& blocks)
      : ProgramMaker(of, machine, {blocks.vectors}), product_(form), blocks_of_(blocks) {}

  /// A part of an axis that tiles in scratch hold all of.
  struct Part {
    std::optional<uint32_t> axis;
    Stretch stretch;
    int64_t most = 1;  ///< elements
  };

  /// A block of a right operand that is a tensor, next to each other.
  void pack(const Product&, const Dim& column, const Dim& first, const Dim& length);
  /// All blocks of columns, row by row; `asks` for what is read later, else later rows are asked for.
  void pack_rows(const Product&, const Dim& first, const Dim& length,
                 const std::function<void(const Dim& step)>& asks = {});
  /// The columns of a block from one of them on, of all of the depth.
  BlockPlace place_of_columns(const Product&, const Dim& block, const Dim& column = Dim(0)) const;
  const Part& columns_of(const Product&) const;
  /// Does the data choose the right operand by the row?
  bool is_chosen(const Product&) const;
  /// The right operand along the depth from `first` on.
  void pack_ahead(const Product&, const Dim& first, const Dim& length);
  /// Where windows slide, the same of one block of columns.
  void pack_lines(const Product&, const Dim& block, const Dim& first, const Dim& length);
  bool slides(const Product& product) const { return blocks_of_.slides && product.slide; }
  /// Where windows slide, sizes or the guard say how far. Throws Declined.
  void bound_windows();
  graph::Axis depth_of(const Product&) const;
  int64_t depth_at_once(const Product&) const;
  /// Where windows slide: how many lines have their steps, and how many of the steps a line has.
  int64_t lines_of(const Product&) const;
  int64_t steps_of_line(const Product&, int64_t line) const;
  bool has_open_window(const Product&) const;
  /// What is loaded where the place's bounds hold, and 0 elsewhere.
  Use copied(ScalarId load, TileId to, const BlockPlace&);
  Use converted_to(Elem, const Use&);
  /// Asks for what the access names, which `made` has the labels of; for nothing where the data says where.
  void ask_for(const Access&, Prefetch made);
  int64_t columns() const { return block_; }
  /// What operands are multiplied in: the type of the sum, or f32 of integers of 8 bits, of which sums of a
  /// few products are exact there: multiply-adds of floats take less than a product of 32 bits.
  Elem multiplied_in(const Product&) const;
  /// Of how many products a sum in that type is that of the integers; 0: of any number.
  int64_t exact_products(const Product&) const;
  /// How many columns accumulators have at once.
  int64_t columns(const Product&) const;

  const ProductForm& product_;
  const ContractionBlocks blocks_of_;
  const Var depth_label_ = shape::fresh_var("d");
  Part columns_;
  std::map<Var, Part> more_columns_;  ///< of products whose columns are no outputs, by the graph's variable
  std::map<uint32_t, int64_t> columns_at_once_;  ///< where these are several blocks of outputs, by reduction
  /// Right operands in scratch, by reduction and line; where no windows slide, there is one.
  std::map<std::pair<uint32_t, int64_t>, TileId> packed_;

 private:
  std::map<std::tuple<Elem, int64_t, int64_t>, TileId>
      rows_packed_;  ///< by type and columns: in blocks, of one

  void prefetch_row(const Product&, const BlockPlace&, int64_t columns);
  void pack_turned(const Product&, const Dim& column, const Dim& first, const Dim& length);
  void store_packed(const Use& made, TileId to, std::vector<Index> index);
  Use turned_square(const Product&, const Dim& block, const Dim& column, const Dim& row);
  std::vector<Fact> at_depth(const Product&, const Dim& number);
  void check_loads(const Product&) const;
  void pack_values(const Product&, const Dim& first, const Dim& length);
  void pack_block(const Product&, const Dim& step, const std::vector<Fact>& facts, const BlockPlace&);
  void pack_line(const Product&, const Dim& block, const Dim& step, int64_t line,
                 const std::vector<Fact>& facts);
  int64_t window_of(const Product&) const;
  int64_t beyond(const Product&, int64_t line) const;
};

}  // namespace axon::tile
