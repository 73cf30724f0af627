// See application.h.
#include "query/application.h"

#include <algorithm>
#include <optional>

#include "query/cursor.h"
#include "source/diagnostic.h"
#include "source/span.h"
#include "syntax/tokens.h"

namespace axon::query {

using syntax::TokenKind;

namespace {

bool is_operand(TokenKind kind) {
  return kind == TokenKind::ID || kind == TokenKind::NUM || kind == TokenKind::STR ||
         kind == TokenKind::TRUE || kind == TokenKind::FALSE || kind == TokenKind::UNDERSCORE ||
         kind == TokenKind::BROKEN || kind == TokenKind::TYVAR;
}

/// Whether operands before and behind it are beside each other still.
bool goes_on(TokenKind kind) {
  return is_operand(kind) || syntax::is_opener(kind) || syntax::is_closer(kind) || kind == TokenKind::DOT ||
         kind == TokenKind::DOTDOT || kind == TokenKind::PREMINUS;
}

/// What is between two brackets, as far as it was read.
struct Group {
  TokenKind opener = TokenKind::END;
  uint32_t begin = 0;
  std::vector<Operand> run;  ///< operands beside each other, up to here
  bool binds = false;        ///< names that stand here are new
  bool one_run = true;       ///< there was nothing else
  bool piped = false;        ///< `|>` stands before the run
  size_t commas = 0;
  std::vector<TokenKind> first;  ///< two tokens
  std::vector<TokenKind> open;   ///< LET and IF that are to be followed by `in` and `then`
  std::vector<std::string> set;  ///< of a record
  std::string field;
};

/// Goes through the tokens of a declaration, and keeps the brackets that are open.
class Reader {
 public:
  Reader(std::string_view text, uint32_t start, const std::vector<syntax::Token>& tokens)
      : text_(text), start_(start), tokens_(tokens) {}

  void step(size_t i) {
    const syntax::Token& t = tokens_[i];
    if (syntax::opens_declaration(t.kind)) {
      groups_.assign(1, {});
      top().binds = true;
    }
    if (!syntax::is_closer(t.kind) && top().first.size() < 2) top().first.push_back(t.kind);
    if (syntax::is_opener(t.kind)) return open(t);
    if (syntax::is_closer(t.kind)) return close(t);
    if (is_operand(t.kind)) return operand(i);
    if (t.kind == TokenKind::DOT && !top().run.empty()) top().run.back().end = start_ + t.end;
    if (!goes_on(t.kind)) reset(t.kind);
  }

  /// From the token on, as long as operands stand beside each other; what ends them.
  TokenKind run_on(size_t i) {
    const size_t depth = groups_.size();
    for (; i < tokens_.size(); ++i) {
      const TokenKind kind = tokens_[i].kind;
      const bool same = groups_.size() == depth;
      if (kind == TokenKind::END || (same && (!goes_on(kind) || syntax::is_closer(kind)))) return kind;
      step(i);
    }
    return TokenKind::END;
  }

  /// From the token on, until no more groups than these are open; returns the token behind that.
  size_t leave(size_t depth, size_t i) {
    while (groups_.size() > depth && tokens_[i].kind != TokenKind::END) step(i++);
    return i;
  }

  const std::vector<Group>& groups() const { return groups_; }

 private:
  Group& top() { return groups_.back(); }
  std::string word(const syntax::Token& t) const {
    return std::string(text_.substr(t.begin, t.end - t.begin));
  }

  void operand(size_t i) {
    const syntax::Token& t = tokens_[i];
    Group& group = top();
    if (group.binds) return;
    const bool named = t.kind == TokenKind::ID;
    if (i > 0 && tokens_[i - 1].kind == TokenKind::DOT && !group.run.empty()) {
      Operand& whole = group.run.back();
      whole.end = start_ + t.end;
      whole.binder = false;
      if (named && !whole.path.empty()) whole.path.push_back(word(t));
      return;
    }
    Operand one{start_ + t.begin, start_ + t.end, {}, {}, named};
    if (named) one.path.push_back(word(t));
    group.run.push_back(std::move(one));
  }

  void open(const syntax::Token& t) {
    Group inner;
    inner.opener = t.kind;
    inner.begin = start_ + t.begin;
    inner.binds = top().binds;
    groups_.push_back(std::move(inner));
  }

