// Reads the text of print.cpp (its head documents the syntax) back into a graph.
//
// One recursive descent over tokens. The first error stops it: from then on every token reads as the end of
// the text, so no loop needs its own way out. Meaning is not checked here beyond what building needs;
// verify() does that.
#include "shape/parse.h"

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <string_view>

#include "graph/graph.h"
#include "graph/tokens.h"

namespace axon::graph {
namespace {

constexpr int max_depth = 2000;  // nesting of expressions and regions

class Parser {
 public:
  explicit Parser(const std::string& text) : source(text), tokens(tokens_of(text)) {}

  std::optional<Graph> run(std::string& error_out) {
    expect("graph");
    g.name = string();
    g.root = g.regions.add({});
    while (!done()) {
      if (is("%")) {
        node(g.root);
      } else {
        declaration();
      }
    }
    error_out = error;
    if (!error.empty()) return std::nullopt;
    return std::move(g);
  }

 private:
  Graph g;
  const std::string& source;
  std::vector<Token> tokens;
  size_t next = 0;
  std::string error;
  std::vector<std::pair<std::string, Var>> names;  // in scope
  std::vector<NodeId> numbered;                    // printed number -> node
  const std::vector<Local>* locals = nullptr;      // of the compute node being read
  std::vector<std::pair<std::string, ScalarId>> shared;
  int nesting = 0;

  // ---- tokens ----

  const Token& peek() const { return error.empty() ? tokens[next] : tokens.back(); }
  bool done() const { return peek().kind == Token::Kind::end; }
  void fail(const std::string& what) {
    if (error.empty()) error = fmt::format("line {}: {}", tokens[next].line, what);
  }
  bool is(const std::string& text) const {
    const Token& t = peek();
    if (t.kind == Token::Kind::value) return text == t.text.substr(0, 1);
    return (t.kind == Token::Kind::word || t.kind == Token::Kind::symbol) && t.text == text;
  }
  Token take() {
    Token t = peek();
    if (error.empty() && next + 1 < tokens.size()) ++next;
    return t;
  }
  bool accept(const std::string& text) {
    if (!is(text)) return false;
    take();
    return true;
  }
  void expect(const std::string& text) {
    if (!accept(text)) fail(fmt::format("expected `{}`, found `{}`", text, peek().text));
  }
  std::string word() {
    if (peek().kind != Token::Kind::word) fail(fmt::format("expected a name, found `{}`", peek().text));
    return take().text;
  }
  std::string string() {
    if (peek().kind != Token::Kind::string) fail(fmt::format("expected a string, found `{}`", peek().text));
    return take().text;
  }
  uint32_t number() {
    if (peek().kind != Token::Kind::number) fail(fmt::format("expected a number, found `{}`", peek().text));
    return static_cast<uint32_t>(std::strtoul(take().text.c_str(), nullptr, 10));
  }
  bool at_list_end(const char* close) const { return is(close) || done(); }

  // ---- dimensions ----

  Var variable(const std::string& name) {
    for (auto it = names.rbegin(); it != names.rend(); ++it)
      if (it->first == name) return it->second;
    fail(fmt::format("`{}` is not declared", name));
    return names.empty() ? shape::fresh_var(name) : names.back().second;
  }
  Var declare(const std::string& name) {
    names.emplace_back(name, shape::fresh_var(name));
    return names.back().second;
  }

