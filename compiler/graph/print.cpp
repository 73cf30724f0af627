// Graph as text. parse.cpp reads it back, and print(parse(t)) == t for every t that print made.
//
//     graph "step"
//       size n = axis 0 of 1 where n             n is axis 0 of input 1, written `n` there
//       size r = axis 1 of 1 where r*r power 2   the axis is a power of the size
//       size s = stride 0 of 1 where s           of the memory of input 1
//       size h = parameter
//       size pos = scalar 2                      the value of input 2
//       fact 0 <= n
//       input "p.w" weight f32[2*h, n]           weight, argument, state, scalar
//       input "x" argument f32[n] placed "S[n:s]"   where it lies, other than row-major
//       %0 = input 0
//       %1 = empty f32[n]
//       %2 = compute "softmax" @120 [i < h] {    "name" is a hint, @120 the byte offset in the source
//         local $0 "e" [a < n] f32 = exp(%0[i, a])
//         out f32[h] = sum(k < n; $0[k])
//         out f32[h] of %1 at [i + 1] = 1.5      an update of %1; `at` is left out when it is the domain
//       }
//       %3 = loop "fold" [l < n] (f32[h] = %2) { types and initial values of what is carried
//         %4 = param
//         %5 = compute [i < h] { ... }
//         yield (%5)
//       }
//       check n <= h : "message"                 over sizes
//       check %4 < n : "message"                 every element of a value lies in 0 .. n-1
//       debug if %3            the condition of the next one
//       debug "name" %2
//       result "path" %3                         %3.1 is output 1 of a node with several; may be placed
//
// Expressions: infix + - * / % == != < <= && ||, named operators as functions, f16(x) casts, %2[i + 1, j]
// loads with sizes and index variables as indices. Braces switch between the two languages: {i + 1} is an
// index as a scalar, %2[{bounded(%4[i], n, 0)}] an index that is a scalar (checked by check 0). Reductions
// are sum(k < n, l < m; body) and online(r < n; e, 1.0; score, value, ...) with base and scale; proj(2, ...)
// takes a component. A type that does not follow from the arguments is written: sum:f32(...), 2_i32,
// 0.5_bf16; plain literals are f32 and i64. (t0 := x) names a shared expression for the rest of its scope.
// A node that packs a right operand says so:
//       %4 = compute packed [k < n, panel < cdiv(m, 32), j < 32] {
// Before bound_dynamic_sizes a node may be guarded, and its dynamic sizes stand after what their values
// mention:
//       %6 = compute guarded [i < n, k = bounded(%5[i], m + 1, 0) at most m, j < k] {
// Names are made unique per scope; the order inside a dimension is that of declaration, so nothing depends on
// variable numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <unordered_map>

#include "graph/graph.h"
#include "graph/printed.h"
#include "layout/text.h"
#include "shape/arena.h"

namespace axon::graph {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + "\"";
}

struct StandIns {
  std::vector<Var> vars;
};

/// Names in scope: each declared variable gets a unique name and a stand-in whose number grows in declaration
/// order.
class Names {
 public:
  void declare(Var v) {
    auto& stand_ins = shape::remembered_in_arena<StandIns>().vars;
    if (declared_ == stand_ins.size()) stand_ins.push_back(shape::fresh_var("v" + std::to_string(declared_)));
    scope_.push_back({v, stand_ins[declared_++], unique(shape::var_name(v))});
  }
  size_t mark() const { return scope_.size(); }
  bool has(Var v) const {
    return find([&](const Entry& x) { return x.var == v; }) != nullptr;
  }
  void leave(size_t mark) { scope_.resize(mark); }

  std::string of(Var v) const {
    const Entry* e = find([&](const Entry& x) { return x.var == v; });
    return e ? e->name : "?" + shape::var_name(v);
  }
  std::string str(const Dim& d) const {
    shape::Substitution to_stand_ins;
    for (Var v : d.vars())
      if (const Entry* e = find([&](const Entry& x) { return x.var == v; }))
        to_stand_ins[v] = Dim(e->stand_in);
    return d.substitute(to_stand_ins).str([&](Var s) {
      const Entry* e = find([&](const Entry& x) { return x.stand_in == s; });
      return e ? e->name : "?" + shape::var_name(s);
    });
  }

