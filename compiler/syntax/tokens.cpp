// Tables over tokens.def, and the repair of brackets.
#include "syntax/tokens.h"

#include <fmt/format.h>

#include <algorithm>

#include "source/limits.h"

namespace axon::syntax {
namespace {

using source::Code;
namespace limits = source::limits;

enum class Group : uint8_t { declaration, keyword, symbol, opener, closer, other };
struct Row {
  const char* name;
  const char* text;
  Group group;
};
constexpr Row rows[] = {
#define DECLARATION(kind, spelling) {#kind, spelling, Group::declaration},
#define KEYWORD(kind, spelling) {#kind, spelling, Group::keyword},
#define SYMBOL(kind, spelling) {#kind, spelling, Group::symbol},
#define OPENER(kind, spelling) {#kind, spelling, Group::opener},
#define CLOSER(kind, spelling) {#kind, spelling, Group::closer},
#define CLASS(kind, description) {#kind, description, Group::other},
#include "syntax/tokens.def"
};
const Row& row(TokenKind kind) { return rows[static_cast<size_t>(kind)]; }

TokenKind closer_of(TokenKind opener) {
  if (opener == TokenKind::LPAREN) return TokenKind::RPAREN;
  return opener == TokenKind::LBRACE ? TokenKind::RBRACE : TokenKind::RBRACKET;
}

class Balancer {
 public:
  Balancer(const source::SourceFile& file, source::Diagnostics& diagnostics)
      : file_(file), diagnostics_(diagnostics) {}

  std::vector<Token> run(const std::vector<Token>& tokens) {
    out_.reserve(tokens.size() + 16);
    for (size_t i = 0; i < tokens.size(); ++i) {
      const Token& token = tokens[i];
      bool fresh_start = starts_declaration(token) && is_at_column_0(token);
      if (fresh_start || token.kind == TokenKind::END) close_down_to(0, token);
      if (is_closer(token.kind)) {
        closer(token);
      } else if (is_opener(token.kind) && open_.size() == limits::nesting) {
        i = skip_group(tokens, i);
      } else {
        push(token);
        if (is_opener(token.kind)) open_.push_back({token, out_.size()});
      }
    }
    return std::move(out_);
  }

 private:
  struct Open {
    Token opener;
    size_t first_inside;  // index in out_
  };

  source::Span span(const Token& token) const { return {file_.id(), token.begin, token.end}; }

  bool is_at_column_0(const Token& token) const {
    return token.begin == 0 || file_.text()[token.begin - 1] == '\n';
  }

  void push(Token token) {
    token.depth = static_cast<uint16_t>(open_.size());
    out_.push_back(token);
  }

  void closer(const Token& token) {
    auto match = std::find_if(open_.rbegin(), open_.rend(),
                              [&](const Open& open) { return closer_of(open.opener.kind) == token.kind; });
    if (match == open_.rend()) {
      diagnostics_.report(source::error(Code::E0212, span(token),
                                        fmt::format("{} closes nothing", token_in_words(token.kind))));
      return;
    }
    close_down_to(static_cast<size_t>(open_.rend() - match), token);
    open_.pop_back();
    push(token);
  }

  /// Puts virtual closers in before `next` until only `count` brackets are open.
  void close_down_to(size_t count, const Token& next) {
    if (open_.size() > count)
      for (size_t i = open_[count].first_inside; i < out_.size(); ++i) out_[i].in_unclosed = true;
    while (open_.size() > count) {
      Token opener = open_.back().opener;
      open_.pop_back();
      auto report = source::error(Code::E0211, span(opener),
                                  fmt::format("{} is not closed", token_in_words(opener.kind)));
      if (is_closer(next.kind)) report.also(span(next), "still open here");
      diagnostics_.report(std::move(report));
      uint32_t at = out_.back().end;
      push({closer_of(opener.kind), false, true, false, 0, at, at});
    }
  }

  /// Replaces the group that begins at `first` by one BROKEN token; answers the index of its last token. A
  /// group that never ends is taken up to the next declaration, and the brackets around it are closed without
  /// another report.
  size_t skip_group(const std::vector<Token>& tokens, size_t first) {
    diagnostics_.report(source::error(Code::E0201, span(tokens[first]))
                            .note(fmt::format("at most {} brackets may be open at once", limits::nesting)));
    size_t depth = 0, i = first;
    bool ends = true;
    for (;; ++i) {
      const Token& token = tokens[i];
      if (is_opener(token.kind)) ++depth;
      if (is_closer(token.kind) && --depth == 0) break;
      ends = token.kind != TokenKind::END && !starts_declaration(token);
      if (!ends) break;
    }
    if (!ends) --i;
    push({TokenKind::BROKEN, false, false, false, 0, tokens[first].begin, tokens[i].end});
    while (!ends && !open_.empty()) {
      TokenKind kind = closer_of(open_.back().opener.kind);
      open_.pop_back();
      push({kind, false, true, false, 0, tokens[i].end, tokens[i].end});
    }
    return i;
  }

  const source::SourceFile& file_;
  source::Diagnostics& diagnostics_;
  std::vector<Open> open_;
  std::vector<Token> out_;
};

}  // namespace

const char* token_name(TokenKind kind) { return row(kind).name; }
std::string token_in_words(TokenKind kind) {
  return row(kind).group == Group::other ? row(kind).text : fmt::format("`{}`", row(kind).text);
}
std::optional<TokenKind> keyword_of(std::string_view word) {
  static const auto keywords = [] {
    std::unordered_map<std::string_view, TokenKind> table;
#define KEYWORD(kind, spelling) table[spelling] = TokenKind::kind;
#define SYMBOL(kind, spelling)
#define CLASS(kind, description)
#include "syntax/tokens.def"
    return table;
  }();
  const auto found = keywords.find(word);
  return found == keywords.end() ? std::nullopt : std::optional(found->second);
}
bool opens_declaration(TokenKind kind) { return row(kind).group == Group::declaration; }
bool is_keyword(TokenKind kind) { return row(kind).group <= Group::keyword; }
bool is_opener(TokenKind kind) { return row(kind).group == Group::opener || kind == TokenKind::IDX; }
bool is_closer(TokenKind kind) { return row(kind).group == Group::closer; }

void balance(TokenStream& stream, const source::SourceFile& file, source::Diagnostics& diagnostics) {
  stream.tokens = Balancer(file, diagnostics).run(stream.tokens);
}

}  // namespace axon::syntax
