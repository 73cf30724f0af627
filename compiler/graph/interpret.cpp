// Runs a graph node by node: the reference meaning that every other executor is compared with.
//
// Values are whole tensors. An update is pure in meaning; when nothing reads its base afterwards, the base's
// storage is taken over, so a loop that updates slices of a state costs what it writes. Interpreted are
// Graph::checks (facts first, bounds of values when they are computed), sizes, nodes in region order, and
// what becomes of each state.
#include "graph/interpret.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "graph/interpret_expr.h"
#include "graph/round.h"
#include "graph/uses.h"

namespace axon::graph {

int64_t Tensor::count() const {
  int64_t n = 1;
  for (int64_t extent : shape) n *= extent;
  return n;
}
int64_t Tensor::stride(size_t axis) const {
  if (!strides.empty()) return strides[axis];
  int64_t step = 1;
  for (size_t a = axis + 1; a < shape.size(); ++a) step *= shape[a];
  return step;
}

namespace {

using Storage = std::shared_ptr<Tensor>;
constexpr int64_t max_elements = int64_t{1} << 31;

/// The parts of a value where a condition on its first axes holds, one after another; nullopt: nowhere.
std::optional<Tensor> where(const Tensor& condition, const Tensor& value) {
  const int64_t parts = std::count(condition.integers.begin(), condition.integers.end(), 1);
  if (parts == 0) return std::nullopt;
  if (condition.shape.empty()) return value;
  Tensor taken;
  taken.elem = value.elem;
  taken.shape = value.shape;
  const auto first_kept = taken.shape.begin() + static_cast<ptrdiff_t>(condition.shape.size());
  taken.shape.insert(taken.shape.erase(taken.shape.begin(), first_kept), parts);
  const size_t each = static_cast<size_t>(taken.count() / parts);
  const auto append = [&](auto& to, const auto& from, size_t part) {
    const auto begin = from.begin() + static_cast<ptrdiff_t>(part * each);
    to.insert(to.end(), begin, begin + static_cast<ptrdiff_t>(each));
  };
  for (size_t part = 0; part < condition.integers.size(); ++part) {
    if (!condition.integers[part]) continue;
    if (base::is_float(value.elem))
      append(taken.floats, value.floats, part);
    else
      append(taken.integers, value.integers, part);
  }
  return taken;
}

class Interpreter {
 public:
  Interpreter(const Graph& graph, const std::vector<Tensor>& inputs, Precision precision)
      : g(graph),
        inputs_(inputs),
        precision_(precision),
        scalars_(graph, precision),
        values_(graph.nodes.size()) {}

  Outcome run(const shape::Assignment& sizes) {
    for (const auto& [var, value] : sizes) scalars_.bind(var, value);
    if (scalars_.error.empty()) region(g.root);
    Outcome outcome;
    outcome.error = scalars_.error;
    outcome.gave_up = gave_up_;
    outcome.shown = shown();
    if (!outcome.error.empty()) return outcome;
    for (const Result& r : g.results) outcome.results.push_back(*storage(r.value));
    for (size_t i = 0; i < g.inputs.size(); ++i)
      if (g.inputs[i].kind == InputKind::state)
        outcome.states.push_back(final_state(static_cast<uint32_t>(i)));
    outcome.data_values = data_values_;
    outcome.steps = steps_;
    return outcome;
  }

 private:
  const Graph& g;
  const std::vector<Tensor>& inputs_;
  Precision precision_;
  ScalarInterpreter scalars_;
  bool gave_up_ = false;
  std::vector<std::vector<Storage>> values_;  // node -> outputs
  shape::Assignment data_values_;  // sizes, and steps of the loops with a condition that have ended
  std::map<shape::Var, std::vector<int64_t>> steps_;  // of all their runs
  std::map<Value, std::vector<const Check*>> bounds_ = bounded_values();
  std::set<Value> kept_ = values_kept();

  std::map<Value, std::vector<const Check*>> bounded_values() const {
    std::map<Value, std::vector<const Check*>> found;
    for (const Check& c : g.checks)  // an effect fails by itself; over no elements its value is none
      if (!c.fact && !c.effect) found[c.value].push_back(&c);
    return found;
  }
  /// Read after their region has ended: results and everything that may be the last word on a state.
  std::set<Value> values_kept() const {
    std::set<Value> kept;
    for (const Result& r : g.results) kept.insert(r.value);
    for (const Debug& debug : g.debugs) kept.insert(debug.value);
    for (size_t i = 0; i < g.inputs.size(); ++i)
      if (g.inputs[i].kind == InputKind::state) kept.insert(final_value(g, static_cast<uint32_t>(i)));
    return kept;
  }

