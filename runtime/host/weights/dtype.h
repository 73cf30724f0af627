// Element types as stored in files: names, sizes, and conversion between the float types.
//
// The order of the enumerators is the order of the compiler's element types, so that a number in a bundle
// means the same on both sides. Conversion rounds once, to nearest, ties to even; overflow gives infinity,
// NaN stays NaN.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "host/weights/result.h"

namespace axon::weights {

enum class Dtype : uint8_t { f64, f32, f16, bf16, f8e4m3, f8e5m2, i64, i32, i16, i8, u8, boolean };

std::string_view dtype_name(Dtype);  ///< as the language writes it: f32, bool, ...
std::optional<Dtype> dtype_from_name(std::string_view name);
uint64_t dtype_bytes(Dtype);

/// The number of elements of a shape, within limits.h; axes of extent 0 count as 1 for the check, so that
/// strides of an empty tensor cannot overflow either.
Result<uint64_t> element_count(std::span<const uint64_t> shape);
/// element_count times the size of an element.
Result<uint64_t> byte_count(std::span<const uint64_t> shape, Dtype);
std::string shape_text(std::span<const uint64_t> shape);  ///< [2, 3]

float f16_to_f32(uint16_t);
float bf16_to_f32(uint16_t);
uint16_t f64_to_f16(double);  ///< exact for a widened float too: one rounding
uint16_t f64_to_bf16(double);
inline uint16_t f32_to_f16(float value) { return f64_to_f16(value); }
inline uint16_t f32_to_bf16(float value) { return f64_to_bf16(value); }

/// Equal types, or both of f64 f32 f16 bf16.
bool convertible(Dtype from, Dtype to);
/// Converts `count` elements between buffers that do not overlap, at any alignment. The pair must be
/// convertible.
void convert(Dtype from, const void* in, Dtype to, void* out, uint64_t count);

}  // namespace axon::weights
