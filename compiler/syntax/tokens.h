// The token stream between the lexer and the parser.
//
// lex() turns the bytes of a file into tokens, comments and documentation; balance() then makes the brackets
// match, so that the parser only ever sees balanced ones: a bracket that is not closed gets a virtual closer,
// a stray closer is taken out, and a group that is nested too deeply becomes one BROKEN token. Both report
// what they repair.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "source/diagnostic.h"
#include "syntax/ast.h"

namespace axon::syntax {

enum class TokenKind : uint8_t {
#define KEYWORD(kind, spelling) kind,
#define SYMBOL(kind, spelling) kind,
#define CLASS(kind, description) kind,
#include "syntax/tokens.def"
};
const char* token_name(TokenKind kind);                      ///< "FUN", "LPAREN"
std::string token_in_words(TokenKind kind);                  ///< "`fun`", "`(`", "a name": for messages
std::optional<TokenKind> keyword_of(std::string_view word);  ///< none: the word is not reserved
bool opens_declaration(TokenKind kind);
bool is_keyword(TokenKind kind);
bool is_opener(TokenKind kind);  ///< ( [ { and IDX
bool is_closer(TokenKind kind);

struct Token {
  TokenKind kind;
  bool first_on_line = false;
  bool is_virtual = false;  ///< put in by balance() or Builder; has no bytes
  bool in_unclosed =
      false;  ///< inside a bracket that balance() had to close: what is wrong there is explained by that
  uint16_t depth =
      0;  ///< brackets open around it, set by balance(); an opener and its closer count as outside
  uint32_t begin = 0, end = 0;
};

struct TokenStream {
  std::vector<Token> tokens;  ///< ends with END
  std::vector<Comment> comments;
  std::unordered_map<uint32_t, std::string> docs;  ///< by the first byte of the declaration
  std::optional<std::string> file_doc;
};

/// Does a declaration begin here, even where none is expected? (A keyword in the middle of a line proves
/// nothing.)
inline bool starts_declaration(const Token& token) {
  return token.first_on_line && opens_declaration(token.kind);
}

TokenStream lex(const source::SourceFile& file, source::Diagnostics& diagnostics);
void balance(TokenStream& stream, const source::SourceFile& file, source::Diagnostics& diagnostics);

/// The value of a string token (quotes and escapes resolved) whose spelling is `spelling`; what is not an
/// escape sequence is kept as written, and reported by lex().
std::string string_value(std::string_view spelling);

}  // namespace axon::syntax