  const Storage& storage(Value v) const { return values_[v.node.index][v.output]; }
  void provide(Value v) { scalars_.provide(v, storage(v).get()); }

  /// What `debug` shows of that which has been computed.
  std::vector<std::pair<std::string, Tensor>> shown() const {
    std::vector<std::pair<std::string, Tensor>> found;
    const auto is_computed = [&](const Debug& d) {
      const std::vector<Storage>& outputs = values_[d.value.node.index];
      return d.value.output < outputs.size() && outputs[d.value.output];
    };
    for (size_t d = 0; d < g.debugs.size(); ++d) {
      const Debug& debug = g.debugs[d];
      const Debug* condition = d > 0 && g.debugs[d - 1].is_condition ? &g.debugs[d - 1] : nullptr;
      if (debug.is_condition || !is_computed(debug) || (condition && !is_computed(*condition))) continue;
      if (!condition)
        found.emplace_back(debug.name, *storage(debug.value));
      else if (auto taken = where(*storage(condition->value), *storage(debug.value)))
        found.emplace_back(debug.name, std::move(*taken));
    }
    return found;
  }

  // ---- states ----

  Tensor final_state(uint32_t input) const {
    const Value v = final_value(g, input);
    return v.node.valid() ? *storage(v) : inputs_[input];
  }

  // ---- regions ----

  /// Everything a node reads, regions inside included.
  void reads_of(NodeId id, std::set<Value>& reads) const {
    const Node& n = g.nodes[id];
    for_each_use(g, id, [&](Value v, const Use&) { reads.insert(v); });
    if (n.op == NodeOp::loop)
      for (NodeId inner : g.regions[n.body].nodes) reads_of(inner, reads);
  }

  std::map<uint32_t, std::vector<std::vector<Value>>> dying_;  // region -> per node, values read there last

  const std::vector<std::vector<Value>>& dying(RegionId region) {
    auto [it, fresh] = dying_.emplace(region.index, std::vector<std::vector<Value>>{});
    if (!fresh) return it->second;
    const auto& nodes = g.regions[region].nodes;
    std::set<Value> later = kept_;
    if (g.regions[region].loop.valid())
      for (const Carried& c : g.nodes[g.regions[region].loop].carried) later.insert(c.result);
    it->second.resize(nodes.size());
    for (size_t i = nodes.size(); i-- > 0;) {
      std::set<Value> reads;
      reads_of(nodes[i], reads);
      for (Value v : reads)
        if (later.insert(v).second && g.nodes[v.node].region == region) it->second[i].push_back(v);
    }
    return it->second;
  }

  void region(RegionId id) {
    const auto& nodes = g.regions[id].nodes;
    const auto last = dying(id);
    for (size_t i = 0; i < nodes.size() && scalars_.error.empty(); ++i) {
      node(nodes[i], last[i]);
      for (Value v : last[i]) values_[v.node.index][v.output].reset();
    }
  }

  void node(NodeId id, const std::vector<Value>& dying_here) {
    const Node& n = g.nodes[id];
    auto& outputs = values_[id.index];
    switch (n.op) {
      case NodeOp::input:
        outputs = {input(n.input)};
        break;
      case NodeOp::empty:
        outputs = {allocate(n.types[0], false)};
        break;
      case NodeOp::param:
        return;  // bound by its loop
      case NodeOp::compute:
        compute(id, dying_here);
        break;
      case NodeOp::loop:
        loop(id, dying_here);
        break;
    }
    for (uint32_t o = 0; o < outputs.size(); ++o) check_bounds({id, o});
    for (const Size& s : g.sizes)
      if (s.from == Size::From::data && s.value.node == id) decide(s);
  }

  void decide(const Size& s) {
    if (!scalars_.error.empty()) return;
    const int64_t value = storage(s.value)->integers.at(0);
    const int64_t most = s.is_unbounded() ? max_elements : scalars_.evaluate(s.equation).value_or(0);
    if (value < 0 || value > most) return scalars_.fail(fill_sides(s.message, value, most));
    scalars_.bind(s.var, value);
    data_values_[s.var] = value;
  }

  Storage input(uint32_t number) {
    auto copy = std::make_shared<Tensor>(inputs_[number]);
    if (precision_ == Precision::storage)
      for (double& f : copy->floats) f = round_to(copy->elem, f);
    return copy;
  }

