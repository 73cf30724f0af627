// See scatter.h.
#include "task/scatter.h"

#include <algorithm>
#include <set>

#include "base/contains.h"

namespace axon::task {

using graph::Axis;
using graph::Elem;
using graph::Graph;
using graph::Monoid;
using graph::Op;
using graph::Scalar;
using graph::ScalarId;
using graph::Var;
using shape::Dim;

namespace {

/// What must hold for a truth value to be true, from left to right, each condition once.
void add_conjuncts(const Graph& g, ScalarId root, std::vector<ScalarId>& out) {
  std::set<ScalarId> seen(out.begin(), out.end());
  std::vector<ScalarId> stack{root};
  while (!stack.empty()) {
    const ScalarId id = stack.back();
    stack.pop_back();
    if (!seen.insert(id).second) continue;
    const Scalar& s = g.scalars[id];
    if (s.op == Op::and_ || (s.op == Op::select && graph::is_unit(g, s.args[2], Monoid::any)))
      stack.insert(stack.end(), {s.args[1], s.args[0]});
    else
      out.push_back(id);
  }
}

/// What must hold for a term of the reduction to be anything but the unit.
void add_conditions(const Graph& g, ScalarId term, Monoid monoid, std::vector<ScalarId>& out) {
  const Scalar& s = g.scalars[term];
  if (monoid == Monoid::any && s.op != Op::select) return add_conjuncts(g, term, out);
  if (monoid == Monoid::sum && s.op == Op::cast) {
    if (g.scalars[s.args[0]].elem == Elem::boolean) return add_conjuncts(g, s.args[0], out);
    return add_conditions(g, s.args[0], monoid, out);
  }
  if (s.op != Op::select || !graph::is_unit(g, s.args[2], monoid)) return;
  add_conjuncts(g, s.args[0], out);
  add_conditions(g, s.args[1], monoid, out);
}

/// Can it be evaluated for all values of its variables, whatever guards it where it stands?
bool is_total(const Graph& g, ScalarId root, const std::vector<Axis>& ranges) {
  const auto all = graph::scalars_in(g, root);
  return std::all_of(all.begin(), all.end(), [&](ScalarId id) {
    const Scalar& s = g.scalars[id];
    if (s.op == Op::bounded || s.op == Op::require || binds(s.op)) return false;
    if (s.op != Op::load) return true;
    if (s.target.is_local()) return false;
    const auto& shape = g.type(s.target).shape;
    for (size_t a = 0; a < s.args.size(); ++a) {
      const auto index = graph::affine_index(g, s.args[a]);
      const bool in_range = index && std::any_of(ranges.begin(), ranges.end(), [&](const Axis& axis) {
                              return *index == Dim(axis.var) && axis.extent == shape[a];
                            });
      if (!in_range) return false;
    }
    return true;
  });
}

class Finder {
 public:
  Finder(const Graph& g, const Scalar& reduce, const std::vector<Axis>& domain)
      : g_(g), domain_(domain), ranges_(domain) {
    ranges_.insert(ranges_.end(), reduce.binders.begin(), reduce.binders.end());
  }

  std::optional<Scatter> run(const std::vector<ScalarId>& conditions) {
    for (size_t c = 0; c < conditions.size(); ++c) {
      const Scalar& s = g_.scalars[conditions[c]];
      if (s.op != Op::eq) continue;
      // A condition that stands before another may guard its reads.
      const bool first = c == 0;
      if (solve(s.args[0], s.args[1], first) || solve(s.args[1], s.args[0], first))
        found_.indices.back().equation = conditions[c];
    }
    if (found_.indices.empty()) return std::nullopt;
    for (uint32_t a = 0; a < domain_.size(); ++a)
      if (!found_.is_indexed(a) && !base::contains(found_.outer, a)) found_.inner.push_back(a);
    return found_;
  }

 private:
  /// Solves index == value for a domain axis that stands in `index` once, as it is or negated.
  bool solve(ScalarId index, ScalarId value, bool first) {
    const auto dim = graph::affine_index(g_, index);
    if (!dim || base::is_float(g_.scalars[value].elem)) return false;
    if (!first && !is_total(g_, value, ranges_)) return false;
    for (uint32_t a = 0; a < domain_.size(); ++a) {
      if (found_.is_indexed(a) || base::contains(found_.outer, a)) continue;
      const auto by = dim->linear_in(domain_[a].var);
      if (!by || !(by->first.is(1) || by->first.is(-1))) continue;
      if (depends_on(g_, value, domain_[a].var)) continue;
      add({a, value, by->second, by->first.is(-1), {}});
      return true;
    }
    return false;
  }

  void add(ScatterIndex index) {
    for (uint32_t a = 0; a < domain_.size(); ++a) {
      const Var var = domain_[a].var;
      const bool mentioned = depends_on(g_, index.value, var) || index.rest.contains(var);
      if (mentioned && !found_.is_indexed(a) && !base::contains(found_.outer, a)) found_.outer.push_back(a);
    }
    found_.indices.push_back(std::move(index));
  }

  const Graph& g_;
  const std::vector<Axis>& domain_;
  std::vector<Axis> ranges_;  ///< of everything that a condition may mention
  Scatter found_;
};

}  // namespace

bool Scatter::is_indexed(uint32_t axis) const {
  return std::any_of(indices.begin(), indices.end(), [&](const ScatterIndex& d) { return d.axis == axis; });
}

std::optional<Scatter> find_scatter(const Graph& g, ScalarId body, const std::vector<Axis>& domain) {
  const Scalar& reduce = g.scalars[body];
  if (reduce.op != Op::reduce || reduce.monoid == Monoid::argmax) return std::nullopt;
  std::vector<ScalarId> conditions;
  add_conditions(g, reduce.args[0], reduce.monoid, conditions);
  return Finder(g, reduce, domain).run(conditions);
}

}  // namespace axon::task
