// See phrase.h.
#include "repl/phrase.h"

#include <fmt/format.h>

#include <cctype>
#include <set>

#include "repl/lexed.h"
#include "syntax/parse.h"

namespace axon::repl {

using syntax::Token;
using syntax::TokenKind;

namespace {

/// Something follows these.
bool asks_for_more(TokenKind kind) {
  static const std::set<TokenKind> last = {
      TokenKind::EQUAL,   TokenKind::PLUS,    TokenKind::MINUS, TokenKind::PREMINUS, TokenKind::STAR,
      TokenKind::SLASH,   TokenKind::AT,      TokenKind::COMMA, TokenKind::FATARROW, TokenKind::ARROW,
      TokenKind::PERCENT, TokenKind::PIPE,    TokenKind::AND,   TokenKind::OR,       TokenKind::EQEQ,
      TokenKind::NE,      TokenKind::LESS,    TokenKind::LE,    TokenKind::GREATER,  TokenKind::GE,
      TokenKind::COLON,   TokenKind::IN,      TokenKind::THEN,  TokenKind::ELSE,     TokenKind::LET,
      TokenKind::IF,      TokenKind::FOR,     TokenKind::FN,    TokenKind::WITH,     TokenKind::WHERE,
      TokenKind::CHECKAS, TokenKind::FUN,     TokenKind::ENTRY, TokenKind::VAL,      TokenKind::TYPE,
      TokenKind::IMPORT,  TokenKind::PRIVATE, TokenKind::TEST};
  return last.count(kind) != 0;
}

/// A line that begins with what no phrase begins with.
bool only_goes_on(const std::string& line) {
  static const std::set<TokenKind> inner = {
      TokenKind::EQUAL, TokenKind::PLUS,     TokenKind::STAR,  TokenKind::SLASH,   TokenKind::AT,
      TokenKind::COMMA, TokenKind::FATARROW, TokenKind::ARROW, TokenKind::PERCENT, TokenKind::PIPE,
      TokenKind::AND,   TokenKind::OR,       TokenKind::EQEQ,  TokenKind::NE,      TokenKind::LESS,
      TokenKind::LE,    TokenKind::GREATER,  TokenKind::GE,    TokenKind::IN,      TokenKind::THEN,
      TokenKind::ELSE,  TokenKind::WITH,     TokenKind::WHERE, TokenKind::CHECKAS};
  const Lexed lexed(line);
  return !lexed.tokens.empty() &&
         (inner.count(lexed.tokens[0].kind) != 0 || syntax::is_closer(lexed.tokens[0].kind));
}

/// A function, entry or test whose `=` is still to come.
bool lacks_body(const std::vector<Token>& tokens) {
  bool lacking = false;
  for (const Token& t : tokens) {
    if (t.kind == TokenKind::FUN || t.kind == TokenKind::ENTRY || t.kind == TokenKind::TEST) lacking = true;
    if (t.kind == TokenKind::EQUAL) lacking = false;
  }
  return lacking;
}

}  // namespace

PhraseKind kind_of(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return PhraseKind::empty;
  if (text[first] == ':' || text[first] == '?') return PhraseKind::command;
  const Lexed lexed(text);
  if (lexed.tokens.empty()) return PhraseKind::empty;
  return syntax::opens_declaration(lexed.tokens[0].kind) ? PhraseKind::definitions : PhraseKind::expression;
}

bool is_unfinished(const std::string& text) {
  if (kind_of(text) == PhraseKind::command) return false;
  const Lexed lexed(text);
  if (lexed.tokens.empty()) return lexed.in_comment;
  int brackets = 0, lets = 0, ifs = 0;
  for (const Token& t : lexed.tokens) {
    brackets += syntax::is_opener(t.kind) ? 1 : syntax::is_closer(t.kind) ? -1 : 0;
    if (brackets < 0) return false;  // never right, whatever follows
    lets += t.kind == TokenKind::LET ? 1 : t.kind == TokenKind::IN ? -1 : 0;
    ifs += t.kind == TokenKind::IF ? 1 : t.kind == TokenKind::ELSE ? -1 : 0;
  }
  return brackets > 0 || lets > 0 || ifs > 0 || asks_for_more(lexed.tokens.back().kind) ||
         lacks_body(lexed.tokens);
}

bool begins_command(const std::string& line) {
  return line.size() > 1 && line[0] == ':' && std::isalpha(static_cast<unsigned char>(line[1]));
}

std::vector<std::string> phrases_of(const std::string& text) {
  std::vector<std::string> phrases;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    const bool at_margin = line.find_first_not_of(" \t\r") == 0 && !only_goes_on(line);
    const bool follows =
        !phrases.empty() &&
        (!at_margin || (is_unfinished(phrases.back()) && !begins_command(line)) ||
         (kind_of(line) == PhraseKind::definitions && kind_of(phrases.back()) == PhraseKind::definitions));
    if (follows)
      phrases.back() += "\n" + line;
    else if (at_margin)
      phrases.push_back(line);
  }
  std::erase_if(phrases, [](const std::string& phrase) { return kind_of(phrase) == PhraseKind::empty; });
  return phrases;
}

std::vector<Item> items_of(const std::string& text) {
  source::SourceManager sources;
  source::Diagnostics ignored;
  const source::FileId id = sources.add("repl", text, ignored);
  const syntax::File file = syntax::parse(sources[id], ignored);
  std::vector<Item> items;
  size_t begin = 0;
  for (const syntax::Decl& decl : file.decls) {
    Item item;
    item.name = decl.name.text;
    if (const auto* test = syntax::as<syntax::TestDecl>(decl))
      item.name = fmt::format("test \"{}\"", test->title);
    item.is_signature = std::holds_alternative<syntax::SignatureDecl>(decl.node);
    item.is_type = std::holds_alternative<syntax::TypeDecl>(decl.node) ||
                   std::holds_alternative<syntax::LayoutDecl>(decl.node) ||
                   std::holds_alternative<syntax::MeshDecl>(decl.node) ||
                   std::holds_alternative<syntax::ImportDecl>(decl.node);
    const bool last = &decl == &file.decls.back();
    const size_t end = last ? text.size() : std::max<size_t>(decl.span.end, begin);
    item.text = text.substr(begin, end - begin);
    begin = end;
    items.push_back(std::move(item));
  }
  if (items.empty()) items.push_back({"", false, false, text});
  return items;
}

std::vector<size_t> places_of(const std::string& text, std::string_view name) {
  const Lexed lexed(text);
  std::vector<size_t> places;
  for (size_t i = 0; i < lexed.tokens.size(); ++i) {
    const Token& t = lexed.tokens[i];
    const bool is_field = i > 0 && lexed.tokens[i - 1].kind == TokenKind::DOT;
    if (t.kind == TokenKind::ID && !is_field && lexed.text(t) == name) places.push_back(t.begin);
  }
  return places;
}

}  // namespace axon::repl
