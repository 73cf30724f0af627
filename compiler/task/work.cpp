// See work.h.
#include "task/work.h"

#include <set>

#include "graph/binder_range.h"
#include "task/scatter.h"
#include "task/tiling/tiling.h"

namespace axon::task {

namespace {

using graph::Axis;
using graph::Dim;
using graph::Graph;
using graph::Node;
using graph::Op;
using graph::Scalar;
using graph::ScalarId;
using graph::Var;

/// What counts besides points and steps.
struct Rates {
  int64_t task, key, sorted;
  bool masked_reductions;  ///< steps that a mask rules out count of no reduction; else of online ones only
};
constexpr Rates of_work = {64, 4, 64, false}, of_arithmetic = {0, 1, 0, true};

class Estimate {
 public:
  using Length = std::function<Dim(uint32_t axis)>;

  /// Bounded keys are those of the points in `tile`.
  Estimate(const Graph& g, const Node& node, const std::function<Part(uint32_t)>& tile, const Rates& rates)
      : g_(g), node_(node), axes_(g, node), tile_(tile), rates_(rates) {
    for (const graph::Output& output : node.outputs) add_keys(output.body);
  }

  /// Of as much of the domain as `length_of` says.
  Dim run(const Length& length_of) const {
    Dim work(rates_.task);
    if (const Scalar* order = computed_order(g_, node_)) return work + sorting(*order, length_of);
    if (prefix_reduction(g_, node_)) return work + folding(length_of);
    std::set<ScalarId> counted;
    for (const graph::Output& output : node_.outputs)
      work = work + body(output.body, node_.domain, length_of, counted);
    for (uint32_t l = 0; l < node_.locals.size(); ++l) {
      const graph::Local& local = node_.locals[l];
      const auto length = [&](uint32_t axis) { return length_of_local(l, axis, length_of); };
      work = work + body(local.body, local.domain, length, counted);
    }
    return work;
  }

 private:
  /// Every row looks at its keys, and sorts as many as it keeps.
  Dim sorting(const Scalar& order, const Length& length_of) const {
    const auto kept = static_cast<uint32_t>(node_.domain.size() - 1);
    Dim work = Dim(rates_.key) * order.binders[0].extent + Dim(rates_.sorted) * length_of(kept);
    for (uint32_t a = 0; a < kept; ++a) work = work * length_of(a);
    return work;
  }

  /// Each element of a row folds one more term.
  Dim folding(const Length& length_of) const {
    Dim points(1);
    for (uint32_t a = 0; a < node_.domain.size(); ++a) points = points * length_of(a);
    return points + points;
  }

  /// Every point of the domain folds all points of the binders, unless they have been counted; where the
  /// reduction scatters, those points find the elements that they count for.
  Dim body(ScalarId id, const std::vector<Axis>& domain, const Length& length_of,
           std::set<ScalarId>& counted) const {
    Dim points(1), searched = binders_of(id, counted);
    const auto scatter = find_scatter(g_, id, domain);
    for (uint32_t a = 0; a < domain.size(); ++a) {
      points = points * length_of(a);
      if (!scatter || !scatter->is_indexed(a)) searched = searched * length_of(a);
    }
    return scatter ? searched + points : searched;
  }

  /// Product of the extents that the reductions of a body run over, each reduction once.
  Dim binders_of(ScalarId id, std::set<ScalarId>& counted) const {
    Dim product(1);
    for (ScalarId part : scalars_in(g_, id)) {
      if (!binds(g_.scalars[part].op) || !counted.insert(part).second) continue;
      for (const Axis& b : g_.scalars[part].binders) {
        const auto keys = keys_.find(b.var);
        product = product * (keys == keys_.end() ? b.extent : keys->second);
      }
    }
    return product;
  }

  Dim length_of_local(uint32_t local, uint32_t axis, const Length& length_of) const {
    const auto keys = local_keys_.find({local, axis});
    if (keys != local_keys_.end()) return keys->second;
    const auto& axes = axes_.of(local, axis);
    return axes.size() == 1 ? length_of(*axes.begin()) : node_.locals[local].domain[axis].extent;
  }

