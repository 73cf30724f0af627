// See drafts.h.
#include "core/drafts.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/library_names.h"

namespace axon::core {

using shape::Dim;
using shape::Var;
using source::Edit;
using source::Span;

namespace {

bool is_atom(std::string_view text) {
  int depth = 0;
  for (char c : text) {
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (depth == 0 && !std::isalnum(static_cast<unsigned char>(c)) &&
        std::string_view("_.)]}").find(c) == std::string_view::npos)
      return false;
  }
  return !text.empty();
}

std::string bracketed(const std::string& text) { return is_atom(text) ? text : "(" + text + ")"; }

/// `n - k` one larger is `n - k + 1`; a number at the end takes the change: `n - k + 2` one smaller is `n - k
/// + 1`.
std::string moved(std::string text, int64_t by) {
  const size_t blank = text.rfind(' ');
  if (blank != std::string::npos && blank >= 2 && text.size() - blank <= 6 && text[blank - 2] == ' ' &&
      (text[blank - 1] == '+' || text[blank - 1] == '-') &&
      std::all_of(text.begin() + static_cast<long>(blank) + 1, text.end(),
                  [](unsigned char c) { return std::isdigit(c); })) {
    const int64_t last = std::stoll(text.substr(blank + 1));
    by += text[blank - 1] == '+' ? last : -last;
    text.resize(blank - 2);
  }
  return by == 0 ? text : fmt::format("{} {} {}", text, by > 0 ? '+' : '-', by > 0 ? by : -by);
}

/// The largest number that divides every coefficient.
int64_t common_factor(const Dim& d) {
  int64_t factor = 0;
  for (const shape::Term& t : d.terms()) {
    int64_t a = factor, b = t.coefficient < 0 ? -t.coefficient : t.coefficient;
    while (b) std::swap(a %= b, b);
    factor = a;
  }
  return factor;
}

}  // namespace

void Drafts::offer(uint8_t rank, const std::string& text, Span at, std::string replacement, Changes changes) {
  for (const source::Help& help : d_.helps)
    if (help.edit && help.edit->span == at && help.edit->replacement == replacement) return;
  const auto kind = changes == Changes::writing ? source::Applicability::safe : source::Applicability::maybe;
  d_.helps.push_back({text, Edit{at, std::move(replacement), kind}, rank});
}

void Drafts::add(ExprId id, std::string role, bool infix, bool whole) {
  const Expr& x = p_.exprs[id];
  if (!x.type.valid()) return;
  const Type t = type_of_(x.type);
  want(x.type);
  operands.push_back({id, x.span, std::string(sources_.text(x.span)), std::move(role),
                      t.kind == Type::Kind::tensor ? t.shape : Shape{}, infix, whole});
}

void Drafts::want(TypeId id) {
  if (!id.valid()) return;
  const Type t = type_of_(id);
  if (t.kind == Type::Kind::record || t.kind == Type::Kind::tuple)
    for (TypeId item : t.items) want(item);
  if (t.kind != Type::Kind::tensor) return;
  for (const ShapeItem& item : t.shape)
    if (is_dim(item)) wanted.push_back(item.dim);
}

void Drafts::about(const Operand& o) {
  with_rest(o);
  transposed(o);
  kept(o.id);
  flattened(o);
  split_heads(o);
  with_unit_axis(o);
}

/// Two sizes that are not equal: another number, another range, or whole groups only.
void Drafts::sizes(const Expr& e, const Failure& f, const std::vector<ExprId>& loops, const Vars& vars) {
  if (e.kind == Expr::Kind::apply && f.lhs.constant() && f.rhs.constant())
    other_size(p_.exprs[e.args[0]], *f.lhs.constant(), *f.rhs.constant());
  if (const auto by = (f.lhs - f.rhs).constant()) {
    other_range(loops, vars, f.rhs, *by);
    other_range(loops, vars, f.lhs, -*by);
  }
  if (!f.rhs.constant() || f.lhs.constant()) return;
  for (const Operand& o : operands)
    for (size_t axis = 0; axis < o.shape.size(); ++axis)
      if (is_dim(o.shape[axis]) && o.shape[axis].dim == f.rhs)
        without_remainder(o, axis, *f.rhs.constant(), common_factor(f.lhs));
}

/// Joined along the first axis where the last was meant.
void Drafts::other_axis(const Expr& concat) {
  offer(1, fmt::format("`{}` joins along the last axis", library::concat_last), concat.span,
        library::concat_last);
}

/// One condition for the whole where one for each element was meant.
void Drafts::by_element(const Expr& conditional) {
  const auto part = [&](size_t i) {
    return bracketed(std::string(sources_.text(p_.exprs[conditional.args[i]].span)));
  };
  offer(1, "`select` chooses element by element", conditional.span,
        fmt::format("select {} {} {}", part(0), part(1), part(2)));
}

/// Two arguments of one application, exchanged.
void Drafts::swapped() {
  for (size_t i = 0; i + 1 < std::min<size_t>(operands.size(), 4); ++i)
    for (size_t j = i + 1; j < std::min<size_t>(operands.size(), 4); ++j) {
      const Operand &a = operands[i], &b = operands[j];
      if (a.text == b.text || a.span.end > b.span.begin) continue;
      const Span both{a.span.file, a.span.begin, b.span.end}, between{a.span.file, a.span.end, b.span.begin};
      offer(a.infix ? 2 : 1,
            a.infix ? "exchange the operands" : fmt::format("exchange {} and {}", a.role, b.role), both,
            fmt::format("{}{}{}", b.text, sources_.text(between), a.text));
    }
}

/// A name that no operand mentions.
std::string Drafts::free_name(const char* wanted) const {
  std::string name = wanted;
  const auto used = [&](const Operand& o) { return o.text.find(name) != std::string::npos; };
  while (std::any_of(operands.begin(), operands.end(), used)) name += "_";
  return name;
}

/// The product of a matrix, or several, and a vector, as index notation writes it.
void Drafts::vector_product(Span whole) {
  const Operand &left = operands[0], &right = operands[1];
  const bool left_is = left.shape.size() == 1 && is_dim(left.shape[0]);
  const Operand &vector = left_is ? left : right, &matrix = left_is ? right : left;
  if (vector.shape.size() != 1 || !is_dim(vector.shape[0]) || matrix.shape.size() < 2) return;
  const std::string rest = free_name("p"), k = free_name("k"), j = free_name("j");
  const std::string row = matrix.shape.size() == 2 && !left_is && is_dim(matrix.shape[0]) ? j
                          : matrix.shape.size() == 2 && left_is                           ? ""
                                                                                          : ".." + rest;
  const std::string m = bracketed(matrix.text), v = bracketed(vector.text);
  const auto before = [](const std::string& names, const std::string& last) {
    return names.empty() ? last : names + ", " + last;
  };
  offer(1, "the product with a vector, in index notation", whole,
        left_is ? fmt::format("(for {0}{1} => sum {2} => {3}[{2}] * {4}[{5}])", row.empty() ? "" : row + " ",
                              j, k, v, m, before(row, k + ", " + j))
                : fmt::format("(for {0} => sum {1} => {2}[{3}] * {4}[{1}])", row, k, m, before(row, k), v));
}

/// `*` where `@` was meant, or the other way; a product of two vectors, or with one.
void Drafts::other_product(Span op, Span whole) {
  const std::string_view text = sources_.text(op);
  product_ = text == "@";
  const bool vectors = operands.size() == 2 && operands[0].shape.size() == 1 && operands[1].shape.size() == 1;
  if (text == "*") offer(2, "`@` is the matrix product", op, "@");
  if (text == "@" && !vectors && operands.size() == 2) vector_product(whole);
  if (text == "@" && !vectors) offer(3, "`*` is the product element by element", op, "*");
  if (text == "@" && vectors)
    offer(1, fmt::format("`{}` is the product of two vectors", library::dot), whole,
          fmt::format("{} {} {}", library::dot, bracketed(operands[0].text), bracketed(operands[1].text)));
}

/// What is left over after whole groups of `group` is dropped.
void Drafts::without_remainder(const Operand& o, size_t axis, int64_t size, int64_t group) {
  if (group < 2 || size % group == 0 || size < group) return;
  const std::string slice = fmt::format("0:{}", size - size % group);
  const bool first = axis == 0, last = axis + 1 == o.shape.size();
  if (!first && !last) return;
  replace(1, o, fmt::format("leave out the last {}, so that groups of {} come out even", size % group, group),
          fmt::format("{}[{}{}]", bracketed(o.text), first ? "" : ".., ", slice), false);
}

/// A size that is given, `heads[6, 64] x`, where another one fits: all sizes are numbers.
void Drafts::other_size(const Expr& callee, int64_t expected, int64_t found) {
  for (ExprId id : callee.args) {
    if (!id.valid() || p_.exprs[id].kind != Expr::Kind::number || p_.exprs[id].flag) continue;
    const int64_t given = std::stoll(p_.exprs[id].text);
    if (given < 1 || expected % given != 0 || expected == 0 || found % (expected / given) != 0) continue;
    offer(1, fmt::format("{} = {} * {}", found, found / (expected / given), expected / given),
          p_.exprs[id].span, std::to_string(found / (expected / given)), Changes::writing);
  }
}

/// An index that leaves its axis: a shorter range, or a value for what lies outside.
void Drafts::index(const Expr& e, const std::vector<ExprId>& loops, const Vars& vars,
                   const shape::Fact& fact) {
  for (ExprId id : loops)
    for (const Binder& b : p_.exprs[id].binders) {
      const TypeId type = p_.locals[b.local].type;
      if (!b.bound.valid() || !type.valid()) continue;
      const auto& value = vars[vars.head(type)].value;
      const auto var = value ? value->as_var() : std::nullopt;
      if (!var || (!fact.lhs.contains(*var) && !fact.rhs.contains(*var))) continue;
      const Span at = p_.exprs[b.bound].span;
      for (int64_t by : {1, 2})
        offer(static_cast<uint8_t>(by), fmt::format("let `{}` take {} fewer", p_.locals[b.local].name, by),
              at, moved(std::string(sources_.text(at)), -by));
    }
  const std::string_view text = sources_.text(e.span);
  if (e.kind == Expr::Kind::index && e.args.size() == 1 && text.ends_with(']'))
    offer(2, "read 0 outside", {e.span.file, e.span.end - 1, e.span.end - 1}, " else 0");
  if (e.kind != Expr::Kind::index) return;
  const auto past = (fact.lhs - fact.rhs).constant();
  if (past && *past >= 0 && *past <= 2 && !fact.lhs.constant())
    for (const IndexItem& item : e.indices)
      if (item.point.valid() && value_of(item.point, vars) == fact.lhs)
        offer(1, "the last position is one less than the size", p_.exprs[item.point].span,
              moved(std::string(sources_.text(p_.exprs[item.point].span)), -*past - 1));
  if (e.indices.size() == 1 && e.indices[0].point.valid() && fact.lhs.constant())
    offer(fact.lhs == fact.rhs ? 1 : 3, "the last position is -1", p_.exprs[e.indices[0].point].span, "-1");
}

/// The items of the stated result that differ, as the body gives them.
void Drafts::stated(const std::vector<syntax::Item>& items, const Shape& expected, const Shape& found) {
  if (items.size() != expected.size() || items.size() != found.size()) return;
  size_t begin = items.size(), end = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    if (!is_dim(expected[i]) || !is_dim(found[i]) || expected[i].dim == found[i].dim) continue;
    begin = std::min(begin, i);
    end = i + 1;
  }
  if (begin >= end) return;
  std::string text =
      print(Shape(found.begin() + static_cast<long>(begin), found.begin() + static_cast<long>(end)), names_);
  offer(1, "state what the body gives", source::join(items[begin].span, items[end - 1].span),
        text.substr(1, text.size() - 2), Changes::writing);
}

