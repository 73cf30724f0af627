// Bytes to tokens (re2c). In: a checked source file (UTF-8, no NUL inside, NUL after the end). Out: tokens,
// comments and documentation; every byte that has no meaning is reported and stands in the stream as BROKEN.
//
// Two decisions are made here so that the grammar stays small:
//   IDX       `[` directly after a name, a closing bracket or a type variable: x[i] indexes, f x [i] applies
//   PREMINUS  `-` where an operand is expected, or with white space before and none after: f -x applies,
//             x - y subtracts
// A number has digits on both sides of its point (1.0, never 1.), so that `?k >= 1. t` reads as meant.
#include <algorithm>
#include <charconv>
#include <optional>
#include <fmt/format.h>
#include "source/limits.h"
#include "syntax/tokens.h"

namespace axon::syntax {
namespace {

using source::Code;
namespace limits = source::limits;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

/// May a value end with this token? Then `-` after it subtracts and `[` glued to it indexes (names and
/// closers).
bool ends_operand(TokenKind kind) {
  switch (kind) {
    case TokenKind::ID: case TokenKind::NUM: case TokenKind::STR: case TokenKind::TYVAR: case TokenKind::TRUE:
    case TokenKind::FALSE: case TokenKind::RPAREN: case TokenKind::RBRACKET: case TokenKind::RBRACE:
    case TokenKind::BROKEN: return true;
    default: return false;
  }
}
bool takes_index(TokenKind kind) {
  return kind == TokenKind::ID || kind == TokenKind::TYVAR || is_closer(kind);
}

class Lexer {
 public:
  Lexer(const source::SourceFile& file, source::Diagnostics& diagnostics)
      : file_(file), diagnostics_(diagnostics), text_(file.text().data()), cursor_(text_) {}

  TokenStream run() {
    while (scan()) {
      if (stream_.tokens.size() >= limits::tokens) {
        report(Code::E0202, fmt::format("the file has more than {} tokens", limits::tokens));
        stream_.tokens.clear();  // nothing is gained from a tree of a part
        begin_ = offset();
        add(TokenKind::END);
        break;
      }
    }
    drop_docs();
    return std::move(stream_);
  }

 private:
  /// Reads one token, comment or stretch of white space; false at the end.
  bool scan() {
    const char* YYMARKER;
    begin_ = offset();
    /*!re2c
      re2c:define:YYCTYPE = "unsigned char";
      re2c:define:YYCURSOR = cursor_;
      re2c:define:YYPEEK = "static_cast<unsigned char>(*cursor_)";
      re2c:api:style = free-form;
      re2c:yyfill:enable = 0;

      digits   = [0-9] [0-9_]*;
      exponent = [eE] [+-]? [0-9]+;
      integer  = digits | "0x" [0-9a-fA-F_]+ | "0b" [01_]+;
      real     = digits "." [0-9] [0-9_]* exponent? | digits exponent;
      letter   = [a-zA-Z_];
      name     = letter [a-zA-Z0-9_]*;
      rest     = [^\n\x00]*;
      inside   = [^"\\\n\x00] | "\\" [^\n\x00];

      "\x00"               { add(TokenKind::END); return false; }
      [ \t\r\f]+           { return true; }
      "\n"                 { end_of_line(); return true; }
      "--|" rest           { comment(true); return true; }
      "--" rest            { comment(false); return true; }

      name                 { word(); return true; }
      "'" name             { limited(TokenKind::TYVAR, limits::identifier_bytes, Code::E0104); return true; }
      integer | real       { number(); return true; }
      (integer | real | "0x" | "0b") name { report(Code::E0107); add(TokenKind::NUM); return true; }
      ["] inside* ["]      { string(); return true; }
      ["] inside*          { report(Code::E0102); add(TokenKind::STR); return true; }

      "["                  { bracket(); return true; }
      "-"                  { minus(); return true; }
      ":>" | "->" | "=>" | ".." | "<=" | ">=" | "!=" | "==" | "&&" | "||" | "|>" | [=<>+*/%@|.,:?(){}] | "]" {
        add(symbol());
        return true;
      }
      *                    { unknown(); return true; }
    */
  }