 private:
  struct Entry {
    Var var, stand_in;
    std::string name;
  };
  template <class Test>
  const Entry* find(const Test& test) const {
    for (auto it = scope_.rbegin(); it != scope_.rend(); ++it)
      if (test(*it)) return &*it;
    return nullptr;
  }
  std::string unique(const std::string& wanted) const {
    std::string base;
    for (char c : wanted)
      if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') base += c;
    if (base.empty() || std::isdigit(static_cast<unsigned char>(base[0]))) base = "v" + base;
    std::string name = base;
    for (int n = 2; find([&](const Entry& x) { return x.name == name; }); ++n)
      name = base + "_" + std::to_string(n);
    return name;
  }
  std::vector<Entry> scope_;
  size_t declared_ = 0;
};

class Printer {
 public:
  explicit Printer(const Graph& graph) : g(graph) {}

  std::string run() {
    out = "graph " + quoted(g.name) + "\n";
    for (const Size& s : g.sizes) names.declare(s.var);
    for (const Size& s : g.sizes) size(s);
    for (const Fact& f : g.facts) line("fact " + fact(f));
    for (const Input& i : g.inputs) input(i);
    if (g.root.valid()) region(g.root);
    for (uint32_t s : data_sizes(g)) line("data " + names.of(g.sizes[s].var) + " " + value(g.sizes[s].value));
    for (const Check& c : g.checks) {
      std::string what = c.fact ? fact(*c.fact) : value(c.value) + " < " + names.str(c.bound);
      line((c.effect ? "effect " : "check ") + what + " : " + quoted(c.message));
    }
    for (const Debug& d : g.debugs)
      line("debug " + (d.is_condition ? "if" : quoted(d.name)) + " " + value(d.value));
    for (const Result& r : g.results)
      line("result " + quoted(r.path) + " " + value(r.value) + placed(r.place));
    return std::move(out);
  }

  std::vector<PrintedNode> nodes() {
    run();
    return std::move(printed);
  }

 private:
  const Graph& g;
  Names names;
  std::string out;
  std::vector<PrintedNode> printed;
  int depth = 1;
  std::unordered_map<uint32_t, int> numbers;  // node -> printed number
  std::vector<DynamicSize> dynamic;           // of the node, not declared so far

  void line(const std::string& text) {
    out += std::string(static_cast<size_t>(depth) * 2, ' ') + text + "\n";
  }

  // ---- declarations ----

  void size(const Size& s) {
    std::string text = "size " + names.of(s.var) + " = ";
    switch (s.from) {
      case Size::From::parameter:
        text += "parameter";
        break;
      case Size::From::axis:
      case Size::From::stride:
        text += fmt::format("{} {} of {} where {}", s.from == Size::From::axis ? "axis" : "stride", s.axis,
                            s.input, names.str(s.equation));
        if (s.power != 1) text += fmt::format(" power {}", s.power);
        break;
      case Size::From::scalar:
        text += fmt::format("scalar {}", s.input);
        if (s.is_integer()) text += " integer";
        break;
      case Size::From::data:
        text += s.is_unbounded() ? "data " : "data at most " + names.str(s.equation) + " ";
        text += quoted(s.message);
        break;
    }
    line(text);
  }

  void input(const Input& i) {
    static const char* const kinds[] = {"weight", "argument", "state", "scalar"};
    std::string text =
        fmt::format("input {} {} {}", quoted(i.path), kinds[static_cast<int>(i.kind)], type(i.type));
    if (i.size) text += " size " + names.of(*i.size);
    line(text + placed(i.place));
  }
  std::string placed(const std::optional<layout::Layout>& place) {
    if (!place) return "";
    return " placed " + quoted(layout::print(*place, [&](const Dim& d) { return names.str(d); }));
  }