/// An argument with more axes than the indices name in what is called: they are those of a parameter
/// without a type.
void Drafts::rest_of_parameter(const Pattern& parameter, uint32_t first, uint32_t end, size_t axes) {
  if (parameter.kind != Pattern::Kind::name || parameter.annotation) return;
  for (uint32_t i = first; i < end; ++i) {
    const Expr& e = p_.exprs[{i}];
    if (e.kind != Expr::Kind::index || p_.exprs[e.args[0]].kind != Expr::Kind::local) continue;
    const std::string_view text = sources_.text(e.span);
    const bool open = std::any_of(e.indices.begin(), e.indices.end(), [](const IndexItem& item) {
      return item.kind == IndexItem::Kind::ellipsis || item.kind == IndexItem::Kind::rank;
    });
    if (p_.exprs[e.args[0]].local != parameter.local || open || e.indices.size() >= axes ||
        !text.ends_with(']'))
      continue;
    offer(1, "`..` stands for the axes that are not named", {e.span.file, e.span.end - 1, e.span.end - 1},
          ", ..");
    return;
  }
}

/// `f(x, y)`, as other languages write a call.
void Drafts::untupled(ExprId argument, ExprId callee) {
  const Expr& tuple = p_.exprs[argument];
  if (tuple.kind != Expr::Kind::tuple || tuple.args.empty()) return;
  std::string text = p_.exprs[callee].span.end == tuple.span.begin ? " " : "";
  for (size_t i = 0; i < tuple.args.size(); ++i)
    text += (i ? " " : "") + bracketed(std::string(sources_.text(p_.exprs[tuple.args[i]].span)));
  offer(1, "arguments are written `f x y`", tuple.span, text, Changes::writing);
}

