// A node as matrix products and what is made of their elements.
//
// In: a task type whose outputs read sums of products of a left operand and a tensor, at their own points.
// Out: which axes are rows, columns and depth, the operands, and the outputs' values. There, and in left
// operands, the result of a reduction is a load of the local with the reduction's number, without indices.
//
// Operands are turned where the outputs lie along what would be rows: then the left operand is what lies best
// in memory, and the right one is computed.
//
// Invariant: all products have the same axis of rows, if any, and of columns (`along` of the form); the
// form's rows are the other axes, which are looped over. Other reductions, as those of a norm before a
// product, do not depend on the columns. Depths of one extent have one variable, so that equal left operands
// are one expression.
#pragma once
#include <string>
#include <variant>

#include "tile/from_task/row_form.h"
#include "tile/from_task/windows.h"

namespace axon::tile {

struct Product {
  uint32_t reduction = 0;  ///< its number in the form
  /// What only the right operand runs along: the axis of the outputs, or one like it of the sum's own, at
  /// whose indices outputs load the result.
  graph::Axis column;
  graph::Axis depth;               ///< the binder that both operands run along
  std::vector<graph::Axis> outer;  ///< other binders, which are looped over
  /// Binders that are one axis of the left operand's tensor, which `depth` is then: its variable is that of
  /// the last of them. Else none.
  std::vector<graph::Axis> run;
  std::optional<Slide> slide;  ///< then: of a right operand, with the last of those along the columns
  graph::ScalarId left;        ///< the product of all factors but one
  graph::ScalarId right;       ///< a load that does not depend on rows
  bool is_packed = false;      ///< the right operand may be any value, which is computed block by block first
};

struct ProductForm {
  RowForm form;
  std::optional<uint32_t> row;  ///< an axis of the domain
  std::vector<Product> products;

  bool is_product(uint32_t reduction) const {
    for (const Product& p : products)
      if (p.reduction == reduction) return true;
    return false;
  }
};

/// Why there is none, as words, else. With `may_pack` right operands may be computed, and of windows.
std::variant<ProductForm, std::string> product_form(const task::Program&, const task::TaskType&,
                                                    graph::Graph&, bool may_pack);

/// Are vectors along columns, which lie so many elements apart, a few loads of vectors? A right operand that
/// is packed is made of such.
inline bool is_packed_step(std::optional<int64_t> step) {
  constexpr int64_t most_apart = 4;
  return step && *step >= 0 && *step <= most_apart;
}

}  // namespace axon::tile
