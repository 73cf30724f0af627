// See semantics.h: functions of floats. What a GPU approximates is rounded correctly here, nearly.
#include <algorithm>
#include <cmath>

#include "emulator/floats.h"
#include "emulator/semantics.h"

namespace axon::emulator {

namespace {

float flushed(float x, bool flush_it) {
  return flush_it && std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x;
}

float function_of(Math function, float x, float y, float z) {
  switch (function) {
    case Math::fma:
      return std::fma(x, y, z);
    case Math::add:
      return x + y;
    case Math::mul:
      return x * y;
    case Math::div:
      return x / y;
    case Math::sqrt:
      return std::sqrt(x);
    case Math::rsqrt:
      return static_cast<float>(1 / std::sqrt(static_cast<double>(x)));
    case Math::rcp:
      return 1 / x;
    case Math::exp2:
      return std::exp2(x);
    case Math::log2:
      return std::log2(x);
    case Math::sin:
      return std::sin(x);
    case Math::cos:
      return std::cos(x);
    case Math::abs:
      return std::fabs(x);
    case Math::min:
      return std::fmin(x, y);
    case Math::max:
      return std::fmax(x, y);
    case Math::floor:
      return std::floor(x);
    case Math::ceil:
      return std::ceil(x);
    case Math::saturate:
      return x > 0 ? std::min(x, 1.0F) : 0.0F;
  }
  return 0;
}

}  // namespace

void compute(const Call& call) {
  const bool flush_it = call.parameter >= flush;
  const auto argument = [&](unsigned i) { return flushed(to_float(call.values[i]), flush_it); };
  const auto function = static_cast<Math>(call.parameter % flush);
  const int arguments = function == Math::fma ? 3
                        : function == Math::add || function == Math::mul || function == Math::div ||
                                function == Math::min || function == Math::max
                            ? 2
                            : 1;
  call.values[0] = to_word(flushed(
      function_of(function, argument(0), arguments > 1 ? argument(1) : 0, arguments > 2 ? argument(2) : 0),
      flush_it));
}

void keep_argument(const Call&) {}

void pack_bf16(const Call& call) {
  call.values[0] =
      static_cast<uint32_t>(to_bf16(to_float(call.values[0]))) << 16 | to_bf16(to_float(call.values[1]));
}

void pack_f16(const Call& call) {
  call.values[0] =
      static_cast<uint32_t>(to_f16(to_float(call.values[0]))) << 16 | to_f16(to_float(call.values[1]));
}

}  // namespace axon::emulator
