// Sizes and conversions of elements (elements.h).
#include "host/weights/elements.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "host/weights/limits.h"
#include "host/weights/span.h"

namespace axon::weights {
namespace {

/// A narrow format, laid out as sign, exponent and fraction from the highest bit on.
template <Elem elem>
struct Layout {
  static constexpr FloatFormat format = float_format(elem);
  static constexpr int bits = 8 * elem_bytes(elem);
  static constexpr uint32_t sign = uint32_t{1} << (bits - 1);
  static constexpr int bias = 1 - format.least_exponent;
  /// The least magnitude that is no number: infinity, or else the only NaN.
  static constexpr uint32_t end = format.has_infinity ? sign - (1u << format.fraction_bits) : sign - 1;
};

template <Elem elem>
uint32_t encode(double value) {
  using L = Layout<elem>;
  constexpr int fraction_bits = L::format.fraction_bits, least = L::format.least_exponent;
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const uint32_t sign = bits >> 63 ? L::sign : 0;
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;

  if (exponent == 1024) {
    if (fraction == 0 || !L::format.has_infinity) return sign | L::end;
    const auto payload = static_cast<uint32_t>(fraction >> (52 - fraction_bits));
    return sign | L::end | payload | 1u << (fraction_bits - 1);  // quiet
  }
  if (exponent > L::bias + 1) return sign | L::end;
  // Below the normal range the fraction is shifted further right; past all its bits the value rounds to zero.
  const int shift = 52 - fraction_bits + std::max(0, least - exponent);
  if (shift > 53) return sign;
  const uint64_t significand = fraction | uint64_t{1} << 52;
  const uint64_t kept = significand >> shift;
  const uint64_t rest = significand & ((uint64_t{1} << shift) - 1);
  const uint64_t half = uint64_t{1} << (shift - 1);
  const uint64_t rounded = kept + (rest > half || (rest == half && (kept & 1)));
  // The implicit bit adds one to the exponent field; so does a carry out of the fraction.
  const uint64_t field = exponent < least ? 0 : static_cast<uint64_t>(exponent - least);
  const uint64_t magnitude = (field << fraction_bits) + rounded;
  return sign | static_cast<uint32_t>(std::min<uint64_t>(magnitude, L::end));
}

template <Elem elem>
float decode(uint32_t bits) {
  using L = Layout<elem>;
  constexpr int fraction_bits = L::format.fraction_bits, shift = 23 - fraction_bits;
  constexpr FloatFormat f32 = float_format(Elem::f32);
  const uint32_t sign = (bits & L::sign) << (32 - L::bits), magnitude = bits & (L::sign - 1);
  if constexpr (L::format.least_exponent == f32.least_exponent) {  // the upper bits of a f32
    return std::bit_cast<float>(sign | magnitude << shift);
  } else {
    if (magnitude >= L::end) {
      const uint32_t quiet = L::format.has_infinity && magnitude == L::end ? 0 : 0x400000;
      return std::bit_cast<float>(sign | 0x7f800000 | quiet | (magnitude - L::end) << shift);
    }
    if (magnitude >> fraction_bits)
      return std::bit_cast<float>(sign | ((magnitude << shift) + ((127u - L::bias) << 23)));
    // Zero and the numbers below the normal range, exact in f32.
    constexpr float unit = 1.0f / static_cast<float>(1 << (fraction_bits - L::format.least_exponent));
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(static_cast<float>(magnitude) * unit));
  }
}

template <Elem elem, class Stored>
struct Element {
  static constexpr uint64_t bytes = sizeof(Stored);
  static double load(const uint8_t* at) {
    Stored stored;
    std::memcpy(&stored, at, sizeof stored);
    if constexpr (is_narrow(elem))
      return static_cast<double>(decode<elem>(stored));
    else
      return static_cast<double>(stored);
  }
  static void store(double value, uint8_t* at) {
    Stored stored;
    if constexpr (is_narrow(elem))
      stored = static_cast<Stored>(encode<elem>(value));
    else
      stored = static_cast<Stored>(value);
    std::memcpy(at, &stored, sizeof stored);
  }
};

/// Calls `f` with the Element of a float type. What is no float was refused before.
template <class F>
void with_float(Elem elem, const F& f) {
  switch (elem) {
#define FLOAT(name, number, stored, ...) \
  case Elem::name:                       \
    return f(Element<Elem::name, stored>());
#define NARROW FLOAT
#define ELEM(name, number, text, stored, npy, safetensors) \
  case Elem::name:                                         \
    return;
#include "host/elems.def"
  }
}

}  // namespace

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

Result<uint64_t> byte_count(std::span<const uint64_t> shape, Elem type) {
  const auto count = element_count(shape);
  if (!count) return count.error();
  const auto bytes = checked_mul(
      *count, static_cast<uint64_t>(elem_bytes(type)));  // 2^56 elements of 8 bytes cannot overflow
  return *bytes;
}

bool convertible(Elem from, Elem to) { return from == to || (is_float(from) && is_float(to)); }

void convert(Elem from, const void* in, Elem to, void* out, uint64_t count) {
  const auto* source = static_cast<const uint8_t*>(in);
  auto* target = static_cast<uint8_t*>(out);
  if (count == 0) return;
  if (from == to) {
    std::memcpy(target, source, count * static_cast<uint64_t>(elem_bytes(from)));
    return;
  }
  with_float(from, [&](auto read) {
    with_float(to, [&](auto written) {
      constexpr uint64_t step = decltype(written)::bytes;
      constexpr uint64_t read_step = decltype(read)::bytes;
      for (uint64_t i = 0; i < count; ++i)
        written.store(read.load(source + i * read_step), target + i * step);
    });
  });
}

double load_float(Elem elem, const void* at) {
  double value = 0;
  convert(elem, at, Elem::f64, &value, 1);
  return value;
}

void store_float(Elem elem, double value, void* at) { convert(Elem::f64, &value, elem, at, 1); }

}  // namespace axon::weights
