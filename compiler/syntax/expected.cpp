// Syntax errors in words: "expected an expression, found `)`".
#include <fmt/format.h>

#include <algorithm>
#include <bitset>

#include "source/limits.h"
#include "syntax/builder.h"

namespace axon::syntax {
namespace {

using source::Code;
using K = TokenKind;
namespace limits = source::limits;

/// The expected kinds, from which whole groups are taken out when a word covers them.
class Expected {
 public:
  explicit Expected(const std::vector<K>& kinds) {
    for (K kind : kinds) set_.set(static_cast<size_t>(kind));
  }
  bool has(K kind) const { return set_.test(static_cast<size_t>(kind)); }
  template <class... Ks>
  bool all(Ks... kinds) const {
    return (has(kinds) && ...);
  }
  template <class... Ks>
  void drop(Ks... kinds) {
    (set_.reset(static_cast<size_t>(kinds)), ...);
  }

  std::vector<std::string> words() {
    auto everything = set_;
    bool after_operand = all(K::PIPE, K::PLUS);
    if (all(K::IF, K::STR))
      word("an expression", [this] { drop_operand(); });
    else if (after_operand)
      drop_operators();
    else if (all(K::STR, K::TRUE))
      word("a value", [this] { drop_operand(); });
    if (all(K::NUM, K::TYVAR))
      word("a dimension or a type", [this] { drop_type(); });
    else if (all(K::TYVAR, K::LBRACE))
      word("a type", [this] { drop_type(); });
    if (all(K::UNDERSCORE, K::ID, K::LPAREN)) word("a name or a pattern", [this] { drop_type(); });
    if (all(K::NUM, K::ID, K::LPAREN)) word("a dimension", [this] { drop_type(); });
    if (all(K::LE, K::GE, K::NE)) word("a comparison", [this] { drop_operators(); });
    drop_operators();
    if (all(K::FUN, K::PRIM)) {
      word(words_.empty() && !after_operand ? "a declaration" : "the next declaration",
           [this] { drop_declarations(); });
    }
    if (words_.empty() && set_.none()) set_ = everything;
    for (size_t kind = 0; kind < set_.size(); ++kind)
      if (set_.test(kind)) words_.push_back(token_in_words(static_cast<K>(kind)));
    return std::move(words_);
  }

 private:
  template <class Drop>
  void word(const char* text, Drop drop) {
    words_.push_back(text);
    drop();
  }
  void drop_operand() {
    drop(K::ID, K::NUM, K::STR, K::TRUE, K::FALSE, K::LPAREN, K::LBRACKET, K::LBRACE, K::BROKEN, K::PREMINUS);
    drop(K::LET, K::IF, K::FOR, K::FN);
  }
  void drop_type() {
    drop(K::ID, K::TYVAR, K::NUM, K::LPAREN, K::LBRACKET, K::LBRACE, K::STAR, K::QUESTION, K::UNDERSCORE,
         K::DOTDOT, K::BROKEN);
  }
  /// After an operand: everything that could make it longer goes without saying.
  void drop_operators() {
    if (all(K::PIPE, K::PLUS)) drop_operand();
    drop(K::PIPE, K::WITH, K::CHECKAS, K::OR, K::AND, K::LESS, K::GREATER, K::LE, K::GE, K::NE, K::EQEQ,
         K::PLUS);
    drop(K::MINUS, K::STAR, K::SLASH, K::PERCENT, K::AT, K::DOT, K::IDX, K::ARROW, K::BROKEN, K::PREMINUS);
    if (words_.empty() && set_.count() > 1) drop(K::FATARROW);
  }
  void drop_declarations() {
    drop(K::FUN, K::ENTRY, K::VAL, K::TYPE, K::PRIM, K::IMPORT, K::PRIVATE, K::TEST, K::LAYOUT, K::MESH,
         K::END);
  }