  Storage allocate(const TensorType& type, bool contents) {
    auto t = std::make_shared<Tensor>();
    t->elem = type.elem;
    int64_t count = 1;
    for (const Dim& d : type.shape) {
      int64_t extent = std::max<int64_t>(scalars_.evaluate(d).value_or(0), 0);
      t->shape.push_back(extent);
      count = extent == 0 ? 0 : count > max_elements / extent ? max_elements : count * extent;
    }
    if (count >= max_elements) {
      scalars_.fail("a tensor is too large to interpret");
      gave_up_ = true;
      count = 0;
    }
    if (base::is_float(t->elem)) {
      t->floats.resize(contents ? static_cast<size_t>(count) : 0);
    } else {
      t->integers.resize(contents ? static_cast<size_t>(count) : 0);
    }
    return t;
  }

  void check_bounds(Value v) {
    auto it = bounds_.find(v);
    if (it == bounds_.end() || !scalars_.error.empty()) return;
    for (const Check* c : it->second) {
      const auto bound = scalars_.evaluate(c->bound);
      if (!bound)
        continue;  // the bound is a later data-dependent size: the value is checked where it is used
      for (int64_t x : storage(v)->integers)
        if (x < 0 || x >= *bound) {
          scalars_.fail(fill_sides(c->message + index_words, x, *bound - 1));
          return;
        }
    }
  }

  // ---- loops ----

  void loop(NodeId id, const std::vector<Value>& dying_here) {
    const Node& n = g.nodes[id];
    int64_t trips = n.condition ? step_limit + 1 : scalars_.evaluate(n.index.extent).value_or(0);
    std::vector<Storage> current;
    for (const Carried& c : n.carried) current.push_back(storage(c.init));
    std::set<Value> inside;  // an initial value that the iterations also read by itself stays
    for (NodeId inner : g.regions[n.body].nodes) reads_of(inner, inside);
    for (const Carried& c : n.carried) inside.insert(c.result);
    for (const Carried& c : n.carried)
      if (!inside.contains(c.init) &&
          std::find(dying_here.begin(), dying_here.end(), c.init) != dying_here.end())
        values_[c.init.node.index][c.init.output].reset();
    for (int64_t l = 0; l < trips && scalars_.error.empty(); ++l) {
      if (n.condition && current[*n.condition]->integers[0] == 0) {
        trips = l;
        break;
      }
      if (n.condition && l == step_limit) return scalars_.fail(fill_sides(n.unending, l, step_limit));
      scalars_.bind(n.index.var, l);
      if (!n.carried.empty()) {
        NodeId param = n.carried[0].param.node;
        values_[param.index] = std::move(current);
        for (uint32_t c = 0; c < n.carried.size(); ++c) check_bounds({param, c});
      }
      region(n.body);
      if (!scalars_.error.empty()) return;
      current.clear();
      for (const Carried& c : n.carried) current.push_back(storage(c.result));
      for (NodeId inner : g.regions[n.body].nodes) values_[inner.index].clear();
    }
    values_[id.index] = std::move(current);
    if (!n.condition) return;
    const Var steps = steps_var(n);
    scalars_.bind(steps, trips);
    data_values_[steps] = trips;
    steps_[steps].push_back(trips);
  }

  // ---- compute nodes ----

  /// Calls `step` at every point of the domain, in row-major order. Extents may depend on the axes before.
  template <class Step>
  void each_point(const std::vector<Axis>& domain, const Step& step) {
    std::vector<DimCode> extents;
    for (const Axis& a : domain) extents.push_back(scalars_.compile(a.extent));
    const auto from = [&](const auto& self, size_t axis) -> void {
      if (axis == domain.size()) return step();
      const int64_t extent = scalars_.value(extents[axis]);
      for (int64_t i = 0; i < extent && scalars_.error.empty(); ++i) {
        scalars_.bind(domain[axis].var, i);
        self(self, axis + 1);
      }
    };
    if (scalars_.error.empty()) from(from, 0);
  }

  /// Evaluates a body at every point of the domain.
  void tabulate(const std::vector<Axis>& domain, ScalarId body, Tensor& out) {
    Code* code = scalars_.compile(body);
    const bool real = base::is_float(out.elem);
    each_point(domain, [&] {
      const Number n = scalars_.run(code);
      if (real) {
        out.floats.push_back(n.real);
      } else {
        out.integers.push_back(n.integer);
      }
    });
  }

