// Picks the right operand: of the factors that are loads, the one whose elements lie best for streaming.
// Everything else of the product is the left operand, read in place when it is a plain matrix and staged
// otherwise.
#include "module/contract_plan.h"

#include <algorithm>

namespace axon::module {

using graph::Op;
using graph::Scalar;

namespace {

/// The load under widening casts; invalid when the factor is something else.
ScalarId load_under_casts(const Graph& g, ScalarId id) {
  while (g.scalars[id].op == Op::cast && base::is_float(g.scalars[g.scalars[id].args[0]].elem) &&
         base::elem_bytes(g.scalars[id].elem) > base::elem_bytes(g.scalars[g.scalars[id].args[0]].elem))
    id = g.scalars[id].args[0];
  return g.scalars[id].op == Op::load ? id : ScalarId{};
}

Elem storage_of(const Body& body, const Scalar& load) {
  if (load.target.is_local()) return body.scratch[load.target.output].elem;
  return body.program->buffers[body.program->place(load.target).buffer].elem;
}

bool kernel_reads(Elem accumulator, Elem storage) {
  if (accumulator == Elem::f64) return storage == Elem::f64;
  return storage == Elem::f32 || storage == Elem::bf16 || storage == Elem::f16;
}

struct Candidate {
  ContractPlan plan;
  int score = 0;
};

class Chooser {
 public:
  Chooser(const Body& body, ScalarId reduce, const std::vector<Axis>& domain, const std::vector<Span>& spans)
      : body_(body), g_(*body.graph), reduce_(g_.scalars[reduce]), domain_(domain), spans_(spans) {}

  std::optional<ContractPlan> run() {
    if (reduce_.monoid != graph::Monoid::sum || reduce_.binders.empty()) return {};
    const Elem accumulator = base::accumulator(reduce_.elem);
    if (accumulator != Elem::f32 && accumulator != Elem::f64) return {};
    factors_ = graph::factors_of(g_, reduce_.args[0]);
    if (factors_.size() < 2) return {};
    Candidate best;
    for (size_t f = 0; f < factors_.size(); ++f)
      for (const Axis& column : domain_)
        for (const Axis& depth : reduce_.binders) try_right(f, column, depth, accumulator, best);
    if (best.score == 0) return {};
    return complete(best.plan);
  }

 private:
  bool elsewhere(size_t factor, Var v) const {
    for (size_t f = 0; f < factors_.size(); ++f)
      if (f != factor && depends_on(g_, factors_[f], v)) return true;
    return false;
  }

  void try_right(size_t f, const Axis& column, const Axis& depth, Elem accumulator, Candidate& best) {
    const ScalarId load = load_under_casts(g_, factors_[f]);
    if (!load.valid() || !kernel_reads(accumulator, storage_of(body_, g_.scalars[load]))) return;
    if (!depends_on(g_, load, column.var) || elsewhere(f, column.var)) return;
    if (!depends_on(g_, load, depth.var) || !elsewhere(f, depth.var)) return;
    const bool panel = is_panel(load);
    const int score =
        panel ? panel_score(load, column.var, depth.var) : stride_score(load, column.var, depth.var);
    if (score < best.score || score == 0) return;
    best.score = score;
    best.plan = {};
    best.plan.right = load;
    best.plan.accumulator = accumulator;
    best.plan.column = column;
    best.plan.depth = depth;
    best.plan.panel = panel;
    factor_ = f;
  }

  bool is_panel(ScalarId load) const {
    const auto target = g_.scalars[load].target;
    if (target.is_local()) return false;
    return body_.program->buffers[body_.program->place(target).buffer].layout.kind ==
           task::Layout::Kind::panel;
  }

  /// The column must move along the last axis by one, the depth along the one before, and nothing else may
  /// follow them.
  int panel_score(ScalarId load, Var column, Var depth) const {
    const auto& args = g_.scalars[load].args;
    for (size_t a = 0; a < args.size(); ++a) {
      const auto index = graph::affine_index(g_, args[a]);
      if (!index) return 0;
      const bool last = a + 1 == args.size(), before_last = a + 2 == args.size();
      const auto by_column = index->linear_in(column), by_depth = index->linear_in(depth);
      if (!by_column || !by_depth) return 0;
      if (!by_column->first.is(last ? 1 : 0) || !by_depth->first.is(before_last ? 1 : 0)) return 0;
    }
    return 5;
  }

