// Integer expressions that 64 bits hold, whatever their variables are.
//
// A Dim is an integer without bounds; what runs is arithmetic on i64, which wraps. The two agree where no
// operand, no partial sum and no product leaves i64. This is decided from the ends of the variables alone, by
// interval arithmetic in 128 bits: no facts, no search. An integer that the prover is to read as a Dim has
// been asked about here first.
//
// Sizes, and the index variables that run below them, are at most largest_size: the call refuses others. What
// the product of several of them is at most is said by the caller: largest_product where the number of
// elements of a tensor, or a check of its own, limits it.
#pragma once
#include <functional>
#include <optional>

#include "shape/dim.h"

namespace axon::shape {

constexpr int64_t largest_size = int64_t{1} << 48, largest_product = int64_t{1} << 56;

/// low <= value <= high.
struct WideRange {
  Wide low = 0, high = 0;
  bool inside(const WideRange& outer) const { return low >= outer.low && high <= outer.high; }
};
/// Every i64, and every size.
WideRange integer_range();
WideRange size_range();

/// The values that the expression can have while each variable has one of `of(variable)`, and no product of
/// several sizes exceeds `most_of_products`; nullopt when something in it may leave i64. A divisor that is 0
/// counts as 1: what divides by it is never used.
std::optional<WideRange> exact_range(const Dim&, const std::function<WideRange(Var)>& of,
                                     Wide most_of_products = largest_product);

}  // namespace axon::shape
