// Is a graph well formed? Run after every pass in debug builds and at stage borders.
//
// In: any graph, also a broken one: nothing here trusts an id before it has been checked. Out: one sentence
// per broken invariant of graph.h, naming the node by its id. An empty list is the promise that printing,
// interpreting and tiling need not check anything again.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "graph/dynamic_sizes.h"
#include "layout/strided.h"

namespace axon::graph {
namespace {

class Verifier {
 public:
  Verifier(const Graph& graph, Extents allowed)
      : g(graph), extents(allowed), defined(graph.nodes.size(), false) {}

  std::vector<std::string> run() {
    for (const Size& s : g.sizes) scope.push_back(s.var);
    sizes();
    where = "inputs";
    for (const Input& i : g.inputs) type(i.type);
    where = "facts";
    for (const Fact& f : g.facts) fact(f);
    where = "graph";
    if (!g.root.valid() || g.root.index >= g.regions.size()) {
      complain("there is no root region");
      return std::move(found);
    }
    region(g.root, NodeId{});
    where = "results";
    for (const Result& r : g.results)
      if (visible(r.value)) place(r.place, g.type(r.value).shape);
    for (const Input& i : g.inputs) place(i.place, i.type.shape);
    where = "checks";
    for (const Check& c : g.checks) check(c);
    where = "debugs";
    for (size_t d = 0; d < g.debugs.size(); ++d) debug(d);
    return std::move(found);
  }

 private:
  const Graph& g;
  const Extents extents;
  std::vector<bool> defined;         // nodes visible at this point
  std::vector<bool> ever = defined;  // nodes met so far in any region
  std::vector<Var> scope;            // variables visible at this point
  std::vector<Fact> ranges;          // what is known of the loop indices in scope
  const Node* node_here = nullptr;
  size_t locals_visible = 0;
  std::vector<DynamicSize> dynamic;  // of the node, not in scope so far
  std::string where;
  std::vector<std::string> found;

  void complain(const std::string& what) { found.push_back(where + ": " + what); }
  bool in_scope(Var v) const { return std::find(scope.begin(), scope.end(), v) != scope.end(); }

  void dim(const Dim& d) {
    for (Var v : d.vars())
      if (!in_scope(v)) complain(fmt::format("variable `{}` is not in scope", shape::var_name(v)));
  }
  void type(const TensorType& t) {
    for (const Dim& d : t.shape) dim(d);
  }
  void fact(const Fact& f) {
    dim(f.lhs);
    dim(f.rhs);
  }
  void declare(Var v) {
    if (in_scope(v)) complain(fmt::format("variable `{}` is bound twice", shape::var_name(v)));
    scope.push_back(v);
  }
  void axes(const std::vector<Axis>& list) {  // and puts them in scope
    if (extents == Extents::bounded)          // none depends on one beside it
      for (const Axis& a : list) dim(a.extent);
    dynamic_sizes();
    for (const Axis& a : list) {
      if (extents == Extents::dynamic) dim(a.extent);
      declare(a.var);
      dynamic_sizes();
    }
  }
  /// Puts the dynamic sizes in scope whose values mention only what is.
  void dynamic_sizes() {
    const auto is_ready = [&](const DynamicSize& s) {
      const std::vector<Var> vars = free_vars(g, s.value);
      return std::all_of(vars.begin(), vars.end(), [&](Var v) { return in_scope(v); });
    };
    for (;;) {
      const auto at = std::find_if(dynamic.begin(), dynamic.end(), is_ready);
      if (at == dynamic.end()) return;
      const DynamicSize s = *at;
      dynamic.erase(at);
      body(s.value, Elem::i64);
      for (Var v : s.bound.vars())
        if (std::none_of(g.sizes.begin(), g.sizes.end(), [&](const Size& known) { return known.var == v; }))
          complain(fmt::format("the bound of a dynamic size mentions `{}`", shape::var_name(v)));
      declare(s.size);
    }
  }
  /// The sizes that a node may have, and whether it has any, or other dynamic extents.
  bool takes_dynamic_sizes(const Node& n) {
    const auto is_there = [&](ScalarId id) { return id.valid() && id.index < g.scalars.size(); };
    for (const Output& o : n.outputs)
      if (!is_there(o.body)) return false;  // body() complains
    for (const DynamicSize& s : n.dynamic_sizes) {
      if (!is_there(s.value)) {
        complain("a dynamic size has no value");
        return false;
      }
      for (Var v : free_vars(g, s.value))
        if (std::any_of(n.dynamic_sizes.begin(), n.dynamic_sizes.end(),
                        [&](const DynamicSize& other) { return other.size == v; }))
          complain("the value of a dynamic size mentions one");
    }
    dynamic = n.dynamic_sizes;
    return needs_bounding(g, n);
  }
  bool same_dim(const Dim& a, const Dim& b) {
    if (a == b) return true;
    std::vector<Fact> known = g.facts;
    known.insert(known.end(), ranges.begin(), ranges.end());
    return shape::prove(known, shape::equal(a, b)).verdict == shape::Verdict::proved;
  }
  bool same_type(const TensorType& a, const TensorType& b) {
    if (a.elem != b.elem || a.shape.size() != b.shape.size()) return false;
    for (size_t i = 0; i < a.shape.size(); ++i)
      if (!same_dim(a.shape[i], b.shape[i])) return false;
    return true;
  }

