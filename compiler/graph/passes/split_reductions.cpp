// split_reductions: a long reduction with few results becomes partial results, and their merge by the same
// monoid.
//
// In: fused nodes. Of one whose domain has a few points, known before anything runs, only a few tasks can be
// made, however much each of them reduces. Out: a node with one more axis for every binder of such a
// reduction, the number of the part, and the old node, which reduces what the parts give. The parts have a
// constant length, so that the order of a sum depends on sizes alone, not on how many work on it. What is
// past the end of the last part is masked with the unit. Binders are ordered as memory is read first.
//
// Of an argmax each part has its greatest value, too; an online reduction merges with its own kind (graph.h):
// where part p has the maximum m_p and the sums l_p and a_p, the whole has the maximum of m_p, and the sums
// of B^(m_p - m) * l_p and of B^(m_p - m) * a_p.
#include <algorithm>
#include <limits>
#include <list>
#include <map>
#include <set>
#include <utility>

#include "graph/clamp.h"
#include "graph/dynamic_sizes.h"
#include "graph/passes/edit.h"
#include "graph/passes/passes.h"
#include "graph/prefix.h"

namespace axon::graph {

namespace {

/// More results than these are tasks enough.
constexpr int64_t few_results = 64;

/// Is the number of points constant and small?
bool has_few_points(const std::vector<Axis>& domain) {
  int64_t points = 1;
  for (const Axis& a : domain) {
    const auto extent = a.extent.constant();
    if (!extent || *extent > few_results) return false;
    points *= *extent;
    if (points > few_results) return false;
  }
  return true;
}

std::vector<Dim> extents_of(const std::vector<Axis>& axes) {
  std::vector<Dim> extents;
  for (const Axis& a : axes) extents.push_back(a.extent);
  return extents;
}

/// Narrow floats are not rounded before the parts are merged.
Elem type_of_parts(Elem e) { return base::is_float(e) ? base::accumulator(e) : e; }

/// The node with the partial results of reductions over one domain that go over binders of the same extents.
class Partial {
 public:
  Partial(Graph& g, const std::vector<Axis>& domain, const std::vector<Axis>& binders, PartLengths lengths)
      : g_(g), domain_(domain), extents_(extents_of(binders)) {
    node_.domain = edit::fresh_axes(domain, renamed_);
    for (size_t b = 0; b < binders.size(); ++b) {
      lengths_.push_back(b + 1 == binders.size() ? lengths.last : lengths.outer);
      node_.domain.push_back({shape::fresh_var("part"), shape::cdiv(extents_[b], Dim(lengths_[b]))});
    }
  }

  bool suits(const std::vector<Axis>& domain, const std::vector<Axis>& binders) const {
    return extents_of(domain) == extents_of(domain_) && extents_of(binders) == extents_;
  }

  /// Adds what the parts of a reduction over `domain` give.
  void add(const std::vector<Axis>& domain, ScalarId reduction) {
    if (first_.contains(reduction)) return;
    first_[reduction] = static_cast<uint32_t>(node_.outputs.size());
    for (ScalarId body : bodies_of(part_of(domain, g_.scalars[reduction]))) {
      const TensorType type = {g_.scalars[body].elem, extents_of(node_.domain)};
      node_.types.push_back(type);
      node_.outputs.push_back({type, body, std::nullopt, identity_map(node_.domain)});
    }
  }

  /// Puts the node before the one that has the reductions, which are then those of partial results.
  void move_out_of(NodeId user) {
    id_ = edit::insert_before(g_, user, node_);
    Node& node = g_.nodes[user];
    old_locals_ = static_cast<uint32_t>(node.locals.size());
    edit::each_body(node,
                    [&](ScalarId& body, const std::vector<Axis>& domain) { body = merged(domain, body); });
    edit::put_locals_first(g_, user, locals_);
  }

 private:
  /// The body with those of its reductions that have been added as reductions of partial results.
  ScalarId merged(const std::vector<Axis>& domain, ScalarId body) {
    return edit::rebuild(g_, body, [&](Scalar s) {
      if (s.op == Op::proj && merges_.contains(s.args[0])) {
        if (s.component > 0) ++s.component;
        const Elem elem = std::exchange(s.elem, g_.scalars[s.args[0]].elem);
        return converted(domain, make_scalar(g_, std::move(s)), elem);
      }
      if (!binds(s.op)) return make_scalar(g_, std::move(s));
      const ScalarId before = make_scalar(g_, s);
      if (!first_.contains(before)) return before;
      if (s.op == Op::reduce && s.monoid == Monoid::argmax) return position(domain, before);
      const Elem elem = s.elem;
      const bool of_one = s.op == Op::reduce;
      const ScalarId now = merge(domain, std::move(s), first_.at(before));
      return of_one ? converted(domain, now, elem) : now;
    });
  }