/// The relation that the types do not say, stated: `at` is where a `where` goes on or begins.
void Drafts::related(const Dim& a, const Dim& b, const std::function<bool(Var)>& written, Span at, bool first,
                     Changes changes) {
  const auto sayable = [&](const Dim& d) {
    const auto var = d.as_var();
    return d.constant() || (var && written(*var));
  };
  if (!sayable(a) || !sayable(b) || (a.constant() && b.constant())) return;
  const Dim &left = a.constant() ? b : a, &right = a.constant() ? a : b;
  const std::string fact = fmt::format("{} == {}", print(left, names_), print(right, names_));
  offer(rank_of_relation, "state the relation", at, (first ? " where " : ", ") + fact, changes);
}

void Drafts::converted(const Operand& o, const std::string& elem) {
  replace(1, o, fmt::format("convert {}", o.role), fmt::format("{} {}", elem, bracketed(o.text)), false);
}

/// Ranges written in the text whose size is off by a constant.
void Drafts::other_range(const std::vector<ExprId>& loops, const Vars& vars, const Dim& size, int64_t by) {
  if (by == 0 || by > 2 || by < -2) return;
  for (ExprId id : loops)
    for (const Binder& b : p_.exprs[id].binders) {
      if (!b.bound.valid() || !b.range || vars.zonk(*b.range) != size) continue;
      const Span at = p_.exprs[b.bound].span;
      offer(1,
            fmt::format("let `{}` take {} {}", p_.locals[b.local].name, by > 0 ? by : -by,
                        by > 0 ? "more" : "fewer"),
            at, moved(std::string(sources_.text(at)), by));
    }
}

