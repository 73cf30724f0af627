// Tile programs of matrix products by instructions of a warp (mma). Only from_task.cpp includes this.
//
// In: a product, a machine whose workers are several warps. Out: a program: each step stages a block of both
// operands, 16 bytes at a time, through registers into shared memory, while the blocks of the next step are
// on their way; warps multiply what they read of them. Invariant: along rows, columns and depth everything
// outside of the tensors is 0.
#pragma once
#include "tile/from_task/product_form.h"
#include "tile/from_task/values.h"

namespace axon::tile {

/// How a product is cut: of a task, of a warp, of a step.
struct ProductBlocks {
  int64_t rows = 128, columns = 128, depth = 32;
  int64_t warps_down = 2, warps_across = 4;
};

class ProductMaker : ValueMaker {
 public:
  ProductMaker(const Origin& of, const ProductForm& form, const Machine& machine)
      : ValueMaker(of, machine, {}), product_(the_product(form)), row_axis_(*form.row) {}
  /// Throws Declined.
  MadeProgram run();

 private:
  static const Product& the_product(const ProductForm&);
  /// An operand on its way from memory to the instruction.
  struct Operand {
    graph::ScalarId load;
    bool is_left = false;
    bool depth_is_last = false;  ///< its elements lie next to each other along the depth
    int64_t extent = 0;          ///< of its rows, or columns, in a block
    TileId staged, shared, fragment;
    Var other, along;  ///< labels: of its rows or columns, of the depth
  };
  void choose_tiles();
  void multiply();
  void name_result(const Use& sums);
  LayoutId staging(int64_t outer, int64_t inner);
  LayoutId shared(int64_t outer, int64_t inner);
  Operand operand(graph::ScalarId, bool is_left);
  void fetch(const Operand&, const Dim& step);
  void share(const Operand&);
  void read(const Operand&, int64_t first);
  Use fragment(const Operand& o) const;
  void store(const BlockPlace&);
  BlockPlace place() const;
  TileId made(const std::string& name, Elem, std::vector<int64_t> shape, LayoutId, Space = Space::registers);

  const Product& product_;
  const uint32_t row_axis_;
  const ProductBlocks blocks_of_{};
  const Var depth_label_ = shape::fresh_var("d");
  Stretch rows_, columns_;
  LayoutId left_layout_, right_layout_;
  std::optional<Elem> elem_;  ///< of both operands
};

}  // namespace axon::tile
