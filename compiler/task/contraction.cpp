// See contraction.h.
#include "task/contraction.h"

#include <algorithm>

namespace axon::task {

using graph::Axis;
using graph::Graph;
using graph::Op;
using graph::ScalarId;
using graph::Var;

namespace {

bool any_depends(const Graph& g, const std::vector<ScalarId>& ids, Var var) {
  return std::any_of(ids.begin(), ids.end(), [&](ScalarId id) { return depends_on(g, id, var); });
}

}  // namespace

std::optional<Contraction> find_contraction(const Graph& g, ScalarId body, const std::vector<Axis>& domain) {
  const auto& reduce = g.scalars[body];
  if (reduce.op != Op::reduce || reduce.monoid != graph::Monoid::sum) return std::nullopt;
  const std::vector<ScalarId> factors = factors_of(g, reduce.args[0]);
  if (factors.size() < 2) return std::nullopt;

  // The column axis: the last one that splits the factors.
  std::optional<Var> column;
  for (size_t a = domain.size(); a-- > 0 && !column;) {
    const auto having = std::count_if(factors.begin(), factors.end(),
                                      [&](ScalarId f) { return depends_on(g, f, domain[a].var); });
    if (having > 0 && having < static_cast<std::ptrdiff_t>(factors.size())) column = domain[a].var;
  }
  Contraction c;
  c.reduce = body;
  for (ScalarId f : factors) (column && depends_on(g, f, *column) ? c.right : c.left).push_back(f);
  if (!column) {  // a dot product (or all axes shared): the last factor is as good a right operand as any
    c.left.assign(factors.begin(), factors.end() - 1);
    c.right.assign(factors.end() - 1, factors.end());
  }
  const auto binds = [&](const std::vector<ScalarId>& side) {
    return std::any_of(reduce.binders.begin(), reduce.binders.end(),
                       [&](const Axis& b) { return any_depends(g, side, b.var); });
  };
  if (!binds(c.left) || !binds(c.right)) return std::nullopt;
  for (uint32_t a = 0; a < domain.size(); ++a) {
    const bool left = any_depends(g, c.left, domain[a].var), right = any_depends(g, c.right, domain[a].var);
    if (left && right)
      c.batch.push_back(a);
    else if (right)
      c.columns.push_back(a);
    else
      c.rows.push_back(a);
  }
  return c;
}

std::vector<PlacedContraction> contractions_of(const Graph& g, const graph::Node& node) {
  std::vector<PlacedContraction> out;
  for (uint32_t l = 0; l < node.locals.size(); ++l)
    if (auto c = find_contraction(g, node.locals[l].body, node.locals[l].domain)) out.push_back({l, 0, *c});
  for (uint32_t o = 0; o < node.outputs.size(); ++o)
    if (auto c = find_contraction(g, node.outputs[o].body, node.domain)) out.push_back({std::nullopt, o, *c});
  return out;
}

ScalarId panel_load(const Graph& g, const Contraction& c, const std::vector<Axis>& domain) {
  const auto& binders = g.scalars[c.reduce].binders;
  if (c.right.size() != 1 || c.columns.size() != 1 || binders.size() != 1) return {};
  ScalarId id = c.right[0];
  const auto& load = g.scalars[id];
  if (load.op != Op::load || load.target.is_local() || load.args.size() < 2) return {};
  const auto& node = g.nodes[load.target.node];
  if (node.op != graph::NodeOp::input || g.inputs[node.input].kind != graph::InputKind::weight) return {};
  for (size_t a = 0; a < load.args.size(); ++a) {
    const auto index = affine_index(g, load.args[a]);
    if (!index) return {};
    const size_t from_end = load.args.size() - 1 - a;
    const Var column = domain[c.columns[0]].var, k = binders[0].var;
    if (from_end == 0 && *index != shape::Dim(column)) return {};
    if (from_end == 1 && *index != shape::Dim(k)) return {};
    if (from_end >= 2 && (index->contains(column) || index->contains(k))) return {};
  }
  return id;
}

}  // namespace axon::task