/// The size that an integer is, when its type says so.
std::optional<Dim> Drafts::value_of(ExprId id, const Vars& vars) const {
  const TypeId type = p_.exprs[id].type;
  if (!type.valid()) return std::nullopt;
  const auto& value = vars[vars.head(type)].value;
  return value ? std::optional(vars.zonk(*value)) : std::nullopt;
}

bool Drafts::enclosed(Span at) const {
  const std::string_view text = sources_[at.file].text();
  return at.begin > 0 && text[at.begin - 1] == '(' && at.end < text.size() && text[at.end] == ')';
}

void Drafts::replace(uint8_t rank, const Operand& o, const std::string& why, std::string by,
                     bool reaches_on) {
  const bool plain = enclosed(o.span) || is_atom(by) || (o.infix && !reaches_on);
  offer(rank, why, o.span, plain ? by : "(" + by + ")");
}

/// Of a matrix product the right operand is the one that people write transposed; for other operators it is
/// rare.
void Drafts::transposed(const Operand& o) {
  const uint8_t rank = !o.infix || o.whole || (product_ && o.role == "the right operand") ? 1
                       : product_                                                         ? 2
                                                                                          : 3;
  const Expr& e = p_.exprs[o.id];
  if (e.kind == Expr::Kind::apply && e.args.size() == 2) {
    const Expr& callee = p_.exprs[e.args[0]];
    if (is_library_function_(callee, library::transpose)) {
      const std::string inner(sources_.text(p_.exprs[e.args[1]].span));
      replace(1, o, fmt::format("take {} as it is", o.role), bracketed(inner), false);
      return;
    }
  }
  const size_t n = o.shape.size();
  if (n < 2 || !is_dim(o.shape[n - 1]) || !is_dim(o.shape[n - 2]) || o.shape[n - 1].dim == o.shape[n - 2].dim)
    return;
  replace(rank, o, fmt::format("transpose {}", o.role),
          fmt::format("{} {}", library::transpose, bracketed(o.text)), false);
}

