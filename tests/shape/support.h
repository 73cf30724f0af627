// Dims, facts and random expressions from text, for the tests of shape/.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "shape/parse.h"
#include "shape/parse_expr.h"
#include "shape/prover.h"

namespace axon::shape {

inline std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!trim(text).empty()) {
    size_t end = std::min(text.find(separator), text.size());
    parts.push_back(trim(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// Left side, relation sign and right side of a text like `i < n`.
struct Comparison {
  std::string_view lhs, sign, rhs;
};
inline Comparison compare_text(std::string_view text) {
  for (std::string_view sign : {"==", "!=", "<=", "<"})
    if (size_t at = text.find(sign); at != text.npos)
      return {text.substr(0, at), sign, text.substr(at + sign.size())};
  ADD_FAILURE() << "no relation in " << text;
  return {};
}

/// One scope of names: a name is the same variable, or the same constant, each time.
class Scope {
 public:
  Dim dim(std::string_view text) {
    DimParseError error;
    auto result = parse_dim(
        text, [&](std::string_view name) { return std::optional(named(name)); }, &error);
    if (!result) ADD_FAILURE() << text << ": " << error.message << " at " << error.offset;
    return result.value_or(Dim());
  }
  Dim named(std::string_view name) {
    auto found = names_.find(name);
    if (found == names_.end()) found = names_.emplace(name, fresh_var(std::string(name))).first;
    return found->second;
  }
  Var var(std::string_view name) { return *named(name).as_var(); }
  void set(std::string name, int64_t value) { names_.insert_or_assign(std::move(name), Dim(value)); }

  Fact fact(std::string_view text) {
    auto [lhs, sign, rhs] = compare_text(text);
    Relation relation = sign == "=="   ? Relation::eq
                        : sign == "!=" ? Relation::ne
                        : sign == "<=" ? Relation::le
                                       : Relation::lt;
    return {dim(lhs), relation, dim(rhs)};
  }
  std::vector<Fact> facts(std::string_view text) {
    std::vector<Fact> result;
    for (auto part : split(text, ';')) result.push_back(fact(part));
    return result;
  }

 private:
  std::map<std::string, Dim, std::less<>> names_;
};

/// A random expression in source syntax over the given names.
class RandomText {
 public:
  RandomText(uint64_t seed, std::vector<std::string> names) : random_(seed), names_(std::move(names)) {}
  int64_t number(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }

  std::string expr(int depth) {
    if (depth == 0 || number(0, 9) == 0) {
      return number(0, 2) == 0 ? std::to_string(number(0, 9))
                               : names_[number(0, static_cast<int64_t>(names_.size()) - 1)];
    }
    std::string left = expr(depth - 1);
    switch (number(0, 9)) {
      case 0:
      case 1:
      case 2:
        return fmt::format("({} + {})", left, expr(depth - 1));
      case 3:
        return fmt::format("({} - {})", left, expr(depth - 1));
      case 4:
        return fmt::format("({} * {})", left, expr(depth - 1));
      case 5:
        return fmt::format("({} / {})", left, divisor());
      case 6:
        return fmt::format("({} % {})", left, divisor());
      case 7:
        return fmt::format("min({}, {})", left, expr(depth - 1));
      case 8:
        return fmt::format("max({}, {})", left, expr(depth - 1));
      default:
        return fmt::format("cdiv({}, {})", left, divisor());
    }
  }

 private:
  /// Mostly constants, as in programs; sometimes a name or a whole expression, which may be zero or negative.
  std::string divisor() {
    int64_t kind = number(0, 9);
    if (kind < 7) return std::to_string(int64_t{1} << number(0, 3));
    if (kind < 9) return names_[0];
    return fmt::format("({})", expr(1));
  }

  std::mt19937_64 random_;
  std::vector<std::string> names_;
};

inline bool all_hold(const std::vector<Fact>& facts, const Assignment& values) {
  return std::all_of(facts.begin(), facts.end(),
                     [&](const Fact& fact) { return holds(fact, values).value_or(false); });
}

}  // namespace axon::shape