  /// The reduction in the type that it had: narrow floats are rounded once, at the end. A reduction stands at
  /// the root of a body, so one that is rounded needs a local.
  ScalarId converted(const std::vector<Axis>& domain, ScalarId reduction, Elem elem) {
    return g_.scalars[reduction].elem == elem ? reduction : cast(g_, elem, in_a_local(domain, reduction));
  }

  /// A load of a new local that holds what `body` is over the domain.
  ScalarId in_a_local(const std::vector<Axis>& domain, ScalarId body) {
    edit::Renaming renaming;
    std::vector<Axis> own = edit::fresh_axes(domain, renaming);
    const Elem elem = g_.scalars[body].elem;
    std::vector<ScalarId> at;
    for (const Axis& a : domain) at.push_back(index_of(g_, Dim(a.var)));
    const auto number = old_locals_ + static_cast<uint32_t>(locals_.size());
    locals_.push_back({"whole", elem, std::move(own), edit::rename(g_, body, renaming)});
    return load(g_, local_value(number), at, elem);
  }

  size_t parts() const { return lengths_.size(); }
  const Axis& part(size_t b) const { return node_.domain[node_.domain.size() - parts() + b]; }

  /// The reduction over the elements of a part, with what it leaves out masked.
  Scalar part_of(const std::vector<Axis>& domain, Scalar s) {
    shape::Substitution at;
    for (size_t a = 0; a < domain.size(); ++a) at[domain[a].var] = Dim(node_.domain[a].var);
    ScalarId inside;
    for (size_t b = 0; b < parts(); ++b) {
      Axis& binder = s.binders[b];
      const Axis local = {shape::fresh_var(shape::var_name(binder.var)), Dim(lengths_[b])};
      const Dim position = Dim(part(b).var) * Dim(lengths_[b]) + Dim(local.var);
      const ScalarId exists = apply(g_, Op::lt, {index_of(g_, position), index_of(g_, extents_[b])});
      inside = inside.valid() ? apply(g_, Op::and_, {inside, exists}) : exists;
      at[binder.var] = position;
      binder = local;
    }
    std::vector<Fact> facts = g_.facts;
    for (const Axis& a : node_.domain) add_range(facts, a);
    for (const Axis& b : s.binders) add_range(facts, b);
    const bool of_argmax = s.op == Op::reduce && s.monoid == Monoid::argmax;
    if (!of_argmax) s.elem = type_of_parts(s.elem);
    for (ScalarId& arg : s.args) {
      const auto safe = [&](ScalarId l) { return clamped_load(g_, l, facts); };
      arg = rewrite_loads(g_, substitute(g_, arg, at), safe);
      if (!of_argmax) arg = cast(g_, s.elem, arg);
    }
    const Monoid monoid = s.op == Op::online || of_argmax ? Monoid::max : s.monoid;
    const ScalarId unit = unit_of(g_, monoid, g_.scalars[s.args[0]].elem);
    s.args[0] = apply(g_, Op::select, {inside, s.args[0], unit});
    return s;
  }

  /// One body per value that merging needs.
  std::vector<ScalarId> bodies_of(Scalar s) {
    if (s.op == Op::online) {
      s.or_zero = true;  // a part that is masked altogether counts nothing
      const size_t components = s.args.size() + 1;
      const Elem elem = s.elem;
      const ScalarId online = make_scalar(g_, std::move(s));
      std::vector<ScalarId> bodies;
      for (uint32_t c = 0; c < components; ++c) bodies.push_back(edit::projection(g_, elem, c, online));
      return bodies;
    }
    if (s.monoid != Monoid::argmax) return {make_scalar(g_, std::move(s))};
    const ScalarId greatest = reduce(g_, Monoid::max, s.binders, s.args[0]);
    return {make_scalar(g_, std::move(s)), greatest};
  }

  /// The results of the parts at the point of the domain, and binders over the parts.
  std::pair<std::vector<ScalarId>, std::vector<Axis>> all_parts(const std::vector<Axis>& domain) {
    std::vector<ScalarId> at;
    std::vector<Axis> binders;
    for (const Axis& a : domain) at.push_back(index_of(g_, Dim(a.var)));
    for (size_t b = 0; b < parts(); ++b) {
      binders.push_back({shape::fresh_var("part"), part(b).extent});
      at.push_back(index_of(g_, Dim(binders[b].var)));
    }
    return {at, binders};
  }

  /// The reduction of what the parts give, from that output on.
  ScalarId merge(const std::vector<Axis>& domain, Scalar s, uint32_t first) {
    auto [at, binders] = all_parts(domain);
    const auto components = static_cast<uint32_t>(s.op == Op::online ? s.args.size() + 1 : 1);
    s.binders = std::move(binders);
    s.args.clear();
    s.elem = type_of_parts(s.elem);
    for (uint32_t c = 0; c < components; ++c) s.args.push_back(result(first + c, at));
    const ScalarId merged = make_scalar(g_, std::move(s));
    merges_.insert(merged);
    return merged;
  }