  std::string fact(const Fact& f) {
    return names.str(f.lhs) + " " + shape::sign_of(f.relation) + " " + names.str(f.rhs);
  }

  std::string type(const TensorType& t) {
    return std::string(base::elem_name(t.elem)) + "[" + dims(t.shape) + "]";
  }
  std::string dims(const std::vector<Dim>& list) {
    std::string text;
    for (const Dim& d : list) text += (text.empty() ? "" : ", ") + names.str(d);
    return text;
  }
  /// Declares the axes, and the dynamic sizes whose values mention nothing later.
  std::string axes(const std::vector<Axis>& list) {
    std::string text = dynamic_sizes();
    for (const Axis& a : list) {
      const std::string extent = names.str(a.extent);
      names.declare(a.var);
      text += (text.empty() ? "" : ", ") + names.of(a.var) + " < " + extent;
      if (const std::string sizes = dynamic_sizes(); !sizes.empty()) text += ", " + sizes;
    }
    return text;
  }
  std::string dynamic_sizes() {
    const auto is_ready = [&](const DynamicSize& s) {
      const std::vector<Var> vars = free_vars(g, s.value);
      return std::all_of(vars.begin(), vars.end(), [&](Var v) { return names.has(v); });
    };
    std::string text;
    for (;;) {
      const auto at = std::find_if(dynamic.begin(), dynamic.end(), is_ready);
      if (at == dynamic.end()) return text;
      const DynamicSize s = *at;
      dynamic.erase(at);
      const std::string value = scope({s.value}), bound = names.str(s.bound);
      names.declare(s.size);
      text += fmt::format("{}{} = {} at most {}", text.empty() ? "" : ", ", names.of(s.size), value, bound);
    }
  }

  std::string value(Value v) {
    if (v.is_local()) return "$" + std::to_string(v.output);
    auto number = numbers.find(v.node.index);
    std::string text = number == numbers.end() ? "%?" : "%" + std::to_string(number->second);
    if (v.node.index < g.nodes.size() && g.nodes[v.node].types.size() > 1)
      text += "." + std::to_string(v.output);
    return text;
  }

  // ---- nodes ----

  void region(RegionId id) {
    for (NodeId n : g.regions[id].nodes) node(n);
  }

  void node(NodeId id) {
    const Node& n = g.nodes[id];
    int number = static_cast<int>(numbers.size());
    numbers[id.index] = number;
    static const char* const ops[] = {"input", "empty", "compute", "loop", "param"};
    std::string head = fmt::format("%{} = {}", number, ops[static_cast<int>(n.op)]);
    if (!n.name.empty()) head += " " + quoted(n.name);
    if (n.source_begin) head += " @" + std::to_string(n.source_begin);
    size_t mark = names.mark();
    const size_t at = printed.size();
    printed.push_back({id, number, out.size(), {}});
    switch (n.op) {
      case NodeOp::input:
        line(head + " " + std::to_string(n.input));
        break;
      case NodeOp::empty:
        line(head + " " + type(n.types.at(0)) + placed(n.place));
        break;
      case NodeOp::param:
        line(head);
        break;
      case NodeOp::compute:
        compute_node(n, head);
        break;
      case NodeOp::loop:
        loop_node(n, head);
        break;
    }
    names.leave(mark);
    if (n.op != NodeOp::loop) keep_text(at, out.size());
  }

  /// Of the printed node, what stands before `end`.
  void keep_text(size_t at, size_t end) {
    const size_t begin = printed[at].begin;
    printed[at].text = out.substr(begin, end - begin);
  }

