// Vectors of a level's width, loads that convert to the accumulator type, and transposes.
//
// In: a Level (a row of machines.def). Everything here is a template over the level,
// written with compiler vectors, so that one bitcode file holds every level's kernels and the code generator
// of each level sees operations of exactly its register width.
#pragma once
#include <stdint.h>

namespace lanes {

using bfloat = struct { uint16_t bits; };
using half = _Float16;

/// The machines: v2, v3, v4 (machines.def says what the numbers are).
#define MACHINE(suffix, name, vector_bytes, register_count, halves, row_count, stream_count, ahead) \
  struct suffix {                                                                                   \
    static constexpr int bytes = vector_bytes, registers = register_count, rows = row_count;        \
    static constexpr int streams = stream_count, bytes_ahead = ahead;                               \
    static constexpr bool hardware_half = halves;                                                   \
  };
#include "machines.def"

template <class T, int n>
using Vector = T __attribute__((ext_vector_type(n)));

template <class Level, class T>
constexpr int width = Level::bytes / static_cast<int>(sizeof(T));
/// The level's register of T.
template <class Level, class T>
using Register = Vector<T, width<Level, T>>;

template <class V, class T>
inline V load_raw(const T* from) {
  V value;
  __builtin_memcpy(&value, from, sizeof(V));
  return value;
}

template <class V, class T>
inline void store_raw(T* to, V value) {
  __builtin_memcpy(to, &value, sizeof(V));
}

inline float half_bits_to_float(uint32_t bits) {
  // Moves exponent and mantissa into place and scales by 2^112, which also normalises denormals; the largest
  // exponent means infinity or NaN and is forced to float's.
  const uint32_t magnitude = (bits & 0x7fffu) << 13;
  const float scaled = __builtin_bit_cast(float, magnitude) * 0x1p112f;
  const uint32_t special = (bits & 0x7c00u) == 0x7c00u ? 0x7f800000u : 0u;
  return __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, scaled) | special | (bits & 0x8000u) << 16);
}

/// Loads n accumulators from storage of the same or a narrower type.
template <class Level, class Acc, int n>
inline Vector<Acc, n> load_lanes(const Acc* from) {
  return load_raw<Vector<Acc, n>>(from);
}
template <class Level, class Acc, int n>
inline Vector<float, n> load_lanes(const bfloat* from) {
  const auto bits = __builtin_convertvector(load_raw<Vector<uint16_t, n>>(from), Vector<uint32_t, n>) << 16;
  return __builtin_bit_cast(Vector<float, n>, bits);
}
template <class Level, class Acc, int n>
inline Vector<float, n> load_lanes(const int8_t* from) {
  return __builtin_convertvector(
      __builtin_convertvector(load_raw<Vector<int8_t, n>>(from), Vector<int32_t, n>), Vector<float, n>);
}
template <class Level, class Acc, int n>
inline Vector<float, n> load_lanes(const uint8_t* from) {
  return __builtin_convertvector(
      __builtin_convertvector(load_raw<Vector<uint8_t, n>>(from), Vector<int32_t, n>), Vector<float, n>);
}
template <class Level, class Acc, int n>
inline Vector<float, n> load_lanes(const half* from) {
  if constexpr (Level::hardware_half) {
    return __builtin_convertvector(load_raw<Vector<half, n>>(from), Vector<float, n>);
  } else {
    using Bits = Vector<uint32_t, n>;
    const Bits bits = __builtin_convertvector(load_raw<Vector<uint16_t, n>>(from), Bits);
    const auto scaled = __builtin_bit_cast(Vector<float, n>, (bits & 0x7fffu) << 13) * 0x1p112f;
    const Bits special = ((bits & 0x7c00u) == 0x7c00u) ? Bits(0x7f800000u) : Bits(0u);
    return __builtin_bit_cast(Vector<float, n>,
                              __builtin_bit_cast(Bits, scaled) | special | (bits & 0x8000u) << 16);
  }
}