  ScalarId result(uint32_t output, const std::vector<ScalarId>& at) {
    return load(g_, {id_, output}, at, node_.types[output].elem);
  }

  /// Where an argmax is: in the part with the greatest value, the first one of several.
  ScalarId position(const std::vector<Axis>& domain, ScalarId argmax) {
    auto [at, binders] = all_parts(domain);
    const ScalarId greatest = result(first_.at(argmax) + 1, at);
    at.back() = in_a_local(domain, reduce(g_, Monoid::argmax, binders, greatest));
    std::vector<Fact> facts = g_.facts;
    for (const Axis& a : domain) add_range(facts, a);
    const ScalarId begin = apply(g_, Op::mul, {at.back(), constant_int(g_, Elem::i64, lengths_[0])});
    const ScalarId inside = clamped_load(g_, result(first_.at(argmax), at), facts);
    return apply(g_, Op::add, {begin, inside});
  }

  Graph& g_;
  std::vector<Axis> domain_;  ///< of the first reduction
  std::vector<Dim> extents_;  ///< of the binders
  edit::Renaming renamed_;
  std::vector<int64_t> lengths_;
  Node node_;
  NodeId id_;                           ///< once it is in the graph
  std::map<ScalarId, uint32_t> first_;  ///< by reduction: its first output
  uint32_t old_locals_ = 0;             ///< of the node that has had the reductions
  std::vector<Local> locals_;           ///< that it needs besides
  std::set<ScalarId> merges_;           ///< reductions of partial results
};

/// May it be longer than a part, and can it have parts? They are as many in every iteration of a loop, and
/// read nothing that only the node has.
bool is_long(const Graph& g, ScalarId reduction, PartLengths lengths) {
  const Scalar& s = g.scalars[reduction];
  const auto fits = [&](const Axis& b) {
    const auto extent = b.extent.constant();
    return extent && *extent <= (&b == &s.binders.back() ? lengths.last : lengths.outer);
  };
  const auto is_fixed = [&](const Axis& b) { return edit::is_over_sizes(g, b.extent); };
  const auto loads = loads_in(g, reduction);
  return std::all_of(s.binders.begin(), s.binders.end(), is_fixed) &&
         !std::all_of(s.binders.begin(), s.binders.end(), fits) &&
         std::none_of(loads.begin(), loads.end(), [&](ScalarId l) { return g.scalars[l].target.is_local(); });
}

void split(Graph& g, NodeId id, PartLengths lengths) {
  std::list<Partial> partials;
  edit::each_body(g.nodes[id], [&](ScalarId body, const std::vector<Axis>& domain) {
    for (ScalarId reduction : edit::binders_in(g, body)) {
      if (!is_long(g, reduction, lengths)) continue;
      const std::vector<Axis> binders = g.scalars[reduction].binders;
      auto partial = std::find_if(partials.begin(), partials.end(),
                                  [&](const Partial& p) { return p.suits(domain, binders); });
      if (partial == partials.end()) partial = partials.emplace(partial, g, domain, binders, lengths);
      partial->add(domain, reduction);
    }
  });
  for (Partial& partial : partials) partial.move_out_of(id);
}

/// How far apart elements are along the binder, in any load of the body: 0 where the last index moves with
/// it, 1 where the last but one does, ..
size_t distance_along(const Graph& g, ScalarId body, const Axis& binder) {
  size_t least = std::numeric_limits<size_t>::max();
  for (ScalarId load : loads_in(g, body)) {
    const std::vector<ScalarId>& indices = g.scalars[load].args;
    for (size_t a = 0; a < indices.size(); ++a)
      if (const auto index = affine_index(g, indices[a]); index && index->contains(binder.var))
        least = std::min(least, indices.size() - 1 - a);
  }
  return least;
}

/// Orders the binders of reductions as memory is read, so that parts are long where elements lie together.
/// Positions of an argmax count in the order of its binders.
void order_binders(Graph& g, Node& node) {
  edit::each_body(node, [&](ScalarId& body, const auto&) {
    body = edit::rebuild(g, body, [&](Scalar s) {
      if (s.op == Op::reduce && s.monoid != Monoid::argmax)
        std::stable_sort(s.binders.begin(), s.binders.end(), [&](const Axis& a, const Axis& b) {
          return distance_along(g, s.args[0], a) > distance_along(g, s.args[0], b);
        });
      return make_scalar(g, std::move(s));
    });
  });
}

}  // namespace

void split_reductions(Graph& g, PartLengths lengths) {
  for (NodeId id : all_nodes(g)) {
    const Node& node = g.nodes[id];
    bool few = node.op == NodeOp::compute && has_few_points(node.domain);
    for (const Local& local : node.locals) few = few && has_few_points(local.domain);
    if (!few || goes_through_rows(g, node)) continue;
    order_binders(g, g.nodes[id]);
    split(g, id, lengths);
  }
}

}  // namespace axon::graph