  int stride_score(ScalarId load, Var column, Var depth) const {
    const auto offset = affine_offset(body_, load);
    if (!offset) return 0;
    const auto by_column = offset->linear_in(column), by_depth = offset->linear_in(depth);
    if (!by_column || !by_depth || by_column->first.contains(depth) || by_depth->first.contains(column))
      return 0;
    const int rows = any_row() ? 1 : 0;
    if (by_column->first.is(1)) return 4;
    return by_depth->first.is(1) ? 3 : rows;
  }

  bool any_row() const {
    for (const Axis& a : domain_) {
      size_t users = 0;
      for (ScalarId f : factors_) users += depends_on(g_, f, a.var);
      if (users > 0 && users < factors_.size()) return true;
    }
    return false;
  }

  ContractPlan complete(ContractPlan plan) {
    ScalarId left;
    for (size_t f = 0; f < factors_.size(); ++f) {
      if (f == factor_) continue;
      left = left.valid() ? graph::apply(g_, Op::mul, {left, factors_[f]}) : factors_[f];
    }
    plan.left = left;
    choose_row(plan);
    for (const Axis& a : domain_) {
      if (a.var == plan.column.var || (plan.row && a.var == plan.row->var)) continue;
      const bool right_only = depends_on(g_, plan.right, a.var) && !depends_on(g_, plan.left, a.var);
      (right_only ? plan.outer_right : plan.outer_left).push_back(a);
    }
    for (const Axis& b : reduce_.binders)
      if (b.var != plan.depth.var) plan.outer_left.push_back(b);
    plan.direct_left = can_read_left(plan);
    return plan;
  }

  /// The longest axis that only the left operand has; the last one where lengths are not known to differ.
  void choose_row(ContractPlan& plan) const {
    int64_t longest = 1;
    for (size_t a = 0; a < domain_.size(); ++a) {
      if (!depends_on(g_, plan.left, domain_[a].var) || depends_on(g_, plan.right, domain_[a].var)) continue;
      const int64_t bound = spans_[a].bound.constant().value_or(INT64_MAX);
      if (bound < longest || bound == 1) continue;
      longest = bound;
      plan.row = domain_[a];
    }
  }

  bool can_read_left(const ContractPlan& plan) const {
    const Scalar& s = g_.scalars[plan.left];
    if (s.op != Op::load || storage_of(body_, s) != plan.accumulator || is_panel(plan.left)) return false;
    const auto offset = affine_offset(body_, plan.left);
    if (!offset) return false;
    const auto by_depth = offset->linear_in(plan.depth.var);
    if (!by_depth || !by_depth->first.is(1)) return false;
    if (!plan.row) return true;
    const auto by_row = offset->linear_in(plan.row->var);
    return by_row && !by_row->first.contains(plan.depth.var);
  }

  const Body& body_;
  Graph& g_;
  const Scalar reduce_;
  const std::vector<Axis>& domain_;
  const std::vector<Span>& spans_;
  std::vector<ScalarId> factors_;
  size_t factor_ = 0;
};

}  // namespace

std::optional<Dim> affine_offset(const Body& body, ScalarId id) {
  const Graph& g = *body.graph;
  const Scalar& load = g.scalars[id];
  std::vector<Dim> index;
  for (ScalarId arg : load.args) {
    const auto i = graph::affine_index(g, arg);
    if (!i) return {};
    index.push_back(*i);
  }
  if (load.target.is_local()) {
    const ScratchTensor& tensor = body.scratch[load.target.output];
    Dim sum;
    for (size_t a = 0; a < index.size(); ++a) sum = sum + (index[a] - tensor.box[a].low) * tensor.stride[a];
    return sum;
  }
  const task::Place& place = body.program->place(load.target);
  if (place.slot) index.insert(index.begin(), *place.slot);
  return layout_of(body.program->buffers[place.buffer]).offset(index);
}

std::optional<ContractPlan> plan_contraction(const Body& body, ScalarId reduce,
                                             const std::vector<Axis>& domain,
                                             const std::vector<Span>& spans) {
  return Chooser(body, reduce, domain, spans).run();
}

}  // namespace axon::module