  void compute_node(const Node& n, const std::string& head) {
    // Types are printed outside the scope of the domain.
    std::vector<std::string> types;
    for (const Output& o : n.outputs) types.push_back(type(o.type));
    dynamic = n.dynamic_sizes;
    named.clear();
    line(head + (n.packs ? " packed" : "") + (n.guarded ? " guarded [" : " [") + axes(n.domain) + "] {");
    ++depth;
    for (size_t i = 0; i < n.locals.size(); ++i) {
      const Local& l = n.locals[i];
      size_t mark = names.mark();
      std::string text = fmt::format("local ${} {}", i, l.name.empty() ? "" : quoted(l.name) + " ");
      text += "[" + axes(l.domain) + "] " + std::string(base::elem_name(l.elem));
      line(text + " = " + body(l.body));
      names.leave(mark);
    }
    for (size_t i = 0; i < n.outputs.size(); ++i) {
      const Output& o = n.outputs[i];
      std::string text = "out " + types[i];
      if (o.base) text += " of " + value(*o.base);
      if (o.at != identity_map(n.domain)) text += " at [" + dims(o.at) + "]";
      line(text + " = " + body(o.body));
    }
    dynamic.clear();
    --depth;
    line("}");
  }

  void loop_node(const Node& n, const std::string& head) {
    std::string carried;
    for (size_t c = 0; c < n.carried.size(); ++c)
      carried += (c ? ", " : "") + type(n.types.at(c)) + " = " + value(n.carried[c].init);
    std::string when;
    if (n.condition) {
      for (Var steps : n.index.extent.vars()) names.declare(steps);
      when = fmt::format(" while {} {} as {}", *n.condition, quoted(n.unending), names.str(n.index.extent));
    }
    const size_t at = printed.size() - 1;
    line(head + when + " [" + axes({n.index}) + "] (" + carried + ") {");
    keep_text(at, out.size());
    ++depth;
    region(n.body);
    std::string results;
    for (const Carried& c : n.carried) results += (results.empty() ? "" : ", ") + value(c.result);
    line("yield (" + results + ")");
    --depth;
    line("}");
  }

  // ---- expressions ----

  /// How often each scalar is used within the scope being printed, and the names given to shared ones.
  struct Sharing {
    std::unordered_map<uint32_t, int> uses;
  };
  std::vector<std::pair<ScalarId, std::string>> named;
  int next_name = 0;

  std::string body(ScalarId root) {
    named.clear();
    next_name = 0;
    return scope({root});
  }

  std::string scope(const std::vector<ScalarId>& roots) {
    Sharing sharing;
    std::vector<ScalarId> stack;
    auto use = [&](ScalarId id) {
      if (sharing.uses[id.index]++ == 0) stack.push_back(id);
    };
    for (ScalarId r : roots) use(r);
    while (!stack.empty()) {
      const Scalar& s = g.scalars[stack.back()];
      stack.pop_back();
      if (binds(s.op)) continue;
      for (ScalarId a : s.args) use(a);
    }
    size_t mark = named.size();
    std::string text;
    for (ScalarId r : roots) text += (text.empty() ? "" : ", ") + expression(r, sharing, 0);
    named.resize(mark);
    return text;
  }

  bool is_leaf(const Scalar& s) const {
    if (s.op == Op::constant || s.op == Op::index) return true;
    return s.op == Op::load && std::all_of(s.args.begin(), s.args.end(),
                                           [&](ScalarId a) { return affine_index(g, a).has_value(); });
  }

  std::string expression(ScalarId id, const Sharing& sharing, int level) {
    const Scalar& s = g.scalars[id];
    if (is_leaf(s)) return plain(s, sharing, level);
    for (const auto& [known, name] : named)
      if (known == id) return name;
    if (sharing.uses.at(id.index) < 2) return plain(s, sharing, level);
    std::string name = "t" + std::to_string(next_name++);
    std::string text = plain(s, sharing, 0);
    named.emplace_back(id, name);
    return "(" + name + " := " + text + ")";
  }

  std::string list(const std::vector<ScalarId>& args, const Sharing& sharing) {
    std::string text;
    for (ScalarId a : args) text += (text.empty() ? "" : ", ") + expression(a, sharing, 0);
    return text;
  }