  void close(const syntax::Token& t) {
    if (groups_.size() < 2) return;
    const Group inside = std::move(top());
    groups_.pop_back();
    if (top().binds) return;
    if (inside.opener == TokenKind::IDX && !top().run.empty()) {
      Operand& whole = top().run.back();
      whole.end = start_ + t.end;
      whole.binder = false;
      return;
    }
    Operand one{inside.begin, start_ + t.end, {}, {}, false};
    const bool bounded = inside.first == std::vector<TokenKind>{TokenKind::ID, TokenKind::LESS};
    one.binder = inside.opener == TokenKind::LPAREN && bounded;
    if (inside.opener == TokenKind::LPAREN && inside.one_run) one.inside = inside.run;
    top().run.push_back(std::move(one));
  }

  /// An operator, or a word of the language.
  void reset(TokenKind kind) {
    leave_until_opened(kind);
    Group& group = top();
    if (group.opener == TokenKind::LBRACE && kind == TokenKind::EQUAL && group.field.empty() &&
        group.run.size() == 1 && !group.run[0].path.empty()) {
      group.field = group.run[0].path[0];
      group.set.push_back(group.field);
    }
    if (kind == TokenKind::COMMA) {
      ++group.commas;
      group.field.clear();
    }
    group.run.clear();
    group.one_run = false;
    group.piped = kind == TokenKind::PIPE;
    if (kind == TokenKind::LET || kind == TokenKind::IF) group.open.push_back(kind);
    if (kind == TokenKind::FOR || kind == TokenKind::FN || kind == TokenKind::LET) group.binds = true;
    if (kind == TokenKind::EQUAL || kind == TokenKind::FATARROW || kind == TokenKind::IN ||
        kind == TokenKind::LESS)
      group.binds = false;
  }

  /// `in` and `then` end what was opened, and not closed, since their `let` and `if`.
  void leave_until_opened(TokenKind kind) {
    if (kind != TokenKind::IN && kind != TokenKind::THEN) return;
    const TokenKind begun = kind == TokenKind::IN ? TokenKind::LET : TokenKind::IF;
    const auto has = [&](const Group& g) {
      return std::find(g.open.begin(), g.open.end(), begun) != g.open.end();
    };
    if (std::none_of(groups_.begin(), groups_.end(), has)) return;
    while (!has(top())) groups_.pop_back();
    while (top().open.back() != begun) top().open.pop_back();
    top().open.pop_back();
    // `let a = b let c = d in`: one `in` ends them all
    while (begun == TokenKind::LET && !top().open.empty() && top().open.back() == begun)
      top().open.pop_back();
  }

  std::string_view text_;  ///< of the declaration
  const uint32_t start_;   ///< where it begins
  const std::vector<syntax::Token>& tokens_;
  std::vector<Group> groups_{1};
};

class Finding {
 public:
  Finding(std::string_view text, uint32_t offset, uint32_t start, const source::SourceFile& part)
      : text_(text),
        offset_(offset),
        stream_(syntax::lex(part, ignored_)),
        before_(part.text(), start, stream_.tokens),
        start_(start),
        part_(part.text()) {}

  std::vector<Application> run() {
    for (const syntax::Comment& c : stream_.comments)
      if (start_ + c.span.begin < offset_ && offset_ <= start_ + c.span.end) return {};
    while (start_ + stream_.tokens[next_].begin < offset_ && stream_.tokens[next_].kind != TokenKind::END)
      before_.step(next_++);
    if (!may_be_argument()) return {};
    size_t outer = next_;
    for (size_t level = before_.groups().size(); level-- > 0;) {
      add_run(level);
      outer = add_pipe(level, outer);
      add_brackets(level);
    }
    return std::move(out_);
  }

 private:
  const Group& innermost() const { return before_.groups().back(); }

  /// Where the operand that the place lies in, or at the end of, begins.
  std::optional<uint32_t> operand_here() const {
    const std::vector<Operand>& run = innermost().run;
    if (run.empty() || run.back().end < offset_) return std::nullopt;
    return run.back().begin;
  }

  bool may_be_argument() const {
    const uint32_t at = operand_here().value_or(offset_);
    const Cursor::Place place = cursor_at(text_, at).place;
    if (place == Cursor::Place::field) return innermost().opener == TokenKind::LBRACE;
    if (place != Cursor::Place::expression) return false;
    if (before_.groups().size() > 1 || operand_here() || next_ == 0) return true;
    // an empty line ends what no bracket holds together, and so does the beginning of one
    const uint32_t end = start_ + stream_.tokens[next_ - 1].end;
    const std::string_view blanks = text_.substr(end, offset_ - end);
    return std::count(blanks.begin(), blanks.end(), '\n') < 2 && !blanks.ends_with('\n');
  }

