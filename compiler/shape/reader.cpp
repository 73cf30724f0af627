// See reader.h.
#include "shape/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "shape/parse.h"

namespace axon::shape {

/// Moves to the end of the text, where nothing more is accepted.
void TextReader::fail(const std::string& message) {
  if (error_.empty()) error_ = fmt::format("line {}: {}", line_, message);
  at_ = text_.size();
}

void TextReader::space() {
  while (at_ < text_.size() && text_[at_] == ' ') ++at_;
}

/// Without the word, the reader stays where it is: before the spaces that indent a line, too.
bool TextReader::accept(std::string_view word) {
  const size_t begin = std::min(text_.find_first_not_of(' ', at_), text_.size()), end = begin + word.size();
  if (text_.compare(begin, word.size(), word) != 0) return false;
  const auto is_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  if (is_name(word.back()) && end < text_.size() && is_name(text_[end])) return false;
  at_ = end;
  return true;
}

void TextReader::expect(std::string_view word) {
  if (!accept(word)) fail(fmt::format("`{}` is expected", word));
}

bool TextReader::next_is(char c) {
  space();
  return at_ < text_.size() && text_[at_] == c;
}

std::string TextReader::word() {
  space();
  const size_t begin = at_;
  while (at_ < text_.size() && std::string_view(" ,\n[(").find(text_[at_]) == std::string_view::npos) ++at_;
  if (begin == at_) fail("a word is expected");
  return begin < at_ && !failed() ? text_.substr(begin, at_ - begin) : std::string();
}

bool TextReader::next_is_name(std::string& name) {
  const size_t begin = std::min(text_.find_first_not_of(' ', at_), text_.size());
  size_t end = begin;
  const auto is_name = [&](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_' ||
           (end > begin && std::isdigit(static_cast<unsigned char>(c)));
  };
  while (end < text_.size() && is_name(text_[end])) ++end;
  name = text_.substr(begin, end - begin);
  return end > begin;
}

std::string TextReader::name() {
  std::string name;
  if (!next_is_name(name)) return fail("a name is expected"), std::string();
  space();
  at_ += name.size();
  return name;
}

std::string TextReader::literal() {
  space();
  const size_t begin = at_;
  const auto is_part = [&](char c) {
    const bool sign = c == '-' || c == '+';
    return sign ? at_ == begin || text_[at_ - 1] == 'e'
                : std::isalnum(static_cast<unsigned char>(c)) || c == '.';
  };
  while (at_ < text_.size() && is_part(text_[at_])) ++at_;
  if (begin == at_) fail("a number is expected");
  return begin < at_ && !failed() ? text_.substr(begin, at_ - begin) : std::string();
}

std::string TextReader::rest_of_line() {
  space();
  const size_t begin = at_;
  at_ = std::min(text_.find('\n', at_), text_.size());
  return text_.substr(begin, at_ - begin);
}

std::string TextReader::quoted() {
  expect("\"");
  const size_t end = text_.find('"', at_);
  if (end == std::string::npos) return fail("`\"` is expected"), std::string();
  const std::string name = text_.substr(at_, end - at_);
  at_ = end + 1;
  return name;
}

int64_t TextReader::number() {
  space();
  const size_t begin = at_;
  int64_t value = 0;
  while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) && at_ - begin < 18)
    value = value * 10 + (text_[at_++] - '0');
  if (begin == at_) fail("a number is expected");
  return value;
}

uint32_t TextReader::id(char letter, size_t limit) {
  if (!next_is(letter)) return fail(fmt::format("`{}` and a number are expected", letter)), 0;
  ++at_;
  const int64_t value = number();
  if (value >= static_cast<int64_t>(limit)) fail(fmt::format("there is no {}{}", letter, value));
  return static_cast<uint32_t>(value);
}

void TextReader::end_of_line() {
  space();
  if (at_ < text_.size() && text_[at_] != '\n') fail("nothing more is expected on this line");
  if (at_ < text_.size()) ++at_;
  ++line_;
}

size_t TextReader::indentation() const {
  const size_t end = text_.find_first_not_of(' ', at_);
  return (end == std::string::npos ? text_.size() : end) - at_;
}

Var TextReader::declare(const std::string& name, Var v) {
  if (!variables_.emplace(name, v).second) fail(fmt::format("`{}` is declared twice", name));
  return v;
}

Dim TextReader::dim() {
  space();
  DimParseError error;
  const auto value = parse_dim_prefix(
      text_, at_,
      [&](std::string_view name) -> std::optional<Dim> {
        const auto it = variables_.find(std::string(name));
        return it == variables_.end() ? std::nullopt : std::optional<Dim>(it->second);
      },
      &error);
  if (!value) fail(error.message);
  while (!failed() && (text_[at_ - 1] == ' ' || text_[at_ - 1] == '\n'))
    --at_;  // it looks beyond the line for more
  return value.value_or(Dim());
}

void TextReader::list(std::string_view close, const std::function<void()>& item) {
  if (accept(close)) return;
  do item();
  while (!failed() && accept(","));
  expect(close);
}

std::vector<Dim> TextReader::dims(std::string_view open, std::string_view close) {
  std::vector<Dim> out;
  expect(open);
  list(close, [&] { out.push_back(dim()); });
  return out;
}

std::vector<Fact> TextReader::facts() {
  std::vector<Fact> out;
  do {
    Fact fact;
    fact.lhs = dim();
    fact.relation = accept("==")   ? Relation::eq
                    : accept("!=") ? Relation::ne
                    : accept("<=") ? Relation::le
                    : accept("<")  ? Relation::lt
                                   : (fail("a relation is expected"), Relation::eq);
    fact.rhs = dim();
    out.push_back(fact);
  } while (accept("and"));
  return out;
}

}  // namespace axon::shape