  /// The keys that bounded online reductions of an output walk, and the axes of locals that follow them.
  void add_keys(ScalarId output) {
    for (ScalarId part : scalars_in(g_, output)) {
      const Scalar& online = g_.scalars[part];
      if (rates_.masked_reductions && online.op == Op::reduce) add_steps(online);
      if (online.op != Op::online) continue;
      graph::BinderRange range = binder_range(g_, online, online.binders.size() - 1);
      add_integers(range);
      if (range.low.empty() && range.end.empty()) continue;
      const Axis& key = online.binders.back();
      const size_t last = online.binders.size() - 1;
      const Dim keys = keys_.emplace(key.var, keys_of(range, online.binders, last)).first->second;
      for (ScalarId arg : online.args)
        for (ScalarId l : loads_in(g_, arg)) {
          const Scalar& load = g_.scalars[l];
          for (uint32_t a = 0; load.target.is_local() && a < load.args.size(); ++a)
            if (affine_index(g_, load.args[a]) == Dim(key.var))
              local_keys_.emplace(std::pair{load.target.output, a}, keys);
        }
    }
  }

  /// The steps that masks leave of a reduction.
  void add_steps(const Scalar& reduction) {
    for (size_t b = 0; b < reduction.binders.size(); ++b) {
      const graph::BinderRange range = binder_range(g_, reduction, b);
      if (!range.low.empty() || !range.end.empty())
        keys_.emplace(reduction.binders[b].var, keys_of(range, reduction.binders, b));
    }
  }

  /// What integers of the entry decide is estimated, too: for most of them it can be computed.
  void add_integers(graph::BinderRange& range) const {
    const auto add = [&](const std::vector<graph::BinderRange::Data>& from, std::vector<Dim>& to) {
      for (const auto& data : from)
        if (const auto value = affine_index(g_, data.value))
          to.push_back(data.subtracted ? data.plus - *value : data.plus + *value);
    };
    add(range.low_by_data, range.low);
    add(range.end_by_data, range.end);
  }

  /// From the first key of any row of the tile to the last, for points of the other binders that lie in their
  /// middle.
  Dim keys_of(const graph::BinderRange& range, const std::vector<Axis>& binders, size_t key) const {
    shape::Substitution first, last;
    for (size_t b = 0; b < binders.size(); ++b)
      if (b != key)
        first[binders[b].var] = last[binders[b].var] = shape::floor_div(binders[b].extent, Dim(2));
    for (uint32_t a = 0; a < node_.domain.size(); ++a) {
      const Part part = tile_(a);
      first[node_.domain[a].var] = part.begin;
      last[node_.domain[a].var] = part.begin + part.length - Dim(1);
    }
    Dim low(0), end = binders[key].extent;
    for (const Dim& d : range.low) low = shape::max(low, shape::min(d.substitute(first), d.substitute(last)));
    for (const Dim& d : range.end) end = shape::min(end, shape::max(d.substitute(first), d.substitute(last)));
    return shape::max(Dim(0), end - low);
  }

  const Graph& g_;
  const Node& node_;
  const LocalAxes axes_;
  const std::function<Part(uint32_t)>& tile_;
  const Rates& rates_;
  std::map<Var, Dim> keys_;                                  ///< by binder
  std::map<std::pair<uint32_t, uint32_t>, Dim> local_keys_;  ///< by local and axis
};

}  // namespace

Work work_of(const Graph& g, const Node& node, const std::function<Part(uint32_t)>& tile) {
  const auto in_the_middle = [&](uint32_t axis) -> Part {
    const Dim length = tile(axis).length;
    return {shape::floor_div(node.domain[axis].extent - length, Dim(2)), length};
  };
  return {
      Estimate(g, node, tile, of_work).run([&](uint32_t axis) { return tile(axis).length; }),
      Estimate(g, node, in_the_middle, of_work).run([&](uint32_t axis) { return node.domain[axis].extent; })};
}

Dim arithmetic_of(const Graph& g, const Node& node) {
  if (node.packs) return Dim(0);
  const std::function<Part(uint32_t)> the_middle = [&](uint32_t axis) -> Part {
    return {shape::floor_div(node.domain[axis].extent - Dim(1), Dim(2)), Dim(1)};
  };
  return Estimate(g, node, the_middle, of_arithmetic).run([&](uint32_t axis) {
    return node.domain[axis].extent;
  });
}

}  // namespace axon::task