  /// The operands of an open group that the place, or the group inside of it, is beside of.
  void add_run(size_t level) {
    const Group& group = before_.groups()[level];
    const bool is_innermost = level + 1 == before_.groups().size();
    const bool attached = !is_innermost && before_.groups()[level + 1].opener == TokenKind::IDX;
    const bool inside = attached || (is_innermost && operand_here());
    const size_t argument = group.run.size() - (inside ? 1 : 0);  // of the operands, the head is 0
    const bool names_field = group.opener == TokenKind::LBRACE && group.field.empty();
    if (group.run.empty() || argument == 0 || group.binds || names_field) return;
    if (is_binder(level, argument)) return;
    Application found;
    found.head = group.run[0];
    found.argument = argument - 1;
    found.piped = group.piped;
    out_.push_back(std::move(found));
  }

  /// Whether `=>` follows, and what is before it from there on could be what it binds.
  bool is_binder(size_t level, size_t operand) const {
    Reader on = before_;
    if (on.run_on(on.leave(level + 1, next_)) != TokenKind::FATARROW) return false;
    const std::vector<Operand>& run = on.groups().back().run;
    return std::all_of(run.begin() + static_cast<long>(std::min(operand, run.size())), run.end(),
                       [](const Operand& o) { return o.binder; });
  }

  /// `|>` behind the place: what follows it is applied to what is before. Returns where the group ends.
  size_t add_pipe(size_t level, size_t i) {
    size_t depth = 0;
    bool over = false;
    for (; i < stream_.tokens.size(); ++i) {
      const TokenKind kind = stream_.tokens[i].kind;
      if (syntax::is_opener(kind)) ++depth;
      if (syntax::is_closer(kind)) {
        if (depth == 0) return level == 0 ? i : i + 1;
        --depth;
      }
      if (depth != 0 || over) continue;
      over = kind == TokenKind::COMMA || kind == TokenKind::IN || kind == TokenKind::THEN ||
             kind == TokenKind::ELSE || kind == TokenKind::LET || syntax::opens_declaration(kind);
      if (kind != TokenKind::PIPE) continue;
      over = true;
      Reader behind(part_, start_, stream_.tokens);
      behind.run_on(i + 1);
      const std::vector<Operand>& run = behind.groups().front().run;
      if (run.empty()) continue;
      Application found;
      found.argument = run.size() - 1;
      found.head = run[0];
      out_.push_back(std::move(found));
    }
    return i;
  }

  /// What the brackets of an open group are: the sizes of a function, or a record.
  void add_brackets(size_t level) {
    const Group& group = before_.groups()[level];
    Application found;
    if (group.opener == TokenKind::IDX && level > 0 && !before_.groups()[level - 1].run.empty()) {
      found.kind = Application::Kind::sizes;
      found.head = before_.groups()[level - 1].run.back();
      found.argument = group.commas;
    } else if (group.opener == TokenKind::LBRACE) {
      found.kind = Application::Kind::record;
      found.is_argument = level > 0 && !before_.groups()[level - 1].run.empty();
      found.field = group.field;
      if (found.field.empty() && group.run.size() == 1 && operand_here() && !group.run[0].path.empty())
        found.field = group.run[0].path[0];
      found.set = fields_of(level);
    } else {
      return;
    }
    out_.push_back(std::move(found));
  }

  /// All that the record sets, also behind the place.
  std::vector<std::string> fields_of(size_t level) const {
    Reader on = before_;
    std::vector<std::string> out = on.groups()[level].set;
    for (size_t i = next_; stream_.tokens[i].kind != TokenKind::END; ++i) {
      on.step(i);
      if (on.groups().size() <= level) break;
      out = on.groups()[level].set;
    }
    return out;
  }

  const std::string_view text_;
  const uint32_t offset_;
  source::Diagnostics ignored_;
  const syntax::TokenStream stream_;
  Reader before_;
  const uint32_t start_;
  const std::string_view part_;
  size_t next_ = 0;  ///< the first token that begins at the place or behind it
  std::vector<Application> out_;
};

}  // namespace

std::vector<Application> applications_at(std::string_view text, uint32_t offset) {
  offset = std::min(offset, static_cast<uint32_t>(text.size()));
  const auto [start, end] = part_around(text, offset);
  const source::SourceFile part(source::FileId{0}, "", std::string(text.substr(start, end - start)));
  return Finding(text, offset, start, part).run();
}

}  // namespace axon::query
