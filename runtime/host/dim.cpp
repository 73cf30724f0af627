// Parser and evaluator of dimensions (dim.h).
#include "host/dim.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "host/limits.h"

namespace axon::host {
namespace {

int64_t floor_divide(int64_t a, int64_t b) { return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0); }
bool divisible(int64_t a, int64_t b) { return b != 0 && !(a == INT64_MIN && b == -1); }

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
    const bool negative = accept('-');
    if (!product(depth) || (negative && !emit(Op::negate))) return false;
    for (;;) {
      const Op op = accept('+') ? Op::add : accept('-') ? Op::subtract : Op::constant;
      if (op == Op::constant) return true;
      if (!product(depth) || !emit(op)) return false;
    }
  }
  bool product(uint32_t depth) {
    if (!factor(depth)) return false;
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
  int64_t stack[limits::dim_depth + 1];
  int64_t* top = stack;  // one past the last operand
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
      if (__builtin_sub_overflow(int64_t{0}, top[-1], &top[-1])) return false;
      continue;
    }
    const int64_t b = *--top;
    int64_t& a = top[-1];
    bool bad = false;
    switch (instruction.op) {
      case Op::add:
        bad = __builtin_add_overflow(a, b, &a);
        break;
      case Op::subtract:
        bad = __builtin_sub_overflow(a, b, &a);
        break;
      case Op::multiply:
        bad = __builtin_mul_overflow(a, b, &a);
        break;
      case Op::divide:
        bad = !divisible(a, b);
        if (!bad) a = floor_divide(a, b);
        break;
      case Op::modulo:
        bad = !divisible(a, b);
        if (!bad) a -= floor_divide(a, b) * b;
        break;
      case Op::cdiv:
        bad =
            __builtin_add_overflow(a, b, &a) || __builtin_sub_overflow(a, int64_t{1}, &a) || !divisible(a, b);
        if (!bad) a = floor_divide(a, b);
        break;
      case Op::min:
        a = std::min(a, b);
        break;
      case Op::max:
        a = std::max(a, b);
        break;
      case Op::constant:
      case Op::size:
      case Op::negate:
        break;  // handled above
    }
    if (bad) return false;
  }
  out = top[-1];
  return true;
}

}  // namespace axon::host
