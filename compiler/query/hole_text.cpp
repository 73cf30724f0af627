// See hole_text.h.
#include "query/hole_text.h"

#include <optional>

#include "source/diagnostic.h"
#include "syntax/tokens.h"

namespace axon::query {

using syntax::TokenKind;

namespace {

/// What is open behind some tokens, each with the text that ends it.
class Open {
 public:
  void take(const syntax::Token& t) {
    if (syntax::is_closer(t.kind)) return close();
    if (syntax::is_opener(t.kind)) return open(t.kind);
    if (t.kind == TokenKind::LET && ends_with(TokenKind::LET)) return;  // one `in` ends them all
    if (t.kind == TokenKind::THEN && !leave(TokenKind::IF)) return;
    if (end_of(t.kind)) return open(t.kind);
    if (t.kind == TokenKind::IN) leave(TokenKind::LET);
    if (t.kind == TokenKind::ELSE) leave(TokenKind::THEN);
    if (t.kind == TokenKind::FATARROW && (!ends_with(TokenKind::FOR) || !leave(TokenKind::FOR)))
      leave(TokenKind::FN);
    if (t.kind == TokenKind::EQUAL && ends_with(TokenKind::WITH)) all_.pop_back();
  }

  std::string ends() const {
    std::string out;
    for (auto one = all_.rbegin(); one != all_.rend(); ++one) out += *end_of(*one);
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

  /// What ends that which the token opens; nothing where it opens nothing. Whatever is still missing is a
  /// name that nothing has, so that no type follows from it.
  static std::optional<std::string> end_of(TokenKind kind) {
    const std::string nothing(name_of_hole);
    if (kind == TokenKind::LPAREN) return ")";
    if (kind == TokenKind::LBRACKET || kind == TokenKind::IDX) return "]";
    if (kind == TokenKind::LBRACE) return "}";
    if (kind == TokenKind::LET) return " in " + nothing;
    if (kind == TokenKind::IF) return " then " + nothing + " else " + nothing;
    if (kind == TokenKind::THEN) return " else " + nothing;
    if (kind == TokenKind::WITH) return " = " + nothing;
    if (kind == TokenKind::FOR || kind == TokenKind::FN) return " => " + nothing;
    return std::nullopt;
  }

  std::vector<TokenKind> all_;
};

}  // namespace

std::vector<std::string> texts_with_hole(std::string_view text, uint32_t begin, uint32_t end) {
  const std::string before = std::string(text.substr(0, begin)) + std::string(name_of_hole);
  source::Diagnostics ignored;
  const source::SourceFile file(source::FileId{0}, "", std::string(text.substr(0, begin)));
  Open open;
  for (const syntax::Token& t : syntax::lex(file, ignored).tokens) open.take(t);
  return {before + std::string(text.substr(end)), before + open.ends() + "\n"};
}

}  // namespace axon::query