  std::bitset<static_cast<size_t>(K::END) + 1> set_;
  std::vector<std::string> words_;
};

std::string alternatives(const std::vector<std::string>& words) {
  constexpr size_t shown = 4;
  std::string text = words[0];
  size_t count = std::min(words.size(), shown);
  for (size_t i = 1; i < count; ++i) text += (i + 1 == count ? " or " : ", ") + words[i];
  return text;
}

}  // namespace

/// What other languages write so, and what stands at another place here.
void Builder::add_helps(source::Diagnostic& report, const std::vector<TokenKind>& kinds, bool at_end) const {
  const auto wants = [&](K kind) { return std::find(kinds.begin(), kinds.end(), kind) != kinds.end(); };
  const bool ends_here = wants(K::FUN);
  const std::string_view before = file_.text().substr(0, last_.begin);
  const bool is_first = before.empty() || before.back() == '\n';
  if (ends_here && is_first && (last_.kind == K::ID || last_.kind == K::LET))
    report.help("`fun f x = ..` declares a function, `val c = ..` a value");
  if (ends_here && last_.kind == K::EQUAL && wants(K::PLUS)) report.help("`==` compares");
  if (ends_here && last_.kind == K::EQUAL && wants(K::ARROW) && !wants(K::PLUS))
    report.help("a type is stated before the declaration: `val x : i64`, then `val x = 3`");
  const bool compares = last_.kind == K::LESS || last_.kind == K::LE || last_.kind == K::GREATER ||
                        last_.kind == K::GE || last_.kind == K::EQEQ || last_.kind == K::NE;
  if (compares && wants(K::COMMA) && (ends_here || wants(K::EQUAL)))  // of `where`
    report.help("comparisons do not chain: `a < b, b < c`");
  else if (compares && ends_here)
    report.help("comparisons do not chain: `a < b && b < c`");
  if ((ends_here || wants(K::LET)) && last_.kind == K::DOTDOT)
    report.help(
        "`..p` is bound by `for`, `for ..p => x[..p]`; a reduction names each axis, `sum i j => x[i, j]`");
  if (last_.kind == K::COMMA && wants(K::RBRACKET) && wants(K::PLUS))
    report.help("`else` stands behind all indices: `x[i - 1, j else 0.0]`");
  if (kinds == std::vector<K>{K::AS})
    report.help("a file is imported under a name: `import \"layers.axn\" as layers`");
  if (wants(K::ID) && !at_end && is_keyword(last_.kind))
    report.note(fmt::format("`{}` is a reserved word", text(last_)));
}

void Builder::syntax_error(std::vector<TokenKind> kinds) {
  if (last_.kind == K::END && !diagnostics_.has_errors()) ended_early_ = true;
  // What balance() and stop_at_depth() put in, and broken text, has been reported.
  if (last_.is_virtual || last_.in_unclosed || last_.kind == K::BROKEN) return;
  if (const Token* name = name_after_type(kinds)) last_ = *name;
  std::string found = token_in_words(last_.kind);
  if (last_.kind == K::ID) found = fmt::format("the name `{}`", text(last_));
  if (last_.kind == K::NUM) found = fmt::format("the number `{}`", text(last_));
  bool at_end = last_.kind == K::END || starts_declaration(last_);
  if (at_end) found = "the end of the declaration";

  std::vector<std::string> words = Expected(kinds).words();
  std::string message = fmt::format("unexpected {}", found);
  if (!words.empty()) message = fmt::format("expected {}, found {}", alternatives(words), found);
  // What is missing at the end of a declaration is missed after its last token, not where the next one
  // begins.
  bool after_last = at_end && last_real_.end > last_real_.begin;
  auto report = source::error(Code::E0210, span(after_last ? last_real_ : last_), message);
  if (after_last) report.label("after this");
  if (is_second_mode(kinds)) {
    report = source::error(Code::E0330, span(last_), "a parameter has one mode: `weights` or `*`");
    report.also(span(last_real_), "`weights` is one");
  }
  add_helps(report, kinds, at_end);
  diagnostics_.report(std::move(report));
  count_error();
}

/// `f32 y :`, where only `weights` may stand before a type: the type has ended before `y`.
const Token* Builder::name_after_type(const std::vector<TokenKind>& expected) const {
  const bool in_type = std::find(expected.begin(), expected.end(), K::ARROW) != expected.end();
  if (!in_type || position_ < 3) return nullptr;
  const Token *name = &stream_.tokens[position_ - 2], *word = name - 1;
  if (name->kind != K::ID || word->kind != K::ID || text(*word) == "weights") return nullptr;
  return name->end == last_real_.end ? name : nullptr;
}

/// `weights *t`, `*weights t`, `weights weights t`: the type ends with `weights`, and another one begins.
bool Builder::is_second_mode(const std::vector<TokenKind>& expected) const {
  const bool in_type = std::find(expected.begin(), expected.end(), K::ARROW) != expected.end();
  const bool begins = last_.kind == K::STAR || last_.kind == K::ID || last_.kind == K::TYVAR ||
                      last_.kind == K::LPAREN || last_.kind == K::LBRACKET || last_.kind == K::LBRACE;
  return in_type && begins && last_real_.kind == K::ID && text(last_real_) == "weights";
}

void Builder::count_error() {
  if (++errors_ < limits::syntax_errors) return;
  diagnostics_.report(source::error(Code::E0203, span(last_)).note("the rest of the file was not read"));
  position_ = stream_.tokens.size() - 1;
}

}  // namespace axon::syntax