/// An element where what is left of the axes was meant: a parameter without a type has those that its
/// indices name.
void Drafts::with_rest(const Operand& o) {
  if (p_.exprs[o.id].kind != Expr::Kind::index || !o.shape.empty() || !o.text.ends_with(']')) return;
  if (o.text.find("..") != std::string::npos || o.text.find(" else ") != std::string::npos) return;
  offer(1, "`..` stands for the axes that are not named", {o.span.file, o.span.end - 1, o.span.end - 1},
        ", ..");
}

void Drafts::rest_of_update(const Expr& update) {
  for (const IndexItem& item : update.indices)
    if (item.kind == IndexItem::Kind::ellipsis || item.kind == IndexItem::Kind::rank) return;
  const Span stored = p_.exprs[update.args[1]].span;
  const size_t close = sources_[stored.file].text().rfind(']', stored.begin);
  if (close == std::string_view::npos || close < update.span.begin) return;
  const auto at = static_cast<uint32_t>(close);
  offer(1, "`..` stands for the axes that are not named", {stored.file, at, at}, ", ..");
}

/// What a name of a `let` is bound to; other expressions are returned as they are.
ExprId Drafts::bound_to(ExprId id) const {
  if (p_.exprs[id].kind != Expr::Kind::local) return id;
  for (uint32_t i = 0; i < p_.exprs.size(); ++i) {
    const Expr& e = p_.exprs[{i}];
    if (e.kind == Expr::Kind::let && e.params[0].kind == Pattern::Kind::name &&
        e.params[0].local == p_.exprs[id].local)
      return e.args[0];
  }
  return id;
}

/// A reduction that should keep its axis: the operand, what its name is bound to, or a part of what is
/// computed from it, `rsqrt (mean (x * x) + e)`.
void Drafts::kept(ExprId operand, int depth) {
  const Expr& e = p_.exprs[bound_to(operand)];
  if (e.kind != Expr::Kind::apply || depth > most_nested) return;
  const Expr& callee = p_.exprs[e.args[0]];
  const bool prefix = callee.kind == Expr::Kind::global && callee.text.empty() &&
                      callee.span.begin == e.span.begin && e.args.size() == 2;
  if (prefix && is_library_function_(callee, library::keep)) return;
  if (prefix && !is_library_function_(callee, library::transpose))
    offer(1,
          fmt::format("`{} {}` keeps the axis as a 1, which stretches", library::keep,
                      p_.globals[callee.global].name),
          {callee.span.file, callee.span.begin, callee.span.begin}, fmt::format("{} ", library::keep));
  for (size_t i = 1; i < e.args.size(); ++i) kept(e.args[i], depth + 1);
}

/// Names for the axes of an operand, as `rearrange` takes them.
std::vector<std::string> Drafts::axis_names(const Shape& s) {
  std::vector<std::string> out;
  auto taken = [&](const std::string& name) { return std::find(out.begin(), out.end(), name) != out.end(); };
  bool open = false;
  for (const ShapeItem& item : s) {
    if (!is_dim(item)) {
      if (open || !is_var(item)) return {};
      open = true;
      out.push_back(".." + names_.of(item.var));
      continue;
    }
    std::string name = item.dim.as_var() ? print(item.dim, names_) : "";
    if (name == "_") name.clear();
    for (char letter = 'a'; (name.empty() || taken(name)) && letter <= 'z'; ++letter)
      name = std::string(1, letter);
    out.push_back(name);
  }
  return out;
}

