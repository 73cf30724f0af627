// Contraction of one tile: C[r, c] (+)= sum over k of A[r, k] * B[k, c], with accumulators of one type (Acc)
// and a right operand stored as Acc or narrower. What a task's body calls; one instance per level,
// accumulator and storage type.
//
// Strides count elements. The right operand is one of
//   panels        b_panel > 0: column c lives at (c / 32) * b_panel + k * 32 + c % 32, padded to whole panels
//   columns next  b_panel = 0, b_column = 1: row-major, nothing past the last column may be read
//   depth next    b_panel = 0, b_depth = 1: each column is contiguous along k
//   anything      any strides
// The left operand's rows are `a_row` apart, its elements along k `a_depth`. There are `groups` of `rows`
// rows, `a_group` and `c_group` apart: a right operand that is not panels is packed once for all of them. C's
// rows are `c_row` apart and hold whole panels of 32 columns: columns up to the next multiple of 32 are
// written with values that mean nothing.
#pragma once
#include <stdint.h>

#define CLASS(name, columns, ...) constexpr int64_t columns_of_##name = columns;
#include "machines.def"
constexpr int64_t panel_columns = columns_of_x86_64;

struct ContractShape {
  int64_t rows, columns, depth;
  int64_t c_row;
  int64_t a_row, a_depth;
  int64_t b_depth, b_column, b_panel;
  int64_t groups, c_group, a_group;
  int64_t accumulate;  ///< 0: C is overwritten; else added to
};
