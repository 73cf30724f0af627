// From a node to stages: see body.h. The order of work: rewrite reductions into locals, bound the box of
// every local from its last reader to its first, lay the boxes out, pick how each is filled.
#include "module/body.h"

#include <algorithm>
#include <functional>
#include <map>

#include "base/bug.h"
#include "base/contains.h"
#include "module/contract_plan.h"

namespace axon::module {

using graph::Op;
using graph::Scalar;

Dim offset_of(const task::Buffer& buffer, const std::vector<Dim>& index) {
  return layout::offset_of(buffer.placement, buffer.shape, index);
}

namespace {

constexpr int64_t key_block = 512;
constexpr int64_t scratch_alignment = 64;

class BodyBuilder {
 public:
  BodyBuilder(const task::Program& p, const task::TaskType& type, std::shared_ptr<Graph> graph,
              const EmitOptions& options)
      : g_(*graph), options_(options) {
    body_.program = &p;
    body_.type = &type;
    body_.graph = std::move(graph);
  }

  Body run() {
    const graph::Node node = g_.nodes[body_.type->node];
    collect_facts();
    body_.domain = node.domain;
    for (uint32_t a = 0; a < node.domain.size(); ++a) body_.spans.push_back(domain_span(a));
    for (uint32_t l = 0; l < node.locals.size(); ++l) {
      graph::Local local = with_shared_axes(node.locals[l]);
      renumbered_.push_back(0);
      local.body = pull_out(renumber(local.body), local.domain, true);
      renumbered_[l] = add_local(std::move(local));
    }
    for (graph::Output output : node.outputs) {
      output.body = pull_out(renumber(output.body), node.domain, false);
      body_.outputs.push_back(std::move(output));
    }
    find_boxes();
    lay_out();
    choose_stages();
    return std::move(body_);
  }

 private:
  // ---- ranges ----

  void add_range(std::vector<Fact>& facts, Var v, const Dim& low, const Dim& end) const {
    facts.push_back(shape::at_least(Dim(v), low));
    facts.push_back(shape::less(Dim(v), end));
  }

  void collect_facts() {
    const auto& p = *body_.program;
    facts_ = p.facts;
    for (task::LoopId l : body_.type->loops) add_range(facts_, p.loops[l].index, Dim(0), p.loops[l].extent);
    for (const auto& c : body_.type->coordinates) add_range(facts_, c.var, Dim(0), c.extent);
    for (const auto& size : g_.sizes) kept_.push_back(size.var), sizes_.push_back(size.var);
    for (task::LoopId l : body_.type->loops) kept_.push_back(p.loops[l].index);
    for (const auto& c : body_.type->coordinates) kept_.push_back(c.var);
  }

  Span domain_span(uint32_t axis) const {
    const Dim extent = body_.domain[axis].extent;
    for (const auto& c : body_.type->coordinates)
      if (c.axis == axis) {
        const Dim low = Dim(c.tile) * Dim(c.var);
        return {low, shape::min(low + Dim(c.tile), extent), Dim(c.tile)};
      }
    return {Dim(0), extent, extent};
  }

  bool only(const Dim& d, const std::vector<Var>& list) const {
    const auto vars = d.vars();
    return std::all_of(vars.begin(), vars.end(), [&](Var v) { return base::contains(list, v); });
  }

  /// The range of an index expression under `facts`, clamped to the axis.
  Span span_of(const Dim& index, const std::vector<Fact>& facts, const Dim& extent) const {
    // A read under a condition may lie outside of the domain: nothing is computed there.
    if (only(index, kept_)) return {shape::max(index, Dim(0)), shape::min(index + Dim(1), extent), Dim(1)};
    const auto bounds = shape::bounds_of(index, facts, [&](Var v) { return base::contains(kept_, v); });
    const Dim low = bounds.low ? shape::max(*bounds.low, Dim(0)) : Dim(0);
    const Dim end = bounds.high ? shape::min(*bounds.high + Dim(1), extent) : extent;
    return {low, end, length_bound(low, end, bounds, extent)};
  }

