// Parser and evaluator of dimensions (dim.h).
#include "host/dim.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "host/limits.h"

namespace axon::host {
namespace {

int64_t floor_divide(int64_t a, int64_t b) { return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0); }
bool divisible(int64_t a, int64_t b) { return b != 0 && !(a == INT64_MIN && b == -1); }
bool is_narrow(Wide value) { return value >= INT64_MIN && value <= INT64_MAX; }

}  // namespace

/// Recursive descent with bounded depth; emits operands before operators. A leading minus negates the whole
/// product.
class DimParser {
 public:
  DimParser(std::string_view text, std::span<const std::string> names) : rest_(text), names_(names) {}

  Result<Dim> run() {
    dim_.text_ = std::string(rest_);
    if (rest_.size() > limits::dim_text) return fail("is too long");
    if (!sum(0)) return fail(problem_);
    skip_space();
    if (!rest_.empty()) return fail("goes on after its end");
    return std::move(dim_);
  }

 private:
  using Op = Dim::Op;

  Failure fail(const char* problem) {
    return {AXON_BAD_BUNDLE, code::manifest, text("dimension ", printable(dim_.text_), " ", problem)};
  }
  bool stop(const char* problem) {
    problem_ = problem;
    return false;
  }
  void skip_space() {
    while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
  }
  bool accept(char c) {
    skip_space();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool emit(Op op, int64_t value = 0) {
    const bool operand = op == Op::constant || op == Op::size;
    if (operand && ++height_ > limits::dim_depth) return stop("is nested too deeply");
    if (!operand && op != Op::negate) --height_;
    dim_.code_.push_back({op, value});
    return true;
  }

  bool sum(uint32_t depth) {
    if (depth > limits::dim_depth) return stop("is nested too deeply");
    const bool negative = accept('-'), least = negative && accept_least();
    if (least ? !factors(depth) : !product(depth)) return false;
    if (negative && !least && !emit(Op::negate)) return false;
    for (;;) {
      const Op op = accept('+') ? Op::add : accept('-') ? Op::subtract : Op::constant;
      if (op == Op::constant) return true;
      if (!product(depth) || !emit(op)) return false;
    }
  }
  /// The least integer is no negated number: 2^63 alone does not fit.
  bool accept_least() {
    constexpr std::string_view magnitude = "9223372036854775808";
    skip_space();
    if (!rest_.starts_with(magnitude)) return false;
    rest_.remove_prefix(magnitude.size());
    return emit(Op::constant, std::numeric_limits<int64_t>::min());
  }
  bool product(uint32_t depth) { return factor(depth) && factors(depth); }
  bool factors(uint32_t depth) {
    for (;;) {
      const Op op = accept('*')   ? Op::multiply
                    : accept('/') ? Op::divide
                    : accept('%') ? Op::modulo
                                  : Op::constant;
      if (op == Op::constant) return true;
      if (!factor(depth) || !emit(op)) return false;
    }
  }
  bool factor(uint32_t depth) {
    if (accept('(')) return sum(depth + 1) && (accept(')') || stop("lacks a `)`"));
    skip_space();
    if (rest_.empty()) return stop("ends too early");
    return rest_[0] >= '0' && rest_[0] <= '9' ? number() : name(depth);
  }
  bool number() {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) return stop("has a number that is too large");
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return emit(Op::constant, value);
  }
  bool name(uint32_t depth) {
    size_t length = 0;
    while (length < rest_.size() && !std::strchr(" +-*/%(),", rest_[length])) ++length;
    if (length == 0) return stop("has an operator where a value should be");
    const std::string_view word = rest_.substr(0, length);
    rest_.remove_prefix(length);
    if (accept('(')) {
      const Op op = word == "min"    ? Op::min
                    : word == "max"  ? Op::max
                    : word == "cdiv" ? Op::cdiv
                                     : Op::constant;
      if (op == Op::constant) return stop("has an unknown function");
      return call(op, depth);
    }
    const auto found = std::find(names_.begin(), names_.end(), word);
    if (found == names_.end()) return stop("has an unknown size");
    const auto position = found - names_.begin();
    dim_.mask_ |= uint64_t{1} << position;
    return emit(Op::size, position);
  }

  /// min and max take two arguments or more.
  bool call(Op op, uint32_t depth) {
    if (!sum(depth + 1) || !(accept(',') || stop("lacks a `,`"))) return false;
    do {
      if (!sum(depth + 1) || !emit(op)) return false;
    } while (op != Op::cdiv && accept(','));
    return accept(')') || stop("lacks a `)`");
  }

  std::string_view rest_;
  std::span<const std::string> names_;
  uint32_t height_ = 0;
  const char* problem_ = "";
  Dim dim_;
};

Result<Dim> Dim::parse(std::string_view text, std::span<const std::string> names) {
  return DimParser(text, names).run();
}

bool Dim::evaluate(const int64_t* sizes, int64_t& out) const {
  Wide value = 0;
  if (!evaluate_wide(sizes, value) || !is_narrow(value)) return false;
  out = static_cast<int64_t>(value);
  return true;
}

bool Dim::evaluate_wide(const int64_t* sizes, Wide& out) const {
  Wide stack[limits::dim_depth + 1];
  Wide* top = stack;  // one past the last operand
  for (const Instruction& instruction : code_) {
    if (instruction.op == Op::constant) {
      *top++ = instruction.value;
      continue;
    }
    if (instruction.op == Op::size) {
      *top++ = sizes[instruction.value];
      continue;
    }
    if (instruction.op == Op::negate) {
      if (__builtin_sub_overflow(Wide{0}, top[-1], &top[-1])) return false;
      continue;
    }
    const Wide b = *--top;
    if (!apply(instruction.op, top[-1], b)) return false;
  }
  out = top[-1];
  return true;
}

/// a = a op b; false when that has no value.
bool Dim::apply(Op op, Wide& a, Wide b) {
  switch (op) {
    case Op::add:
      return !__builtin_add_overflow(a, b, &a);
    case Op::subtract:
      return !__builtin_sub_overflow(a, b, &a);
    case Op::multiply:
      return !__builtin_mul_overflow(a, b, &a);
    case Op::cdiv:
      if (!is_narrow(a) || !is_narrow(b)) return false;
      a += b - 1;
      [[fallthrough]];
    case Op::divide:
    case Op::modulo: {
      if (!is_narrow(a) || !is_narrow(b) || !divisible(static_cast<int64_t>(a), static_cast<int64_t>(b)))
        return false;
      const Wide quotient = floor_divide(static_cast<int64_t>(a), static_cast<int64_t>(b));
      a = op == Op::modulo ? a - quotient * b : quotient;
      return true;
    }
    case Op::min:
    case Op::max:
      if (!is_narrow(a) || !is_narrow(b)) return false;
      a = op == Op::min ? std::min(a, b) : std::max(a, b);
      return true;
    case Op::constant:
    case Op::size:
    case Op::negate:
      break;  // not of two operands
  }
  return false;
}

std::string wide_text(Wide value) {
  std::string digits;
  const bool negative = value < 0;
  do {
    const int digit = static_cast<int>(value % 10);
    digits += static_cast<char>('0' + (digit < 0 ? -digit : digit));
    value /= 10;
  } while (value != 0);
  if (negative) digits += '-';
  return {digits.rbegin(), digits.rend()};
}

}  // namespace axon::host
