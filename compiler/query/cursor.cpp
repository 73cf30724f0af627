// See cursor.h.
#include "query/cursor.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/elem.h"
#include "source/diagnostic.h"
#include "source/span.h"
#include "syntax/parts.h"
#include "syntax/tokens.h"

namespace axon::query {

using syntax::TokenKind;
using Place = Cursor::Place;

bool is_letter(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

bool is_integer(std::string_view element) {
  const auto known = base::elem_from_name(element);
  return known && base::is_integer(*known);
}

namespace {

bool ends_operand(TokenKind kind) {
  return kind == TokenKind::ID || kind == TokenKind::NUM || kind == TokenKind::STR ||
         kind == TokenKind::TYVAR || kind == TokenKind::TRUE || kind == TokenKind::FALSE ||
         kind == TokenKind::UNDERSCORE || kind == TokenKind::BROKEN || syntax::is_closer(kind);
}

/// Goes through the tokens of a declaration up to the place, and keeps what may follow.
class Scan {
 public:
  Scan(std::string_view text, const std::vector<syntax::Token>& tokens) : text_(text), tokens_(tokens) {}

  void run(uint32_t until) {
    for (size_t i = 0; i < tokens_.size() && tokens_[i].end <= until && tokens_[i].kind != TokenKind::END;
         ++i) {
      if (tokens_[i].end == until && tokens_[i].kind == TokenKind::ID) break;  // it is the word itself
      step(i);
      last_ = i;
    }
  }

  Place place() const {
    if (!last_) return Place::declaration;
    const TokenKind last = tokens_[*last_].kind;
    if (top().state == Place::import_name && last != TokenKind::IMPORT && last != TokenKind::DOT)
      return Place::import_alias;
    if (last == TokenKind::DOT) return top().state == Place::import_name ? top().state : Place::member;
    if (last == TokenKind::AT && top().state == Place::type) return Place::layout;
    if (last == TokenKind::AT && top().state == Place::layout) return Place::mesh_axis;
    if (top().state == Place::field && last != TokenKind::COMMA && last != TokenKind::WITH &&
        !syntax::is_opener(last))
      return Place::expression;
    return top().state;
  }
  std::optional<size_t> last() const { return last_; }
  bool in_type() const { return top().state == Place::type; }
  /// The token that opens the record whose fields are written there.
  std::optional<size_t> record() const {
    return last_ && tokens_[*last_].kind != TokenKind::WITH ? top().record : std::nullopt;
  }
  std::vector<BoundName> names() const {
    std::vector<BoundName> out = header_;
    for (const Level& level : levels_) out.insert(out.end(), level.names.begin(), level.names.end());
    return out;
  }
  const std::vector<std::string>& axes() const { return axes_; }
  bool in_definition() const {
    return std::any_of(levels_.begin(), levels_.end(), [](const Level& level) {
      return std::any_of(level.opened.begin(), level.opened.end(),
                         [](const Opened& o) { return o.kind == TokenKind::LET && o.has_value; });
    });
  }
  bool where_may_follow() const {
    if (!last_ || *last_ < 2 || top().state != Place::nothing || !top().binds) return false;
    const bool in_let = head_of_let() != nullptr;
    const bool in_head =
        levels_.size() == 1 && in_header_ && !syntax::opens_declaration(tokens_[*last_ - 1].kind);
    return (in_let ? *last_ > top().opened.back().token + 1 : in_head) && ends_operand(tokens_[*last_].kind);
  }
  /// Whether the declaration may end before the place.
  bool is_complete() const { return last_ && levels_.size() == 1 && ends_operand(tokens_[*last_].kind); }

 private:
  /// A `let`, `if` or `then` whose `in`, `then` or `else` is still to come.
  struct Opened {
    TokenKind kind;
    size_t token = 0, first_name = 0;  ///< of the level
    std::vector<BoundName> pending;    ///< bound by the `let`, and seen behind it alone
    bool has_value = false;            ///< its `=` was seen
  };
  /// What is between brackets, and what was bound there.
  struct Level {
    Place state = Place::declaration;
    bool binds = false;  ///< names that stand here are new
    std::vector<BoundName> names;
    std::vector<Opened> opened;
    bool stack = false;                  ///< the brackets of a `Stack`: a size, then a type
    int axes_follow = 0;                 ///< brackets of axes to come, of `rearrange`
    bool pattern = false;                ///< a part of what binds names
    bool field_types = false;            ///< a record of a type
    std::optional<size_t> record;        ///< a record of values: the token that opens it
    std::vector<syntax::Token> outside;  ///< operands before it: those that `=>` may bind
    std::vector<syntax::Token> tokens;   ///< the first two inside
  };
  Level& top() { return levels_.back(); }
  const Level& top() const { return levels_.back(); }
  std::string word(const syntax::Token& t) const {
    return std::string(text_.substr(t.begin, t.end - t.begin));
  }

  void bind(const syntax::Token& t, bool size) {
    std::string name = word(t);
    auto& to = size && in_header_ ? header_ : top().names;
    if (size && std::any_of(to.begin(), to.end(), [&](const BoundName& b) { return b.name == name; }))
      return use(t);
    to.push_back({std::move(name), t.begin, size, false});
  }
  void use(const syntax::Token& t) {
    const std::string name = word(t);
    for (auto level = levels_.rbegin(); level != levels_.rend(); ++level)
      for (auto bound = level->names.rbegin(); bound != level->names.rend(); ++bound)
        if (bound->name == name) {
          bound->used = true;
          return;
        }
    for (BoundName& bound : header_)
      if (bound.name == name) bound.used = true;
  }

  void open(size_t i) {
    const syntax::Token& t = tokens_[i];
    Level inner = top();
    inner.field_types = false;
    inner.record.reset();
    inner.names.clear();
    inner.opened.clear();
    inner.stack = t.kind == TokenKind::IDX && top().state == Place::type && word(tokens_[i - 1]) == "Stack";
    inner.pattern = top().binds;
    inner.outside = recent_;
    inner.tokens.clear();
    inner.axes_follow = 0;
    recent_.clear();
    if (t.kind == TokenKind::IDX && top().state == Place::type) inner.state = Place::size;
    if (t.kind == TokenKind::IDX && top().binds && in_header_) inner.state = Place::size;
    const bool expression = top().state == Place::expression || top().state == Place::field;
    if (expression && word(t) == "{") {
      inner.state = Place::field;
      inner.record = i;
    }
    if (expression && word(t) == "(" && !top().binds) inner.state = Place::expression;
    if (expression && word(t) == "[") {
      inner.state = top().axes_follow > 0 ? Place::axis : Place::expression;
      top().axes_follow = std::max(0, top().axes_follow - 1);
    }
    if (t.kind == TokenKind::IDX && expression) inner.state = Place::expression;
    if (top().state == Place::type && word(t) == "{") {
      inner.state = Place::nothing;
      inner.field_types = true;
    }
    levels_.push_back(std::move(inner));
  }
  void close() {
    if (levels_.size() < 2) return;
    const Level inside = std::move(top());
    levels_.pop_back();
    if (inside.pattern)  // what it binds is seen behind it
      top().names.insert(top().names.end(), inside.names.begin(), inside.names.end());
    recent_ = inside.outside;
    const bool bounded = inside.tokens.size() == 2 && inside.tokens[0].kind == TokenKind::ID &&
                         inside.tokens[1].kind == TokenKind::LESS;
    recent_.push_back(bounded ? inside.tokens[0] : syntax::Token{TokenKind::NUM});
  }

  // ---- What the parts of an expression bind

  void enter(TokenKind kind, size_t i) { top().opened.push_back({kind, i, top().names.size(), {}, false}); }
  /// The `let` whose `=` is still to come; null outside of one.
  const Opened* head_of_let() const {
    if (top().opened.empty()) return nullptr;
    const Opened& last = top().opened.back();
    return last.kind == TokenKind::LET && !last.has_value ? &last : nullptr;
  }
  /// Behind the innermost one of this kind, what was bound in it is out of sight, and what it binds in sight.
  void leave(TokenKind kind) {
    std::vector<Opened>& all = top().opened;
    const auto found =
        std::find_if(all.rbegin(), all.rend(), [&](const Opened& o) { return o.kind == kind; });
    if (found == all.rend()) return;
    std::vector<BoundName>& names = top().names;
    if (found->first_name < names.size() && found->has_value == (kind == TokenKind::LET))
      names.erase(names.begin() + static_cast<long>(found->first_name), names.end());
    names.insert(names.end(), found->pending.begin(), found->pending.end());
    all.erase(std::prev(found.base()), all.end());
  }
  /// One behind an operand follows another `let`; else it begins an expression.
  void let(size_t i) {
    if (i > 0 && ends_operand(tokens_[i - 1].kind)) leave(TokenKind::LET);
    enter(TokenKind::LET, i);
    begin(Place::nothing, true);
  }
  /// At the `=` of a `let`: its names are not seen in what they are bound to, but parameters are.
  void begin_value() {
    Opened& let = top().opened.back();
    let.has_value = true;
    std::vector<BoundName>& names = top().names;
    const auto first = names.begin() + static_cast<long>(std::min(let.first_name, names.size()));
    const bool one = tokens_[let.token + 1].kind == TokenKind::ID;
    const auto is_bound = [&](const BoundName& b) {
      return !b.size && (!one || b.at == tokens_[let.token + 1].begin);
    };
    std::copy_if(first, names.end(), std::back_inserter(let.pending), is_bound);
    names.erase(std::remove_if(first, names.end(), is_bound), names.end());
  }

  void begin(Place state, bool binds) {
    top().state = state;
    top().binds = binds;
  }

  void name(size_t i) {
    const syntax::Token& t = tokens_[i];
    Level& level = top();
    const bool after_point = i > 0 && tokens_[i - 1].kind == TokenKind::DOT;
    if (level.state == Place::size) return bind(t, true);
    if (level.state == Place::axis) {
      const std::string axis = word(t);
      if (std::find(axes_.begin(), axes_.end(), axis) == axes_.end()) axes_.push_back(axis);
      return;
    }
    if (level.state == Place::nothing && level.binds) {
      const bool is_own_name = in_header_ && i > 0 && syntax::opens_declaration(tokens_[i - 1].kind);
      if (!is_own_name) bind(t, false);
      return;
    }
    if (after_point) return;
    use(t);
    if (level.state != Place::expression) return;
    if (word(t) == "rearrange") level.axes_follow = 2;
    recent_.push_back(t);
  }

  /// The names before `=>` are those of a reduction, but for what is reduced with.
  void arrow() {
    if (top().binds) return begin(Place::expression, false);
    if (top().axes_follow > 0) return;  // from some axes to others
    for (size_t r = 1; r < recent_.size(); ++r)
      if (recent_[r].kind == TokenKind::ID) bind(recent_[r], false);
    recent_.clear();
    begin(Place::expression, false);
  }

  void step(size_t i) {
    const syntax::Token& t = tokens_[i];
    if (top().tokens.size() < 2 && !syntax::is_closer(t.kind)) top().tokens.push_back(t);
    switch_on(i);
    if (t.kind == TokenKind::NUM) recent_.push_back(t);
    const bool operand = t.kind == TokenKind::ID || t.kind == TokenKind::NUM || syntax::is_opener(t.kind) ||
                         syntax::is_closer(t.kind);
    if (!operand) recent_.clear();
  }

  void switch_on(size_t i) {
    const syntax::Token& t = tokens_[i];
    if (syntax::opens_declaration(t.kind) && levels_.size() == 1) return declaration(t);
    if (syntax::is_opener(t.kind)) return open(i);
    if (syntax::is_closer(t.kind)) return close();
    if (t.kind == TokenKind::ID) return name(i);
    if (t.kind == TokenKind::LET) return let(i);
    if (t.kind == TokenKind::FOR || t.kind == TokenKind::FN) return begin(Place::nothing, true);
    if (t.kind == TokenKind::EQUAL && top().state != Place::field) {
      if (head_of_let()) begin_value();
      if (top().state == behind_equal_ && behind_equal_ != Place::expression) return;
      in_header_ = in_header_ && levels_.size() > 1;
      return begin(behind_equal_, false);
    }
    if (t.kind == TokenKind::FATARROW) return arrow();
    if (t.kind == TokenKind::COLON && top().state != Place::expression && top().state != Place::layout)
      return annotation(i);
    if (t.kind == TokenKind::CHECKAS) return begin(Place::type, false);
    if (t.kind == TokenKind::AS) return begin(Place::nothing, false);
    if (t.kind == TokenKind::WHERE) return begin(Place::size, false);
    if (t.kind == TokenKind::WITH) return begin(Place::field, false);
    if (t.kind == TokenKind::LESS && top().binds) return begin(Place::expression, false);
    if (t.kind == TokenKind::COMMA) return comma();
    if (t.kind == TokenKind::IN) leave(TokenKind::LET);
    if (t.kind == TokenKind::THEN) leave(TokenKind::IF);
    if (t.kind == TokenKind::ELSE) leave(TokenKind::THEN);
    if (t.kind == TokenKind::IF || t.kind == TokenKind::THEN) enter(t.kind, i);
    if (t.kind == TokenKind::IN || t.kind == TokenKind::THEN || t.kind == TokenKind::ELSE ||
        t.kind == TokenKind::IF)
      return begin(Place::expression, false);
  }
  void comma() {
    Level& level = top();
    if (level.stack) {
      level.state = Place::type;
      return;
    }
    if (level.state == Place::element_class) return begin(Place::size, false);
    if (level.field_types) return begin(Place::nothing, false);
    if (level.state == Place::type && levels_.size() > 1 && binds_outside())
      return begin(Place::nothing, true);
    const bool in_values = level.state == Place::expression || level.state == Place::field;
    if (!in_values || level.binds || levels_.size() == 1) return;
    level.names.clear();  // an item sees nothing of the one before
    level.opened.clear();
  }
  bool binds_outside() const { return levels_.size() > 1 && levels_[levels_.size() - 2].binds; }

  void annotation(size_t i) {
    const bool of_element = i > 0 && tokens_[i - 1].kind == TokenKind::TYVAR;
    top().state = of_element ? Place::element_class : Place::type;
    const Opened* const let = head_of_let();  // not of the result of a function
    const bool of_name = let ? let->token + 2 == i : levels_.size() > 1;
    if (of_element || !of_name || i + 2 >= tokens_.size() || top().names.empty()) return;
    if (BoundName& bound = top().names.back(); bound.at == tokens_[i - 1].begin) {
      const bool integer = is_integer(word(tokens_[i + 1])) && tokens_[i + 2].kind != TokenKind::IDX;
      bound.annotation = integer ? BoundName::Annotation::integer : BoundName::Annotation::other;
    }
  }

  void declaration(const syntax::Token& t) {
    levels_.resize(1);
    header_.clear();
    axes_.clear();
    in_header_ = true;
    behind_equal_ = t.kind == TokenKind::TYPE     ? Place::type
                    : t.kind == TokenKind::LAYOUT ? Place::layout
                    : t.kind == TokenKind::MESH   ? Place::nothing
                                                  : Place::expression;
    top() = {};
    if (t.kind == TokenKind::PRIVATE) return;
    if (t.kind == TokenKind::IMPORT) return begin(Place::import_name, false);
    if (t.kind == TokenKind::TEST) return begin(Place::nothing, false);
    begin(Place::nothing, true);
  }

  std::string_view text_;
  const std::vector<syntax::Token>& tokens_;
  std::vector<Level> levels_{1};
  std::vector<BoundName> header_;  ///< sizes
  std::vector<std::string> axes_;
  std::vector<syntax::Token> recent_;
  bool in_header_ = false;
  Place behind_equal_ = Place::expression;  ///< in this declaration
  std::optional<size_t> last_;
};

/// The place is in the quotes of an import that may not end: what is written there is its file.
bool find_import(Cursor& out, std::string_view text, uint32_t offset) {
  const size_t line = offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;
  const std::string_view before = text.substr(line, offset - line);
  const size_t quote = before.find('"');
  if (!before.starts_with("import") || quote == before.npos) return false;
  if (before.substr(6, quote - 6).find_first_not_of(" \t") != before.npos) return false;
  if (before.find('"', quote + 1) != before.npos) return false;
  const std::string_view path = before.substr(quote + 1);
  const size_t name = path.rfind('/') + 1;  // 0 where there is none
  out.place = Place::import_file;
  out.directory = path.substr(0, name);
  out.prefix = path.substr(name);
  out.begin = offset - static_cast<uint32_t>(out.prefix.size());
  while (out.end < text.size() && text[out.end] != '"' && text[out.end] != '\n' && text[out.end] != '\r')
    ++out.end;
  return true;
}

/// The record that a token opens: where it ends, and the fields that it has without the word that is written.
void find_fields(Cursor& out, std::string_view text, const std::vector<syntax::Token>& tokens,
                 size_t opener) {
  int depth = 0;
  out.record = {tokens[opener].begin + out.part_begin, out.end};
  for (size_t i = opener; i < tokens.size(); ++i) {
    const syntax::Token& t = tokens[i];
    if (syntax::is_opener(t.kind)) ++depth;
    if (syntax::is_closer(t.kind) && --depth == 0) {
      out.record->second = t.end + out.part_begin;
      return;
    }
    const bool is_field = depth == 1 && t.kind == TokenKind::EQUAL && tokens[i - 1].kind == TokenKind::ID;
    if (is_field && tokens[i - 1].begin + out.part_begin != out.begin)
      out.fields.emplace_back(text.substr(tokens[i - 1].begin, tokens[i - 1].end - tokens[i - 1].begin));
  }
}

/// Whether the place is in a comment, a string or a number.
bool in_words(const syntax::TokenStream& stream, uint32_t at, const std::string& prefix) {
  const bool comment = std::any_of(stream.comments.begin(), stream.comments.end(),
                                   [&](const auto& c) { return c.span.begin < at && at <= c.span.end; });
  const bool string = std::any_of(stream.tokens.begin(), stream.tokens.end(), [&](const syntax::Token& t) {
    return (t.kind == TokenKind::STR || t.kind == TokenKind::BROKEN) && t.begin < at && at < t.end;
  });
  return comment || string || (!prefix.empty() && prefix[0] >= '0' && prefix[0] <= '9');
}

/// What the tokens next to the word say. `before`: the last one before it.
void look_around(Cursor& out, std::string_view text, const std::vector<syntax::Token>& tokens,
                 std::optional<size_t> before) {
  const auto word = [&](size_t i) {
    return std::string(text.substr(tokens[i].begin, tokens[i].end - tokens[i].begin));
  };
  for (size_t i = before.value_or(0); out.place == Place::import_name && i > 1; i -= 2) {
    if (tokens[i].kind != TokenKind::DOT) break;
    out.directory = word(i - 1) + "/" + out.directory;
  }
  if (before) {
    out.before = word(*before);
    if (*before > 0) out.before_that = word(*before - 1);
    if (out.place == Place::member) out.operand = out.part_begin + tokens[*before].begin;
  }
  for (size_t i = 0; i < tokens.size(); ++i) {
    const syntax::Token& t = tokens[i];
    if (t.kind == TokenKind::TYVAR && t.begin + out.part_begin + 1 != out.begin)
      out.elements.push_back(word(i).substr(1));
    if (t.begin < out.end - out.part_begin || t.begin >= t.end || !out.after.empty()) continue;
    out.after = word(i);
    if (i + 1 < tokens.size()) out.after_that = word(i + 1);
  }
}

}  // namespace

const BoundName* bound_in(const std::vector<BoundName>& names, std::string_view name) {
  const auto found = std::find_if(names.rbegin(), names.rend(),
                                  [&](const BoundName& b) { return b.name == name && !b.size; });
  return found == names.rend() ? nullptr : &*found;
}

std::pair<uint32_t, uint32_t> part_around(std::string_view text, uint32_t offset) {
  std::pair<uint32_t, uint32_t> out = {0, static_cast<uint32_t>(text.size())};
  for (const uint32_t start : syntax::part_starts(text)) {
    if (start > offset) {
      out.second = start;
      break;
    }
    out.first = start;
  }
  return out;
}

Cursor cursor_at(std::string_view text, uint32_t offset) {
  Cursor out;
  out.begin = out.end = offset;
  if (find_import(out, text, offset)) return out;
  while (out.begin > 0 && is_letter(text[out.begin - 1])) --out.begin;
  while (out.end < text.size() && is_letter(text[out.end])) ++out.end;
  out.prefix = text.substr(out.begin, offset - out.begin);
  std::tie(out.part_begin, out.part_end) = part_around(text, out.begin);
  const uint32_t start = out.part_begin, at = out.begin - start;
  const source::SourceFile file(source::FileId{0}, "", std::string(text.substr(start, out.part_end - start)));
  source::Diagnostics ignored;
  const syntax::TokenStream stream = syntax::lex(file, ignored);
  if (in_words(stream, at, out.prefix)) return out;
  Scan scan(file.text(), stream.tokens);
  scan.run(at);
  out.place = scan.place();
  out.in_type = scan.in_type();
  if (out.begin > 0 && text[out.begin - 1] == '\'') out.place = Place::element;
  out.names = scan.names();
  for (BoundName& name : out.names) name.at += start;
  out.in_definition = scan.in_definition();
  out.where_may_follow = scan.where_may_follow();
  out.at_line_begin = out.begin == 0 || text[out.begin - 1] == '\n';
  out.is_complete_before = scan.is_complete();
  out.axes = scan.axes();
  if (const auto opener = scan.record(); opener && out.place == Place::field)
    find_fields(out, file.text(), stream.tokens, *opener);
  look_around(out, file.text(), stream.tokens, scan.last());
  return out;
}

}  // namespace axon::query
