// See parts.h. No token goes over the end of a line, so the lines tell where declarations begin.
#include "syntax/parts.h"

#include <cctype>

#include "syntax/tokens.h"

namespace axon::syntax {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool opens_declaration_at_column_0(std::string_view line) {
  size_t length = 0;
  while (length < line.size() && is_word(line[length])) ++length;
  const auto keyword = keyword_of(line.substr(0, length));
  return keyword && opens_declaration(*keyword);
}

/// The line without a comment and without white space at its end.
std::string_view tokens_of(std::string_view line) {
  bool in_string = false;
  size_t end = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    if (!in_string && line.substr(i).starts_with("--")) break;
    if (line[i] == '"') in_string = !in_string;
    if (in_string && line[i] == '\\') ++i;
    if (i < line.size() && std::isspace(static_cast<unsigned char>(line[i])) == 0) end = i + 1;
  }
  return line.substr(0, end);
}

/// Whether the keyword that the next line begins with may belong to this one. A bracket that closes nothing
/// is no token for the parser.
bool ends_with_private(std::string_view tokens) {
  tokens = tokens.substr(0, tokens.find_last_not_of(" \t)]}") + 1);
  size_t begin = tokens.size();
  while (begin > 0 && is_word(tokens[begin - 1])) --begin;
  return keyword_of(tokens.substr(begin)) == TokenKind::PRIVATE;
}

}  // namespace

std::vector<uint32_t> part_starts(std::string_view text) {
  std::vector<uint32_t> out = {0};
  size_t after_tokens = 0;  // behind the last line that has any
  bool goes_on = false;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) end = text.size();
    const std::string_view line = text.substr(begin, end - begin), tokens = tokens_of(line);
    if (!goes_on && after_tokens != 0 && opens_declaration_at_column_0(tokens))
      out.push_back(static_cast<uint32_t>(after_tokens));
    begin = end + 1;
    if (tokens.empty()) continue;
    after_tokens = begin;
    goes_on = ends_with_private(tokens) || (goes_on && tokens.find_first_not_of(" \t)]}") == tokens.npos);
  }
  return out;
}

}  // namespace axon::syntax
