// Elements as stored in files and tensors: how many bytes a shape has, and conversion between the float
// types.
//
// Conversion rounds once, to nearest, ties to even. What is too large becomes an infinity, or NaN in a format
// without infinities; NaN stays NaN.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "host/elem.h"
#include "host/weights/result.h"

namespace axon::weights {

/// The number of elements of a shape, within limits.h; axes of extent 0 count as 1 for the check, so that
/// strides of an empty tensor cannot overflow either.
Result<uint64_t> element_count(std::span<const uint64_t> shape);
/// element_count times the size of an element.
Result<uint64_t> byte_count(std::span<const uint64_t> shape, Elem);
std::string shape_text(std::span<const uint64_t> shape);  ///< [2, 3]

/// Equal types, or both floats.
bool convertible(Elem from, Elem to);
/// Converts `count` elements between buffers that do not overlap, at any alignment. The pair must be
/// convertible.
void convert(Elem from, const void* in, Elem to, void* out, uint64_t count);

/// One element of a float type, at any alignment: the number that it is, and the nearest one to `value`.
double load_float(Elem, const void* at);
void store_float(Elem, double value, void* at);

}  // namespace axon::weights