  void compute(NodeId id, const std::vector<Value>& dying_here) {
    const Node& n = g.nodes[id];
    scalars_.forget();
    std::set<Value> reads;
    reads_of(id, reads);
    for (Value v : reads) provide(v);
    scalars_.set_guarded(n.guarded);
    for (const DynamicSize& s : n.dynamic_sizes) scalars_.define(s.size, s.value);
    std::vector<Tensor> locals(n.locals.size());
    for (uint32_t i = 0; i < n.locals.size(); ++i) {
      Tensor& t = locals[i];
      t.elem = n.locals[i].elem;
      for (const Axis& a : n.locals[i].domain) t.shape.push_back(scalars_.evaluate(a.extent).value_or(0));
      tabulate(n.locals[i].domain, n.locals[i].body, t);
      scalars_.provide(local_value(i), &t);
    }
    std::vector<Tensor> computed(n.outputs.size());
    for (size_t o = 0; o < n.outputs.size(); ++o) {
      computed[o].elem = n.outputs[o].type.elem;
      tabulate(n.domain, n.outputs[o].body, computed[o]);
    }
    if (!scalars_.error.empty()) return;
    std::vector<Storage> outputs;
    for (size_t o = 0; o < n.outputs.size(); ++o)
      outputs.push_back(store(n, n.outputs[o], std::move(computed[o]), dying_here));
    values_[id.index] = std::move(outputs);
  }

  Storage store(const Node& n, const Output& o, Tensor computed, const std::vector<Value>& dying_here) {
    const auto has_memory = [&](const Axis& a) {
      return a.extent == o.type.shape[static_cast<size_t>(&a - n.domain.data())];
    };
    if (!o.base && o.at == identity_map(n.domain) &&
        std::all_of(n.domain.begin(), n.domain.end(), has_memory)) {
      for (const Axis& a : n.domain) computed.shape.push_back(scalars_.evaluate(a.extent).value_or(0));
      return std::make_shared<Tensor>(std::move(computed));
    }
    Storage whole = o.base ? storage(*o.base) : allocate(o.type, true);
    if (o.base) {
      if (std::find(dying_here.begin(), dying_here.end(), *o.base) != dying_here.end())
        values_[o.base->node.index][o.base->output].reset();
      if (whole.use_count() > 1) whole = std::make_shared<Tensor>(*whole);
      size_t count = static_cast<size_t>(whole->count());
      base::is_float(whole->elem) ? whole->floats.resize(count) : whole->integers.resize(count);
    }
    scatter(n.domain, o.at, computed, *whole);
    return whole;
  }

  void scatter(const std::vector<Axis>& domain, const std::vector<Dim>& at, const Tensor& from, Tensor& to) {
    std::vector<DimCode> where;
    for (const Dim& d : at) where.push_back(scalars_.compile(d));
    size_t k = 0;
    each_point(domain, [&] {
      int64_t offset = 0;
      for (size_t a = 0; a < at.size(); ++a) {
        int64_t i = scalars_.value(where[a]);
        if (i < 0 || i >= to.shape[a]) {
          scalars_.fail(fmt::format("index {} is out of range on axis {} of extent {}", i, a, to.shape[a]));
          return;
        }
        offset = offset * to.shape[a] + i;
      }
      if (base::is_float(to.elem)) {
        to.floats[static_cast<size_t>(offset)] = from.floats[k];
      } else {
        to.integers[static_cast<size_t>(offset)] = from.integers[k];
      }
      ++k;
    });
  }
};

/// The size for which its equation gives the extent; nullopt when there is none.
std::optional<int64_t> solved(const Size& s, int64_t extent, shape::Assignment sizes) {
  sizes[s.var] = 0;
  auto offset = s.equation.evaluate(sizes);
  sizes[s.var] = 1;
  auto at_one = s.equation.evaluate(sizes);
  if (!offset || !at_one || *at_one == *offset) return std::nullopt;
  int64_t coefficient = *at_one - *offset;
  if ((extent - *offset) % coefficient != 0) return std::nullopt;
  int64_t power = (extent - *offset) / coefficient;
  int64_t root = s.power == 1 ? power : std::llround(std::pow(static_cast<double>(power), 1.0 / s.power));
  sizes[s.var] = root;
  return root >= 0 && s.equation.evaluate(sizes) == extent ? std::optional(root) : std::nullopt;
}

/// The inputs have the ranks, extents and types that the sizes say; the checks over sizes hold.
std::string refused(const Graph& g, const std::vector<Tensor>& inputs, const shape::Assignment& sizes) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorType& type = g.inputs[i].type;
    for (size_t a = 0; a < type.shape.size(); ++a) {
      auto wanted = type.shape[a].evaluate(sizes);
      if (!wanted || *wanted != inputs[i].shape[a])
        return fmt::format("axis {} of `{}` is {}, which is not {}", a, g.inputs[i].path, inputs[i].shape[a],
                           type.shape[a].str());
    }
  }
  for (const Check& c : g.checks) {
    if (!c.fact) continue;
    const auto lhs = c.fact->lhs.evaluate_wide(sizes), rhs = c.fact->rhs.evaluate_wide(sizes);
    if (lhs && rhs && shape::holds(c.fact->relation, *lhs, *rhs)) continue;
    const auto shown = [](const std::optional<shape::Wide>& side) {
      const bool fits = side && *side >= INT64_MIN && *side <= INT64_MAX;
      return fits ? std::optional(static_cast<int64_t>(*side)) : std::nullopt;
    };
    return fill_sides(c.message, shown(lhs), shown(rhs));
  }
  return "";
}

}  // namespace

