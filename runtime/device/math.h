// Elementary functions of generated code. Straight-line code without tables or calls (except where said), so
// that they are computed on any number of lanes at once (module/widen.h), or by LLVM's loop vectoriser.
//
// f32: at most 2 units in the last place everywhere, denormals included; f64: at most 2, and pow less than 1,
// so that what is exactly a number comes out as that number; erfc at most 4 in both. Special values and the
// signs of zeros follow IEEE 754: NaN in gives NaN out, overflow gives infinity.
#pragma once
#include <stdint.h>

extern "C" {
#define UNARY(name, length)               \
  float axon_##name##_f32(float); \
  double axon_##name##_f64(double);
#define BINARY(name, length)                     \
  float axon_##name##_f32(float, float); \
  double axon_##name##_f64(double, double);
#include "functions.def"
float axon_erfc_f32(float);  ///< 1 - erf(x), without the loss for large x
double axon_erfc_f64(double);
float axon_mod_f32(float, float);  ///< floored, with the divisor's sign; a loop, not vectorised
double axon_mod_f64(double, double);

// Narrow formats are kept as their bits; to f32 is exact, from f32 rounds to nearest even. f8e4m3 has no
// infinity: what does not fit becomes NaN.
// What is wider than f32 comes through axon_to_odd, which makes of a number between two floats the one whose
// last bit is 1: rounding that again is rounding once.
float axon_to_odd(double);
float axon_to_odd_i64(int64_t);
float axon_from_f16(uint16_t);
float axon_from_bf16(uint16_t);
float axon_from_f8e4m3(uint8_t);
float axon_from_f8e5m2(uint8_t);
uint16_t axon_to_f16(float);
uint16_t axon_to_bf16(float);
uint8_t axon_to_f8e4m3(float);
uint8_t axon_to_f8e5m2(float);
}
