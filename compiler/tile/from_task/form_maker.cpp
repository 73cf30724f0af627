// See form_maker.h.
#include "tile/from_task/form_maker.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "task/facts.h"
#include "tile/from_task/computed_types.h"
#include "tile/from_task/frame.h"

namespace axon::tile {

namespace {

bool is_proj(const Scalar& s, uint32_t component) {
  return s.op == graph::Op::proj && s.component == component;
}

}  // namespace

void FormMaker::write_out_locals() {
  std::vector<ScalarId> locals;
  const auto written_out = [&](ScalarId body) {
    return graph::rewrite_loads(g_, body, [&](ScalarId load) {
      const Scalar s = g_.scalars[load];
      if (!s.target.is_local()) return load;
      const graph::Local& local = node_.locals[s.target.output];
      std::map<Var, ScalarId> at;
      for (size_t a = 0; a < s.args.size(); ++a) at[local.domain[a].var] = s.args[a];
      return graph::substitute(g_, locals[s.target.output], at);
    });
  };
  for (const graph::Local& local : node_.locals) locals.push_back(written_out(local.body));
  for (const graph::Output& output : node_.outputs) whole_.push_back(written_out(output.body));
}

ScalarId FormMaker::result(uint32_t number) {
  return graph::load(g_, graph::local_value(number), {}, form_.reductions[number].kept);
}

void FormMaker::decline_data(const Scalar& s) const {
  if (has_data_) return;
  if (s.op == graph::Op::bounded || s.op == graph::Op::require) throw NoForm{"it has checks"};
  if (s.op != graph::Op::load) return;
  for (const ScalarId arg : s.args)
    if (!graph::affine_index(g_, arg)) throw NoForm{"the data decides an index"};
}

ScalarId FormMaker::without_reductions(ScalarId id) {
  if (const auto found = rewritten_.find(id); found != rewritten_.end()) return found->second;
  const Scalar s = g_.scalars[id];
  decline_data(s);
  if (s.op == graph::Op::order) throw NoForm{"it is an order"};
  if (s.op == graph::Op::reduce || s.op == graph::Op::proj)
    if (const auto own = own_reduction(id)) return rewritten_[id] = *own;
  if (s.op == graph::Op::reduce && s.monoid == graph::Monoid::argmax) return rewritten_[id] = argmax(s);
  if (s.op == graph::Op::reduce) {
    const uint32_t number = reduction(s.monoid, s, s.elem, s.args[0]);
    if (s.monoid == graph::Monoid::sum) products_.emplace_back(id, number);
    return rewritten_[id] = result(number);
  }
  if (s.op == graph::Op::proj) return rewritten_[id] = online(s);
  Scalar made = s;
  for (ScalarId& arg : made.args) arg = without_reductions(arg);
  return rewritten_[id] = made.args == s.args ? id : graph::make_scalar(g_, std::move(made));
}

uint32_t FormMaker::reduction(graph::Monoid monoid, const Scalar& of, base::Elem elem, ScalarId term) {
  RowReduction r;
  r.monoid = monoid;
  r.kept = base::computed_as(elem);
  const bool chooses = monoid == graph::Monoid::max || monoid == graph::Monoid::min;
  r.in = chooses ? r.kept : base::computed_as(base::accumulator(elem));
  r.outer.assign(of.binders.begin(), of.binders.end());
  r.term = term;
  choose_along(r);
  bound_along(r, of);
  each_scalar(r, [&](ScalarId& part) { part = without_reductions(part); });
  if (const auto same = alike(r)) return *same;
  form_.reductions.push_back(std::move(r));
  return static_cast<uint32_t>(form_.reductions.size() - 1);
}

std::optional<uint32_t> FormMaker::alike(const RowReduction& r) {
  if (!r.outer.empty() || (r.monoid != graph::Monoid::max && r.monoid != graph::Monoid::min))
    return std::nullopt;
  for (uint32_t n = 0; n < form_.reductions.size(); ++n) {
    const RowReduction& other = form_.reductions[n];
    const shape::Substitution renamed = {{r.along.var, Dim(other.along.var)}};
    const auto is_same = [&](ScalarId a, ScalarId b) {
      return (a.valid() ? graph::substitute(g_, a, renamed) : a) == b;
    };
    if (other.outer.empty() && r.monoid == other.monoid && r.in == other.in && r.kept == other.kept &&
        r.along.extent == other.along.extent && r.first == other.first && r.end == other.end &&
        is_same(r.term, other.term) && is_same(r.by_data.first, other.by_data.first) &&
        is_same(r.by_data.end, other.by_data.end) && is_same(r.unmasked, other.unmasked))
      return n;
  }
  return std::nullopt;
}

ScalarId FormMaker::argmax(const Scalar& s) {
  const base::Elem elem = base::computed_as(g_.scalars[s.args[0]].elem);
  Scalar of = s;
  const uint32_t top = reduction(graph::Monoid::max, of, elem, s.args[0]);
  RowReduction r = form_.reductions[top];
  const Positions positions = positions_along(r.along);
  r.monoid = graph::Monoid::min;
  r.in = r.kept = positions.elem;
  const auto position = [&](ScalarId& term) {
    if (term.valid()) term = position_of(result(top), term, r.along.var, positions);
  };
  position(r.term);
  position(r.unmasked);
  for (OuterBinder& binder : r.outer) position(binder.unmasked);
  form_.reductions.push_back(std::move(r));
  return found_or_zero(result(static_cast<uint32_t>(form_.reductions.size() - 1)), positions);
}

FormMaker::Positions FormMaker::positions_along(const Axis& along) {
  const base::Elem elem = short_rows_ ? base::Elem::i32 : base::Elem::i64;
  const int64_t greatest = base::range_of_integers(elem).greatest;
  const bool is_short = along.extent.constant().value_or(greatest) < greatest;
  if (short_rows_ && !is_short) form_.guard.push_back(shape::less(along.extent, Dim(greatest)));
  return {elem, graph::constant_int(g_, elem, greatest)};
}

ScalarId FormMaker::position_of(ScalarId best, ScalarId term, Var along, const Positions& positions) {
  ScalarId here = graph::apply(g_, graph::Op::eq, {term, best});
  if (base::is_float(g_.scalars[term].elem)) {
    const auto is_nan = [&](ScalarId x) { return graph::apply(g_, graph::Op::ne, {x, x}); };
    const ScalarId both = graph::apply(g_, graph::Op::and_, {is_nan(term), is_nan(best)});
    here = graph::apply(g_, graph::Op::or_, {here, both});
  }
  const ScalarId at = graph::cast(g_, positions.elem, graph::index_of(g_, Dim(along)));
  return graph::apply(g_, graph::Op::select, {here, at, positions.none});
}

ScalarId FormMaker::found_or_zero(ScalarId least, const Positions& positions) {
  const ScalarId found = graph::apply(g_, graph::Op::lt, {least, positions.none});
  const ScalarId zero = graph::constant_int(g_, positions.elem, 0);
  return graph::cast(g_, base::Elem::i64, graph::apply(g_, graph::Op::select, {found, least, zero}));
}

std::pair<Dim, Dim> interval_of(const graph::Graph& g, const graph::BinderRange& range, const Dim& extent) {
  Dim first(0), end = extent;
  for (const Dim& low : range.low)
    first = shape::max(first, graph::reads_integer(g, low) ? shape::min(low, extent) : low);
  for (const Dim& e : range.end)
    end = shape::min(end, graph::reads_integer(g, e) ? shape::max(e, Dim(0)) : e);
  return {first, end};
}

namespace {

/// Within 0 .. extent, so that the sum does not leave i64.
ScalarId clamped(graph::Graph& g, const graph::BinderRange::Data& bound, const Dim& extent) {
  const auto index = [&](const Dim& d) { return graph::index_of(g, d); };
  const Dim least = bound.subtracted ? bound.plus - extent : -bound.plus;
  const ScalarId wide = graph::cast(g, base::Elem::i64, bound.value);
  const ScalarId below = graph::apply(g, graph::Op::min, {wide, index(least + extent)});
  const ScalarId value = graph::apply(g, graph::Op::max, {below, index(least)});
  if (bound.subtracted) return graph::apply(g, graph::Op::sub, {index(bound.plus), value});
  return bound.plus.is(0) ? value : graph::apply(g, graph::Op::add, {value, index(bound.plus)});
}

/// The bound where these hold, else `none`.
ScalarId where_all(graph::Graph& g, const std::vector<Fact>& facts, ScalarId bound, const Dim& none) {
  for (const Fact& fact : facts) {
    const ScalarId holds =
        graph::apply(g, graph::Op::le, {graph::index_of(g, fact.lhs), graph::index_of(g, fact.rhs)});
    bound = graph::apply(g, graph::Op::select, {holds, bound, graph::index_of(g, none)});
  }
  return bound;
}

/// Points that a mask leaves out evaluate the mask: does it check what these bounds of all points do not?
bool masks_check(const graph::Graph& g, ScalarId folded, const std::vector<ScalarId>& bounds) {
  std::set<ScalarId> of_bounds;
  for (const ScalarId bound : bounds)
    for (const ScalarId part : graph::scalars_in(g, bound)) of_bounds.insert(part);
  const auto is_missed = [&](ScalarId part) {
    const graph::Op op = g.scalars[part].op;
    return (op == graph::Op::bounded || op == graph::Op::require) && !of_bounds.contains(part);
  };
  for (const Scalar* s = &g.scalars[folded]; s->op == graph::Op::select; s = &g.scalars[folded]) {
    const auto parts = graph::scalars_in(g, s->args[0]);
    if (std::any_of(parts.begin(), parts.end(), is_missed)) return true;
    folded = s->args[g.scalars[s->args[1]].op == graph::Op::constant ? 2 : 1];
  }
  return false;
}

}  // namespace

bool add_range_by_data(graph::Graph& g, const Scalar& reduction, const graph::BinderRange& range,
                       const Dim& extent, BoundChecks checks, DataRange& to) {
  if (range.low_by_data.empty() && range.end_by_data.empty()) return true;
  bool all = true;
  DataRange found;
  std::vector<ScalarId> bounds;
  const auto add = [&](const std::vector<graph::BinderRange::Data>& of_data, graph::Op op, const Dim& none,
                       ScalarId& bound) {
    for (const auto& data : of_data) {
      if (graph::reads_integer(g, data.plus)) {
        all = false;
        continue;
      }
      bounds.push_back(data.value);
      const ScalarId one = where_all(g, data.where, clamped(g, data, extent), none);
      bound = bound.valid() ? graph::apply(g, op, {bound, one}) : one;
    }
  };
  add(range.low_by_data, graph::Op::max, Dim(0), found.first);
  add(range.end_by_data, graph::Op::min, extent, found.end);
  if (checks == BoundChecks::none) bounds.clear();
  if (masks_check(g, reduction.args[0], bounds)) return false;
  to = found;
  return all;
}

void FormMaker::bound_along(RowReduction& r, const Scalar& of) {
  r.first = Dim(0);
  r.end = r.along.extent;
  if (of.op != graph::Op::reduce) return;  // where the masks leave nothing, a softmax has NaNs
  for (size_t b = 0; b < of.binders.size(); ++b) {
    const graph::BinderRange range = graph::binder_range(g_, of, b, graph::ReadBounds::of_some_points);
    if (range.empty()) continue;
    const Axis& binder = of.binders[b];
    const auto outer = std::find_if(r.outer.begin(), r.outer.end(),
                                    [&](const Axis& axis) { return axis.var == binder.var; });
    const bool is_outer = outer != r.outer.end();
    DataRange& by_data = is_outer ? outer->by_data : r.by_data;
    if (!is_outer) std::tie(r.first, r.end) = interval_of(g_, range, r.along.extent);
    const BoundChecks checks = r.outer.empty() ? BoundChecks::of_all_points : BoundChecks::none;
    const bool is_all = add_range_by_data(g_, of, range, binder.extent, checks, by_data);
    const bool is_static = by_data.empty();
    if (!is_all || !range.unmasked.valid() || (is_outer && !(range.low.empty() && range.end.empty())))
      continue;
    if (is_static)
      r.term = range.unmasked;
    else if (!has_checks(g_, range.unmasked))
      (is_outer ? outer->unmasked : r.unmasked) = range.unmasked;
  }
}

ScalarId FormMaker::online(const Scalar& proj) {
  const Scalar s = g_.scalars[proj.args[0]];
  if (proj.component > 1 || s.args.size() > 1) throw NoForm{"it weights values by an online softmax"};
  const base::Elem elem = base::accumulator(g_.scalars[s.args[0]].elem);
  const auto as_reduction = [&](graph::Monoid monoid, ScalarId term) {
    return g_.scalars[graph::reduce(g_, monoid, s.binders, term)];
  };
  const auto [top, fresh] = maxima_.try_emplace(proj.args[0], 0);
  if (fresh) {
    const ScalarId score = in_masks(s.args[0], elem, -std::numeric_limits<double>::infinity(),
                                    [&](ScalarId x) { return graph::cast(g_, elem, x); });
    top->second = reduction(graph::Monoid::max, as_reduction(graph::Monoid::max, score), elem, score);
  }
  if (is_proj(proj, 0)) return result(top->second);
  const auto [total, first] = sums_.try_emplace(proj.args[0], 0);
  if (first) {
    const auto weight = [&](ScalarId score) {
      return weight_of(s, graph::cast(g_, elem, without_reductions(score)), result(top->second));
    };
    if (s.or_zero) {
      const ScalarId term = in_masks(s.args[0], elem, 0, weight);
      total->second = reduction(graph::Monoid::sum, as_reduction(graph::Monoid::sum, term), elem, term);
    } else {
      total->second = reduction(graph::Monoid::sum, s, elem, weight(s.args[0]));
    }
  }
  return result(total->second);
}

ScalarId FormMaker::weight_of(const Scalar& online, ScalarId score, ScalarId maximum) {
  const base::Elem elem = g_.scalars[score].elem;
  const auto constant = [&](double number) { return graph::constant_float(g_, elem, number); };
  ScalarId shift = maximum;
  if (online.or_zero) {
    const ScalarId none = constant(-std::numeric_limits<double>::infinity());
    shift = graph::apply(g_, graph::Op::select,
                         {graph::apply(g_, graph::Op::eq, {maximum, none}), constant(0), maximum});
  }
  ScalarId power = graph::apply(g_, graph::Op::sub, {score, shift});
  if (online.scale != 1) power = graph::apply(g_, graph::Op::mul, {power, constant(online.scale)});
  return graph::apply(g_, online.base2 ? graph::Op::exp2 : graph::Op::exp, {power});
}

ScalarId FormMaker::in_masks(ScalarId score, base::Elem elem, double outside,
                             const std::function<ScalarId(ScalarId)>& leaf) {
  const Scalar s = g_.scalars[score];
  if (s.op == graph::Op::select)
    for (const size_t none : {1, 2}) {
      if (!graph::is_unit(g_, s.args[none], graph::Monoid::max)) continue;
      std::vector<ScalarId> args = s.args;
      args[none] = graph::constant_float(g_, elem, outside);
      args[3 - none] = in_masks(s.args[3 - none], elem, outside, leaf);
      return graph::apply(g_, graph::Op::select, args);
    }
  return leaf(score);
}

int FormMaker::loads_along(ScalarId body, Var v) const {
  int count = 0;
  for (const ScalarId id : graph::loads_in(g_, body)) {
    if (g_.scalars[id].target.is_local() || !graph::depends_on(g_, id, v)) continue;
    count += step_of(id, v) == 1 ? 1 : -1;
  }
  return count;
}

void FormMaker::choose_along(RowReduction& r) const {
  size_t best = r.outer.size() - 1;
  for (size_t b = r.outer.size(); b-- > 0;)
    if (loads_along(r.term, r.outer[b].var) > loads_along(r.term, r.outer[best].var)) best = b;
  r.along = r.outer[best];
  r.outer.erase(r.outer.begin() + static_cast<std::ptrdiff_t>(best));
}

std::set<uint32_t> FormMaker::axes_of(ScalarId body) const {
  std::set<uint32_t> axes;
  const std::vector<Var> vars = graph::free_vars(g_, body);
  for (uint32_t a = 0; a < node_.domain.size(); ++a)
    if (std::find(vars.begin(), vars.end(), node_.domain[a].var) != vars.end()) axes.insert(a);
  for (const ScalarId id : graph::loads_in(g_, body))
    if (const Scalar& load = g_.scalars[id]; load.target.is_local()) {
      const std::set<uint32_t>& of = kept_[load.target.output];
      axes.insert(of.begin(), of.end());
    }
  return axes;
}

std::set<uint32_t> FormMaker::axes_kept(const RowReduction& r) const {
  std::set<uint32_t> axes = axes_of(r.term);
  for (const Dim& d : ranges_of(r))
    for (uint32_t a = 0; a < node_.domain.size(); ++a)
      if (d.contains(node_.domain[a].var)) axes.insert(a);
  return axes;
}

std::vector<Dim> FormMaker::ranges_of(const RowReduction& r) {
  std::vector<Dim> out{r.first, r.end, r.along.extent};
  for (const Axis& b : r.outer) out.push_back(b.extent);
  return out;
}

void FormMaker::check_binders(const RowReduction& r) const {
  std::vector<Var> known;
  for (const graph::Size& size : g_.sizes) known.push_back(size.var);
  for (const Axis& a : node_.domain) known.push_back(a.var);
  for (const Axis& b : r.outer) known.push_back(b.var);
  known.push_back(r.along.var);
  for (const task::LoopId l : type_.loops) known.push_back(p_.loops[l].index);
  std::vector<Var> mentioned = graph::free_vars(g_, r.term);
  for (const Dim& d : ranges_of(r)) d.collect_vars(mentioned);
  for (const Var v : mentioned)
    if (std::find(known.begin(), known.end(), v) == known.end() && !is_steps(v))
      throw NoForm{"a reduction stands inside of another"};
}

bool FormMaker::is_steps(Var v) const {
  return std::any_of(p_.loops.begin(), p_.loops.end(),
                     [&](const task::Loop& l) { return l.extent.contains(v); });
}

std::optional<int64_t> FormMaker::store_step(uint32_t output, uint32_t axis) const {
  const auto stride = store_stride(p_, g_, type_, output, axis);
  return stride ? stride->constant() : std::nullopt;
}

std::vector<Fact> FormMaker::ranges_around() const {
  std::vector<Fact> facts;
  for (const task::LoopId l : type_.loops) add_range(facts, {p_.loops[l].index, p_.loops[l].extent});
  for (const Axis& a : node_.domain) add_range(facts, a);
  return facts;
}

void FormMaker::simplify_loads() {
  const std::vector<Fact> facts = ranges_around();
  for (ScalarId& output : form_.outputs) output = simplified(output, facts);
  for (RowReduction& r : form_.reductions) {
    std::vector<Fact> inner = facts;
    for (const Axis& b : r.outer) add_range(inner, b);
    add_range(inner, r.along);
    inner.push_back(shape::at_least(Dim(r.along.var), r.first));
    inner.push_back(shape::less(Dim(r.along.var), r.end));
    each_scalar(r, [&](ScalarId& part) { part = simplified(part, inner); });
  }
}

ScalarId FormMaker::simplified(ScalarId id, const std::vector<Fact>& facts) {
  Simplified known;
  return simplified(id, facts, known);
}

/// `known`: what is simplified already where these facts hold.
ScalarId FormMaker::simplified(ScalarId id, const std::vector<Fact>& facts, Simplified& known) {
  if (const auto found = known.find(id); found != known.end()) return found->second;
  const Scalar s = g_.scalars[id];
  Scalar made = s;
  if (s.op == graph::Op::index) {
    made.dim = shape::simplify(s.dim, task::relevant(p_, task::both(facts, p_.facts), {s.dim}));
    return known[id] = made.dim == s.dim ? id : graph::index_of(g_, made.dim);
  }
  for (size_t a = 0; a < s.args.size(); ++a) {
    std::vector<Fact> more;
    if (s.op == graph::Op::select && a > 0) more = implied_facts(g_, s.args[0], a == 1);
    more = task::both(std::move(more), ranges_of_binders(s));
    made.args[a] = more.empty() ? simplified(s.args[a], facts, known)
                                : simplified(s.args[a], task::both(std::move(more), facts));
  }
  return known[id] = made.args == s.args ? id : graph::make_scalar(g_, std::move(made));
}

/// What more reductions keep is looped over farther outside. A reduction stands where all that it keeps has
/// a value; there nothing else may.
void FormMaker::order_rows() {
  const auto count = [&](uint32_t a) {
    return std::count_if(kept_.begin(), kept_.end(), [&](const auto& of) { return of.contains(a); });
  };
  for (uint32_t a = 0; a < node_.domain.size(); ++a)
    if (a != form_.along && a != form_.across) form_.rows.push_back(a);
  std::stable_sort(form_.rows.begin(), form_.rows.end(),
                   [&](uint32_t a, uint32_t b) { return count(a) > count(b); });
  for (size_t r = 0; r < form_.reductions.size(); ++r) {
    size_t& level = form_.reductions[r].level;
    while (level < form_.rows.size() && kept_[r].contains(form_.rows[level])) ++level;
    if (level != kept_[r].size()) throw NoForm{"its reductions keep different axes"};
  }
}

void FormMaker::choose_types() {
  ComputedTypes types(g_);
  for (ScalarId& output : form_.outputs) output = types.of(output);
  for (RowReduction& r : form_.reductions) each_scalar(r, [&](ScalarId& part) { part = types.of(part); });
}

bool FormMaker::is_gathered(ScalarId load, Var v) const {
  const std::vector<ScalarId>& args = g_.scalars[load].args;
  return std::any_of(args.begin(), args.end(), [&](ScalarId arg) {
    return !graph::affine_index(g_, arg) && graph::depends_on(g_, arg, v);
  });
}

bool FormMaker::gathers(ScalarId body, Var v) const {
  const auto loads = graph::loads_in(g_, body);
  return std::any_of(loads.begin(), loads.end(), [&](ScalarId load) {
    return !g_.scalars[load].target.is_local() && is_gathered(load, v);
  });
}

void FormMaker::check_loads(ScalarId body, Var v) const {
  for (const ScalarId id : graph::loads_in(g_, body)) {
    if (g_.scalars[id].target.is_local()) continue;
    if (is_gathered(id, v)) continue;
    const bool turned = form_.across && step_of(id, node_.domain[*form_.across].var) == 1;
    if (graph::depends_on(g_, id, v) && step_of(id, v) != 1 && !turned)
      throw NoForm{"it loads across memory"};
  }
}

}  // namespace axon::tile
