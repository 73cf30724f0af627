// See cursor.h.
#include "format/cursor.h"

#include <algorithm>

#include "base/bug.h"

namespace axon::format {

using syntax::Token;
using syntax::TokenKind;

Cursor::Cursor(const source::SourceFile& file, syntax::TokenStream stream, Documents& documents)
    : file_(file), stream_(std::move(stream)), documents_(documents), closing_(stream_.tokens.size()) {
  std::vector<size_t> open;
  for (size_t i = 0; i < stream_.tokens.size(); ++i) {
    if (stream_.tokens[i].kind == TokenKind::LPAREN) open.push_back(i);
    if (stream_.tokens[i].kind != TokenKind::RPAREN || open.empty()) continue;
    closing_[open.back()] = i;
    open.pop_back();
  }
}

std::string_view Cursor::text(const Token& token) const {
  return file_.text().substr(token.begin, token.end - token.begin);
}
bool Cursor::is_parenthesis(const Token& token) const {
  return token.kind == TokenKind::LPAREN || token.kind == TokenKind::RPAREN;
}

namespace {

bool has_empty_line(std::string_view between) { return std::count(between.begin(), between.end(), '\n') > 1; }

std::string_view trimmed(std::string_view text) {
  size_t last = text.find_last_not_of(" \t\r\f");
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

}  // namespace

/// Takes the comments that stand before a token.
void Cursor::gather(size_t token) {
  if (gathered_) return;
  gathered_ = true;
  uint32_t from = token == 0 ? 0 : stream_.tokens[token - 1].end;
  uint32_t to = stream_.tokens[token].begin;
  for (; comment_ < stream_.comments.size() && stream_.comments[comment_].span.begin < to; ++comment_) {
    const syntax::Comment& comment = stream_.comments[comment_];
    std::string_view before = file_.text().substr(from, comment.span.begin - from);
    std::string_view text = file_.text().substr(comment.span.begin, comment.span.size());
    // Only one comment fits behind a token; where a parenthesis between two was left out, the second moves
    // down.
    bool own_line = comment.own_line || !waiting_.empty();
    waiting_.push_back({trimmed(text), own_line, has_empty_line(before)});
    from = comment.span.end;
  }
  blank_ = blank_ || has_empty_line(file_.text().substr(from, to - from));
}

void Cursor::pass() {
  gather(next_);
  ++next_;
  gathered_ = false;
}

Doc Cursor::waiting(Blanks blanks) {
  std::vector<Doc> parts;
  for (const Waiting& comment : waiting_) {
    if (comment.blank_before && blanks == Blanks::kept) parts.push_back(documents_.blank_line());
    parts.push_back(comment.own_line ? documents_.comment_line(comment.text)
                                     : documents_.comment_behind(comment.text));
  }
  waiting_.clear();
  if (blank_ && blanks == Blanks::kept) parts.push_back(documents_.blank_line());
  blank_ = false;
  return documents_.concat(std::move(parts));
}

Doc Cursor::token(std::string_view wanted) {
  while (text(stream_.tokens[next_]) != wanted) {
    if (!is_parenthesis(stream_.tokens[next_]))
      base::bug("format::Cursor", "the tree has `" + std::string(wanted) + "` where the file has `" +
                                      std::string(text(stream_.tokens[next_])) + "`");
    pass();
  }
  pass();
  Doc before = waiting(Blanks::dropped);
  return documents_.concat({before, documents_.text(wanted)});
}

Doc Cursor::last_closing() {
  while (stream_.tokens[next_ + 1].kind == TokenKind::RPAREN) pass();
  return token(")");
}

Doc Cursor::any() {
  while (is_parenthesis(stream_.tokens[next_])) pass();
  return token(text(stream_.tokens[next_]));
}

Doc Cursor::before(Blanks blanks) {
  gather(next_);
  return waiting(blanks);
}

Doc Cursor::behind() {
  while (stream_.tokens[next_].kind == TokenKind::RPAREN) pass();
  gather(next_);
  if (waiting_.empty() || waiting_.front().own_line) return documents_.empty();
  Doc comment = documents_.comment_behind(waiting_.front().text);
  waiting_.erase(waiting_.begin());
  return comment;
}

Doc Cursor::rest() {
  gather(next_);
  // In a file without declarations the empty line behind a documentation comment makes it that of the file.
  blank_ = blank_ && next_ == 0 && std::any_of(waiting_.begin(), waiting_.end(), [](const Waiting& comment) {
             return comment.text.starts_with("--|");
           });
  return waiting(Blanks::kept);
}

int Cursor::parentheses_around(uint32_t begin, uint32_t end) const {
  const auto& tokens = stream_.tokens;
  auto at = [&](uint32_t offset) {
    return std::lower_bound(tokens.begin(), tokens.end(), offset,
                            [](const Token& token, uint32_t place) { return token.begin < place; });
  };
  const auto after = static_cast<size_t>(at(end) - tokens.begin());
  size_t past = after;  // the `)` behind it: of what is around it, or within it
  while (past < tokens.size() && tokens[past].kind == TokenKind::RPAREN) ++past;
  int pairs = 0;
  for (auto open = static_cast<size_t>(at(begin) - tokens.begin());
       open-- > 0 && tokens[open].kind == TokenKind::LPAREN;)
    pairs += closing_[open] >= after && closing_[open] < past;
  return pairs;
}

bool Cursor::is_comment_inside(uint32_t end) const {
  const auto& tokens = stream_.tokens;
  auto token = std::lower_bound(tokens.begin(), tokens.end(), end,
                                [](const Token& t, uint32_t place) { return t.begin < place; });
  uint32_t last = end;
  for (; token != tokens.end() && token->kind == TokenKind::RPAREN; ++token) last = token->begin;
  const auto& comments = stream_.comments;
  const auto first =
      std::lower_bound(comments.begin(), comments.end(), end,
                       [](const syntax::Comment& c, uint32_t place) { return c.span.begin < place; });
  return first != comments.end() && first->span.begin < last;
}

}  // namespace axon::format
