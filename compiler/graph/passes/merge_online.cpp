// merge_online: softmax and its relatives by algebra.
//
// In: reductions over one axis r as a formula was written,
//     M = max_r s(r)      L = sum_r B^(c (s(r) - M))      A = sum_r B^(c (s(r) - M)) / L * v(r)
// in any spelling: base e or 2, the scale inside or outside, weights normalised first or last, masks inside
// s, every part its own node under any name. Out: one node that projects one online reduction. What is
// compared is the meaning: both sides are expanded through pointwise producers and brought into a normal form
// (products of factors, sums of terms).
//
// Note: the empty axis. A is then 0 by definition, while A' / L' is 0 / 0; where the facts leave the axis
// possibly empty, the result is selected (zero_if_empty).
//
// Note: rows whose scores are all -inf. By the formula they are NaN. Written with (if M == -inf then 0 else
// M) for M in the exponents, as libraries do, L and A are 0 there (Scalar::or_zero). What is then done about
// the division by L is part of the factors around the sum, which may be any expression of L and M.
#include <algorithm>
#include <cmath>

#include "graph/contraction.h"
#include "graph/passes/absorb.h"
#include "graph/passes/cleanup.h"
#include "graph/passes/order.h"
#include "graph/passes/passes.h"

namespace axon::graph {

namespace {

using edit::Uses;

// ---- seeing through pointwise producers ----

std::optional<ScalarId> producer_body(Graph& g, ScalarId load_id) {
  const Scalar s = g.scalars[load_id];
  if (s.op != Op::load || s.target.is_local()) return std::nullopt;
  const Node& node = g.nodes[s.target.node];
  if (node.op != NodeOp::compute || !node.locals.empty()) return std::nullopt;
  const Output& output = node.outputs[s.target.output];
  if (!edit::is_plain(node, output) || !edit::is_pointwise(g, output.body)) return std::nullopt;
  return edit::instantiate(g, node.domain, output.body, s.args);
}

/// Substitutes pointwise producers, again and again, where `wanted`; stops at reductions, inputs and the size
/// limit.
ScalarId expand(Graph& g, ScalarId root, const std::function<bool(ScalarId)>& wanted) {
  for (bool changed = true; changed && edit::post_order(g, root).size() < edit::max_body_size;) {
    changed = false;
    root = rewrite_loads(g, root, [&](ScalarId id) {
      if (!wanted(id)) return id;
      auto body = producer_body(g, id);
      changed |= body.has_value();
      return body.value_or(id);
    });
  }
  return root;
}
ScalarId expand_all(Graph& g, ScalarId root) {
  return expand(g, root, [](ScalarId) { return true; });
}

bool mentions(const Graph& g, ScalarId root, const std::vector<Axis>& axes) {
  std::vector<Var> vars = free_vars(g, root);
  return std::any_of(axes.begin(), axes.end(),
                     [&](const Axis& a) { return std::find(vars.begin(), vars.end(), a.var) != vars.end(); });
}

bool is_exponential(Op op) { return op == Op::exp || op == Op::exp2; }
bool is_float_cast(const Graph& g, const Scalar& s) {
  return s.op == Op::cast && base::is_float(s.elem) && base::is_float(g.scalars[s.args[0]].elem);
}
bool is_number(const Scalar& s) { return s.op == Op::constant && base::is_float(s.elem); }

// ---- sums of terms: the exponent ----

struct Sum {
  std::map<ScalarId, double> terms;
  double constant = 0;
};

Sum terms_of(Graph& g, ScalarId root) {
  Sum sum;
  // By scalar, and the element type of the casts passed on the way: what it is multiplied by. An argument has
  // a smaller id than its users, so the greatest one left has met all of its users.
  std::map<std::pair<ScalarId, Elem>, double> work{{{root, g.scalars[root].elem}, 1.0}};
  while (!work.empty()) {
    const auto last = std::prev(work.end());
    const auto [id, elem] = last->first;
    const double factor = last->second;
    work.erase(last);
    const Scalar s = g.scalars[id];
    auto number = [&](size_t i) { return g.scalars[s.args[i]].number; };
    auto add = [&, elem = elem](size_t i, double times) { work[{s.args[i], elem}] += times; };
    if (is_number(s)) {
      sum.constant += factor * s.number;
    } else if (s.op == Op::add || s.op == Op::sub) {
      add(0, factor);
      add(1, s.op == Op::add ? factor : -factor);
    } else if (s.op == Op::neg) {
      add(0, -factor);
    } else if (s.op == Op::mul && is_number(g.scalars[s.args[1]])) {
      add(0, factor * number(1));
    } else if (s.op == Op::mul && is_number(g.scalars[s.args[0]])) {
      add(1, factor * number(0));
    } else if (s.op == Op::div && is_number(g.scalars[s.args[1]])) {
      add(0, factor / number(1));
    } else if (is_float_cast(g, s)) {
      add(0, factor);
    } else {
      sum.terms[cast(g, elem, id)] += factor;
    }
  }
  std::erase_if(sum.terms, [](const auto& term) { return term.second == 0; });
  return sum;
}

/// Equal up to the rounding of coefficient arithmetic here; constants written differently are different.
bool close(double a, double b) {
  return a == b || std::abs(a - b) <= 1e-12 * std::max(std::abs(a), std::abs(b));
}

/// a == factor * b
bool is_multiple(const Sum& a, double factor, const Sum& b) {
  auto same = [&](const auto& x, const auto& y) {
    return x.first == y.first && close(x.second, factor * y.second);
  };
  return close(a.constant, factor * b.constant) &&
         std::equal(a.terms.begin(), a.terms.end(), b.terms.begin(), b.terms.end(), same);
}

// ---- B^(scale * (score - max)) ----

struct Exponential {
  ScalarId score;     ///< as the maximum's node reads it
  ScalarId expanded;  ///< through all pointwise producers: equal ids mean equal scores
  NodeId max;
  std::vector<ScalarId> max_at;  ///< the indices at which it is read
  double scale = 1;
  bool base2 = false;
  bool or_zero = false;  ///< 0 stands for a maximum of -inf
  bool same_weights(const Exponential& other) const {
    return expanded == other.expanded && close(scale, other.scale) && base2 == other.base2 &&
           or_zero == other.or_zero;
  }
};

/// The body of a reduction that is all of a plain node's only output, at a point and over the given binders.
std::optional<ScalarId> reduced_body(Graph& g, const Scalar& read, Monoid monoid,
                                     const std::vector<Axis>& binders) {
  if (read.op != Op::load || read.target.is_local()) return std::nullopt;
  const Node& node = g.nodes[read.target.node];
  if (node.op != NodeOp::compute || !node.locals.empty() || node.outputs.size() != 1) return std::nullopt;
  if (!edit::is_plain(node, node.outputs[0])) return std::nullopt;
  auto body = edit::instantiate(g, node.domain, node.outputs[0].body, read.args);
  if (!body) return std::nullopt;
  const Scalar reduction = g.scalars[*body];
  if (reduction.op != Op::reduce || reduction.monoid != monoid || reduction.binders.size() != binders.size())
    return std::nullopt;
  shape::Substitution to_binders;
  for (size_t b = 0; b < binders.size(); ++b) {
    if (reduction.binders[b].extent != binders[b].extent) return std::nullopt;
    to_binders[reduction.binders[b].var] = Dim(binders[b].var);
  }
  return substitute(g, reduction.args[0], to_binders);
}

bool is_infinite_below(const Scalar& s) { return is_number(s) && std::isinf(s.number) && s.number < 0; }

/// The branch of a `select` that is taken unless `value` is -inf; nullopt where the condition asks for
/// something else.
std::optional<size_t> branch_unless_infinite(const Graph& g, const Scalar& condition, ScalarId value) {
  const bool equal = condition.op == Op::eq;
  if (!equal && condition.op != Op::ne) return std::nullopt;
  for (size_t side = 0; side < 2; ++side)
    if (condition.args[side] == value && is_infinite_below(g.scalars[condition.args[1 - side]]))
      return equal ? 2 : 1;
  return std::nullopt;
}

/// What a term of an exponent reads, under a cast: `load`, or (if load == -inf then 0 else load).
struct MaximumRead {
  Scalar load;
  bool or_zero = false;
};
MaximumRead maximum_read(const Graph& g, ScalarId term) {
  const auto uncast = [&](ScalarId id) {
    return is_float_cast(g, g.scalars[id]) ? g.scalars[id].args[0] : id;
  };
  const Scalar s = g.scalars[uncast(term)];
  if (s.op != Op::select) return {s, false};
  for (size_t branch : {1, 2}) {
    const Scalar& other = g.scalars[s.args[3 - branch]];
    if (is_number(other) && other.number == 0 &&
        branch_unless_infinite(g, g.scalars[s.args[0]], s.args[branch]) == branch)
      return {g.scalars[uncast(s.args[branch])], true};
  }
  return {s, false};
}

std::optional<Exponential> match_exponential(Graph& g, ScalarId id, const std::vector<Axis>& binders) {
  const Scalar power = g.scalars[id];
  Sum exponent = terms_of(g, expand_all(g, power.args[0]));
  for (const auto& [atom, factor] : exponent.terms) {
    if (factor >= 0 || !std::isfinite(factor)) continue;
    if (mentions(g, atom, binders)) continue;
    const auto [read, or_zero] = maximum_read(g, atom);
    auto score = reduced_body(g, read, Monoid::max, binders);
    if (!score || !base::is_float(g.scalars[*score].elem)) continue;
    ScalarId expanded = expand_all(g, *score);
    Sum rest = exponent;
    rest.terms.erase(atom);
    Sum expected = terms_of(g, cast(g, g.scalars[atom].elem, expanded));
    if (!is_multiple(rest, -factor, expected)) continue;
    return Exponential{*score, expanded, read.target.node, read.args, -factor, power.op == Op::exp2, or_zero};
  }
  return std::nullopt;
}

// ---- constant * outer * sum_r B^(...) * inner ----

struct Factors {
  std::vector<ScalarId> over, under;
};
struct Weighted {
  Exponential weight;
  Factors inner, outer;
  double constant = 1;
  std::vector<Axis> binders;
};

bool is_empty(const Factors& factors) { return factors.over.empty() && factors.under.empty(); }
/// Nothing but the weights.
bool is_bare(const Weighted& w) { return is_empty(w.inner) && is_empty(w.outer) && w.constant == 1; }

/// Some exponential of the binders is a factor behind this expression.
bool hides_exponential(Graph& g, ScalarId id, const std::vector<Axis>& binders) {
  ScalarId whole = expand_all(g, id);
  for (ScalarId s : edit::post_order(g, whole))
    if (is_exponential(g.scalars[s].op) && mentions(g, s, binders)) return true;
  return false;
}

/// Multiplies out; opens producers and casts only where an exponential hides behind them.
Factors factors_of(Graph& g, ScalarId root, const std::vector<Axis>& binders, double& constant) {
  Factors factors;
  std::vector<std::pair<ScalarId, bool>> work{{root, false}};
  while (!work.empty()) {
    auto [id, under] = work.back();
    work.pop_back();
    const Scalar s = g.scalars[id];
    bool opens = (s.op == Op::load || is_float_cast(g, s)) && hides_exponential(g, id, binders);
    if (is_number(s)) {
      constant = under ? constant / s.number : constant * s.number;
    } else if ((s.op == Op::mul || s.op == Op::div) &&
               factors.over.size() + factors.under.size() + work.size() + 2 <= max_factors) {
      work.emplace_back(s.args[1], s.op == Op::div ? !under : under);
      work.emplace_back(s.args[0], under);
    } else if (s.op == Op::neg) {
      constant = -constant;
      work.emplace_back(s.args[0], under);
    } else if (opens && s.op == Op::cast) {
      work.emplace_back(s.args[0], under);
    } else if (auto body = opens ? producer_body(g, id) : std::nullopt) {
      work.emplace_back(*body, under);
    } else {
      (under ? factors.under : factors.over).push_back(id);
    }
  }
  return factors;
}

std::optional<Weighted> match_weighted(Graph& g, ScalarId body, const std::vector<Axis>& binders) {
  if (!base::is_float(g.scalars[body].elem) || !hides_exponential(g, body, binders)) return std::nullopt;
  Weighted weighted;
  weighted.binders = binders;
  Factors all = factors_of(g, body, binders, weighted.constant);
  std::optional<Exponential> found;
  for (ScalarId f : all.over) {
    if (!found && is_exponential(g.scalars[f].op) && mentions(g, f, binders)) {
      found = match_exponential(g, f, binders);
      if (found) continue;
    }
    (mentions(g, f, binders) ? weighted.inner : weighted.outer).over.push_back(f);
  }
  for (ScalarId f : all.under) (mentions(g, f, binders) ? weighted.inner : weighted.outer).under.push_back(f);
  if (!found || !std::isfinite(weighted.constant)) return std::nullopt;
  weighted.weight = *found;
  return weighted;
}

// ---- building ----

/// Products are formed in the widest type that takes part: an intermediate may be kept wider than it was
/// stored.
Elem widest(const Graph& g, Elem elem, const Weighted& w) {
  auto wider = [](Elem a, Elem b) { return base::elem_bytes(b) > base::elem_bytes(a) ? b : a; };
  for (const Factors* f : {&w.inner, &w.outer})
    for (const auto* list : {&f->over, &f->under})
      for (ScalarId id : *list) elem = wider(elem, g.scalars[id].elem);
  return elem;
}

ScalarId product(Graph& g, Elem elem, std::optional<ScalarId> value, const Factors& factors) {
  for (ScalarId f : factors.over) {
    ScalarId wide = cast(g, elem, f);
    value = value ? apply(g, Op::mul, {*value, wide}) : wide;
  }
  if (!value) value = constant_float(g, elem, 1);
  for (ScalarId f : factors.under) value = apply(g, Op::div, {*value, cast(g, elem, f)});
  return *value;
}

/// The score with the producers that are cheap, or as large as the score itself, substituted.
ScalarId score_to_evaluate(Graph& g, const Exponential& weight, const std::vector<Axis>& domain,
                           const std::vector<Axis>& binders) {
  std::vector<Var> around = free_vars(g, weight.score);
  std::erase_if(around, [&](Var v) {
    auto is_v = [&](const Axis& a) { return a.var == v; };
    return std::none_of(domain.begin(), domain.end(), is_v) &&
           std::none_of(binders.begin(), binders.end(), is_v);
  });
  return expand(g, weight.score, [&](ScalarId load_id) {
    auto body = producer_body(g, load_id);
    if (!body) return false;
    if (edit::is_cheap(edit::cost_of(g, *body))) return true;
    std::vector<Var> vars = free_vars(g, load_id);
    return std::all_of(around.begin(), around.end(),
                       [&](Var v) { return std::find(vars.begin(), vars.end(), v) != vars.end(); });
  });
}

ScalarId make_online(Graph& g, const Exponential& weight, const std::vector<Axis>& domain,
                     const std::vector<Axis>& binders, const std::vector<ScalarId>& values) {
  Scalar online;
  online.op = Op::online;
  online.args = {score_to_evaluate(g, weight, domain, binders)};
  online.elem = g.scalars[online.args[0]].elem;
  online.args.insert(online.args.end(), values.begin(), values.end());
  online.binders = binders;
  online.base2 = weight.base2;
  online.scale = weight.scale;
  online.or_zero = weight.or_zero;
  return make_scalar(g, std::move(online));
}

/// A factor outside that is the sum of the same weights is component 1 of the same reduction.
bool is_weight_sum(Graph& g, ScalarId factor, const Weighted& of) {
  Scalar read = g.scalars[factor];
  if (is_float_cast(g, read)) read = g.scalars[read.args[0]];
  auto body = reduced_body(g, read, Monoid::sum, of.binders);
  if (!body) return false;
  auto sum = match_weighted(g, *body, of.binders);
  return sum && is_bare(*sum) && sum->weight.same_weights(of.weight);
}

/// A factor around the sum, with the maximum and the sum of the same weights as projections of `online`.
ScalarId with_own_statistics(Graph& g, ScalarId factor, Elem elem, const Weighted& of, ScalarId online) {
  if (is_weight_sum(g, factor, of)) return edit::projection(g, elem, 1, online);
  bool found = false;
  const ScalarId projected = rewrite_loads(g, expand_all(g, factor), [&](ScalarId id) {
    const Scalar read = g.scalars[id];
    const bool is_maximum = read.target == Value{of.weight.max, 0} && read.args == of.weight.max_at;
    if (!is_maximum && !is_weight_sum(g, id, of)) return id;
    found = true;
    return edit::projection(g, read.elem, is_maximum ? 0 : 1, online);
  });
  return found ? projected : factor;
}

/// Tensors that the new body reads and the node did not, none of them updated before it.
bool may_read(const Graph& g, NodeId id, ScalarId body) {
  std::set<Value> read, before = edit::values_read(g, id);
  for (ScalarId l : loads_in(g, body))
    if (Value v = g.scalars[l].target; !v.is_local() && !before.count(v)) read.insert(v);
  return read.empty() || !edit::reads_after_update(g, read, id);
}

std::optional<ScalarId> weighted_sum(Graph& g, NodeId id, const Scalar& reduction) {
  auto match = match_weighted(g, reduction.args[0], reduction.binders);
  if (!match || is_empty(match->inner) || reduction.binders.size() != 1) return std::nullopt;
  Weighted& w = *match;
  Elem elem = widest(g, reduction.elem, w);
  const std::vector<Axis> domain = g.nodes[id].domain;
  ScalarId value = product(g, elem, std::nullopt, w.inner);
  ScalarId online = make_online(g, w.weight, domain, w.binders, {value});
  for (auto* list : {&w.outer.over, &w.outer.under})
    for (ScalarId& f : *list) f = with_own_statistics(g, f, elem, w, online);
  ScalarId body = edit::projection(g, elem, 2, online);
  if (w.constant != 1) body = apply(g, Op::mul, {body, constant_float(g, elem, w.constant)});
  body = product(g, elem, body, w.outer);
  if (!is_empty(w.outer)) body = edit::zero_if_empty(g, edit::Scope(g, g.nodes[id]), w.binders, body);
  return cast(g, reduction.elem, body);
}

/// Does the load read scores of a query for the keys that the online reduction goes through, a matrix product
/// that kernels have blocks of?
bool reads_scores(const Graph& g, const Scalar& online, ScalarId load_id) {
  const Scalar& read = g.scalars[load_id];
  const Node& from = g.nodes[read.target.node];
  const ScalarId body = from.outputs[read.target.output].body;
  for (uint32_t a = 0; a < read.args.size(); ++a) {
    const auto at = affine_index(g, read.args[a]);
    const bool is_key = at && std::any_of(online.binders.begin(), online.binders.end(),
                                          [&](const Axis& b) { return at->contains(b.var); });
    if (is_key) return score_of_key(g, from.locals, body, from.domain[a].var).has_value();
  }
  return false;
}

/// Does it weight values, all of which have elements along axes that the scores do not depend on? A score is
/// then read once for each of these.
bool has_columns(const Graph& g, const Node& node, const Scalar& online) {
  return online.args.size() > 1 && online.binders.size() == 1 &&
         std::all_of(online.args.begin() + 1, online.args.end(), [&](ScalarId value) {
           return std::any_of(node.domain.begin(), node.domain.end(), [&](const Axis& a) {
             return depends_on(g, value, a.var) && !depends_on(g, online.args[0], a.var);
           });
         });
}

/// Does an online reduction of the node read the value along its own axis, and as scores wherever one does?
bool reads_scores_along_keys(const Graph& g, const Node& node, Value scores) {
  bool any = false, all = true;
  for (const Output& o : node.outputs)
    for (const ScalarId b : edit::binders_in(g, o.body)) {
      const Scalar& online = g.scalars[b];
      if (online.op != Op::online) continue;
      for (const ScalarId l : loads_in(g, online.args[0])) {
        if (g.scalars[l].target != scores || !mentions(g, l, online.binders)) continue;
        any = true;
        all &= has_columns(g, node, online) && reads_scores(g, online, l);
      }
    }
  return any && all;
}

/// The scores' own reduction (q . k) becomes a local, so that tiling computes it block by block: no more than
/// one block is in memory. Other reductions stay nodes, and so do the scores of a reduction that weights
/// nothing: what reads them once more would compute them once more.
void absorb_scores(Graph& g, NodeId id) {
  for (bool changed = true; changed;) {
    changed = false;
    std::map<Value, Uses> uses = edit::uses_of(g);
    edit::Orders orders(g);
    for (Value v : edit::values_read(g, id)) {
      const Node& from = g.nodes[v.node];
      if (from.op != NodeOp::compute || !edit::has_reduction(g, from) || !edit::all_plain(from)) continue;
      if (edit::stands_alone(g, from)) continue;
      if (edit::only_readers(uses, g, v.node) != std::set<NodeId>{id}) continue;
      if (!edit::can_move_into(g, orders, v.node, id)) continue;
      if (!reads_scores_along_keys(g, g.nodes[id], v)) continue;
      Node merged = edit::with_locals_of(g, g.nodes[id], v.node);
      if (!edit::updates_in_place(g, merged)) continue;
      edit::commit_merge(g, id, v.node, std::move(merged));
      changed = true;
      break;
    }
  }
}

/// Contractions of weights with values: softmax(s) @ v.
void merge_weighted_sums(Graph& g) {
  for (NodeId id : all_nodes(g)) {
    if (g.nodes[id].op != NodeOp::compute) continue;
    for (size_t o = 0; o < g.nodes[id].outputs.size(); ++o) {
      const Scalar reduction = g.scalars[g.nodes[id].outputs[o].body];
      if (reduction.op != Op::reduce || reduction.monoid != Monoid::sum) continue;
      auto body = weighted_sum(g, id, reduction);
      if (body && may_read(g, id, *body)) g.nodes[id].outputs[o].body = *body;
    }
  }
}

/// Maximum and sum of weights alone: the node of the maximum yields both.
void merge_maximum_and_sum(Graph& g) {
  for (NodeId id : all_nodes(g)) {
    const Node sum = g.nodes[id];
    if (sum.op != NodeOp::compute || sum.outputs.size() != 1 || !sum.locals.empty()) continue;
    if (!edit::all_plain(sum)) continue;
    const Scalar reduction = g.scalars[sum.outputs[0].body];
    if (reduction.op != Op::reduce || reduction.monoid != Monoid::sum) continue;
    auto match = match_weighted(g, reduction.args[0], reduction.binders);
    if (!match || !is_bare(*match) || g.nodes[match->weight.max].region != sum.region) continue;

    // The maximum's axes are the sum's axes in some order.
    NodeId max_id = match->weight.max;
    Node max = g.nodes[max_id];
    std::vector<Dim> at(sum.domain.size(), Dim(0));
    size_t placed = 0;
    for (size_t a = 0; a < max.domain.size(); ++a)
      for (size_t b = 0; b < sum.domain.size(); ++b)
        if (affine_index(g, match->weight.max_at[a]) == Dim(sum.domain[b].var) ||
            (a == b && max.domain[a].extent.is(1) && sum.domain[b].extent.is(1))) {
          at[b] = Dim(max.domain[a].var);
          ++placed;
        }
    if (placed != sum.domain.size() || max.domain.size() != sum.domain.size()) continue;

    const Scalar maximum = g.scalars[max.outputs[0].body];
    Exponential weight = match->weight;
    weight.score = maximum.args[0];
    ScalarId online = make_online(g, weight, max.domain, maximum.binders, {});
    if (!may_read(g, max_id, online)) continue;
    max.outputs[0].body = edit::projection(g, max.outputs[0].type.elem, 0, online);
    Output total{sum.outputs[0].type, edit::projection(g, reduction.elem, 1, online), std::nullopt, at};
    max.outputs.push_back(total);
    max.types.push_back(total.type);
    g.nodes[max_id] = max;
    edit::replace_values(g, {{{id, 0}, {max_id, 1}}});
    std::erase(g.regions[sum.region].nodes, id);
  }
}

/// The body with loads of a maximum or sum whose weights `online` has anyway as projections of it. Loads
/// inside the reduction stay: a projection of it cannot stand in its own values.
ScalarId with_projections(Graph& g, ScalarId body, ScalarId online_id) {
  const Scalar online = g.scalars[online_id];
  ScalarId score = expand_all(g, online.args[0]);
  auto same_weights = [&](const Scalar& other) {
    if (other.scale != online.scale || other.base2 != online.base2 || other.or_zero != online.or_zero)
      return false;
    shape::Substitution renaming;
    if (other.binders.size() != online.binders.size()) return false;
    for (size_t b = 0; b < online.binders.size(); ++b) {
      if (other.binders[b].extent != online.binders[b].extent) return false;
      renaming[other.binders[b].var] = Dim(online.binders[b].var);
    }
    return expand_all(g, substitute(g, other.args[0], renaming)) == score;
  };
  return edit::rewrite_outside_binders(g, body, [&](ScalarId id) {
    const Scalar read = g.scalars[id];
    if (read.target.is_local() || g.nodes[read.target.node].op != NodeOp::compute) return id;
    const Node& node = g.nodes[read.target.node];
    const Output& output = node.outputs[read.target.output];
    if (!node.locals.empty() || !edit::is_plain(node, output)) return id;
    if (g.scalars[output.body].op != Op::proj) return id;
    auto value = edit::instantiate(g, node.domain, output.body, read.args);
    if (!value) return id;
    const Scalar projection = g.scalars[*value];
    if (projection.component > 1 || !same_weights(g.scalars[projection.args[0]])) return id;
    return edit::projection(g, projection.elem, projection.component, online_id);
  });
}

/// sum_r B^(..) * v divided by sum_r B^(..) in a node of its own: the division joins the reduction, then the
/// divisor.
void join_normalisation(Graph& g) {
  for (NodeId id : all_nodes(g)) {
    const Node& node = g.nodes[id];
    if (node.op == NodeOp::compute && edit::has_online(g, node)) edit::absorb_into_reader(g, id);
  }
  for (NodeId id : all_nodes(g)) {
    Node& node = g.nodes[id];
    for (Output& output : node.outputs)
      for (ScalarId binder : edit::binders_in(g, output.body))
        if (g.scalars[binder].op == Op::online) output.body = with_projections(g, output.body, binder);
  }
  edit::sweep(g);
}

/// Is an exponential anywhere in the graph? Without one there is nothing to merge.
bool has_exponential(const Graph& g) {
  bool found = false;
  for (NodeId id : all_nodes(g))
    edit::each_body(g.nodes[id], [&](ScalarId body, const auto&) {
      const std::vector<ScalarId> parts = scalars_in(g, body);
      found = found || std::any_of(parts.begin(), parts.end(), [&](ScalarId s) {
                return is_exponential(g.scalars[s].op) || g.scalars[s].op == Op::online;
              });
    });
  return found;
}

}  // namespace

void merge_online(Graph& g) {
  if (!has_exponential(g)) return;
  merge_weighted_sums(g);
  edit::sweep(g);
  merge_maximum_and_sum(g);
  edit::sweep(g);
  inline_pointwise(g);  // weights that had two readers have one now
  join_normalisation(g);
  for (NodeId id : all_nodes(g))
    if (g.nodes[id].op == NodeOp::compute && edit::has_online(g, g.nodes[id])) {
      edit::simplify_node(g, id);
      absorb_scores(g, id);
    }
}

}  // namespace axon::graph