  Dim length_bound(const Dim& low, const Dim& end, const shape::Bounds& bounds, const Dim& extent) const {
    if (bounds.low && bounds.high) {
      const Dim plain = *bounds.high - *bounds.low + Dim(1);
      if (only(plain, sizes_)) return plain.constant() ? plain : shape::max(plain, Dim(0));
    }
    const auto length = shape::bounds_of(end - low, facts_, [&](Var v) { return base::contains(sizes_, v); });
    return length.high && only(*length.high, sizes_) ? shape::max(*length.high, Dim(0)) : extent;
  }

  static Span join(const Span& a, const Span& b) {
    if (a.low == b.low && a.end == b.end) return a;
    return {shape::min(a.low, b.low), shape::max(a.end, b.end), Dim(-1)};  // the bound is found again
  }

  // ---- rewriting ----

  /// A local of the node over the same extents as one before it, with the variables of that one: what both
  /// compute is then one expression, and an online reduction that gives its parts to several locals is
  /// computed once.
  graph::Local with_shared_axes(graph::Local local) {
    for (const uint32_t before : renumbered_) {
      const auto& domain = body_.locals[before].domain;
      if (!std::equal(domain.begin(), domain.end(), local.domain.begin(), local.domain.end(),
                      [](const Axis& a, const Axis& b) { return a.extent == b.extent; }))
        continue;
      shape::Substitution renaming;
      for (size_t a = 0; a < domain.size(); ++a) renaming[local.domain[a].var] = Dim(domain[a].var);
      local.body = graph::substitute(g_, local.body, renaming);
      local.domain = domain;
      break;
    }
    return local;
  }

  uint32_t add_local(graph::Local local) {
    body_.locals.push_back(std::move(local));
    return static_cast<uint32_t>(body_.locals.size() - 1);
  }

  /// Rebuilds an expression, every part once; `f` may replace a part before its arguments are visited.
  /// `done`: what parts have become.
  ScalarId rewrite(ScalarId id, const std::function<std::optional<ScalarId>(ScalarId)>& f,
                   std::map<ScalarId, ScalarId>& done) {
    if (const auto known = done.find(id); known != done.end()) return known->second;
    if (const auto replaced = f(id)) return done[id] = *replaced;
    Scalar s = g_.scalars[id];
    bool changed = false;
    for (ScalarId& arg : s.args) {
      const ScalarId next = rewrite(arg, f, done);
      changed |= next != arg;
      arg = next;
    }
    return done[id] = changed ? graph::make_scalar(g_, std::move(s)) : id;
  }

  /// Loads of the node's locals under their new numbers.
  ScalarId renumber(ScalarId id) {
    return graph::rewrite_loads(g_, id, [&](ScalarId load) {
      Scalar s = g_.scalars[load];
      if (!s.target.is_local() || renumbered_[s.target.output] == s.target.output) return load;
      s.target = graph::local_value(renumbered_[s.target.output]);
      return graph::make_scalar(g_, std::move(s));
    });
  }

  std::vector<Axis> axes_in(ScalarId id, const std::vector<Axis>& domain) const {
    const auto& vars = graph::free_vars(g_, id);
    std::vector<Axis> axes;
    for (const Axis& a : domain)
      if (base::contains(vars, a.var)) axes.push_back(a);
    return axes;
  }

  ScalarId load_local(uint32_t local, Elem elem) {
    std::vector<ScalarId> indices;
    for (const Axis& a : body_.locals[local].domain) indices.push_back(graph::index_of(g_, Dim(a.var)));
    return graph::load(g_, graph::local_value(local), std::move(indices), elem);
  }

  /// Replaces reductions by loads of new locals. A local that is itself a reduction keeps it.
  ScalarId pull_out(ScalarId body, const std::vector<Axis>& domain, bool keep_root) {
    if (keep_root && g_.scalars[body].op == Op::reduce) return body;
    std::map<ScalarId, ScalarId> done;
    const auto replaced = [&](ScalarId id) -> std::optional<ScalarId> {
      const Op op = g_.scalars[id].op;
      const Elem elem = g_.scalars[id].elem;
      if (op == Op::reduce) return load_local(add_local({"", elem, axes_in(id, domain), id}), elem);
      if (op != Op::proj) return std::nullopt;
      const uint32_t component = g_.scalars[id].component;
      const OnlinePlan& plan = online_of(g_.scalars[id].args[0], domain);
      return load_local(component == 0   ? plan.maximum
                        : component == 1 ? plan.sum
                                         : plan.values[component - 2],
                        elem);
    };
    return rewrite(body, replaced, done);
  }

