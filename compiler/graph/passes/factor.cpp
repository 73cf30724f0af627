// factor: contractions in product form.
//
// In: sum(k; any nesting of products). Out: factors that no binder changes stand outside the sum where that
// leaves a cheaper operand, and the others are grouped by the axes they depend on, so that a contraction
// reads (left operand) * (right operand) however it was written. A reduction must stand at the root of its
// body, so a sum with factors outside becomes a local.
//
// Note: which factors leave. Constants and costly ones always; a load only where what remains of its operand
// is a plain tensor, perhaps under casts that kernels make themselves, because an operand that has to be
// formed anyway takes the factor for free.
#include <algorithm>
#include <cmath>

#include "graph/contraction.h"
#include "graph/passes/cleanup.h"
#include "graph/passes/passes.h"

namespace axon::graph {

namespace {

struct Factor {
  ScalarId id;
  bool under = false;  ///< divides
  bool bound = false;  ///< depends on a binder
  std::set<Var> axes;  ///< of the body's domain
};

struct Operand {
  std::set<Var> axes;
  std::vector<Factor> factors;
};

std::vector<Factor> factors_of(const Graph& g, const Scalar& sum, const std::vector<Axis>& domain) {
  std::vector<Factor> factors;
  std::vector<std::pair<ScalarId, bool>> work{{sum.args[0], false}};
  while (!work.empty()) {
    auto [id, under] = work.back();
    work.pop_back();
    const Scalar& s = g.scalars[id];
    if ((s.op == Op::mul || s.op == Op::div) && factors.size() + work.size() + 2 <= max_factors) {
      work.emplace_back(s.args[1], s.op == Op::div ? !under : under);
      work.emplace_back(s.args[0], under);
      continue;
    }
    Factor f{id, under, false, {}};
    for (Var v : free_vars(g, id)) {
      auto is_v = [&](const Axis& a) { return a.var == v; };
      f.bound |= std::any_of(sum.binders.begin(), sum.binders.end(), is_v);
      if (std::any_of(domain.begin(), domain.end(), is_v)) f.axes.insert(v);
    }
    factors.push_back(f);
  }
  return factors;
}

/// One operand per set of axes, in order of appearance; factors without axes join the operand that is formed
/// anyway.
std::vector<Operand> operands_of(const std::vector<Factor>& factors) {
  std::vector<Operand> operands;
  std::vector<Factor> everywhere;
  for (const Factor& f : factors) {
    if (!f.bound) continue;
    if (f.axes.empty()) {
      everywhere.push_back(f);
      continue;
    }
    auto same = [&](const Operand& o) { return o.axes == f.axes; };
    auto place = std::find_if(operands.begin(), operands.end(), same);
    if (place == operands.end()) place = operands.insert(operands.end(), {f.axes, {}});
    place->factors.push_back(f);
  }
  if (everywhere.empty()) return operands;
  if (operands.size() < 2) {
    operands.insert(operands.begin(), Operand{{}, everywhere});
  } else {
    auto larger = [](const Operand& a, const Operand& b) { return a.factors.size() < b.factors.size(); };
    auto place = std::max_element(operands.begin(), operands.end(), larger);
    place->factors.insert(place->factors.end(), everywhere.begin(), everywhere.end());
  }
  return operands;
}

bool is_constant(const Graph& g, const Factor& f) {
  const Scalar& s = g.scalars[f.id];
  return s.op == Op::constant && std::isfinite(s.number) && !(f.under && s.number == 0);
}

/// The operand that would take the factor; nullptr when none covers its axes.
Operand* home_of(std::vector<Operand>& operands, const Factor& f) {
  for (Operand& o : operands)
    if (std::includes(o.axes.begin(), o.axes.end(), f.axes.begin(), f.axes.end())) return &o;
  return nullptr;
}

bool leaves(const Graph& g, const Node& node, Elem accumulator, std::vector<Operand>& operands,
            const Factor& f) {
  if (is_constant(g, f) || f.under || edit::cost_of(g, f.id).heavy > 0) return true;
  const Operand* home = home_of(operands, f);
  if (!home) return true;
  const ScalarId alone = home->factors.size() == 1 ? home->factors[0].id : ScalarId{};
  return alone.valid() &&
         (g.scalars[alone].op == Op::load || streamed_load(g, node.locals, alone, accumulator).valid());
}

ScalarId times(Graph& g, std::optional<ScalarId> value, const Factor& f, Elem elem) {
  if (!value && !f.under) return f.id;
  ScalarId left = value ? *value : constant_float(g, elem, 1);
  return apply(g, f.under ? Op::div : Op::mul, {left, f.id});
}

ScalarId product(Graph& g, const std::vector<Factor>& factors, Elem elem) {
  std::optional<ScalarId> value;
  for (bool under : {false, true})
    for (const Factor& f : factors)
      if (f.under == under) value = times(g, value, f, elem);
  return *value;
}

/// Makes room for a local before `at` in every body.
void insert_local(Graph& g, Node& node, uint32_t at, Local local) {
  edit::each_body(node, [&](ScalarId& body, const auto&) {
    body = edit::rebuild(g, body, [&](Scalar s) {
      if (s.op == Op::load && s.target.is_local() && s.target.output >= at) ++s.target.output;
      return make_scalar(g, std::move(s));
    });
  });
  node.locals.insert(node.locals.begin() + at, std::move(local));
}

/// body number `number` of the node, as each_body counts.
void factor_body(Graph& g, Node& node, size_t number) {
  bool in_local = number < node.locals.size();
  const std::vector<Axis> domain = in_local ? node.locals[number].domain : node.domain;
  ScalarId& body = in_local ? node.locals[number].body : node.outputs[number - node.locals.size()].body;
  Scalar sum = g.scalars[body];
  if (sum.op != Op::reduce || sum.monoid != Monoid::sum) return;
  Elem inside = g.scalars[sum.args[0]].elem;
  if (!base::is_float(inside)) return;

  std::vector<Factor> factors = factors_of(g, sum, domain);
  std::vector<Operand> operands = operands_of(factors);
  if (operands.empty()) return;
  size_t bound = 0;
  for (const Operand& o : operands) bound += o.factors.size();
  std::vector<Factor> outside;
  for (const Factor& f : factors) {
    if (f.bound) continue;
    if (bound >= 2 && leaves(g, node, base::accumulator(sum.elem), operands, f)) {
      outside.push_back(f);
    } else {
      Operand* home = home_of(operands, f);
      (home ? home : &operands[0])->factors.push_back(f);
    }
  }
  if (outside.empty() && factors.size() < 3) return;

  std::optional<ScalarId> value;
  for (const Operand& o : operands) {
    ScalarId operand = product(g, o.factors, inside);
    value = value ? apply(g, Op::mul, {*value, operand}) : operand;
  }
  sum.args[0] = *value;
  Elem elem = sum.elem;
  ScalarId total = make_scalar(g, std::move(sum));
  if (outside.empty()) {
    body = total;
    return;
  }
  edit::Renaming renaming;
  Local local{node.name, elem, edit::fresh_axes(domain, renaming), ScalarId{}};
  local.body = edit::rename(g, total, renaming);
  uint32_t at = static_cast<uint32_t>(in_local ? number : node.locals.size());
  edit::Scope scope(g, node.region);
  scope.add(domain);
  insert_local(g, node, at, std::move(local));  // moves the body by one
  std::vector<ScalarId> here;
  for (const Axis& a : domain) here.push_back(index_of(g, Dim(a.var)));
  ScalarId result = load(g, local_value(at), here, elem);
  bool may_be_infinite = false;
  for (bool under : {false, true})
    for (const Factor& f : outside) {
      if (f.under != under) continue;
      result = apply(g, under ? Op::div : Op::mul, {result, cast(g, elem, f.id)});
      may_be_infinite |= !is_constant(g, f);
    }
  const Scalar& reduction = g.scalars[total];
  if (may_be_infinite) result = edit::zero_if_empty(g, scope, std::vector<Axis>(reduction.binders), result);
  (in_local ? node.locals[number + 1].body : node.outputs[number + 1 - node.locals.size()].body) = result;
}

}  // namespace

void factor(Graph& g) {
  for (NodeId id : all_nodes(g)) {
    Node& node = g.nodes[id];
    if (node.op != NodeOp::compute) continue;
    for (size_t number = node.locals.size() + node.outputs.size(); number-- > 0;)
      factor_body(g, node, number);
    edit::simplify_node(g, id);
  }
}

}  // namespace axon::graph