/// A whole register.
template <class Level, class Acc, class B>
inline Register<Level, Acc> load(const B* from) {
  return load_lanes<Level, Acc, width<Level, Acc>>(from);
}

/// The n lanes, then zeros.
template <class V, class T, int n>
inline V widened(Vector<T, n> part) {
  V whole = V(T(0));
  __builtin_memcpy(&whole, &part, sizeof(T) * n);
  return whole;
}

/// One element as an accumulator.
template <class Level, class Acc>
inline Acc element(const Acc* from) {
  return *from;
}
template <class Level, class Acc>
inline float element(const bfloat* from) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(from->bits) << 16);
}
template <class Level, class Acc>
inline float element(const int8_t* from) {
  return static_cast<float>(*from);
}
template <class Level, class Acc>
inline float element(const uint8_t* from) {
  return static_cast<float>(*from);
}
template <class Level, class Acc>
inline float element(const half* from) {
  if constexpr (Level::hardware_half)
    return static_cast<float>(*from);
  else
    return half_bits_to_float(__builtin_bit_cast(uint16_t, *from));
}

/// interleave: (a0 b0 a1 b1 ...), low or high half. pair_sums: (a0+a1, a2+a3, ..., b0+b1, ...).
template <class T>
inline void interleave(Vector<T, 16> a, Vector<T, 16> b, Vector<T, 16>& low, Vector<T, 16>& high) {
  low = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  high = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
template <class T>
inline void interleave(Vector<T, 8> a, Vector<T, 8> b, Vector<T, 8>& low, Vector<T, 8>& high) {
  low = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
  high = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}
template <class T>
inline void interleave(Vector<T, 4> a, Vector<T, 4> b, Vector<T, 4>& low, Vector<T, 4>& high) {
  low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
}
template <class T>
inline void interleave(Vector<T, 2> a, Vector<T, 2> b, Vector<T, 2>& low, Vector<T, 2>& high) {
  low = __builtin_shufflevector(a, b, 0, 2);
  high = __builtin_shufflevector(a, b, 1, 3);
}
template <class T>
inline Vector<T, 16> pair_sums(Vector<T, 16> a, Vector<T, 16> b) {
  return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30) +
         __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
}
template <class T>
inline Vector<T, 8> pair_sums(Vector<T, 8> a, Vector<T, 8> b) {
  return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14) +
         __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
}
template <class T>
inline Vector<T, 4> pair_sums(Vector<T, 4> a, Vector<T, 4> b) {
  return __builtin_shufflevector(a, b, 0, 2, 4, 6) + __builtin_shufflevector(a, b, 1, 3, 5, 7);
}
template <class T>
inline Vector<T, 2> pair_sums(Vector<T, 2> a, Vector<T, 2> b) {
  return __builtin_shufflevector(a, b, 0, 2) + __builtin_shufflevector(a, b, 1, 3);
}

/// Transposes n registers of n lanes in place: log2(n) perfect shuffles.
template <class T, int n>
inline void transpose(Vector<T, n> (&rows)[n]) {
#pragma clang loop unroll(full)
  for (int step = 1; step < n; step *= 2) {
    Vector<T, n> next[n];
#pragma clang loop unroll(full)
    for (int i = 0; i < n / 2; ++i) interleave<T>(rows[i], rows[i + n / 2], next[2 * i], next[2 * i + 1]);
#pragma clang loop unroll(full)
    for (int i = 0; i < n; ++i) rows[i] = next[i];
  }
}

/// Lane i of the result is the sum of sums[i]'s lanes. Destroys `sums`.
template <class T, int n>
inline Vector<T, n> sums_of(Vector<T, n> (&sums)[n]) {
#pragma clang loop unroll(full)
  for (int count = n; count > 1; count /= 2)
#pragma clang loop unroll(full)
    for (int i = 0; i < count / 2; ++i) sums[i] = pair_sums<T>(sums[2 * i], sums[2 * i + 1]);
  return sums[0];
}

}  // namespace lanes