std::string Drafts::joined(const std::vector<std::string>& items, const char* by) {
  std::string out;
  for (const std::string& item : items) out += (out.empty() ? "" : by) + item;
  return out;
}

void Drafts::flattened(const Operand& o) {
  const std::vector<std::string> axes = axis_names(o.shape);
  for (size_t begin = 0; begin < axes.size(); ++begin) {
    if (!is_dim(o.shape[begin])) continue;
    Dim product = o.shape[begin].dim;
    for (size_t end = begin + 1; end < axes.size() && is_dim(o.shape[end]); ++end) {
      product = product * o.shape[end].dim;
      if (!is_wanted(product)) continue;
      std::vector<std::string> after(axes.begin(), axes.begin() + static_cast<long>(begin));
      after.push_back(
          joined({axes.begin() + static_cast<long>(begin), axes.begin() + static_cast<long>(end) + 1}, "*"));
      after.insert(after.end(), axes.begin() + static_cast<long>(end) + 1, axes.end());
      std::string factors;
      for (size_t i = begin; i <= end; ++i)
        factors += (i > begin ? "*" : "") + bracketed(print(o.shape[i].dim, names_));
      const std::string is = product.constant() ? fmt::format("{} = {}", print(product, names_), factors)
                                                : fmt::format("to {}", factors);
      replace(1, o, fmt::format("flatten {} axes of {}: {}", end + 1 - begin, o.role, is),
              fmt::format("rearrange {} [{}] => [{}]", bracketed(o.text), joined(axes, ", "),
                          joined(after, ", ")),
              true);
    }
  }
}

void Drafts::split_heads(const Operand& o) {
  const size_t n = o.shape.size();
  if (n >= 2 && is_dim(o.shape[n - 1]))
    for (const Dim& heads : wanted)
      for (const Dim& size : wanted)
        if (!heads.is(1) && !size.is(1) && heads * size == o.shape[n - 1].dim)
          replace(1, o, fmt::format("split the last axis of {} into heads", o.role),
                  fmt::format("{}[{}, {}] {}", library::heads, print(heads, names_), print(size, names_),
                              bracketed(o.text)),
                  false);
  if (n >= 3 && is_dim(o.shape[n - 1]) && is_dim(o.shape[n - 3]) &&
      is_wanted(o.shape[n - 3].dim * o.shape[n - 1].dim))
    replace(1, o, fmt::format("put the heads of {} side by side", o.role),
            fmt::format("{} {}", library::merge_heads, bracketed(o.text)), false);
}

/// Axes of 1 where another operand has more axes: one, or as many as make the ranks equal, at the end.
void Drafts::with_unit_axis(const Operand& o) {
  if (product_ && o.shape.size() == 1) return;  // see vector_product
  size_t longest = 0;
  for (const Operand& other : operands) longest = std::max(longest, other.shape.size());
  const std::vector<std::string> axes = axis_names(o.shape);
  if (longest <= o.shape.size() || axes.empty() || axes.size() > 3) return;
  const auto with_units = [&](size_t at, size_t count) {
    std::vector<std::string> after = axes;
    after.insert(after.begin() + static_cast<long>(at), count, "1");
    replace(
        2, o,
        fmt::format("give {} {}, which stretch{}", o.role,
                    count == 1 ? "an axis of 1" : fmt::format("{} axes of 1", count), count == 1 ? "es" : ""),
        fmt::format("rearrange {} [{}] => [{}]", bracketed(o.text), joined(axes, ", "), joined(after, ", ")),
        true);
  };
  for (size_t at = axes.size() + 1; at-- > 1;) with_units(at, 1);
  if (longest > o.shape.size() + 1) with_units(axes.size(), longest - o.shape.size());
}

}  // namespace axon::core
