// See shape_call.h.
#include "repl/shape_call.h"

#include <fmt/format.h>

#include "repl/lexed.h"

namespace axon::repl {

using syntax::Token;
using syntax::TokenKind;

namespace {

constexpr const char* expected =
    "error: expected the shape of each argument: `[m, n]`, `[]` of a number, `{w : [m, n]}`, or `_`\n";

/// Reads a function and its arguments from tokens.
class Reader {
 public:
  Reader(const Lexed& lexed, const std::function<bool(const std::string&)>& is_value)
      : lexed_(lexed), is_value_(is_value) {}

  ShapeCall run() {
    const auto function = piece();
    if (!function) {
      call_.error = expected;
      return call_;
    }
    call_.function = call_.body = *function;
    for (const Token& token : lexed_.tokens) used_.insert(std::string(lexed_.text(token)));
    std::vector<std::string> open;
    while (at_ < lexed_.tokens.size() && call_.error.empty()) argument(open);
    call_.given = call_.parameters.size();
    call_.parameters.insert(call_.parameters.end(), open.begin(), open.end());
    if (call_.sizes.count(call_.function))
      call_.error = fmt::format("error: `{}` is the function; call the size otherwise\n", call_.function);
    return call_;
  }

 private:
  const Token& now() const { return lexed_.tokens[at_]; }
  bool is(TokenKind kind) const { return at_ < lexed_.tokens.size() && now().kind == kind; }
  void skip_group();
  std::optional<std::string> piece();
  void argument(std::vector<std::string>& open);
  void add_sizes(size_t begin);
  std::string fresh_name();

  const Lexed& lexed_;
  const std::function<bool(const std::string&)>& is_value_;
  size_t at_ = 0, arguments_ = 0;
  std::set<std::string> used_;
  ShapeCall call_;
};

/// Moves behind the bracket that closes the one here, or to the end.
void Reader::skip_group() {
  int depth = 0;
  do {
    depth += syntax::is_opener(now().kind) ? 1 : syntax::is_closer(now().kind) ? -1 : 0;
    ++at_;
  } while (depth > 0 && at_ < lexed_.tokens.size());
}

/// A name with points and brackets behind it, or what stands in brackets; nothing where neither begins here.
std::optional<std::string> Reader::piece() {
  if (at_ == lexed_.tokens.size()) return std::nullopt;
  const size_t begin = at_;
  if (syntax::is_opener(now().kind)) {
    skip_group();
  } else if (is(TokenKind::ID) || is(TokenKind::TYVAR)) {
    ++at_;
    while (is(TokenKind::DOT) && at_ + 1 < lexed_.tokens.size()) at_ += 2;
  } else {
    return std::nullopt;
  }
  while (is(TokenKind::IDX)) skip_group();
  const std::string_view all = lexed_.sources[lexed_.file].text();
  return std::string(
      all.substr(lexed_.tokens[begin].begin, lexed_.tokens[at_ - 1].end - lexed_.tokens[begin].begin));
}

/// A name for a parameter that the phrase does not mention.
std::string Reader::fresh_name() {
  for (const char* name : {"x", "y", "z"})
    if (used_.insert(name).second) return name;
  for (size_t number = 1;; ++number)
    if (std::string name = fmt::format("x{}", number); used_.insert(name).second) return name;
}

/// The names of sizes in the type that has just been read: in brackets, but for fields of records there, the
/// names of operators, and `..s`.
void Reader::add_sizes(size_t begin) {
  std::vector<TokenKind> around;
  for (size_t i = begin; i < at_; ++i) {
    const Token& token = lexed_.tokens[i];
    const bool round = token.kind == TokenKind::LPAREN || token.kind == TokenKind::RPAREN;
    if (syntax::is_opener(token.kind) && !round) around.push_back(token.kind);
    if (syntax::is_closer(token.kind) && !round && !around.empty()) around.pop_back();
    const bool called = i + 1 < at_ && lexed_.tokens[i + 1].kind == TokenKind::LPAREN;
    const bool spread = i > begin && lexed_.tokens[i - 1].kind == TokenKind::DOTDOT;
    if (token.kind == TokenKind::ID && !called && !spread && !around.empty() &&
        around.back() != TokenKind::LBRACE)
      call_.sizes.insert(std::string(lexed_.text(token)));
  }
}

void Reader::argument(std::vector<std::string>& open) {
  const size_t place = arguments_++;
  if (is(TokenKind::UNDERSCORE)) {
    ++at_;
    open.push_back(fresh_name());
    call_.body += " " + open.back();
    return;
  }
  const size_t begin = at_;
  const auto type = piece();
  if (!type) {
    call_.error = expected;
    return;
  }
  if (at_ == begin + 1 && is_value_(*type)) {
    call_.body += " " + *type;
    return;
  }
  add_sizes(begin);
  const std::string name = fresh_name();
  call_.places.push_back(place);
  call_.parameters.push_back(fmt::format("({} : {})", name, *type));
  call_.body += " " + name;
}

}  // namespace

void ShapeCall::take_numbers(const std::vector<std::string>& types) {
  constexpr std::string_view any_number = " : [])";
  for (size_t i = 0; i < places.size(); ++i) {
    std::string& parameter = parameters[i];
    if (!parameter.ends_with(any_number) || places[i] >= types.size()) continue;
    if (types[places[i]].empty()) continue;
    parameter.resize(parameter.size() - any_number.size());
    parameter += fmt::format(" : {})", types[places[i]]);
  }
}

std::string ShapeCall::declaration(const std::string& name, const std::set<std::string>& beside,
                                   const std::vector<std::string>& where) const {
  std::string out = (parameters.empty() ? "val " : "fun ") + name;
  if (!beside.empty()) out += fmt::format(" (_ : bool[{}])", fmt::join(beside, ", "));
  for (const std::string& parameter : parameters) out += " " + parameter;
  if (!parameters.empty())
    for (size_t i = 0; i < where.size(); ++i) out += (i == 0 ? " where " : ", ") + where[i];
  return out + " = " + body;
}

ShapeCall read_shape_call(const std::string& text, const std::function<bool(const std::string&)>& is_value) {
  const Lexed lexed(text);
  return Reader(lexed, is_value).run();
}

}  // namespace axon::repl