  std::string plain(const Scalar& s, const Sharing& sharing, int level) {
    switch (s.op) {
      case Op::constant:
        return constant(s);
      case Op::index:
        return "{" + names.str(s.dim) + "}";
      case Op::load:
        return load_text(s, sharing);
      case Op::bounded:
        return fmt::format("bounded({}, {}, {})", expression(s.args[0], sharing, 0), names.str(s.dim),
                           s.check);
      case Op::require: {
        std::string text;  // one after the other: the first occurrence of what is shared names it
        for (ScalarId arg : s.args) text += expression(arg, sharing, 0) + ", ";
        return fmt::format("require({}{})", text, s.check);
      }
      case Op::reduce:
      case Op::online:
      case Op::order:
        return binder(s);
      case Op::proj: {
        const Scalar& online = g.scalars[s.args[0]];
        Elem usual = s.component < 2 ? online.elem : g.scalars[online.args.at(s.component - 1)].elem;
        return fmt::format("proj{}({}, {})", suffix(s.elem, usual), s.component,
                           expression(s.args[0], sharing, 0));
      }
      case Op::cast:
        return std::string(base::elem_name(s.elem)) + "(" + expression(s.args[0], sharing, 0) + ")";
#define STRUCTURAL(name)
#define OP(name, word, arity) case Op::name:
#include "graph/ops.def"
        break;
    }
    std::vector<Elem> elems;
    for (ScalarId a : s.args) elems.push_back(g.scalars[a].elem);
    Elem usual = result_elem(s.op, elems);
    const Infix* const in = infix_of(s.op);
    if (!in || s.elem != usual)
      return std::string(op_name(s.op)) + suffix(s.elem, usual) + "(" + list(s.args, sharing) + ")";
    const bool chains = in->level != comparison_level;
    std::string lhs = expression(s.args[0], sharing, chains ? in->level : in->level + 1);
    std::string text = lhs + " " + in->text + " " + expression(s.args[1], sharing, in->level + 1);
    return in->level < level ? "(" + text + ")" : text;
  }

  static std::string suffix(Elem elem, Elem usual) {
    return elem == usual ? "" : ":" + std::string(base::elem_name(elem));
  }

  std::string load_text(const Scalar& s, const Sharing& sharing) {
    std::string text;
    for (ScalarId a : s.args) {
      auto dim = affine_index(g, a);
      text += (text.empty() ? "" : ", ") + (dim ? names.str(*dim) : "{" + expression(a, sharing, 0) + "}");
    }
    return value(s.target) + "[" + text + "]";
  }

  std::string binder(const Scalar& s) {
    size_t mark = names.mark();
    const bool is_position = s.op == Op::order || (s.op == Op::reduce && s.monoid == Monoid::argmax);
    Elem usual = is_position ? Elem::i64 : g.scalars[s.args[0]].elem;
    std::string head = s.op == Op::reduce  ? monoid_name(s.monoid)
                       : s.op == Op::order ? order_name(s.descending)
                                           : "online";
    std::string text = head + suffix(s.elem, usual) + "(" + axes(s.binders) + "; ";
    if (s.op == Op::online)
      text += fmt::format("{}, {}{}; ", s.base2 ? "2" : "e", number(s.scale), s.or_zero ? ", or_zero" : "");
    text += scope(s.args) + ")";
    names.leave(mark);
    return text;
  }

  static std::string number(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    std::string text = fmt::format("{}", value);  // shortest that reads back
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
  }

  static std::string constant(const Scalar& s) {
    if (s.elem == Elem::boolean) return s.integer ? "true" : "false";
    std::string text = base::is_float(s.elem) ? number(s.number) : std::to_string(s.integer);
    if (s.elem != Elem::f32 && s.elem != Elem::i64) text += "_" + std::string(base::elem_name(s.elem));
    return text;
  }
};

}  // namespace

std::string print(const Graph& g) { return Printer(g).run(); }
std::vector<PrintedNode> print_nodes(const Graph& g) { return Printer(g).nodes(); }

}  // namespace axon::graph