std::optional<shape::Assignment> solve_sizes(const Graph& g, const std::vector<Tensor>& inputs,
                                             shape::Assignment parameters, std::string& error) {
  if (inputs.size() != g.inputs.size()) {
    error = fmt::format("{} inputs given, {} wanted", inputs.size(), g.inputs.size());
    return std::nullopt;
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Input& wanted = g.inputs[i];
    if (inputs[i].shape.size() != wanted.type.shape.size()) {
      error = fmt::format("`{}` has {} axes, not {}", wanted.path, inputs[i].shape.size(),
                          wanted.type.shape.size());
    } else if (inputs[i].elem != wanted.type.elem) {
      error = fmt::format("`{}` is {}, not {}", wanted.path, base::elem_name(inputs[i].elem),
                          base::elem_name(wanted.type.elem));
    } else if (static_cast<int64_t>(inputs[i].floats.size() + inputs[i].integers.size()) !=
               inputs[i].count()) {
      error = fmt::format("`{}` has not as many elements as its shape says", wanted.path);
    }
    if (!error.empty()) return std::nullopt;
  }
  shape::Assignment sizes;
  for (const Size& s : g.sizes) {
    if (s.from == Size::From::parameter) {
      auto given = parameters.find(s.var);
      if (given == parameters.end()) {
        error = fmt::format("size `{}` is not given", s.name);
        return std::nullopt;
      }
      sizes[s.var] = given->second;
      continue;
    }
    if (s.from == Size::From::data) continue;
    if (s.from == Size::From::scalar) {
      sizes[s.var] = inputs[s.input].integers.at(0);
      continue;
    }
    const bool of_axis = s.from == Size::From::axis;
    const Tensor& input = inputs[s.input];
    const int64_t seen = of_axis ? input.shape[s.axis] : input.stride(s.axis);
    auto value = solved(s, seen, sizes);
    if (!value) {
      error = fmt::format("{} {} of `{}` is {}, which is not {}", of_axis ? "axis" : "the stride of axis",
                          s.axis, g.inputs[s.input].path, seen, s.equation.str());
      return std::nullopt;
    }
    sizes[s.var] = *value;
  }
  error = refused(g, inputs, sizes);
  if (!error.empty()) return std::nullopt;
  return sizes;
}

Outcome interpret(const Graph& g, const std::vector<Tensor>& inputs, const shape::Assignment& parameters,
                  Precision precision) {
  Outcome outcome;
  auto sizes = solve_sizes(g, inputs, parameters, outcome.error);
  if (!sizes) return outcome;
  return Interpreter(g, inputs, precision).run(*sizes);
}

// ---- the evaluator of single expressions ----

struct Evaluator::State {
  ScalarInterpreter scalars;
};

Evaluator::Evaluator(const Graph& g, Precision p, Reader read) : state_(new State{ScalarInterpreter(g, p)}) {
  state_->scalars.read_through(std::move(read));
}
Evaluator::~Evaluator() { delete state_; }
void Evaluator::bind(Var v, int64_t value) { state_->scalars.bind(v, value); }
std::string Evaluator::error() const { return state_->scalars.error; }

Number Evaluator::evaluate(ScalarId s) {
  state_->scalars.forget();  // what the reader reads may have changed since the last call
  return state_->scalars.run(state_->scalars.compile(s));
}

}  // namespace axon::graph
