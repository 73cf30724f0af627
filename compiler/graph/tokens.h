// Tokens of the graph's text; see print.cpp for what they make up.
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

}  // namespace axon::graph