  uint32_t offset() const { return static_cast<uint32_t>(cursor_ - text_); }
  std::string_view spelling() const { return {text_ + begin_, offset() - begin_}; }
  source::Span span() const { return {file_.id(), begin_, offset()}; }
  void report(Code code, std::string message = {}) {
    diagnostics_.report(source::error(code, span(), message));
  }

  void add(TokenKind kind) {
    if (docs_ && opens_declaration(kind)) {
      stream_.docs[begin_] = std::move(*docs_);
      docs_.reset();
    }
    drop_docs();
    stream_.tokens.push_back({kind, line_is_empty_, false, false, 0, begin_, offset()});
    line_is_empty_ = line_has_nothing_ = false;
  }

  TokenKind previous() const { return stream_.tokens.empty() ? TokenKind::END : stream_.tokens.back().kind; }

  void end_of_line() {
    if (line_has_nothing_) empty_line();
    line_is_empty_ = line_has_nothing_ = true;
  }

  void comment(bool is_doc) {
    line_has_nothing_ = false;
    if (spelling().ends_with('\r')) --cursor_;
    stream_.comments.push_back({span(), is_doc, line_is_empty_});
    if (!is_doc) return;
    if (!line_is_empty_) {  // behind what it may be about: a declaration has it before
      diagnostics_.report(source::warning(Code::E0218, span()));
      return;
    }
    std::string_view text = spelling().substr(3);
    if (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ') || text.ends_with('\t') || text.ends_with('\r')) text.remove_suffix(1);
    if (docs_) *docs_ += '\n';
    else docs_.emplace(), docs_span_ = span();
    *docs_ += text;
  }
  /// Documentation at the beginning of a file, with an empty line behind it, is of the file itself.
  void empty_line() {
    const bool at_beginning = stream_.tokens.empty() && (!file_.piece().valid() || file_.piece().begin == 0);
    if (!docs_ || !at_beginning || stream_.file_doc) return;
    stream_.file_doc = std::move(*docs_);
    docs_.reset();
  }
  /// What is not followed by a declaration documents nothing.
  void drop_docs() {
    if (docs_) diagnostics_.report(source::warning(Code::E0218, docs_span_));
    docs_.reset();
  }

  void word() {
    if (spelling() == "_") return add(TokenKind::UNDERSCORE);
    const auto found = keyword_of(spelling());
    if (!found) return limited(TokenKind::ID, limits::identifier_bytes, Code::E0104);
    // Where only a name can stand, a reserved word is taken for one: that repairs more than it could hide.
    if (wants_name(previous()) && !line_is_empty_) {
      report(Code::E0219, fmt::format("`{}` is a reserved word and cannot be a name", spelling()));
      return add(TokenKind::ID);
    }
    add(*found);
  }
  static bool wants_name(TokenKind before) {
    return before == TokenKind::DOT || before == TokenKind::AS ||
           (opens_declaration(before) && before != TokenKind::PRIVATE && before != TokenKind::TEST);
  }

  void limited(TokenKind kind, size_t limit, Code code) {
    if (spelling().size() > limit) report(code);
    add(kind);
  }

  void number() {
    std::string_view text = spelling();
    auto digits = std::count_if(text.begin(), text.end(), [](char c) { return c != '_' && c != '.'; });
    if (static_cast<size_t>(digits) > limits::number_digits) report(Code::E0105);
    add(TokenKind::NUM);
  }

  void string() {
    std::string_view text = spelling();
    if (text.size() > limits::string_bytes) report(Code::E0106);
    for (size_t i = 1; i + 1 < text.size(); ++i) {
      if (text[i] != '\\') continue;
      size_t length = escape(text.substr(i)).length;
      if (length == 0) {
        uint32_t at = begin_ + static_cast<uint32_t>(i);
        diagnostics_.report(source::error(Code::E0103, {file_.id(), at, at + 2})
                                .note("known are \\n \\t \\r \\\" \\\\ and \\u{1f600}"));
      }
      i += std::max<size_t>(length, 2) - 1;
    }
    add(TokenKind::STR);
  }

  void bracket() {
    bool glued = !stream_.tokens.empty() && stream_.tokens.back().end == begin_ && takes_index(previous());
    add(glued ? TokenKind::IDX : TokenKind::LBRACKET);
  }

  void minus() {
    bool space_before = begin_ == 0 || is_space(text_[begin_ - 1]);
    bool space_after = is_space(*cursor_) || *cursor_ == '\0';
    add(!ends_operand(previous()) || (space_before && !space_after) ? TokenKind::PREMINUS : TokenKind::MINUS);
  }

  TokenKind symbol() const {
    static const auto symbols = [] {
      std::unordered_map<std::string_view, TokenKind> table;
#define KEYWORD(kind, spelling)
#define SYMBOL(kind, spelling) table[spelling] = TokenKind::kind;
#define CLASS(kind, description)
#include "syntax/tokens.def"
      return table;
    }();
    return symbols.at(spelling());
  }

  void unknown() {
    auto byte = [](char c) { return static_cast<unsigned char>(c); };
    while (byte(text_[begin_]) >= 0x80 && (byte(*cursor_) & 0xc0) == 0x80) ++cursor_;  // the whole character
    if (previous() == TokenKind::BROKEN && stream_.tokens.back().end == begin_) {
      stream_.tokens.back().end = offset();  // one report for a run
      return;
    }
    report(Code::E0101, fmt::format("the character `{}` has no meaning here", spelling()));
    add(TokenKind::BROKEN);
  }

 public:
  struct Escape {
    size_t length = 0;  ///< bytes of the sequence, 0 when it is not one
    uint32_t code_point = 0;
  };
  /// The escape sequence at the beginning of `text`, which is a backslash.
  static Escape escape(std::string_view text) {
    static constexpr std::string_view letters = "ntr\"\\", values = "\n\t\r\"\\";
    if (text.size() < 2) return {};
    size_t simple = letters.find(text[1]);
    if (simple != std::string_view::npos) return {2, static_cast<unsigned char>(values[simple])};
    size_t close = text.find('}');
    if (!text.starts_with("\\u{") || close == std::string_view::npos || close == 3 || close > 9) return {};
    uint32_t value = 0;
    auto [end, status] = std::from_chars(text.data() + 3, text.data() + close, value, 16);
    bool surrogate = value >= 0xd800 && value <= 0xdfff;
    if (status != std::errc() || end != text.data() + close || value > 0x10ffff || surrogate) return {};
    return {close + 1, value};
  }

 private:
  const source::SourceFile& file_;
  source::Diagnostics& diagnostics_;
  const char* text_;
  const char* cursor_;
  uint32_t begin_ = 0;
  bool line_is_empty_ = true;     // but for comments
  bool line_has_nothing_ = true;
  std::optional<std::string> docs_;
  source::Span docs_span_;
  TokenStream stream_;
};

void append_utf8(std::string& out, uint32_t c) {
  auto add = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) return add(c);
  if (c < 0x800) return add(0xc0 | c >> 6), add(0x80 | (c & 0x3f));
  if (c < 0x10000) return add(0xe0 | c >> 12), add(0x80 | (c >> 6 & 0x3f)), add(0x80 | (c & 0x3f));
  add(0xf0 | c >> 18), add(0x80 | (c >> 12 & 0x3f)), add(0x80 | (c >> 6 & 0x3f)), add(0x80 | (c & 0x3f));
}

}  // namespace

TokenStream lex(const source::SourceFile& file, source::Diagnostics& diagnostics) {
  return Lexer(file, diagnostics).run();
}

std::string string_value(std::string_view spelling) {
  spelling.remove_prefix(1);
  if (spelling.ends_with('"')) spelling.remove_suffix(1);
  std::string value;
  for (size_t i = 0; i < spelling.size(); ++i) {
    Lexer::Escape escape;
    if (spelling[i] == '\\') escape = Lexer::escape(spelling.substr(i));
    if (escape.length == 0) {
      value += spelling[i];
      continue;
    }
    append_utf8(value, escape.code_point);
    i += escape.length - 1;
  }
  return value;
}

}  // namespace axon::syntax
