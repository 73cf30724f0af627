// The expressions of the graph's text, and what they are made of: dimensions, types and values.
//
// Operators come back exactly as they were written: folding has been done when the graph was built. A name
// is a size or an index, and what it stands for ends with the node, the local or the reduction that has it.
#include "graph/parse_expr.h"

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <string_view>

#include "shape/parse.h"

namespace axon::graph {
namespace {

bool divides_by_zero(const Dim& d) {
  for (const shape::Term& term : d.terms())
    for (const shape::Atom& atom : term.factors) {
      if (atom.kind() == shape::AtomKind::var) continue;
      const bool divides = atom.kind() == shape::AtomKind::floor_div || atom.kind() == shape::AtomKind::mod;
      if ((divides && atom.rhs().is(0)) || divides_by_zero(atom.lhs()) || divides_by_zero(atom.rhs()))
        return true;
    }
  return false;
}

const Infix* infix_at(const Token& t) {
  return t.kind == Token::Kind::symbol ? infix_called(t.text) : nullptr;
}

}  // namespace

// ---- dimensions, types, values ----

Var ExprParser::variable(const std::string& name) {
  for (auto it = names.rbegin(); it != names.rend(); ++it)
    if (it->first == name) return it->second;
  fail(fmt::format("`{}` is not declared", name));
  return names.empty() ? shape::fresh_var(name) : names.back().second;
}

Var ExprParser::declare(const std::string& name) {
  names.emplace_back(name, shape::fresh_var(name));
  return names.back().second;
}

Dim ExprParser::dim() {
  const size_t begin = peek().begin;
  const std::string_view line = std::string_view(source).substr(0, source.find('\n', begin));
  size_t end = begin;
  shape::DimParseError problem;
  const auto read = shape::parse_dim_prefix(
      line, end, [&](std::string_view name) { return std::optional<Dim>(variable(std::string(name))); },
      &problem);
  if (!read) fail(problem.message);
  if (read && divides_by_zero(*read)) fail("division by zero in a dimension");
  while (!done() && peek().begin < end) take();
  return read.value_or(Dim());
}

std::vector<Dim> ExprParser::dims() {
  std::vector<Dim> list;
  expect("[");
  while (!at_list_end("]")) {
    list.push_back(dim());
    if (!accept(",")) break;
  }
  expect("]");
  return list;
}

std::vector<Axis> ExprParser::axes(const char* close) {
  std::vector<Axis> list;
  while (!at_list_end(close)) {
    std::string name = word();
    if (accept("=")) {
      DynamicSize size;
      size.value = expression(1);
      expect("at");
      expect("most");
      size.bound = dim();
      size.size = declare(name);
      dynamic.push_back(size);
    } else {
      expect("<");
      const Dim extent = dim();
      list.push_back({declare(name), extent});
    }
    if (!accept(",")) break;
  }
  expect(close);
  return list;
}

Elem ExprParser::elem() {
  std::string name = word();
  auto e = base::elem_from_name(name);
  if (!e) fail(fmt::format("`{}` is no element type", name));
  return e.value_or(Elem::f32);
}

TensorType ExprParser::type() {
  Elem e = elem();
  return {e, dims()};
}

Fact ExprParser::fact() {
  Fact f;
  f.lhs = dim();
  f.relation = is("==")   ? shape::Relation::eq
               : is("!=") ? shape::Relation::ne
               : is("<=") ? shape::Relation::le
                          : shape::Relation::lt;
  if (f.relation == shape::Relation::lt) {
    expect("<");
  } else {
    take();
  }
  f.rhs = dim();
  return f;
}

Value ExprParser::value() {
  if (peek().kind != Token::Kind::value) {
    fail(fmt::format("expected a value, found `{}`", peek().text));
    return {};
  }
  std::string text = take().text;
  size_t dot = text.find('.');
  size_t number = std::strtoul(text.c_str() + 1, nullptr, 10);
  uint32_t output =
      dot == std::string::npos ? 0 : static_cast<uint32_t>(std::strtoul(text.c_str() + dot + 1, nullptr, 10));
  if (text[0] == '$') return local_value(static_cast<uint32_t>(number));
  if (number >= numbered.size()) {
    fail(fmt::format("{} is not defined", text));
    return {};
  }
  if (output >= g.nodes[numbered[number]].types.size()) fail(fmt::format("{} has no such output", text));
  return {numbered[number], output};
}

// ---- expressions ----

ScalarId ExprParser::body() {
  shared.clear();
  return expression(1);
}

ScalarId ExprParser::raw(Op op, std::vector<ScalarId> args, std::optional<Elem> elem) {
  Scalar s;
  s.op = op;
  std::vector<Elem> elems;
  for (ScalarId a : args) elems.push_back(g.scalars[a].elem);
  s.elem = elem ? *elem : result_elem(op, elems);
  s.args = std::move(args);
  return make_scalar(g, std::move(s));
}

ScalarId ExprParser::expression(int level) {
  if (++nesting > max_depth) fail("nested too deeply");
  ScalarId lhs = operand();
  while (const Infix* const in = infix_at(peek())) {
    if (in->level < level || done()) break;
    take();
    ScalarId rhs = expression(in->level + 1);
    lhs = raw(in->op, {lhs, rhs});
  }
  --nesting;
  return lhs;
}

ScalarId ExprParser::operand() {
  const Token t = peek();
  switch (t.kind) {
    case Token::Kind::number:
      return literal(false);
    case Token::Kind::value:
      return load_text();
    case Token::Kind::word:
      return named();
    case Token::Kind::symbol:
      if (accept("-")) return literal(true);
      if (accept("{")) {
        Dim d = dim();
        expect("}");
        return index_of(g, d);
      }
      if (accept("(")) return group();
      break;
    default:
      break;
  }
  fail(fmt::format("expected an expression, found `{}`", t.text));
  return constant_int(g, Elem::i64, 0);
}

ScalarId ExprParser::group() {
  std::string name;
  if (peek().kind == Token::Kind::word && tokens[next + 1].text == ":=") {
    name = take().text;
    take();
  }
  ScalarId x = expression(1);
  expect(")");
  if (!name.empty()) shared.emplace_back(name, x);
  return x;
}

ScalarId ExprParser::literal(bool negative) {
  Token t = take();
  std::string suffix = t.suffix;
  std::string digits = t.text;
  if (t.kind == Token::Kind::word) {  // inf, nan with the type glued on
    size_t split = digits.find('_');
    if (split != std::string::npos) {
      suffix = digits.substr(split + 1);
      digits.resize(split);
    }
  }
  bool fractional = digits.find_first_of(".en") != std::string::npos;
  Elem elem = fractional ? Elem::f32 : Elem::i64;
  if (!suffix.empty()) {
    auto e = base::elem_from_name(suffix);
    if (!e) fail(fmt::format("`{}` is no element type", suffix));
    elem = e.value_or(elem);
  }
  if (negative) digits = "-" + digits;
  if (base::is_float(elem)) return constant_float(g, elem, std::strtod(digits.c_str(), nullptr));
  return constant_int(g, elem, std::strtoll(digits.c_str(), nullptr, 10));
}

ScalarId ExprParser::load_text() {
  Value v = value();
  Elem elem = Elem::f32;
  if (v.is_local()) {
    if (!locals || v.output >= locals->size()) {
      fail("the local is not defined");
    } else {
      elem = (*locals)[v.output].elem;
    }
  } else if (error.empty()) {
    elem = g.type(v).elem;
  }
  std::vector<ScalarId> indices;
  expect("[");
  while (!at_list_end("]")) {
    if (accept("{")) {
      indices.push_back(expression(1));
      expect("}");
    } else {
      indices.push_back(index_of(g, dim()));
    }
    if (!accept(",")) break;
  }
  expect("]");
  return load(g, v, std::move(indices), elem);
}

ScalarId ExprParser::named() {
  std::string name = peek().text;
  if (name == "true" || name == "false") {
    take();
    return constant_int(g, Elem::boolean, name == "true");
  }
  if (name.rfind("inf", 0) == 0 || name.rfind("nan", 0) == 0) return literal(false);
  take();
  for (auto it = shared.rbegin(); it != shared.rend(); ++it)
    if (it->first == name) return it->second;
  std::optional<Elem> type;
  if (accept(":")) type = elem();
  expect("(");
  ScalarId result = call(name, type);
  expect(")");
  return result;
}

ScalarId ExprParser::call(const std::string& name, std::optional<Elem> type) {
  if (name == "bounded") {
    Scalar s;
    s.op = Op::bounded;
    s.elem = Elem::i64;
    s.args = {expression(1)};
    expect(",");
    s.dim = dim();
    expect(",");
    s.check = number();
    s.elem = g.scalars[s.args[0]].elem;
    return make_scalar(g, std::move(s));
  }
  if (name == "require") {
    Scalar s;
    s.op = Op::require;
    s.elem = Elem::i64;
    for (int i = 0; i < 3; ++i) {
      s.args.push_back(expression(1));
      expect(",");
    }
    s.check = number();
    return make_scalar(g, std::move(s));
  }
  if (name == "proj") return projection(type);
  if (name == "online") return online(type);
  for (const bool descending : {false, true})
    if (name == order_name(descending)) return order(descending);
  for (int m = 0; m <= static_cast<int>(Monoid::argmax); ++m) {
    Monoid monoid = static_cast<Monoid>(m);
    // max and min are also binary operators; a reduction has binders.
    if (name == monoid_name(monoid) && tokens[next].kind == Token::Kind::word &&
        (tokens[next + 1].text == "<" || tokens[next + 1].text == "="))
      return reduction(monoid, type);
  }
  std::vector<ScalarId> args{expression(1)};
  while (accept(",")) args.push_back(expression(1));
  if (auto target = base::elem_from_name(name)) return raw(Op::cast, args, *target);
  if (const auto op = pointwise_op(name, args.size())) return raw(*op, args, type);
  fail(fmt::format("`{}` with {} arguments is no operator", name, args.size()));
  return args[0];
}

ScalarId ExprParser::reduction(Monoid monoid, std::optional<Elem> type) {
  size_t mark = names.size(), shared_mark = shared.size();
  auto binders = axes(";");
  ScalarId inner = expression(1);
  names.resize(mark);
  shared.resize(shared_mark);
  Scalar s = g.scalars[reduce(g, monoid, binders, inner)];
  if (!type || *type == s.elem) return reduce(g, monoid, binders, inner);
  s.elem = *type;
  return make_scalar(g, std::move(s));
}

ScalarId ExprParser::online(std::optional<Elem> type) {
  size_t mark = names.size(), shared_mark = shared.size();
  Scalar s;
  s.op = Op::online;
  s.binders = axes(";");
  if (accept("e")) {
    s.base2 = false;
  } else {
    s.base2 = number() == 2;
  }
  expect(",");
  s.scale = g.scalars[literal(accept("-"))].number;
  if (accept(",")) {
    expect("or_zero");
    s.or_zero = true;
  }
  expect(";");
  s.args.push_back(expression(1));
  while (accept(",")) s.args.push_back(expression(1));
  names.resize(mark);
  shared.resize(shared_mark);
  s.elem = type ? *type : g.scalars[s.args[0]].elem;
  return make_scalar(g, std::move(s));
}

ScalarId ExprParser::order(bool descending) {
  const size_t mark = names.size(), shared_mark = shared.size();
  const std::vector<Axis> binders = axes(";");
  const ScalarId key = expression(1);
  expect(",");
  const ScalarId number = expression(1);
  names.resize(mark);
  shared.resize(shared_mark);
  if (binders.size() == 1) return position_in_order(g, descending, binders[0], key, number);
  fail("an order has one binder");
  return key;
}

ScalarId ExprParser::projection(std::optional<Elem> type) {
  Scalar s;
  s.op = Op::proj;
  s.component = number();
  expect(",");
  s.args = {expression(1)};
  const Scalar& of = g.scalars[s.args[0]];
  if (of.op != Op::online || (s.component > 1 && s.component - 1 >= of.args.size())) {
    fail("proj takes an online reduction");
    return s.args[0];
  }
  s.elem = type ? *type : s.component < 2 ? of.elem : g.scalars[of.args[s.component - 1]].elem;
  return make_scalar(g, std::move(s));
}

}  // namespace axon::graph