  void place(const std::optional<layout::Layout>& stated, const std::vector<Dim>& shape) {
    if (stated && !layout::strides_of(*stated, shape)) complain("a place has not one stride for each axis");
  }

  /// Storage has a place in memory for each element.
  void stored(const layout::Layout& place, const std::vector<Dim>& shape) {
    for (const layout::Axis& axis : layout::axes_of(place))
      if (axis != layout::Axis()) complain("storage lies on another axis than memory");
    if (!same_dim(layout::size(place), layout::product(shape)) || !place.replicas.empty())
      complain("storage has not one place for each element");
  }

  bool exists(Value v) {
    bool fine = !v.is_local() && v.node.index < g.nodes.size() && v.output < g.nodes[v.node].types.size() &&
                ever[v.node.index];
    if (!fine) complain("a value that does not exist is used");
    return fine;
  }
  bool visible(Value v) {
    bool fine = exists(v);
    if (fine && !defined[v.node.index]) {
      complain(fmt::format("value of node {} is used before or outside its definition", v.node.index));
      return false;
    }
    return fine;
  }

  /// A condition is of the next one, with which it shares its axes.
  void debug(size_t number) {
    const Debug& here = g.debugs[number];
    if (!exists(here.value) || !here.is_condition) return;
    const Debug* next = number + 1 < g.debugs.size() ? &g.debugs[number + 1] : nullptr;
    if (!next || next->is_condition || !exists(next->value)) return complain("a condition of no debug");
    const TensorType& type = g.type(here.value);
    std::vector<Dim> axes = g.type(next->value).shape;
    axes.resize(std::min(axes.size(), type.shape.size()));
    if (!same_type(type, {Elem::boolean, axes})) complain("the condition of a debug has other axes");
  }