  /// Dimensions end with their line: `%3 = ...` on the next one is no remainder.
  Dim dim() {
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
  static bool divides_by_zero(const Dim& d) {
    for (const shape::Term& term : d.terms())
      for (const shape::Atom& atom : term.factors) {
        if (atom.kind() == shape::AtomKind::var) continue;
        const bool divides = atom.kind() == shape::AtomKind::floor_div || atom.kind() == shape::AtomKind::mod;
        if ((divides && atom.rhs().is(0)) || divides_by_zero(atom.lhs()) || divides_by_zero(atom.rhs()))
          return true;
      }
    return false;
  }

  std::vector<Dim> dims() {  // [a, b]
    std::vector<Dim> list;
    expect("[");
    while (!at_list_end("]")) {
      list.push_back(dim());
      if (!accept(",")) break;
    }
    expect("]");
    return list;
  }

  std::vector<Axis> axes(const char* close) {  // i < m, j < n; all are declared after the last extent
    std::vector<std::pair<std::string, Dim>> read;
    while (!at_list_end(close)) {
      std::string name = word();
      expect("<");
      read.emplace_back(name, dim());
      if (!accept(",")) break;
    }
    expect(close);
    std::vector<Axis> list;
    for (auto& [name, extent] : read) list.push_back({declare(name), extent});
    return list;
  }

  Elem elem() {
    std::string name = word();
    auto e = base::elem_from_name(name);
    if (!e) fail(fmt::format("`{}` is no element type", name));
    return e.value_or(Elem::f32);
  }
  TensorType type() {
    Elem e = elem();
    return {e, dims()};
  }
  Fact fact() {
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

  Value value() {
    if (peek().kind != Token::Kind::value) {
      fail(fmt::format("expected a value, found `{}`", peek().text));
      return {};
    }
    std::string text = take().text;
    size_t dot = text.find('.');
    size_t number = std::strtoul(text.c_str() + 1, nullptr, 10);
    uint32_t output = dot == std::string::npos
                          ? 0
                          : static_cast<uint32_t>(std::strtoul(text.c_str() + dot + 1, nullptr, 10));
    if (text[0] == '$') return local_value(static_cast<uint32_t>(number));
    if (number >= numbered.size()) {
      fail(fmt::format("{} is not defined", text));
      return {};
    }
    if (output >= g.nodes[numbered[number]].types.size()) fail(fmt::format("{} has no such output", text));
    return {numbered[number], output};
  }

  // ---- declarations ----

  void declaration() {
    if (is("size")) {
      // Equations may use any size, so all names are declared before the first equation is read.
      size_t start = next;
      while (accept("size")) {
        declare(word());
        while (!done() && !is("size") && !is("fact") && !is("input") && !is("%") && !is("check") &&
               !is("result"))
          take();
      }
      next = start;
      for (size_t i = 0; accept("size"); ++i) size(i);
    } else if (accept("fact")) {
      g.facts.push_back(fact());
    } else if (accept("input")) {
      input();
    } else if (accept("check")) {
      Check c;
      if (is("%")) {
        c.value = value();
        expect("<");
        c.bound = dim();
      } else {
        c.fact = fact();
      }
      expect(":");
      c.message = string();
      g.checks.push_back(std::move(c));
    } else if (accept("debug")) {
      std::string name = string();
      g.debugs.emplace_back(name, value());
    } else if (accept("result")) {
      std::string path = string();
      g.results.push_back({path, value()});
    } else if (accept("decides")) {
      const Var size = variable(word());
      const auto of =
          std::find_if(g.sizes.begin(), g.sizes.end(), [&](const Size& s) { return s.var == size; });
      const Value decided = value();
      if (of == g.sizes.end() || of->from != Size::From::data)
        fail("only a size that the data decides is decided");
      else
        of->value = decided;
    } else {
      fail(fmt::format("unexpected `{}`", peek().text));
    }
  }

  void size(size_t position) {
    Size s;
    s.name = word();
    s.var = names.at(position).second;
    expect("=");
    if (accept("parameter")) {
      s.from = Size::From::parameter;
    } else if (accept("scalar")) {
      s.from = Size::From::scalar;
      s.input = number();
    } else if (accept("data")) {
      s.from = Size::From::data;
      expect("at");
      expect("most");
      s.equation = dim();
      s.message = string();
    } else {
      expect("axis");
      s.axis = number();
      expect("of");
      s.input = number();
      expect("where");
      s.equation = dim();
      if (accept("power")) s.power = static_cast<int>(number());
    }
    g.sizes.push_back(std::move(s));
  }

  void input() {
    Input i;
    i.path = string();
    std::string kind = word();
    i.kind = kind == "weight"   ? InputKind::weight
             : kind == "state"  ? InputKind::state
             : kind == "scalar" ? InputKind::scalar_size
                                : InputKind::argument;
    i.type = type();
    if (accept("size")) i.size = variable(word());
    g.inputs.push_back(std::move(i));
  }

  // ---- nodes ----

  void node(RegionId region) {
    Token label = take();
    if (label.text != "%" + std::to_string(numbered.size())) fail("node numbers go up by one");
    expect("=");
    std::string op = word();
    Node n;
    n.region = region;
    if (peek().kind == Token::Kind::string) n.name = take().text;
    if (accept("@")) n.source_begin = number();
    size_t mark = names.size();
    if (op == "loop") {
      loop_node(std::move(n));
    } else if (op == "compute") {
      n.op = NodeOp::compute;
      compute_node(n);
      add(std::move(n));
    } else if (op == "input") {
      n.op = NodeOp::input;
      n.input = number();
      if (n.input >= g.inputs.size()) {
        fail("no such input");
      } else {
        n.types = {g.inputs[n.input].type};
      }
      add(std::move(n));
    } else if (op == "empty") {
      n.op = NodeOp::empty;
      n.types = {type()};
      add(std::move(n));
    } else {
      fail(fmt::format("`{}` is no node", op));
    }
    names.resize(mark);
  }

  NodeId add(Node n) {
    RegionId region = n.region;
    NodeId id = g.nodes.add(std::move(n));
    g.regions[region].nodes.push_back(id);
    numbered.push_back(id);
    return id;
  }

  void compute_node(Node& n) {
    expect("[");
    size_t outside = names.size();
    n.domain = axes("]");
    auto outer_type = [&] {  // an output's type does not see the domain
      std::vector<std::pair<std::string, Var>> inner(names.begin() + static_cast<ptrdiff_t>(outside),
                                                     names.end());
      names.resize(outside);
      TensorType t = type();
      names.insert(names.end(), inner.begin(), inner.end());
      return t;
    };
    expect("{");
    locals = &n.locals;
    while (!at_list_end("}")) {
      if (accept("local")) {
        Local l;
        if (value() != local_value(static_cast<uint32_t>(n.locals.size())))
          fail("locals are numbered in order");
        if (peek().kind == Token::Kind::string) l.name = take().text;
        size_t mark = names.size();
        expect("[");
        l.domain = axes("]");
        l.elem = elem();
        expect("=");
        l.body = body();
        names.resize(mark);
        n.locals.push_back(std::move(l));
        continue;
      }
      expect("out");
      Output o;
      o.type = outer_type();
      if (accept("of")) o.base = value();
      o.at = accept("at") ? dims() : identity_map(n.domain);
      expect("=");
      o.body = body();
      n.types.push_back(o.type);
      n.outputs.push_back(std::move(o));
    }
    locals = nullptr;
    expect("}");
  }

  void loop_node(Node n) {
    n.op = NodeOp::loop;
    if (accept("while")) {
      n.condition = static_cast<uint32_t>(number());
      n.unending = take().text;
      expect("as");
      declare(word());
    }
    expect("[");
    auto index = axes("]");
    if (index.size() != 1) {
      fail("a loop has one index");
      return;
    }
    // The types of what is carried do not see the index.
    auto name = names.back();
    names.pop_back();
    n.index = index[0];
    expect("(");
    while (!at_list_end(")")) {
      n.types.push_back(type());
      expect("=");
      Carried c;
      c.init = value();
      n.carried.push_back(c);
      if (!accept(",")) break;
    }
    expect(")");
    names.push_back(name);
    n.body = g.regions.add({});
    RegionId body_region = n.body;
    NodeId id = add(std::move(n));
    g.regions[body_region].loop = id;
    expect("{");
    while (is("%")) {
      if (tokens[next + 3 < tokens.size() ? next + 2 : next].text == "param") {
        param(id);
      } else {
        if (++nesting > max_depth) fail("nested too deeply");
        node(body_region);
        --nesting;
      }
    }
    expect("yield");
    expect("(");
    for (size_t c = 0; c < g.nodes[id].carried.size() && !done(); ++c) {
      if (c) expect(",");
      Value v = value();
      g.nodes[id].carried[c].result = v;
    }
    expect(")");
    expect("}");
  }

  void param(NodeId loop) {
    take();
    expect("=");
    expect("param");
    Node p;
    p.op = NodeOp::param;
    p.region = g.nodes[loop].body;
    p.types = g.nodes[loop].types;
    NodeId id = add(std::move(p));
    for (uint32_t c = 0; c < g.nodes[loop].carried.size(); ++c) g.nodes[loop].carried[c].param = {id, c};
  }

  // ---- expressions ----

  ScalarId body() {
    shared.clear();
    return expression(1);
  }

  /// Makes an operator exactly as written: folding has been done when the graph was built.
  ScalarId raw(Op op, std::vector<ScalarId> args, std::optional<Elem> elem = std::nullopt) {
    Scalar s;
    s.op = op;
    std::vector<Elem> elems;
    for (ScalarId a : args) elems.push_back(g.scalars[a].elem);
    s.elem = elem ? *elem : result_elem(op, elems);
    s.args = std::move(args);
    return make_scalar(g, std::move(s));
  }

  struct InfixOp {
    Op op;
    int level;
  };
  std::optional<InfixOp> infix() const {
    const Token& t = peek();
    if (t.kind != Token::Kind::symbol) return std::nullopt;
    static const std::map<std::string, InfixOp> table = {
        {"||", {Op::or_, 1}}, {"&&", {Op::and_, 2}}, {"==", {Op::eq, 3}}, {"!=", {Op::ne, 3}},
        {"<", {Op::lt, 3}},   {"<=", {Op::le, 3}},   {"+", {Op::add, 4}}, {"-", {Op::sub, 4}},
        {"*", {Op::mul, 5}},  {"/", {Op::div, 5}},   {"%", {Op::mod, 5}}};
    auto it = table.find(t.text);
    if (it == table.end()) return std::nullopt;
    return it->second;
  }

  ScalarId expression(int level) {
    if (++nesting > max_depth) fail("nested too deeply");
    ScalarId lhs = operand();
    while (auto in = infix()) {
      if (in->level < level || done()) break;
      take();
      ScalarId rhs = expression(in->level + 1);
      lhs = raw(in->op, {lhs, rhs});
    }
    --nesting;
    return lhs;
  }

  ScalarId operand() {
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

  ScalarId group() {  // (x) or (t0 := x)
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

  ScalarId literal(bool negative) {
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

  ScalarId load_text() {
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

  ScalarId named() {
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

  ScalarId call(const std::string& name, std::optional<Elem> type) {
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
    if (name == "proj") return projection(type);
    if (name == "online") return online(type);
    for (int m = 0; m <= static_cast<int>(Monoid::argmax); ++m) {
      Monoid monoid = static_cast<Monoid>(m);
      // max and min are also binary operators; a reduction has binders.
      if (name == monoid_name(monoid) &&
          !(tokens[next].kind != Token::Kind::word || tokens[next + 1].text != "<"))
        return reduction(monoid, type);
    }
    std::vector<ScalarId> args{expression(1)};
    while (accept(",")) args.push_back(expression(1));
    if (auto target = base::elem_from_name(name)) return raw(Op::cast, args, *target);
    static const int arity[] = {
#define OP(name, arity) arity,
#include "graph/ops.def"
#undef OP
    };
    for (int op = 0; op < static_cast<int>(Op::constant); ++op)
      if (name == op_name(static_cast<Op>(op)) && args.size() == static_cast<size_t>(arity[op]))
        return raw(static_cast<Op>(op), args, type);
    fail(fmt::format("`{}` with {} arguments is no operator", name, args.size()));
    return args[0];
  }

  ScalarId reduction(Monoid monoid, std::optional<Elem> type) {
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

  ScalarId online(std::optional<Elem> type) {
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
    expect(";");
    s.args.push_back(expression(1));
    while (accept(",")) s.args.push_back(expression(1));
    names.resize(mark);
    shared.resize(shared_mark);
    s.elem = type ? *type : g.scalars[s.args[0]].elem;
    return make_scalar(g, std::move(s));
  }

  ScalarId projection(std::optional<Elem> type) {
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
};

}  // namespace

std::optional<Graph> parse(const std::string& text, std::string& error) { return Parser(text).run(error); }

}  // namespace axon::graph