  OnlinePlan& online_of(ScalarId online, const std::vector<Axis>& domain) {
    for (const auto& plan : onlines_)
      if (plan->online == online) return *plan;
    auto plan = std::make_shared<OnlinePlan>();
    const Scalar s = g_.scalars[online];
    plan->online = online;
    plan->outer.assign(s.binders.begin(), s.binders.end() - 1);
    plan->key = s.binders.back();
    plan->block = key_block;
    plan->range = graph::binder_range(g_, s, s.binders.size() - 1);
    plan->block_start = shape::fresh_var("block");
    plan->key_end = shape::fresh_var("key_end");
    plan->row_low = shape::fresh_var("row_low");
    plan->row_end = shape::fresh_var("row_end");
    plan->rows = axes_in(s.args[0], domain);
    std::vector<Axis> score_domain = plan->rows;
    score_domain.push_back(plan->key);
    const Elem score_elem = base::accumulator(g_.scalars[s.args[0]].elem);
    plan->scores = add_local({"scores", score_elem, score_domain, s.args[0]});
    plan->maximum = add_local({"maximum", score_elem, plan->rows, {}});
    plan->sum = add_local({"sum", score_elem, plan->rows, {}});
    plan->rescale = add_local({"rescale", score_elem, plan->rows, {}});
    for (size_t v = 1; v < s.args.size(); ++v) {
      std::vector<Axis> axes;
      for (const Axis& a : domain) {
        const bool in_rows =
            std::any_of(plan->rows.begin(), plan->rows.end(), [&](const Axis& r) { return r.var == a.var; });
        if (in_rows || depends_on(g_, s.args[v], a.var)) axes.push_back(a);
      }
      Scalar sum;
      sum.op = Op::reduce;
      sum.elem = score_elem;
      sum.binders = {plan->key};
      sum.args = {
          graph::apply(g_, Op::mul, {load_local(plan->scores, score_elem), widened(s.args[v], score_elem)})};
      plan->values.push_back(
          add_local({"weighted", score_elem, axes, graph::make_scalar(g_, std::move(sum))}));
    }
    onlines_.push_back(plan);
    return *onlines_.back();
  }

  ScalarId widened(ScalarId value, Elem elem) {
    if (g_.scalars[value].elem == elem) return value;
    Scalar s;
    s.op = Op::cast;
    s.elem = elem;
    s.args = {value};
    return graph::make_scalar(g_, std::move(s));
  }

  // ---- boxes ----

  const OnlinePlan* online_with_scores(uint32_t local) const {
    for (const auto& plan : onlines_)
      if (plan->scores == local) return plan.get();
    return nullptr;
  }
  const OnlinePlan* online_with_value(uint32_t local) const {
    for (const auto& plan : onlines_)
      if (has_number(plan->values, local)) return plan.get();
    return nullptr;
  }
  static bool has_number(const std::vector<uint32_t>& list, uint32_t n) {
    return std::find(list.begin(), list.end(), n) != list.end();
  }

  Span block_span(const OnlinePlan& plan) const {
    const Dim start(plan.block_start);
    return {start, shape::min(start + Dim(plan.block), Dim(plan.key_end)), Dim(plan.block)};
  }

  void add_binders(ScalarId body, std::vector<Fact>& facts) const {
    for (ScalarId id : graph::scalars_in(g_, body))
      for (const Axis& b : g_.scalars[id].binders) add_range(facts, b.var, Dim(0), b.extent);
  }

  struct Need {
    std::vector<std::optional<Span>> spans;
    bool outside = false;  ///< read by something outside of every online block
  };

  void read_by(ScalarId body, const std::vector<Fact>& facts, bool blocked, std::vector<Need>& needs) const {
    for (ScalarId l : graph::loads_in(g_, body)) {
      const Scalar& load = g_.scalars[l];
      if (!load.target.is_local()) continue;
      Need& need = needs[load.target.output];
      const auto& domain = body_.locals[load.target.output].domain;
      need.outside |= !blocked;
      for (size_t a = 0; a < domain.size(); ++a) {
        const auto index = graph::affine_index(g_, load.args[a]);
        const Dim& extent = domain[a].extent;
        const Span span = index ? span_of(*index, facts, extent) : Span{Dim(0), extent, extent};
        need.spans[a] = need.spans[a] ? join(*need.spans[a], span) : span;
      }
    }
  }