  void sizes() {
    std::set<Var> earlier;
    for (const Size& s : g.sizes) {
      where = "size " + s.name;
      if (!earlier.insert(s.var).second) complain("declared twice");
      if (s.from == Size::From::parameter) continue;
      if (s.from == Size::From::data) {
        for (Var v : s.equation.vars())
          if (!earlier.count(v))
            complain(fmt::format("its bound uses `{}`, found later", shape::var_name(v)));
        const Node* node =
            s.value.node.valid() && s.value.node.index < g.nodes.size() ? &g.nodes[s.value.node] : nullptr;
        if (!node || node->op != NodeOp::compute || node->region != g.root ||
            s.value.output >= node->types.size() || node->types[s.value.output] != TensorType{Elem::i64, {}})
          complain("is not an i64[] of a node at the root");
        continue;
      }
      if (s.input >= g.inputs.size()) {
        complain("comes from an input that does not exist");
      } else if (s.from == Size::From::axis || s.from == Size::From::stride) {
        if (s.axis >= g.inputs[s.input].type.shape.size()) complain("comes from an axis that does not exist");
        if (s.power == 1 && !s.equation.linear_in(s.var)) complain("its equation cannot be solved");
        for (Var v : s.equation.vars())
          if (!earlier.count(v))
            complain(fmt::format("its equation uses `{}`, found later", shape::var_name(v)));
      } else if (!g.inputs[s.input].type.shape.empty() || g.inputs[s.input].type.elem != Elem::i64) {
        complain("comes from an input that is no i64 scalar");
      }
    }
  }

  void check(const Check& c) {
    if (c.fact) {
      fact(*c.fact);
    } else if (exists(c.value)) {
      dim(c.bound);
      if (!base::is_integer(g.type(c.value).elem)) complain("a bounded value is not of integer type");
    }
  }

  // ---- regions and nodes ----

  void region(RegionId id, NodeId owner) {
    if (g.regions[id].loop != owner) complain("a region does not know its loop");
    std::vector<NodeId> mine;
    for (NodeId n : g.regions[id].nodes) {
      if (!n.valid() || n.index >= g.nodes.size() || ever[n.index]) {
        complain("a region lists a node that does not exist, or one twice");
        continue;
      }
      if (g.nodes[n].region != id) complain(fmt::format("node {} stands in another region", n.index));
      for (const Size& s : g.sizes)
        if (s.from == Size::From::data && !owner.valid() && mentions(g, n, s.var) &&
            !(s.value.node.index < defined.size() && defined[s.value.node.index]))
          complain(fmt::format("node {} mentions `{}`, which is computed later", n.index, s.name));
      node(n);
      defined[n.index] = ever[n.index] = true;
      mine.push_back(n);
    }
    if (owner.valid()) results_of(owner);
    if (owner.valid())
      for (NodeId n : mine) defined[n.index] = false;
  }

  void node(NodeId id) {
    const Node& n = g.nodes[id];
    where = fmt::format("node {}{}", id.index, n.name.empty() ? "" : " (" + n.name + ")");
    size_t mark = scope.size();
    for (const TensorType& t : n.types) type(t);
    switch (n.op) {
      case NodeOp::input:
        if (n.input >= g.inputs.size() || n.types.size() != 1 || n.types[0] != g.inputs[n.input].type)
          complain("does not agree with the input it stands for");
        break;
      case NodeOp::empty:
        if (n.types.size() != 1) complain("an empty node has one output");
        if (n.place && !n.types.empty()) stored(*n.place, n.types[0].shape);
        break;
      case NodeOp::param:
        break;  // checked with its loop
      case NodeOp::compute:
        compute(n);
        break;
      case NodeOp::loop:
        loop(id);
        break;
    }
    scope.resize(mark);
  }

