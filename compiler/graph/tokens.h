// Tokens of the graph's text, and walking over them; see print.cpp for what they make up.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace axon::graph {

struct Token {
  enum class Kind : uint8_t { end, word, number, string, value, symbol } kind = Kind::end;
  std::string text;    // word, symbol; number without type; string unescaped; value "%3.1" or "$0"
  std::string suffix;  // number: element type
  int line = 1;
  size_t begin = 0;  // where it stands in the text
};

/// The whole text as tokens, with an `end` token last. Nothing is wrong here: an unknown character is a
/// symbol.
std::vector<Token> tokens_of(const std::string& text);

/// Walks over the tokens of a text. The first error stops it: from then on every token reads as the end, so
/// no loop of a reader needs its own way out.
class TokenCursor {
 public:
  explicit TokenCursor(const std::string& text) : tokens(tokens_of(text)) {}

 protected:
  std::vector<Token> tokens;
  size_t next = 0;
  std::string error;

  const Token& peek() const;
  bool done() const;
  void fail(const std::string& what);
  bool is(const std::string& text) const;
  Token take();
  bool accept(const std::string& text);
  void expect(const std::string& text);
  std::string word();
  std::string string();
  uint32_t number();
  bool at_list_end(const char* close) const;
};

}  // namespace axon::graph
