// Names, sizes and conversions of element types (dtype.h).
#include "host/weights/dtype.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "host/weights/limits.h"
#include "host/weights/span.h"

namespace axon::weights {
namespace {

struct Row {
  std::string_view name;
  uint64_t bytes;
};
constexpr Row rows[] = {{"f64", 8}, {"f32", 4}, {"f16", 2}, {"bf16", 2}, {"f8e4m3", 1}, {"f8e5m2", 1},
                        {"i64", 8}, {"i32", 4}, {"i16", 2}, {"i8", 1},   {"u8", 1},     {"bool", 1}};

/// An IEEE binary format of 16 bits with `mantissa_bits` stored bits of fraction.
template <int mantissa_bits>
uint16_t round_to_16_bits(double value) {
  constexpr int exponent_bits = 15 - mantissa_bits;
  constexpr int bias = (1 << (exponent_bits - 1)) - 1;
  constexpr uint16_t infinity = static_cast<uint16_t>(((1 << exponent_bits) - 1) << mantissa_bits);
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const uint16_t sign = static_cast<uint16_t>(bits >> 48 & 0x8000);
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;

  if (exponent == 1024) {
    if (fraction == 0) return sign | infinity;
    const auto payload = static_cast<uint16_t>(fraction >> (52 - mantissa_bits));
    return static_cast<uint16_t>(sign | infinity | payload | 1 << (mantissa_bits - 1));  // quiet
  }
  if (exponent > bias) return sign | infinity;
  // Below the normal range the fraction is shifted further right; past all its bits the value rounds to zero.
  const int lowest = 1 - bias;
  const int shift = 52 - mantissa_bits + std::max(0, lowest - exponent);
  if (shift > 53) return sign;
  const uint64_t significand = fraction | uint64_t{1} << 52;
  const uint64_t kept = significand >> shift;
  const uint64_t rest = significand & ((uint64_t{1} << shift) - 1);
  const uint64_t half = uint64_t{1} << (shift - 1);
  const uint64_t rounded = kept + (rest > half || (rest == half && (kept & 1)));
  // The implicit bit adds one to the exponent field; so does a carry out of the fraction, up to infinity.
  const uint64_t field = exponent < lowest ? 0 : static_cast<uint64_t>(exponent - lowest);
  return static_cast<uint16_t>(sign | ((field << mantissa_bits) + rounded));
}

template <Dtype type>
double load(const uint8_t* in) {
  if constexpr (type == Dtype::f64) {
    double value;
    std::memcpy(&value, in, sizeof value);
    return value;
  } else if constexpr (type == Dtype::f32) {
    float value;
    std::memcpy(&value, in, sizeof value);
    return value;
  } else {
    uint16_t value;
    std::memcpy(&value, in, sizeof value);
    return type == Dtype::f16 ? f16_to_f32(value) : bf16_to_f32(value);
  }
}

template <Dtype type>
void store(double value, uint8_t* out) {
  if constexpr (type == Dtype::f64) {
    std::memcpy(out, &value, sizeof value);
  } else if constexpr (type == Dtype::f32) {
    const auto narrow = static_cast<float>(value);
    std::memcpy(out, &narrow, sizeof narrow);
  } else {
    const uint16_t narrow = type == Dtype::f16 ? f64_to_f16(value) : f64_to_bf16(value);
    std::memcpy(out, &narrow, sizeof narrow);
  }
}

template <Dtype from, Dtype to>
void convert_all(const uint8_t* in, uint8_t* out, uint64_t count) {
  constexpr uint64_t in_step = rows[static_cast<int>(from)].bytes;
  constexpr uint64_t out_step = rows[static_cast<int>(to)].bytes;
  for (uint64_t i = 0; i < count; ++i) store<to>(load<from>(in + i * in_step), out + i * out_step);
}

template <Dtype from>
void convert_from(const uint8_t* in, Dtype to, uint8_t* out, uint64_t count) {
  switch (to) {
    case Dtype::f64:
      return convert_all<from, Dtype::f64>(in, out, count);
    case Dtype::f32:
      return convert_all<from, Dtype::f32>(in, out, count);
    case Dtype::f16:
      return convert_all<from, Dtype::f16>(in, out, count);
    default:
      return convert_all<from, Dtype::bf16>(in, out, count);
  }
}

}  // namespace

std::string_view dtype_name(Dtype type) { return rows[static_cast<int>(type)].name; }
uint64_t dtype_bytes(Dtype type) { return rows[static_cast<int>(type)].bytes; }

std::optional<Dtype> dtype_from_name(std::string_view name) {
  for (size_t i = 0; i < std::size(rows); ++i)
    if (rows[i].name == name) return static_cast<Dtype>(i);
  return std::nullopt;
}

std::string shape_text(std::span<const uint64_t> shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); ++i) out += (i ? ", " : "") + std::to_string(shape[i]);
  return out + "]";
}

Result<uint64_t> element_count(std::span<const uint64_t> shape) {
  if (shape.size() > limits::rank)
    return Error{code::limit,
                 text("a tensor of rank ", shape.size(), " is over the limit of ", limits::rank)};
  uint64_t bound = 1;
  bool empty = false;
  for (const uint64_t extent : shape) {
    const auto next = checked_mul(bound, extent == 0 ? 1 : extent);
    if (extent > limits::extent || !next || *next > limits::elements)
      return Error{code::shape, text("shape ", shape_text(shape), " has too many elements")};
    bound = *next;
    empty |= extent == 0;
  }
  return empty ? 0 : bound;
}

Result<uint64_t> byte_count(std::span<const uint64_t> shape, Dtype type) {
  const auto count = element_count(shape);
  if (!count) return count.error();
  const auto bytes = checked_mul(*count, dtype_bytes(type));  // 2^56 elements of 8 bytes cannot overflow
  return *bytes;
}

float f16_to_f32(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t exponent = half >> 10 & 0x1f;
  const uint32_t fraction = half & 0x3ff;
  if (exponent == 0x1f)
    return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13 | (fraction ? 0x400000 : 0));
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;  // denormals and zero, exact in f32
  return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
}

float bf16_to_f32(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
uint16_t f64_to_f16(double value) { return round_to_16_bits<10>(value); }
uint16_t f64_to_bf16(double value) { return round_to_16_bits<7>(value); }

bool convertible(Dtype from, Dtype to) { return from == to || (from <= Dtype::bf16 && to <= Dtype::bf16); }

void convert(Dtype from, const void* in, Dtype to, void* out, uint64_t count) {
  const auto* source = static_cast<const uint8_t*>(in);
  auto* target = static_cast<uint8_t*>(out);
  if (count == 0) return;
  if (from == to) {
    std::memcpy(out, in, count * dtype_bytes(from));
    return;
  }
  switch (from) {
    case Dtype::f64:
      return convert_from<Dtype::f64>(source, to, target, count);
    case Dtype::f32:
      return convert_from<Dtype::f32>(source, to, target, count);
    case Dtype::f16:
      return convert_from<Dtype::f16>(source, to, target, count);
    default:
      return convert_from<Dtype::bf16>(source, to, target, count);
  }
}

}  // namespace axon::weights