  void loop(NodeId id) {
    const Node& n = g.nodes[id];
    if (n.carried.size() != n.types.size()) {
      complain("a loop has one output per carried value");
      return;
    }
    for (size_t c = 0; c < n.carried.size(); ++c) {
      const Carried& carried = n.carried[c];
      if (visible(carried.init) && !same_type(g.type(carried.init), n.types[c]))
        complain(fmt::format("carried value {} starts with another type", c));
      Value p = carried.param;
      if (p.is_local() || p.node.index >= g.nodes.size() || g.nodes[p.node].op != NodeOp::param ||
          g.nodes[p.node].region != n.body || p.output != c || g.nodes[p.node].types != n.types)
        complain(fmt::format("carried value {} has no proper parameter", c));
    }
    if (!n.body.valid() || n.body.index >= g.regions.size()) {
      complain("a loop has a region");
      return;
    }
    if (n.condition) {
      const std::vector<Var> steps = n.index.extent.vars();
      if (*n.condition >= n.types.size() || n.types[*n.condition] != TensorType{Elem::boolean, {}})
        complain("a loop's condition is not a carried bool[]");
      if (steps.size() != 1 || n.index.extent != Dim(steps[0]) || in_scope(steps[0]))
        complain("a loop with a condition has a number of steps of its own");
      else
        scope.push_back(steps[0]);
    }
    axes({n.index});
    ranges.push_back(shape::at_least(Dim(n.index.var), Dim(0)));
    ranges.push_back(shape::less(Dim(n.index.var), n.index.extent));
    std::string here = where;
    region(n.body, id);
    where = here;
    ranges.resize(ranges.size() - 2);
  }

  void results_of(NodeId id) {  // called while the values inside are still visible
    const Node& n = g.nodes[id];
    where = fmt::format("node {} (yield)", id.index);
    for (size_t c = 0; c < n.carried.size() && c < n.types.size(); ++c)
      if (visible(n.carried[c].result) && !same_type(g.type(n.carried[c].result), n.types[c]))
        complain(fmt::format("carried value {} ends with another type", c));
  }

  void compute(const Node& n) {
    if (n.outputs.size() != n.types.size() || n.outputs.empty()) {
      complain("a compute node has as many types as outputs, and at least one");
      return;
    }
    for (size_t i = 0; i < n.outputs.size(); ++i) {
      const Output& o = n.outputs[i];
      if (o.type != n.types[i]) complain("an output's type differs from the node's");
      if (o.base && visible(*o.base) && !same_type(g.type(*o.base), o.type))
        complain("an update has another type than its base");
    }
    const bool is_dynamic = takes_dynamic_sizes(n);
    if (is_dynamic && extents == Extents::bounded)
      complain("its extents are dynamic, or it is guarded: bound_dynamic_sizes comes first");
    node_here = &n;
    for (size_t i = 0; i < n.locals.size(); ++i) {
      locals_visible = i;
      size_t mark = scope.size();
      axes(n.locals[i].domain);
      body(n.locals[i].body, n.locals[i].elem);
      scope.resize(mark);
    }
    locals_visible = n.locals.size();
    axes(n.domain);
    for (const Output& o : n.outputs) {
      if (o.at.size() != o.type.shape.size()) complain("`at` has one entry per axis of the output");
      for (const Dim& d : o.at) dim(d);
      if (!o.base && o.at == identity_map(n.domain) && !is_dynamic) {
        for (size_t a = 0; a < n.domain.size(); ++a)
          if (!same_dim(n.domain[a].extent, o.type.shape[a])) complain("the shape is not that of the domain");
      }
      body(o.body, o.type.elem);
    }
    order(n);
    for (const DynamicSize& s : dynamic)
      complain(fmt::format("the value of `{}` mentions what is not in scope", shape::var_name(s.size)));
    dynamic.clear();
    locals_visible = 0;
    node_here = nullptr;
  }

  /// Of a node that computes an order: its rows lie along the last axis, whose variable counts in them.
  void order(const Node& n) {
    const Scalar& s = g.scalars[n.outputs[0].body];
    if (s.op != Op::order || s.args.size() != 2) return;
    const Output& o = n.outputs[0];
    if (n.outputs.size() != 1 || !n.locals.empty() || o.base || o.at != identity_map(n.domain))
      complain("an order is all that its node computes");
    const auto number = affine_index(g, s.args[1]);
    if (n.domain.empty() || !number)
      complain("the number in an order is the variable of the last axis");
    else if (*number != Dim(n.domain.back().var) && !(number->is(0) && n.domain.back().extent.is(1)))
      complain("the number in an order is the variable of the last axis");
    else if (depends_on(g, s.args[0], n.domain.back().var))
      complain("a key depends on the number in its order");
  }

