// See hole_text.h.
#include "query/hole_text.h"

#include "source/diagnostic.h"
#include "syntax/tokens.h"

namespace axon::query {

using syntax::Token;
using syntax::TokenKind;

namespace {

/// What is open behind some tokens, each with the text that ends it.
class Open {
 public:
  void take(const Token& t) {
    if (syntax::is_closer(t.kind)) return close();
    if (syntax::is_opener(t.kind)) return open(t.kind);
    switch (t.kind) {
      case TokenKind::LET:
        if (!ends_with(TokenKind::LET)) all_.push_back(TokenKind::LET);
        return;
      case TokenKind::IF:
      case TokenKind::FOR:
      case TokenKind::FN:
      case TokenKind::WITH:
        all_.push_back(t.kind);
        return;
      case TokenKind::THEN:
        if (leave(TokenKind::IF)) all_.push_back(TokenKind::THEN);
        return;
      case TokenKind::IN:
        leave(TokenKind::LET);
        return;
      case TokenKind::ELSE:
        leave(TokenKind::THEN);
        return;
      case TokenKind::FATARROW:
        if (!ends_with(TokenKind::FOR) || !leave(TokenKind::FOR)) leave(TokenKind::FN);
        return;
      case TokenKind::EQUAL:
        if (ends_with(TokenKind::WITH)) all_.pop_back();
        return;
      default:
        return;
    }
  }

  std::string ends() const {
    std::string out;
    for (auto one = all_.rbegin(); one != all_.rend(); ++one) out += end_of(*one);
    return out;
  }

 private:
  static bool is_bracket(TokenKind kind) { return syntax::is_opener(kind); }
  bool ends_with(TokenKind kind) const { return !all_.empty() && all_.back() == kind; }
  void open(TokenKind kind) { all_.push_back(kind); }
  void close() {
    while (!all_.empty() && !is_bracket(all_.back())) all_.pop_back();
    if (!all_.empty()) all_.pop_back();
  }
  /// Up to the last one of this kind in the innermost bracket.
  bool leave(TokenKind kind) {
    size_t at = all_.size();
    while (at > 0 && !is_bracket(all_[at - 1]) && all_[at - 1] != kind) --at;
    if (at == 0 || all_[at - 1] != kind) return false;
    all_.resize(at - 1);
    return true;
  }

  /// Whatever is still missing is a name that nothing has, so that no type follows from it.
  static std::string end_of(TokenKind kind) {
    const std::string nothing(name_of_hole);
    switch (kind) {
      case TokenKind::LPAREN:
        return ")";
      case TokenKind::LBRACKET:
      case TokenKind::IDX:
        return "]";
      case TokenKind::LBRACE:
        return "}";
      case TokenKind::LET:
        return " in " + nothing;
      case TokenKind::IF:
        return " then " + nothing + " else " + nothing;
      case TokenKind::THEN:
        return " else " + nothing;
      case TokenKind::WITH:
        return " = " + nothing;
      default:
        return " => " + nothing;
    }
  }

  std::vector<TokenKind> all_;
};

}  // namespace

std::vector<std::string> texts_with_hole(std::string_view text, uint32_t begin, uint32_t end) {
  const std::string before = std::string(text.substr(0, begin)) + std::string(name_of_hole);
  source::Diagnostics ignored;
  const source::SourceFile file(source::FileId{0}, "", std::string(text.substr(0, begin)));
  Open open;
  for (const Token& t : syntax::lex(file, ignored).tokens) open.take(t);
  return {before + std::string(text.substr(end)), before + open.ends() + "\n"};
}

}  // namespace axon::query
