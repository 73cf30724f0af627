// A node that weights values by an online softmax (attention), as matrix products and what is made of them.
//
// In: a task type whose outputs read one online reduction (the note in graph.h). Out: its score, which reads
// sums over products of a left operand that the key does not change and a right one, as results of
// reductions; the values, right operands of products along the key whose left operand is the weights; and
// what outputs make of the maximum, the sum of the weights and the weighted sums, which are results of
// reductions, too.
//
// Invariant: the columns are those of the values; scores do not depend on them. The axis of rows is one that
// no right operand depends on. Other reductions are computed once for a row, before all keys, or with the
// outputs.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "graph/binder_range.h"
#include "tile/from_task/product_form.h"

namespace axon::tile {

struct OnlineForm {
  /// The scores' products first, whose columns are the keys, then those of the values. A value's left operand
  /// is the result of `weights`, which has no other meaning.
  ProductForm all;
  size_t scores = 0;  ///< how many products the scores have
  graph::Axis key;
  graph::BinderRange range;                    ///< of keys, for a row
  uint32_t maximum = 0, sum = 0, weights = 0;  ///< numbers of reductions; the maximum's term is the score
  bool is_unmasked = false;                    ///< the range is all that masks say, and the score has none
  /// Other reductions, inner ones first: those of a row that are computed before all keys; and with the
  /// outputs, those of a row that go across memory or read what the softmax gives, and those that depend on
  /// the columns.
  std::vector<uint32_t> before, of_rows, of_columns;
  bool base2 = false;
  double scale = 1;
};

/// Why there is none, as words, else.
std::variant<OnlineForm, std::string> online_form(const task::Program&, const task::TaskType&, graph::Graph&);

}  // namespace axon::tile
