// A node as one matrix product and what is made of its elements, for instructions that multiply tiles.
//
// In: a task type whose outputs read one sum of products of two tensors, at their own points. Out: which axes
// are rows, columns and depth, the operands, and the outputs' values, in which the product is a load of the
// local 0 without indices. Invariant: `form` has rows as `across`, columns as `along` and all other axes in
// `rows`; the product is its one reduction.
#pragma once
#include <string>
#include <variant>

#include "tile/from_task/row_form.h"

namespace axon::tile {

struct ProductForm {
  RowForm form;
  graph::Axis depth;
  graph::ScalarId left, right;  ///< loads
};

/// Why there is none, as words, else.
std::variant<ProductForm, std::string> product_form(const task::Program&, const task::TaskType&,
                                                    graph::Graph&);

}  // namespace axon::tile