  /// From the last local to the first, so that each sees all its readers. What only an online block reads is
  /// needed for that block alone.
  void find_boxes() {
    const size_t count = body_.locals.size();
    std::vector<Need> needs(count);
    for (size_t l = 0; l < count; ++l) needs[l].spans.resize(body_.locals[l].domain.size());
    body_.scratch.resize(count);
    follows_block_.assign(count, false);
    for (const auto& output : body_.outputs) {
      std::vector<Fact> facts = facts_;
      for (size_t a = 0; a < body_.domain.size(); ++a) add_span(facts, body_.domain[a].var, body_.spans[a]);
      add_binders(output.body, facts);
      read_by(output.body, facts, false, needs);
    }
    for (uint32_t l = static_cast<uint32_t>(count); l-- > 0;) {
      const auto& local = body_.locals[l];
      if (const auto* plan = online_with_part(l)) {
        // Every part of an online reduction is computed over the rows that any part needs.
        share_rows(*plan, needs);
        for (const auto& other : onlines_)
          if (other.get() == plan) keep_block(*plan);
      }
      auto& box = body_.scratch[l].box;
      for (size_t a = 0; a < local.domain.size(); ++a)
        box.push_back(final_span(needs[l].spans[a], local.domain[a].extent));
      const auto* scores = online_with_scores(l);
      const auto* value = online_with_value(l);
      const auto* plan = scores ? scores : value;
      if (scores) box.back() = block_span(*scores);
      if (!plan && needs[l].outside) forget_blocks(local.domain, box);
      const bool blocked = plan || mentions_block(box);
      follows_block_[l] = blocked && !plan;
      if (!local.body.valid()) continue;
      std::vector<Fact> facts = facts_;
      for (size_t a = 0; a < local.domain.size(); ++a) add_span(facts, local.domain[a].var, box[a]);
      for (const auto& p : onlines_) {
        add_range(facts, p->block_start, Dim(0), shape::max(p->key.extent, Dim(1)));
        add_range(facts, p->key_end, Dim(0), p->key.extent + Dim(1));
      }
      if (plan) {
        for (const Axis& b : plan->outer) add_range(facts, b.var, Dim(0), b.extent);
        add_span(facts, plan->key.var, block_span(*plan));
      }
      if (!value) add_binders(local.body, facts);
      read_by(local.body, facts, blocked, needs);
    }
  }

  const OnlinePlan* online_with_part(uint32_t local) const {
    for (const auto& plan : onlines_)
      if (plan->scores == local || plan->maximum == local || plan->sum == local || plan->rescale == local ||
          has_number(plan->values, local))
        return plan.get();
    return nullptr;
  }

  void share_rows(const OnlinePlan& plan, std::vector<Need>& needs) const {
    std::vector<uint32_t> parts = plan.values;
    parts.insert(parts.end(), {plan.maximum, plan.sum, plan.rescale, plan.scores});
    const auto axis_of = [&](uint32_t part, Var v) -> std::optional<Span>* {
      const auto& domain = body_.locals[part].domain;
      for (size_t a = 0; a < domain.size(); ++a)
        if (domain[a].var == v) return &needs[part].spans[a];
      return nullptr;
    };
    for (const Axis& row : plan.rows) {
      std::optional<Span> all;
      for (uint32_t part : parts)
        if (const auto* span = axis_of(part, row.var); span && *span) all = all ? join(*all, **span) : **span;
      for (uint32_t part : parts)
        if (auto* span = axis_of(part, row.var)) *span = all;
    }
  }

  void add_span(std::vector<Fact>& facts, Var v, const Span& span) const {
    add_range(facts, v, span.low, span.end);
  }

  /// From here on boxes may follow the block of keys at hand, at one point of the binders around them.
  void keep_block(const OnlinePlan& plan) {
    kept_.insert(kept_.end(), {plan.block_start, plan.key_end});
    for (const Axis& outer : plan.outer) kept_.push_back(outer.var);
  }

