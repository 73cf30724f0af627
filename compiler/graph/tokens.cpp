// Text to tokens: one pass, line numbers counted on the way. Then what readers ask of them.
#include "graph/tokens.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>

namespace axon::graph {

std::vector<Token> tokens_of(const std::string& text) {
  std::vector<Token> tokens;
  int line = 1;
  size_t i = 0;
  auto at = [&](size_t k) { return k < text.size() ? text[k] : '\0'; };
  auto is_word = [&](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  auto is_digit = [&](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  while (i < text.size()) {
    char c = text[i];
    Token t;
    t.line = line;
    size_t begin = i;
    t.begin = begin;
    if (c == '\n') ++line;
    if (std::isspace(static_cast<unsigned char>(c))) {
      ++i;
      continue;
    }
    if ((c == '%' || c == '$') && is_digit(at(i + 1))) {
      t.kind = Token::Kind::value;
      for (++i; is_digit(at(i)) || (at(i) == '.' && is_digit(at(i + 1)));) ++i;
      t.text = text.substr(begin, i - begin);
    } else if (is_digit(c)) {
      t.kind = Token::Kind::number;
      while (is_digit(at(i)) || at(i) == '.' ||
             (at(i) == 'e' &&
              (is_digit(at(i + 1)) || ((at(i + 1) == '-' || at(i + 1) == '+') && is_digit(at(i + 2))))))
        i += at(i) == 'e' ? 2 : 1;
      t.text = text.substr(begin, i - begin);
      if (at(i) == '_') {
        size_t start = ++i;
        while (is_word(at(i))) ++i;
        t.suffix = text.substr(start, i - start);
      }
    } else if (is_word(c)) {
      t.kind = Token::Kind::word;
      while (is_word(at(i))) ++i;
      t.text = text.substr(begin, i - begin);
    } else if (c == '"') {
      t.kind = Token::Kind::string;
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        if (text[i] == '\\' && i + 1 < text.size()) {
          ++i;
          t.text += text[i] == 'n' ? '\n' : text[i];
        } else {
          t.text += text[i];
        }
      }
      ++i;
    } else {
      t.kind = Token::Kind::symbol;
      static const char* const pairs[] = {":=", "==", "!=", "<=", "&&", "||"};
      t.text = std::string(1, c);
      for (const char* p : pairs)
        if (text.compare(i, 2, p) == 0) t.text = p;
      i += t.text.size();
    }
    tokens.push_back(std::move(t));
  }
  tokens.push_back({Token::Kind::end, "", "", line, text.size()});
  return tokens;
}

const Token& TokenCursor::peek() const { return error.empty() ? tokens[next] : tokens.back(); }

bool TokenCursor::done() const { return peek().kind == Token::Kind::end; }

void TokenCursor::fail(const std::string& what) {
  if (error.empty()) error = fmt::format("line {}: {}", tokens[next].line, what);
}

bool TokenCursor::is(const std::string& text) const {
  const Token& t = peek();
  if (t.kind == Token::Kind::value) return text == t.text.substr(0, 1);
  return (t.kind == Token::Kind::word || t.kind == Token::Kind::symbol) && t.text == text;
}

Token TokenCursor::take() {
  Token t = peek();
  if (error.empty() && next + 1 < tokens.size()) ++next;
  return t;
}

bool TokenCursor::accept(const std::string& text) {
  if (!is(text)) return false;
  take();
  return true;
}

void TokenCursor::expect(const std::string& text) {
  if (!accept(text)) fail(fmt::format("expected `{}`, found `{}`", text, peek().text));
}

std::string TokenCursor::word() {
  if (peek().kind != Token::Kind::word) fail(fmt::format("expected a name, found `{}`", peek().text));
  return take().text;
}

std::string TokenCursor::string() {
  if (peek().kind != Token::Kind::string) fail(fmt::format("expected a string, found `{}`", peek().text));
  return take().text;
}

uint32_t TokenCursor::number() {
  if (peek().kind != Token::Kind::number) fail(fmt::format("expected a number, found `{}`", peek().text));
  return static_cast<uint32_t>(std::strtoul(take().text.c_str(), nullptr, 10));
}

bool TokenCursor::at_list_end(const char* close) const { return is(close) || done(); }

}  // namespace axon::graph
