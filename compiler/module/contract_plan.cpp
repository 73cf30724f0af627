// The operands are those of graph/contraction.h. The left one is read in place when it is a plain matrix and
// staged otherwise.
#include "module/contract_plan.h"

#include <algorithm>

#include "base/bug.h"
#include "graph/contraction.h"

namespace axon::module {

using graph::Op;
using graph::Scalar;

namespace {

Elem storage_of(const Body& body, const Scalar& load) {
  if (load.target.is_local()) return body.scratch[load.target.output].elem;
  return body.program->buffers[body.program->place(load.target).buffer].elem;
}

class Planner {
 public:
  Planner(const Body& body, const graph::Contraction& contraction, const std::vector<Axis>& domain,
          const std::vector<Span>& spans, bool whole_depths)
      : body_(body),
        g_(*body.graph),
        contraction_(contraction),
        domain_(domain),
        spans_(spans),
        whole_depths_(whole_depths) {}

  ContractPlan run() const {
    ContractPlan plan;
    plan.right = contraction_.load;
    plan.accumulator = contraction_.accumulator;
    plan.column = contraction_.column;
    plan.panel = stored_as_panels();
    plan.depths = contraction_.depths;
    const bool row_major = !g_.scalars[plan.right].target.is_local() && is_row_major(plan.right);
    if (!row_major || !whole_depths_) plan.depths = {contraction_.depth()};
    for (const ScalarId factor : contraction_.left)
      plan.left = plan.left.valid() ? graph::apply(g_, Op::mul, {plan.left, factor}) : factor;
    choose_row(plan);
    choose_group(plan);
    for (uint32_t a = 0; a < domain_.size(); ++a) {
      const Var v = domain_[a].var;
      if (v == plan.column.var || (plan.row && v == plan.row->var) || (plan.group && v == plan.group->var))
        continue;
      (is_in(contraction_.columns, a) ? plan.outer_right : plan.outer_left).push_back(domain_[a]);
    }
    for (const Axis& b : g_.scalars[contraction_.reduce].binders)
      if (!is_depth(plan, b.var)) plan.outer_left.push_back(b);
    plan.direct_left = can_read_left(plan);
    plan.turned = !plan.direct_left && plan.row && runs_along_rows(plan);
    return plan;
  }

 private:
  static bool is_depth(const ContractPlan& plan, Var v) {
    return std::any_of(plan.depths.begin(), plan.depths.end(), [&](const Axis& d) { return d.var == v; });
  }

  static bool is_in(const std::vector<uint32_t>& axes, uint32_t axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
  }

  const task::Buffer* buffer_of(ScalarId load) const {
    const auto target = g_.scalars[load].target;
    return target.is_local() ? nullptr : &body_.program->buffers[body_.program->place(target).buffer];
  }

  bool is_row_major(ScalarId load) const {
    const task::Buffer* const buffer = buffer_of(load);
    return !buffer || buffer->placement.is_row_major();
  }

  /// Has each axis one stride?
  bool is_strided(ScalarId load) const {
    const task::Buffer* const buffer = buffer_of(load);
    return !buffer || buffer->placement.digits.empty();
  }

  std::optional<layout::PanelAxes> stored_as_panels() const {
    if (is_strided(contraction_.load)) return std::nullopt;
    const task::Buffer& buffer = *buffer_of(contraction_.load);
    const auto axes = graph::panel_axes(g_, contraction_);
    if (!axes || buffer.placement != layout::panels(buffer.shape.size(), *axes, panel_width))
      base::bug("contract_plan", "a weight is placed as no kernel reads it: " + buffer.name);
    return axes;
  }

  /// The longest axis that only the left operand has; the last one where lengths are not known to differ.
  void choose_row(ContractPlan& plan) const {
    int64_t longest = 1;
    for (const uint32_t a : contraction_.rows) {
      if (!depends_on(g_, plan.left, domain_[a].var)) continue;
      const int64_t bound = spans_[a].bound.constant().value_or(INT64_MAX);
      if (bound < longest || bound == 1) continue;
      longest = bound;
      plan.row = domain_[a];
    }
    if (plan.row || !contraction_.runs || spans_[*contraction_.runs].bound.is(1)) return;
    plan.row = domain_[*contraction_.runs];
    plan.runs = true;
  }

  /// The last other axis of rows that a task has a few of, for all of which it can stage the left operand.
  void choose_group(ContractPlan& plan) const {
    constexpr int64_t few = 8;
    if (!plan.row) return;
    for (const uint32_t a : contraction_.rows) {
      const auto bound = spans_[a].bound.constant();
      if (domain_[a].var == plan.row->var || !bound || *bound < 2 || *bound > few) continue;
      if (depends_on(g_, plan.left, domain_[a].var)) plan.group = domain_[a];
    }
  }

