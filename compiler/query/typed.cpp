// See typed.h.
#include "query/typed.h"

#include <algorithm>

namespace axon::query {

using core::Expr;
using core::ExprId;
using core::LocalId;
using core::Type;
using core::TypeId;
using source::Span;

namespace {

constexpr size_t columns = 80;
constexpr std::string_view arrow = " -> ", condition = " where ", gap = "  ";

bool holds(Span outer, Span inner) {
  return outer.file == inner.file && outer.begin <= inner.begin && inner.end <= outer.end;
}

/// Places before which a type may go on in another line: ` -> ` and ` where ` outside of brackets, and
/// between conditions.
std::vector<size_t> breaks(std::string_view type, bool between_conditions) {
  std::vector<size_t> out;
  int depth = 0;
  for (size_t i = 0; i < type.size(); ++i) {
    if (type[i] == '[' || type[i] == '(' || type[i] == '{') ++depth;
    if (type[i] == ']' || type[i] == ')' || type[i] == '}') --depth;
    if (depth == 0 && (type.substr(i).starts_with(arrow) || type.substr(i).starts_with(condition)))
      out.push_back(i);
    if (depth == 0 && between_conditions && type.substr(i).starts_with(", ")) out.push_back(i + 1);
  }
  return out;
}

}  // namespace

Typed::Typed(const session::Record& record)
    : checked_(*record.checked), program_(record.checked->program), names_(program_.types) {
  const shape::UseArena use(arena());
  core::name_variables(program_.types, global().scheme, names_);
}

std::string Typed::declared() {
  const core::Scheme& scheme = global().scheme;
  return is_known(scheme.type) ? type(scheme) : "";
}

std::string Typed::type(TypeId type) {
  const shape::UseArena use(arena());
  return type.valid() ? core::print(program_.types, type, names_) : "?";
}

std::string Typed::type(const core::Scheme& scheme) {
  const shape::UseArena use(arena());
  return core::print(program_.types, scheme, names_);
}

std::string Typed::dim(const shape::Dim& d) {
  const shape::UseArena use(arena());
  return core::print(d, names_);
}

std::string Typed::fact(const shape::Fact& f) {
  const shape::UseArena use(arena());
  return core::print(f, names_);
}

std::string Typed::shape(const core::Shape& s) {
  const shape::UseArena use(arena());
  return core::print(s, names_);
}

bool Typed::is_known(TypeId id) const {
  if (!id.valid()) return false;
  const Type& t = program_.types.types[id];
  return t.kind != Type::Kind::error &&
         std::all_of(t.items.begin(), t.items.end(), [&](TypeId item) { return is_known(item); });
}

ExprId Typed::innermost(Span part) const {
  ExprId best;
  for (uint32_t i = 0; i < program_.exprs.size(); ++i) {
    const Expr& e = program_.exprs[ExprId{i}];
    if (!holds(e.span, part) || !is_known(e.type)) continue;
    // of several with one text the last is the whole: what sugar adds comes before it
    if (!best.valid() || e.span.size() <= program_.exprs[best].span.size()) best = ExprId{i};
  }
  return best;
}

ExprId Typed::at(Span part) const {
  ExprId best;
  for (uint32_t i = 0; i < program_.exprs.size(); ++i)
    if (program_.exprs[ExprId{i}].span == part && is_known(program_.exprs[ExprId{i}].type)) best = ExprId{i};
  return best;
}

LocalId Typed::bound_at(Span part) const {
  for (uint32_t i = 0; i < program_.locals.size(); ++i)
    if (program_.locals[LocalId{i}].span == part) return LocalId{i};
  return {};
}

std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n';
    if (!blank) out += c;
    if (blank && !out.empty() && out.back() != ' ') out += ' ';
  }
  return out;
}

TypeText parts_of_type(std::string_view type) {
  const std::string line = one_line(type);
  std::vector<size_t> ends = breaks(line, false);
  ends.push_back(line.size());
  TypeText out;
  size_t from = 0;
  std::string_view before;
  for (const size_t end : ends) {
    std::string_view piece = std::string_view(line).substr(from, end - from);
    from = end;
    const bool where = piece.starts_with(condition);
    for (const std::string_view lead : {arrow, condition})
      if (piece.starts_with(lead)) piece.remove_prefix(lead.size());
    if (where) {
      out.where = piece;
      continue;
    }
    if (!before.empty()) out.parameters.emplace_back(before);
    before = piece;
  }
  out.result = before;
  return out;
}

std::string declaration_text(const std::string& name, std::string_view type) {
  const std::string line = one_line(type), head = name + " : ";
  const size_t indent = std::min<size_t>(source::display_width(name) + 1, 14);
  std::string out = head;
  size_t column = source::display_width(head), from = 0;
  std::vector<size_t> ends = breaks(line, true);
  const size_t gaps = line.find(condition) == std::string::npos ? 0 : gap.size();
  const bool fits = column + source::display_width(line) + gaps <= columns;
  ends.push_back(line.size());
  for (const size_t end : ends) {
    std::string_view piece = std::string_view(line).substr(from, end - from);
    const bool where = piece.starts_with(" where ");
    const size_t width = source::display_width(piece);
    if (from > 0 && !fits && (column + width > columns || where)) {
      piece.remove_prefix(1);
      out += "\n" + std::string(indent, ' ');
      column = indent + width - 1;
    } else {
      if (where) out += gap;
      column += width;
    }
    out += piece;
    from = end;
  }
  return out;
}

}  // namespace axon::query