  // ---- expressions ----

  void body(ScalarId root, Elem elem) {
    if (!root.valid() || root.index >= g.scalars.size()) {
      complain("a body is missing");
      return;
    }
    if (g.scalars[root].elem != elem)
      complain(fmt::format("a body of type {} stands for {}", base::elem_name(g.scalars[root].elem),
                           base::elem_name(elem)));
    std::unordered_set<uint32_t> seen;
    expression(root, root, seen);
  }

  /// Checks everything under `start`; binders are allowed only where graph.h says.
  void expression(ScalarId start, ScalarId root, std::unordered_set<uint32_t>& seen) {
    std::vector<ScalarId> stack{start};
    while (!stack.empty()) {
      ScalarId id = stack.back();
      stack.pop_back();
      if (!seen.insert(id.index).second) continue;
      const Scalar& s = g.scalars[id];
      bool ordered =
          std::all_of(s.args.begin(), s.args.end(), [&](ScalarId a) { return a.index < id.index; });
      if (!ordered) {
        complain("an argument of a scalar comes after it");
        continue;
      }
      scalar(s);
      if (binds(s.op)) {
        if (s.op != Op::online && id != root) complain("a reduction stands inside an expression");
        if (!root.valid()) complain("a reduction stands inside a reduction");
        size_t mark = scope.size();
        axes(s.binders);
        std::unordered_set<uint32_t> inside;
        for (ScalarId a : s.args) expression(a, ScalarId{}, inside);
        scope.resize(mark);
        continue;
      }
      for (ScalarId a : s.args) stack.push_back(a);
    }
  }

  void scalar(const Scalar& s) {
    auto elem = [&](size_t i) { return g.scalars[s.args[i]].elem; };
    if (is_pointwise_op(s.op) && s.args.size() != arity_of(s.op)) {
      complain(fmt::format("`{}` has {} arguments", op_name(s.op), s.args.size()));
      return;
    }
    switch (class_of(s.op)) {
      case OpClass::structural:
        return structural(s);
      case OpClass::choice:
        if (elem(0) != Elem::boolean || elem(1) != elem(2))
          complain("`select` has a condition and two equal types");
        return;
      case OpClass::logic:
        for (size_t i = 0; i < s.args.size(); ++i)
          if (elem(i) != Elem::boolean) complain("a logical operator takes booleans");
        return;
      case OpClass::rounding:
      case OpClass::function:
        if (!base::is_float(elem(0))) complain(fmt::format("`{}` takes floats", op_name(s.op)));
        [[fallthrough]];
      case OpClass::arithmetic:
      case OpClass::comparison:
        for (size_t i = 1; i < s.args.size(); ++i)
          if (elem(i) != elem(0))
            complain(fmt::format("the arguments of `{}` differ in type", op_name(s.op)));
        return;
    }
  }