  /// The index, as it is between the limits that it is clamped to.
  static Dim within_limits(const Dim& index, Var v) {
    Dim sum;
    for (const auto& term : index.terms()) {
      Dim product(term.coefficient);
      for (const auto& factor : term.factors) {
        const bool limits = factor.kind() == shape::AtomKind::min || factor.kind() == shape::AtomKind::max;
        product = product * (factor.kind() == shape::AtomKind::var ? Dim(factor.var())
                             : !limits                             ? Dim(0)
                             : factor.lhs().contains(v)            ? within_limits(factor.lhs(), v)
                                                                   : within_limits(factor.rhs(), v));
      }
      sum = sum + product;
    }
    return sum;
  }

  /// Do the elements of a load lie next to each other along the axis, but perhaps for edges?
  bool runs_along(ScalarId id, Var v) const {
    if (const task::Buffer* const buffer = buffer_of(id); buffer && buffer->placement.stated) {
      const auto offset = affine_offset(body_, id);
      const auto by = offset ? within_limits(*offset, v).linear_in(v) : std::nullopt;
      return by && by->first.is(1);
    }
    const Scalar& load = g_.scalars[id];
    for (size_t a = load.args.size(); a-- > 0;) {
      const bool next = load.target.is_local() ? body_.scratch[load.target.output].stride[a].is(1)
                                               : a + 1 == load.args.size();
      const auto index = graph::affine_index(g_, load.args[a]);
      if (!next || !index) continue;
      const auto by = within_limits(*index, v).linear_in(v);
      if (by && by->first.is(1)) return true;
    }
    return false;
  }

  /// Are most loads on the left read better row after row than depth after depth?
  bool runs_along_rows(const ContractPlan& plan) const {
    int balance = 0;
    for (ScalarId id : graph::loads_in(g_, plan.left)) {
      if (!is_strided(id)) continue;
      if (runs_along(id, plan.row->var))
        ++balance;
      else if (runs_along(id, plan.depths.back().var))
        --balance;
    }
    return balance > 0;
  }

  bool can_read_left(const ContractPlan& plan) const {
    const Scalar& s = g_.scalars[plan.left];
    if (s.op != Op::load || storage_of(body_, s) != plan.accumulator || !is_strided(plan.left)) return false;
    const auto offset = affine_offset(body_, plan.left);
    if (!offset) return false;
    Dim run(1);  // one element after another along the whole depth
    for (size_t d = plan.depths.size(); d-- > 0; run = run * plan.depths[d].extent) {
      const auto by_depth = offset->linear_in(plan.depths[d].var);
      if (!by_depth || by_depth->first != run) return false;
    }
    const auto is_regular = [&](const std::optional<Axis>& axis) {
      const auto by = axis ? offset->linear_in(axis->var) : std::pair{Dim(0), Dim(0)};
      const auto changes = [&](const Axis& a) { return by->first.contains(a.var); };
      return by && std::none_of(plan.depths.begin(), plan.depths.end(), changes) &&
             !(plan.row && changes(*plan.row)) && !(plan.group && changes(*plan.group));
    };
    return is_regular(plan.row) && is_regular(plan.group);
  }

  const Body& body_;
  Graph& g_;
  const graph::Contraction& contraction_;
  const std::vector<Axis>& domain_;
  const std::vector<Span>& spans_;
  const bool whole_depths_;
};

}  // namespace

namespace {

Dim offset_at(const Body& body, const Scalar& load, std::vector<Dim> index) {
  if (load.target.is_local()) {
    const ScratchTensor& tensor = body.scratch[load.target.output];
    Dim sum;
    for (size_t a = 0; a < index.size(); ++a) sum = sum + (index[a] - tensor.box[a].low) * tensor.stride[a];
    return sum;
  }
  const task::Place& place = body.program->place(load.target);
  if (place.slot) index.insert(index.begin(), *place.slot);
  return offset_of(body.program->buffers[place.buffer], index);
}

}  // namespace

std::optional<Dim> affine_offset(const Body& body, ScalarId id) {
  const Scalar& load = body.graph->scalars[id];
  std::vector<Dim> index;
  for (ScalarId arg : load.args) {
    const auto i = graph::affine_index(*body.graph, arg);
    if (!i) return {};
    index.push_back(*i);
  }
  return offset_at(body, load, std::move(index));
}

Dim moving_offset(const Body& body, ScalarId id) {
  const Scalar& load = body.graph->scalars[id];
  std::vector<Dim> index;
  for (ScalarId arg : load.args) index.push_back(graph::affine_index(*body.graph, arg).value_or(Dim(0)));
  return offset_at(body, load, std::move(index));
}

std::optional<ContractPlan> plan_contraction(const Body& body, ScalarId reduce,
                                             const std::vector<Axis>& domain, const std::vector<Span>& spans,
                                             bool whole_depths) {
  const auto contraction = graph::find_contraction(*body.graph, body.locals, reduce, domain);
  if (!contraction || !contraction->load.valid()) return std::nullopt;
  return Planner(body, *contraction, domain, spans, whole_depths).run();
}

}  // namespace axon::module
