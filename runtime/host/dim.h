// Dimensions at run time: text in source syntax, compiled once into postfix code over an entry's size table.
//
// + - * / % (floor), a minus before a sum, min(a, b, ...), max(a, b, ...), cdiv(a, b), parentheses, integers,
// size names. Evaluation is exact or fails; it allocates nothing. Sums and products are made in 128 bits, so
// that a comparison of two dimensions is right where one of them leaves 64; the operands of / % min max and
// cdiv have to fit into 64, because generated code holds them in as many. `mask` says which sizes a dimension
// reads, so that a call re-evaluates only what a changed size can change.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/error.h"

namespace axon::host {

__extension__ typedef __int128 Wide;
/// In decimal, for messages.
std::string wide_text(Wide);

class Dim {
 public:
  /// `names`: the entry's sizes; at most 64, the position is the bit in masks.
  static Result<Dim> parse(std::string_view text, std::span<const std::string> names);

  /// False on overflow or division by zero.
  bool evaluate(const int64_t* sizes, int64_t& out) const;
  /// The same where the value itself need not fit into 64 bits.
  bool evaluate_wide(const int64_t* sizes, Wide& out) const;
  uint64_t mask() const { return mask_; }
  bool reads(size_t size) const { return mask_ >> size & 1; }
  const std::string& str() const { return text_; }
  /// The size, when the dimension is nothing but one; else -1.
  int as_size() const {
    return code_.size() == 1 && code_[0].op == Op::size ? static_cast<int>(code_[0].value) : -1;
  }

 private:
  friend class DimParser;
  enum class Op : uint8_t { constant, size, negate, add, subtract, multiply, divide, modulo, min, max, cdiv };
  struct Instruction {
    Op op;
    int64_t value;
  };
  static bool apply(Op, Wide& a, Wide b);
  std::string text_;
  std::vector<Instruction> code_;
  uint64_t mask_ = 0;
};

}  // namespace axon::host