  void structural(const Scalar& s) {
    auto elem = [&](size_t i) { return g.scalars[s.args[i]].elem; };
    switch (s.op) {
      case Op::constant:
        break;
      case Op::index:
        dim(s.dim);
        break;
      case Op::load:
        load(s);
        break;
      case Op::bounded:
        dim(s.dim);
        if (s.args.size() != 1 || elem(0) != Elem::i64) complain("`bounded` takes one i64");
        if (s.check >= g.checks.size()) complain("`bounded` names a check that does not exist");
        break;
      case Op::require:
        if (s.args.size() != 3 || elem(0) != Elem::boolean || elem(1) != Elem::i64 || elem(2) != Elem::i64)
          complain("`require` takes a condition and two i64 to show");
        if (s.check >= g.checks.size()) complain("`require` names a check that does not exist");
        break;
      case Op::reduce:
        if (s.args.size() != 1 || s.binders.empty())
          complain("a reduction has one body and at least one binder");
        if (s.monoid == Monoid::argmax && s.binders.size() != 1) complain("argmax has one binder");
        if ((s.monoid == Monoid::all || s.monoid == Monoid::any) && s.elem != Elem::boolean)
          complain("`all` and `any` reduce booleans");
        break;
      case Op::online:
        if (s.args.empty() || s.binders.empty()) complain("an online reduction has a score and a binder");
        break;
      case Op::order:
        if (s.args.size() != 2 || s.binders.size() != 1 || s.elem != Elem::i64)
          complain("an order has a key, a number and one binder, and gives an i64");
        else if (elem(1) != Elem::i64 || !node_here || &g.scalars[node_here->outputs[0].body] != &s)
          complain("an order is all that its node computes");
        break;
      case Op::proj:
        if (s.args.size() != 1 || g.scalars[s.args[0]].op != Op::online ||
            s.component > g.scalars[s.args[0]].args.size())
          complain("`proj` takes a component of an online reduction");
        break;
      case Op::cast:
        if (s.args.size() != 1) complain(fmt::format("`cast` has {} arguments", s.args.size()));
        break;
#define STRUCTURAL(name)
#define OP(name, word, arity) case Op::name:
#include "graph/ops.def"
        break;
    }
  }

  void load(const Scalar& s) {
    size_t rank = 0;
    Elem elem = s.elem;
    if (s.target.is_local()) {
      if (!node_here || s.target.output >= locals_visible) {
        complain("a local is read before it is defined");
        return;
      }
      const Local& l = node_here->locals[s.target.output];
      rank = l.domain.size();
      elem = l.elem;
    } else {
      if (!visible(s.target)) return;
      rank = g.type(s.target).shape.size();
      elem = g.type(s.target).elem;
    }
    if (s.args.size() != rank)
      complain(fmt::format("a load has {} indices for rank {}", s.args.size(), rank));
    if (s.elem != elem) complain("a load has another type than what it reads");
    for (ScalarId a : s.args) {
      if (g.scalars[a].elem != Elem::i64) complain("an index is not an i64");
      std::unordered_set<uint32_t> seen;
      data_index(a, seen);
    }
  }

  /// max(min(x, last), 0): in range whatever x is; the other side of a `select` that the data guards.
  bool is_clamp(const Scalar& s) const {
    auto affine = [&](ScalarId a) { return affine_index(g, a).has_value(); };
    auto has_affine = [&](const Scalar& of) { return std::any_of(of.args.begin(), of.args.end(), affine); };
    return s.op == Op::max && has_affine(s) && std::any_of(s.args.begin(), s.args.end(), [&](ScalarId a) {
             return g.scalars[a].op == Op::min && has_affine(g.scalars[a]);
           });
  }

  /// Read from an order: a position among the elements that are sorted.
  bool is_position(const Scalar& s) const {
    return s.op == Op::load && !s.target.is_local() && s.target.node.index < g.nodes.size() &&
           computed_order(g, g.nodes[s.target.node]);
  }

  /// Integers that come from data may be indices only through `bounded`, clamped, or as positions.
  void data_index(ScalarId id, std::unordered_set<uint32_t>& seen) {
    if (!seen.insert(id.index).second) return;
    const Scalar& s = g.scalars[id];
    if (s.op == Op::bounded || is_clamp(s) || is_position(s)) return;
    if (s.op == Op::load) {
      complain("a loaded integer is used as an index without `bounded`");
      return;
    }
    size_t first = s.op == Op::select ? 1 : 0;  // a condition chooses between indices, it is none
    for (size_t i = first; i < s.args.size(); ++i) data_index(s.args[i], seen);
  }
};

}  // namespace

std::vector<std::string> verify(const Graph& g, Extents extents) { return Verifier(g, extents).run(); }

}  // namespace axon::graph
