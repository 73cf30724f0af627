// The dimension grammar as a recursive-descent parser over any algebra of values.
//
// In: a text and an Algebra with a type Value and the members number, name, add, subtract, multiply, divide,
// modulo, call (each but name total; name and call may refuse). Out: the value, or the first error. Nesting
// is bounded, so hostile text cannot exhaust the stack. parse.cpp builds Dims with it; the test of rules.def
// builds solver terms.
#pragma once
#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shape/parse.h"

namespace axon::shape {

template <class Algebra>
class ExprParser {
 public:
  using Value = typename Algebra::Value;
  ExprParser(std::string_view text, size_t position, Algebra& algebra)
      : text_(text), at_(position), algebra_(algebra) {}

  std::optional<Value> sum() {
    if (++depth_ > max_depth) return fail("nested too deeply");
    skip_space();
    bool negative = accept('-');
    auto value = product();
    if (value && negative) value = algebra_.subtract(algebra_.number(0), *value);
    while (value) {
      bool plus = accept('+');
      if (!plus && !accept_minus()) break;
      auto right = product();
      if (!right) return std::nullopt;
      value = plus ? algebra_.add(*value, *right) : algebra_.subtract(*value, *right);
    }
    --depth_;
    return value;
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
  }
  size_t position() const { return at_; }
  const DimParseError& error() const { return error_; }
  std::nullopt_t fail(std::string message) {
    if (error_.message.empty()) error_ = {at_, std::move(message)};
    return std::nullopt;
  }

 private:
  static constexpr int max_depth = 256;

  std::optional<Value> product() {
    auto value = factor();
    while (value) {
      char op = accept('*') ? '*' : accept('/') ? '/' : accept('%') ? '%' : '\0';
      if (op == '\0') break;
      auto right = factor();
      if (!right) return std::nullopt;
      value = op == '*'   ? algebra_.multiply(*value, *right)
              : op == '/' ? algebra_.divide(*value, *right)
                          : algebra_.modulo(*value, *right);
    }
    return value;
  }

  std::optional<Value> factor() {
    skip_space();
    if (at_ == text_.size()) return fail("a dimension is expected");
    char c = text_[at_];
    if (is_digit(c)) return number();
    if (is_name_start(c)) return name_or_call();
    if (!accept('(')) return fail("a dimension is expected");
    auto value = sum();
    if (value && !accept(')')) return fail("`)` is expected");
    return value;
  }

  std::optional<Value> number() {
    int64_t value = 0;
    auto [end, status] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (status != std::errc()) return fail("the number does not fit in 64 bits");
    at_ = static_cast<size_t>(end - text_.data());
    return algebra_.number(value);
  }

  std::optional<Value> name_or_call() {
    size_t begin = at_;
    while (at_ < text_.size() && (is_name_start(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '\''))
      ++at_;
    std::string_view name = text_.substr(begin, at_ - begin);
    if (!accept('(')) {
      auto value = algebra_.name(name);
      if (!value) at_ = begin;
      return value ? value : fail(fmt::format("unknown name `{}`", name));
    }
    std::vector<Value> arguments;
    do {
      auto argument = sum();
      if (!argument) return std::nullopt;
      arguments.push_back(*argument);
    } while (accept(','));
    if (!accept(')')) return fail("`)` is expected");
    auto value = algebra_.call(name, arguments);
    return value ? value
                 : fail(fmt::format("`{}` is no operator on dimensions, or has other arguments", name));
  }

  bool accept(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  /// A minus that is not the head of an arrow `->`.
  bool accept_minus() {
    skip_space();
    if (text_.substr(at_, 2) == "->") return false;
    return accept('-');
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

  std::string_view text_;
  size_t at_;
  Algebra& algebra_;
  int depth_ = 0;
  DimParseError error_;
};

}  // namespace axon::shape
