// What each pointwise operator of ops.def computes: in doubles before they are rounded to their type
// (round.h), and in integers before they are wrapped to theirs.
//
// In: an operator and numbers. Out: its value. Invariant: nothing traps; an integer divided by 0 is 0.
// `select` has no row here: who evaluates it evaluates one side only.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/bug.h"
#include "base/floor.h"

namespace axon::base {

enum class Pointwise : uint8_t {
#define OP(name, word, arity) name,
#include "base/ops.def"
};

/// Is it a function of the device library, which takes a few dozen instructions or more?
inline bool is_device_function(Pointwise op) {
#define UNARY(name, length) \
  if (op == Pointwise::name) return true;
#define BINARY(name, length) \
  if (op == Pointwise::name) return true;
#include "device/functions.def"
  return false;
}

/// Is it one of those that take a few hundred?
inline bool has_many_instructions(Pointwise op) {
  [[maybe_unused]] constexpr bool few = false, many = true;
#define UNARY(name, length) \
  if (op == Pointwise::name) return length;
#define BINARY(name, length) \
  if (op == Pointwise::name) return length;
#include "device/functions.def"
  return false;
}

inline double smaller(double a, double b) { return std::isnan(a) ? a : std::isnan(b) ? b : std::min(a, b); }
inline double larger(double a, double b) { return std::isnan(a) ? a : std::isnan(b) ? b : std::max(a, b); }

/// The remainder has the divisor's sign, also when it is 0.
inline double floor_mod(double a, double b) {
  const double r = std::fmod(a, b);
  if (r == 0) return std::copysign(r, b);
  return (r < 0) != (b < 0) ? r + b : r;
}

inline int64_t add_wrapping(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
inline int64_t mul_wrapping(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
inline int64_t negated(int64_t a) { return static_cast<int64_t>(0 - static_cast<uint64_t>(a)); }

/// A comparison.
template <class T>
bool compare(Pointwise op, T a, T b) {
  return op == Pointwise::eq ? a == b : op == Pointwise::ne ? a != b : op == Pointwise::lt ? a < b : a <= b;
}

/// Is the value of the operator already one of the type that its operands have?
inline bool is_exact_on_reals(Pointwise op) {
  return op == Pointwise::neg || op == Pointwise::abs || op == Pointwise::min || op == Pointwise::max ||
         op == Pointwise::floor;
}

/// An operator whose operands and result are floats.
inline double of_reals(Pointwise op, double a, double b) {
  switch (op) {
    case Pointwise::add:
      return a + b;
    case Pointwise::sub:
      return a - b;
    case Pointwise::mul:
      return a * b;
    case Pointwise::div:
      return a / b;
    case Pointwise::mod:
      return floor_mod(a, b);
    case Pointwise::neg:
      return -a;
    case Pointwise::abs:
      return std::fabs(a);
    case Pointwise::min:
      return smaller(a, b);
    case Pointwise::max:
      return larger(a, b);
#define UNARY(name, length)     \
  case Pointwise::name: \
    return std::name(a);
#define BINARY(name, length)    \
  case Pointwise::name: \
    return std::name(a, b);
#include "device/functions.def"
    case Pointwise::sqrt:
      return std::sqrt(a);
    case Pointwise::rsqrt:
      return 1.0 / std::sqrt(a);
    case Pointwise::floor:
      return std::floor(a);
#define ARITHMETIC(name, arity)
#define ROUNDING(name)
#define UNARY(name, length)
#define BINARY(name, length)
#define OP(name, word, arity) case Pointwise::name:
#include "base/ops.def"
      break;
  }
  bug("pointwise", "no operator on floats");
}

/// An operator whose operands and result are integers or truth values.
inline int64_t of_integers(Pointwise op, int64_t a, int64_t b) {
  switch (op) {
    case Pointwise::add:
      return add_wrapping(a, b);
    case Pointwise::sub:
      return add_wrapping(a, negated(b));
    case Pointwise::mul:
      return mul_wrapping(a, b);
    case Pointwise::div:
      return b == 0 ? 0 : floor_quotient(a, b);
    case Pointwise::mod:
      return b == 0 ? 0 : floor_remainder(a, b);
    case Pointwise::neg:
      return negated(a);
    case Pointwise::abs:
      return a < 0 ? negated(a) : a;
    case Pointwise::min:
      return std::min(a, b);
    case Pointwise::max:
      return std::max(a, b);
    case Pointwise::and_:
      return a != 0 && b != 0;
    case Pointwise::or_:
      return a != 0 || b != 0;
    case Pointwise::not_:
      return a == 0;
#define ARITHMETIC(name, arity)
#define LOGIC(name, word, arity)
#define OP(name, word, arity) case Pointwise::name:
#include "base/ops.def"
      break;
  }
  bug("pointwise", "no operator on integers");
}

}  // namespace axon::base