  bool mentions_block(const Span& span) const {
    const auto mentions = [&](Var v) { return span.low.contains(v) || span.end.contains(v); };
    return std::any_of(onlines_.begin(), onlines_.end(), [&](const auto& plan) {
      return mentions(plan->block_start) || std::any_of(plan->outer.begin(), plan->outer.end(),
                                                        [&](const Axis& a) { return mentions(a.var); });
    });
  }
  bool mentions_block(const std::vector<Span>& box) const {
    return std::any_of(box.begin(), box.end(), [&](const Span& span) { return mentions_block(span); });
  }

  /// What something outside of the blocks reads as well has all that any block needs.
  void forget_blocks(const std::vector<Axis>& domain, std::vector<Span>& box) const {
    for (size_t a = 0; a < box.size(); ++a)
      if (mentions_block(box[a])) box[a] = {Dim(0), domain[a].extent, domain[a].extent};
  }

  /// A local that nobody reads keeps an empty box; joined spans get their bound here.
  Span final_span(const std::optional<Span>& span, const Dim& extent) const {
    if (!span) return {Dim(0), Dim(0), Dim(0)};
    if (!span->bound.is(-1)) return *span;
    return {span->low, span->end, length_bound(span->low, span->end, {}, extent)};
  }

  // ---- scratch memory ----

  Dim take(const Dim& bytes) {
    const Dim at = body_.scratch_bytes;
    body_.scratch_bytes = at + shape::cdiv(bytes, Dim(scratch_alignment)) * Dim(scratch_alignment);
    return at;
  }

  /// Results of contractions hold whole panels: their column axis is innermost and padded by one panel on
  /// each side.
  void lay_out() {
    for (uint32_t l = 0; l < body_.locals.size(); ++l) {
      const auto& local = body_.locals[l];
      ScratchTensor& tensor = body_.scratch[l];
      tensor.elem = computed_as(local.elem);
      tensor.stride.assign(local.domain.size(), Dim(0));
      std::optional<size_t> column;
      if (const auto plan = contraction_of(l))
        for (size_t a = 0; a < local.domain.size(); ++a)
          if (local.domain[a].var == plan->column.var) column = a;
      Dim stride(1), margin(0);
      if (column) {
        tensor.stride[*column] = Dim(1);
        margin = Dim(panel_width);
        const Dim bound = tensor.box[*column].bound;
        stride = (shape::cdiv(bound + Dim(panel_width - 1), Dim(panel_width)) + Dim(1)) * Dim(panel_width);
      }
      for (size_t a = local.domain.size(); a-- > 0;) {
        if (a == column) continue;
        tensor.stride[a] = stride;
        stride = stride * tensor.box[a].bound;
      }
      const Dim size(base::elem_bytes(tensor.elem));
      tensor.offset = take((stride + margin) * size) + margin * size;
    }
  }

  std::optional<ContractPlan> contraction_of(uint32_t l) const {
    const auto& local = body_.locals[l];
    if (options_.keep_generic_loops || !local.body.valid() || g_.scalars[local.body].op != Op::reduce)
      return {};
    return plan_contraction(body_, local.body, local.domain, body_.scratch[l].box, !online_with_value(l));
  }

  // ---- stages ----

  Stage stage_of(uint32_t l) {
    Stage stage;
    stage.local = l;
    if (g_.scalars[body_.locals[l].body].op != Op::reduce) return stage;
    stage.kind = Stage::Kind::reduction;
    if (!options_.keep_generic_loops)
      stage.scatter = task::find_scatter(g_, body_.locals[l].body, body_.locals[l].domain);
    if (stage.scatter) stage.kind = Stage::Kind::scatter;
    if (auto plan = contraction_of(l)) {
      stage.kind = Stage::Kind::contract;
      if (!plan->direct_left) {
        place_left(*plan, l);
      }
      stage.contract = *plan;
    }
    return stage;
  }

