// Reads the text of print.cpp (its head documents the syntax) back into a graph: its declarations, nodes and
// regions. What stands inside of a node is parse_expr.cpp.
//
// One recursive descent over tokens. Meaning is not checked here beyond what building needs; verify() does
// that.
#include <fmt/format.h>

#include <algorithm>

#include "graph/parse_expr.h"
#include "layout/text.h"

namespace axon::graph {
namespace {

class Parser : ExprParser {
 public:
  using ExprParser::ExprParser;

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
    narrow_integers(g);
    return std::move(g);
  }

 private:
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
    } else if (is("check") || is("effect")) {
      Check c;
      c.effect = is("effect");
      take();
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
      Debug debug;
      debug.is_condition = accept("if");
      if (!debug.is_condition) debug.name = string();
      debug.value = value();
      g.debugs.push_back(std::move(debug));
    } else if (accept("result")) {
      std::string path = string();
      const Value result = value();
      g.results.push_back({path, result, placed()});
    } else if (accept("data")) {
      const Var size = variable(word());
      const auto of =
          std::find_if(g.sizes.begin(), g.sizes.end(), [&](const Size& s) { return s.var == size; });
      const Value computed = value();
      if (of == g.sizes.end() || of->from != Size::From::data)
        fail("only a data-dependent size is a value of the graph");
      else
        of->value = computed;
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
      if (accept("integer")) s.range = shape::integer_range();
    } else if (accept("data")) {
      s.from = Size::From::data;
      s.equation = Dim(s.var);
      if (accept("at")) {
        expect("most");
        s.equation = dim();
      }
      s.message = string();
    } else {
      s.from = accept("stride") ? Size::From::stride : Size::From::axis;
      if (s.from == Size::From::axis) expect("axis");
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
    i.place = placed();
    g.inputs.push_back(std::move(i));
  }

  std::optional<layout::Layout> placed() {
    if (!accept("placed")) return std::nullopt;
    const auto size = [&](std::string_view name) -> std::optional<Dim> {
      for (const auto& [known, var] : names)
        if (known == name) return Dim(var);
      return std::nullopt;
    };
    auto place = layout::parse(string(), size);
    if (!place) fail("a layout in memory is expected, such as \"S[(m,n):(1,m)]\"");
    return place;
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
      n.place = placed();
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
    n.packs = accept("packed");
    n.guarded = accept("guarded");
    dynamic.clear();
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
    n.dynamic_sizes = std::move(dynamic);
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
};

}  // namespace

std::optional<Graph> parse(const std::string& text, std::string& error) { return Parser(text).run(error); }

}  // namespace axon::graph
