// See phrase.h.
#include "repl/phrase.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "repl/lexed.h"
#include "syntax/parse.h"

namespace axon::repl {

using syntax::Token;
using syntax::TokenKind;

namespace {

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

/// The line without the blanks at its end.
std::string_view without_end(std::string_view line) {
  return line.substr(0, line.find_last_not_of(" \t\r") + 1);
}

/// Where the last line of the text begins.
size_t last_line(std::string_view text) {
  const size_t end = text.rfind('\n');
  return end == std::string_view::npos ? 0 : end + 1;
}

/// The last line that is not empty ends what is enclosed.
bool is_closed(std::string_view enclosed) {
  const std::string_view all = enclosed.substr(0, enclosed.find_last_not_of(" \t\r\n") + 1);
  return all.substr(last_line(all)) == ":}";
}

}  // namespace

bool is_enclosed(const std::string& text) {
  return without_end(std::string_view(text).substr(0, text.find('\n'))) == ":{";
}

std::string inside_of(const std::string& text) {
  const std::string all = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  if (!is_enclosed(all)) return text;
  const size_t begin = std::min(all.find('\n'), all.size() - 1) + 1;
  const size_t end = is_closed(all) ? std::max(last_line(all), begin) : all.size();
  return all.substr(begin, end - begin);
}

PhraseKind kind_of(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return PhraseKind::empty;
  if (text[first] == ':' || text[first] == '?') return PhraseKind::command;
  const Lexed lexed(text);
  if (lexed.tokens.empty()) return PhraseKind::empty;
  return syntax::opens_declaration(lexed.tokens[0].kind) ? PhraseKind::definitions : PhraseKind::expression;
}

bool is_unfinished(const std::string& text) {
  if (is_enclosed(text)) return !is_closed(text);
  const PhraseKind kind = kind_of(text);
  if (kind == PhraseKind::command) return false;
  const Lexed lexed(text);
  if (lexed.tokens.empty()) return lexed.in_comment;
  int brackets = 0;
  for (const Token& t : lexed.tokens) {
    brackets += syntax::is_opener(t.kind) ? 1 : syntax::is_closer(t.kind) ? -1 : 0;
    if (brackets < 0) return false;  // never right, whatever follows
  }
  if (brackets > 0) return true;
  source::SourceManager sources;
  source::Diagnostics ignored;
  const std::string declared = kind == PhraseKind::expression ? "val it = " + text : text;
  return syntax::ends_early(sources[sources.add("repl", declared, ignored)]);
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
    const bool enclosed = !phrases.empty() && is_enclosed(phrases.back());
    if (enclosed && is_unfinished(phrases.back())) {
      phrases.back() += "\n" + line;
      continue;
    }
    const bool at_margin = line.find_first_not_of(" \t\r") == 0 && !only_goes_on(line);
    const bool follows =
        !phrases.empty() && !enclosed &&
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

/// A text as a tree, which nothing is reported of.
struct Parsed {
  source::SourceManager sources;
  source::Diagnostics ignored;
  syntax::File file;
  explicit Parsed(const std::string& text) : file(parse(text)) {}
  syntax::File parse(const std::string& text) {
    const source::FileId id = sources.add("repl", text, ignored);
    return syntax::parse(sources[id], ignored);
  }
};

static Item item_of(const syntax::Decl& decl) {
  Item item;
  item.name = decl.name.text;
  if (const auto* test = syntax::as<syntax::TestDecl>(decl))
    item.name = fmt::format("test \"{}\"", test->title);
  item.is_signature = std::holds_alternative<syntax::SignatureDecl>(decl.node);
  item.is_type = std::holds_alternative<syntax::TypeDecl>(decl.node) ||
                 std::holds_alternative<syntax::LayoutDecl>(decl.node) ||
                 std::holds_alternative<syntax::MeshDecl>(decl.node) ||
                 std::holds_alternative<syntax::ImportDecl>(decl.node);
  return item;
}

std::vector<Item> items_of(const std::string& text) {
  const Parsed parsed(text);
  const std::vector<syntax::Decl>& decls = parsed.file.decls;
  std::vector<Item> items;
  size_t begin = 0;
  for (size_t i = 0; i < decls.size(); ++i) {
    size_t end = text.size(), next = end;
    if (i + 1 < decls.size()) {
      next = end = std::max<size_t>(decls[i].span.end, begin);
      if (const size_t line = text.find('\n', end); line < decls[i + 1].span.begin) {
        end = line;
        next = line + 1;
      }
    }
    Item item = item_of(decls[i]);
    item.text = text.substr(begin, end - begin);
    item.at = begin;
    begin = next;
    items.push_back(std::move(item));
  }
  if (items.empty()) items.emplace_back().text = text;
  return items;
}

std::string declaration_of(const Item& item) {
  const Parsed parsed(item.text);
  return parsed.file.decls.empty() ? item.text : std::string(parsed.sources.text(parsed.file.decls[0].span));
}

std::string blank(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool inner = (static_cast<unsigned char>(c) & 0xC0) == 0x80;  // of a character of several bytes
    if (!inner) out += c == '\n' ? '\n' : ' ';
  }
  return out;
}

std::string body_of_test(const Item& item) {
  const Parsed parsed(item.text);
  for (const syntax::Decl& decl : parsed.file.decls)
    if (const auto* test = syntax::as<syntax::TestDecl>(decl)) {
      const source::Span body = parsed.file[test->body].span;
      return blank(item.text.substr(0, body.begin)) + std::string(parsed.sources.text(body));
    }
  return "";
}

std::optional<std::string> moved_import(const Item& item, const std::string& from, const std::string& to) {
  namespace fs = std::filesystem;
  const Parsed parsed(item.text);
  if (parsed.file.decls.size() != 1) return item.text;
  const syntax::Decl& decl = parsed.file.decls[0];
  const auto* import = syntax::as<syntax::ImportDecl>(decl);
  if (!import) return item.text;
  fs::path file = import->file.value_or("");
  if (!import->file)
    for (const syntax::Name& part : import->path) file /= part.text;
  if (file.extension() != ".axn") file += ".axn";
  std::error_code failed;
  const fs::path whole = fs::weakly_canonical(fs::path(from) / file, failed);
  if (failed || !fs::exists(whole, failed)) return item.text;
  const fs::path moved = fs::relative(whole, to, failed);
  if (failed || moved == file.lexically_normal()) return item.text;
  if (*moved.begin() == "..") return std::nullopt;
  std::string text = item.text;
  return text.replace(decl.span.begin, decl.span.end - decl.span.begin,
                      fmt::format("import \"{}\" as {}", moved.generic_string(), decl.name.text));
}

std::string definition_meant_by(const std::string& text) {
  const Lexed lexed(text);
  const std::vector<Token>& tokens = lexed.tokens;
  const bool let = !tokens.empty() && tokens[0].kind == TokenKind::LET;
  const auto first = tokens.begin() + (let ? 1 : 0);
  const auto equal =
      std::find_if(first, tokens.end(), [](const Token& t) { return t.kind != TokenKind::ID; });
  if (first == equal || equal == tokens.end() || equal->kind != TokenKind::EQUAL) return "";
  const auto is_of_lets = [](const Token& t) { return t.kind == TokenKind::IN || t.kind == TokenKind::LET; };
  if (std::any_of(equal, tokens.end(), is_of_lets)) return "";  // an expression that is not right
  const size_t line = text.find('\n', first->begin);
  const std::string rest = text.substr(first->begin, line - first->begin);
  return (equal - first == 1 ? "val " : "fun ") + rest + (line == std::string::npos ? "" : " ..");
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