  /// Where the left operand is staged. Rows, or those of one depth, begin a vector's width apart at least.
  void place_left(ContractPlan& plan, uint32_t l) {
    const auto most = [&](const std::optional<Axis>& axis) {
      return axis ? shape::min(span_for(*axis, l).bound, axis->extent) : Dim(1);
    };
    const Dim rows = most(plan.row), depth = depth_bound(plan, l);
    const Dim across = shape::cdiv(plan.turned ? rows : depth, Dim(16)) * Dim(16) + Dim(plan.turned ? 0 : 16);
    plan.left_row_stride = plan.turned ? Dim(1) : across;
    plan.left_depth_stride = plan.turned ? across : Dim(1);
    plan.left_group_stride = (plan.turned ? depth : rows) * across;
    plan.left_offset =
        take(most(plan.group) * plan.left_group_stride * Dim(base::elem_bytes(plan.accumulator)));
  }

  Span span_for(const Axis& axis, uint32_t l) const {
    const auto& local = body_.locals[l];
    for (size_t a = 0; a < local.domain.size(); ++a)
      if (local.domain[a].var == axis.var) return body_.scratch[l].box[a];
    return {Dim(0), axis.extent, axis.extent};
  }

  Dim depth_bound(const ContractPlan& plan, uint32_t l) const {
    if (const auto* online = online_with_value(l); online && online->key.var == plan.depths.back().var)
      return Dim(online->block);
    Dim all(1);
    for (const Axis& depth : plan.depths) all = all * depth.extent;
    return all;
  }

  void choose_stages() {
    std::map<uint32_t, std::vector<Stage>> inside;  // by the scores that follow
    std::vector<Stage> waiting;
    for (uint32_t l = 0; l < body_.locals.size(); ++l) {
      const auto* plan = online_with_part(l);
      if (plan && l != plan->scores) continue;
      if (!plan) {
        (follows_block_[l] ? waiting : body_.stages).push_back(stage_of(l));
        continue;
      }
      Stage stage;
      stage.kind = Stage::Kind::online;
      stage.local = l;
      for (const auto& shared : onlines_)
        if (shared.get() == plan) stage.online = shared;
      std::vector<Stage> others;
      for (Stage& s : waiting)
        (follows(*plan, s.local) ? stage.online->before : others).push_back(std::move(s));
      waiting = std::move(others);
      for (uint32_t value : plan->values) {
        Stage weighted = stage_of(value);
        if (weighted.contract) weighted.contract->accumulate = true;
        stage.online->after.push_back(std::move(weighted));
      }
      body_.stages.push_back(std::move(stage));
    }
    if (!waiting.empty()) base::bug("module::make_body", "a local follows a block that nothing walks");
  }

  bool follows(const OnlinePlan& plan, uint32_t local) const {
    const auto& box = body_.scratch[local].box;
    return std::any_of(box.begin(), box.end(), [&](const Span& span) {
      return span.low.contains(plan.block_start) || span.end.contains(plan.block_start);
    });
  }

  Graph& g_;
  const EmitOptions options_;
  Body body_;
  std::vector<Fact> facts_;           ///< of sizes, loops and coordinates
  std::vector<Var> kept_, sizes_;     ///< what boxes may mention; what scratch sizes may mention
  std::vector<uint32_t> renumbered_;  ///< node's local -> local
  std::vector<std::shared_ptr<OnlinePlan>> onlines_;
  std::vector<bool> follows_block_;  ///< computed anew for each block of keys
};

}  // namespace

Body make_body(const task::Program& p, const task::TaskType& type, std::shared_ptr<Graph> graph,
               const EmitOptions& options) {
  return BodyBuilder(p, type, std::move(graph), options).run();
}

std::vector<Var> steps_read(const task::Program& p, const task::TaskType& type) {
  std::vector<Var> steps;
  for (const task::Loop& loop : p.loops) {
    const graph::Node& node = p.graph->nodes[loop.node];
    if (!node.condition) continue;
    const Var var = graph::steps_var(node);
    const bool read =
        std::any_of(type.accesses.begin(), type.accesses.end(), [&](const task::Access& access) {
          return std::any_of(access.box.begin(), access.box.end(), [&](const task::Interval& axis) {
            return axis.low.contains(var) || axis.high.contains(var);
          });
        });
    if (read) steps.push_back(var);
  }
  return steps;
}

}  // namespace axon::module
