// split_attention: attention of a few queries to many keys becomes that to parts of the keys, and their
// merge.
//
// In: fused nodes. Of an online reduction with weighted sums, whose results are few where its keys are many,
// few tasks can be made, however many keys there are. Out: a node of parts, with the number of the part as
// its first axis, one of the keys that are left after the last part, and the old node, which merges what they
// give. A part has a constant number of keys. How many parts there are follows from sizes alone, so that the
// order of sums does not depend on how many work on them: there are none where results are many, and one
// program serves all sizes. Nothing is masked: both nodes are the same attention to fewer keys.
//
// Where half x has the maximum m_x and the sums l_x and a_x (graph.h), the whole has the maximum m of both,
// and the sums of B^(m_x - m) * l_x and of B^(m_x - m) * a_x.
#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "graph/binder_range.h"
#include "graph/clamp.h"
#include "graph/dynamic_sizes.h"
#include "graph/passes/edit.h"
#include "graph/passes/passes.h"

namespace axon::graph {

namespace {

std::vector<ScalarId> at_axes(Graph& g, const std::vector<Axis>& axes) {
  std::vector<ScalarId> at;
  for (const Axis& a : axes) at.push_back(index_of(g, Dim(a.var)));
  return at;
}

/// The axis of a local that a load of it runs along with the variable; nullopt when none does.
std::optional<size_t> axis_along(const Graph& g, ScalarId load, Var var) {
  const std::vector<ScalarId>& at = g.scalars[load].args;
  for (size_t a = 0; a < at.size(); ++a)
    if (depends_on(g, at[a], var)) return a;
  return std::nullopt;
}

/// Can the keys of what reads locals be cut? A local that has an element per key is read at that key, and
/// computes it without other locals that have.
bool are_cut_alike(const Graph& g, const Node& node, ScalarId body, const Axis& key) {
  const auto loads = loads_in(g, body);
  return std::all_of(loads.begin(), loads.end(), [&](ScalarId l) {
    const Scalar& s = g.scalars[l];
    if (!s.target.is_local()) return true;
    const auto axis = axis_along(g, l, key.var);
    if (!axis) return true;
    const Local& local = node.locals[s.target.output];
    const auto inner = loads_in(g, local.body);
    return affine_index(g, s.args[*axis]) == Dim(key.var) && local.domain[*axis].extent == key.extent &&
           std::count_if(s.args.begin(), s.args.end(),
                         [&](ScalarId a) { return depends_on(g, a, key.var); }) == 1 &&
           std::none_of(inner.begin(), inner.end(), [&](ScalarId i) {
             return g.scalars[i].target.is_local() && axis_along(g, i, local.domain[*axis].var);
           });
  });
}

/// Online reductions of a node over some of their keys, and the locals that they need.
class SomeKeys {
 public:
  /// The keys from `begin` on, `depth` of them. Where there are parts, `begin` is over their axis. The first
  /// of the locals has the number `first_local`.
  SomeKeys(Graph& g, const Node& node, std::vector<Axis> part, Dim begin, Dim depth, uint32_t first_local)
      : g_(g),
        node_(node),
        part_(std::move(part)),
        begin_(std::move(begin)),
        depth_(std::move(depth)),
        first_local_(first_local) {}

  /// The reduction over these keys; the variables of its domain become what `at` says.
  ScalarId reduce(Scalar online, const shape::Substitution& at) {
    const Axis key = online.binders[0];
    const Axis cut = {shape::fresh_var(shape::var_name(key.var)), depth_};
    online.binders = {cut};
    online.or_zero = true;  // keys that are all masked count nothing
    online.elem = base::accumulator(online.elem);
    for (ScalarId& arg : online.args) arg = cast(g_, online.elem, moved(arg, at, key.var, cut.var, part_));
    return make_scalar(g_, std::move(online));
  }

  const std::vector<Local>& locals() const { return locals_; }

 private:
  /// The expression at key `cut` among these keys instead of at `key`, with the rest replaced as `at` says.
  ScalarId moved(ScalarId body, shape::Substitution at, Var key, Var cut, const std::vector<Axis>& part) {
    const ScalarId read = rewrite_loads(g_, body, [&](ScalarId l) {
      Scalar s = g_.scalars[l];
      if (!s.target.is_local()) return l;
      const auto axis = axis_along(g_, l, key);
      s.target = local_value(copy_of(s.target.output, axis));
      if (axis) {
        s.args[*axis] = index_of(g_, Dim(cut));
        const std::vector<ScalarId> number = at_axes(g_, part);
        s.args.insert(s.args.begin(), number.begin(), number.end());
      }
      return make_scalar(g_, std::move(s));
    });
    Dim begin = begin_;
    if (!part.empty()) begin = begin.substitute({{part_[0].var, Dim(part[0].var)}});
    at[key] = begin + Dim(cut);
    return substitute(g_, read, at);
  }

  /// The number that a local has here; `axis` is the one that has an element per key.
  uint32_t copy_of(uint32_t number, std::optional<size_t> axis) {
    if (const auto known = copies_.find({number, axis}); known != copies_.end()) return known->second;
    Local local = node_.locals[number];
    edit::Renaming renaming, of_part;
    const std::vector<Axis> old = local.domain;
    local.domain = edit::fresh_axes(old, renaming);
    const std::vector<Axis> part = axis ? edit::fresh_axes(part_, of_part) : std::vector<Axis>{};
    shape::Substitution at = edit::as_substitution(renaming);
    // A variable that nothing mentions stands for the key of a local that has none.
    const Var none = shape::fresh_var("none");
    const Var key = axis ? old[*axis].var : none, cut = axis ? local.domain[*axis].var : none;
    if (axis) local.domain[*axis].extent = depth_;
    local.body = moved(local.body, at, key, cut, part);
    local.domain.insert(local.domain.begin(), part.begin(), part.end());
    locals_.push_back(std::move(local));
    return copies_[{number, axis}] = first_local_ + static_cast<uint32_t>(locals_.size() - 1);
  }

  Graph& g_;
  const Node& node_;
  const std::vector<Axis> part_;
  const Dim begin_, depth_;
  const uint32_t first_local_;
  std::vector<Local> locals_;
  std::map<std::pair<uint32_t, std::optional<size_t>>, uint32_t> copies_;
};

/// Which axes of the domain only the values depend on, not the scores.
std::vector<bool> columns_of(const Graph& g, const std::vector<Axis>& domain, const Scalar& online) {
  std::vector<bool> columns;
  for (const Axis& a : domain) columns.push_back(!depends_on(g, online.args[0], a.var));
  return columns;
}

/// A reduction over the keys that are left, merged with what the parts give, which is in locals.
class Merge {
 public:
  /// `rest` is the reduction over the keys that are left, `parts` the node of the `count` parts. The first of
  /// the locals has the number `first_local`.
  Merge(Graph& g, const std::vector<Axis>& domain, const Scalar& online, ScalarId rest, NodeId parts,
        Dim count, uint32_t first_local)
      : g_(g),
        domain_(domain),
        online_(online),
        elem_(base::accumulator(online.elem)),
        parts_id_(parts),
        count_(std::move(count)),
        first_local_(first_local),
        columns_(columns_of(g, domain, online)) {
    add_local("maximum", 0);
    for (uint32_t c = 1; c <= online_.args.size(); ++c) add_local("sum", c);
    for (uint32_t c = 0; c < locals_.size(); ++c) {
      parts_.push_back(of_parts(c, domain_));
      rest_.push_back(edit::projection(g_, elem_, c, rest));
    }
    maximum_ = apply(g_, Op::max, {parts_[0], rest_[0]});
    weights_ = weights(parts_[0], rest_[0]);
  }

  const std::vector<Local>& locals() const { return locals_; }

  /// A component of the reduction.
  ScalarId component(uint32_t c) const {
    if (c == 0) return cast(g_, online_.elem, maximum_);
    const ScalarId of_parts = apply(g_, Op::mul, {parts_[c], weights_.first});
    const ScalarId of_rest = apply(g_, Op::mul, {rest_[c], weights_.second});
    const ScalarId sum = apply(g_, Op::add, {of_parts, of_rest});
    if (online_.or_zero) return cast(g_, online_.elem, sum);
    // Without `or_zero`, where there are keys but none counts.
    const ScalarId keys = index_of(g_, online_.binders[0].extent);
    const ScalarId some = apply(g_, Op::lt, {constant_int(g_, Elem::i64, 0), keys});
    const ScalarId nan = constant_float(g_, elem_, std::numeric_limits<double>::quiet_NaN());
    const ScalarId none = apply(g_, Op::and_, {is_none(maximum_), some});
    return cast(g_, online_.elem, apply(g_, Op::select, {none, nan, sum}));
  }

 private:
  /// Has what has that maximum no key that counts?
  ScalarId is_none(ScalarId maximum) const {
    const ScalarId least = constant_float(g_, elem_, -std::numeric_limits<double>::infinity());
    return apply(g_, Op::eq, {maximum, least});
  }

  /// The factor of sums over keys that have their own maximum, among keys with the maximum `of_all`.
  ScalarId weight(ScalarId own, ScalarId of_all) const {
    const ScalarId distance = apply(g_, Op::sub, {own, of_all});
    return apply(g_, Op::select, {is_none(own), constant_float(g_, elem_, 0), power(distance)});
  }

  ScalarId power(ScalarId distance) const {
    const ScalarId scale = constant_float(g_, elem_, online_.scale);
    return apply(g_, online_.base2 ? Op::exp2 : Op::exp, {apply(g_, Op::mul, {scale, distance})});
  }

  /// The same factors for two that have these maxima: the greater one's is 1.
  std::pair<ScalarId, ScalarId> weights(ScalarId a, ScalarId b) const {
    const ScalarId one = constant_float(g_, elem_, 1), zero = constant_float(g_, elem_, 0);
    const ScalarId distance = apply(g_, Op::sub, {a, b});
    const ScalarId less = power(apply(g_, Op::neg, {apply(g_, Op::abs, {distance})}));
    const ScalarId below = apply(g_, Op::lt, {distance, zero});
    const ScalarId no_a = is_none(a), no_b = is_none(b);
    const auto of = [&](ScalarId none, ScalarId other_is_none, ScalarId rest) {
      return apply(g_, Op::select, {none, zero, apply(g_, Op::select, {other_is_none, one, rest})});
    };
    return {of(no_a, no_b, apply(g_, Op::select, {below, less, one})),
            of(no_b, no_a, apply(g_, Op::select, {below, one, less}))};
  }

  /// Component `c` of the parts at the point; along axes that are columns of the values alone the first one
  /// stands for all, where it is not a sum of values.
  ScalarId of_part(uint32_t c, Var part, const std::vector<Axis>& point) {
    std::vector<ScalarId> at = {index_of(g_, Dim(part))};
    for (size_t a = 0; a < domain_.size(); ++a)
      at.push_back(index_of(g_, c < 2 && columns_[a] ? Dim(0) : Dim(point[a].var)));
    std::vector<Fact> facts = g_.facts;
    for (const Axis& a : point) add_range(facts, a);
    add_range(facts, {part, count_});
    return clamped_load(g_, load(g_, {parts_id_, c}, at, elem_), facts);
  }

  /// Component `c` of all parts together, at a point of the domain.
  ScalarId of_parts(uint32_t c, const std::vector<Axis>& point) {
    std::vector<ScalarId> at;
    for (size_t a = 0; a < domain_.size(); ++a)
      if (c >= 2 || !columns_[a]) at.push_back(index_of(g_, Dim(point[a].var)));
    return load(g_, local_value(first_local_ + c), at, elem_);
  }

  /// The greatest maximum of the parts, or the sum of a component of theirs.
  void add_local(const char* name, uint32_t c) {
    edit::Renaming renaming;
    const std::vector<Axis> point = edit::fresh_axes(domain_, renaming);
    std::vector<Axis> own;
    for (size_t a = 0; a < domain_.size(); ++a)
      if (c >= 2 || !columns_[a]) own.push_back(point[a]);
    const Axis part = {shape::fresh_var("part"), count_};
    ScalarId body = of_part(c, part.var, point);
    if (c > 0) body = apply(g_, Op::mul, {body, weight(of_part(0, part.var, point), of_parts(0, point))});
    locals_.push_back(
        {name, elem_, std::move(own), reduce(g_, c == 0 ? Monoid::max : Monoid::sum, {part}, body)});
  }

  Graph& g_;
  const std::vector<Axis> domain_;
  const Scalar online_;
  const Elem elem_;
  const NodeId parts_id_;
  const Dim count_;  ///< of parts
  const uint32_t first_local_;
  const std::vector<bool> columns_;     ///< the axes of the domain that scores do not depend on
  std::vector<Local> locals_;           ///< by component of the parts: their maximum, their sums
  std::vector<ScalarId> parts_, rest_;  ///< components of both, at the point of the domain
  ScalarId maximum_;
  std::pair<ScalarId, ScalarId> weights_;  ///< of the sums of the parts, and of those of the rest
};

/// How many whole parts there are: none where there are more results than the limits say.
Dim count_of(const std::vector<Axis>& domain, const Axis& key, const AttentionLimits& limits) {
  Dim results(1);
  for (const Axis& a : domain) results = results * a.extent;
  // Where there are more, more parts are taken away than 2^27 keys have. Not a product with how many more
  // there are: as long as sums and divisions are all that a size is made of, what is proved of it stays
  // short.
  const Dim too_many = shape::floor_div(results, Dim(limits.results + 1));
  if (too_many.constant().value_or(0) > 0) return Dim(0);
  const Dim whole = shape::floor_div(key.extent, Dim(limits.keys));
  return shape::max(whole - too_many * Dim(int64_t{1} << 17), Dim(0));
}

/// Is it an attention whose results do not grow with its keys? Only its values depend on the last axis of the
/// domain: results are merged in vectors. Where a mask bounds the keys, few of many may count.
bool is_candidate(const Graph& g, const Node& node, const std::vector<Axis>& domain, const Scalar& s,
                  const AttentionLimits& limits) {
  if (s.op != Op::online || s.binders.size() != 1 || s.args.size() < 2) return false;
  const Axis& key = s.binders[0];
  if (!edit::is_over_sizes(g, key.extent) || !binder_range(g, s, 0).empty()) return false;
  if (const auto extent = key.extent.constant(); extent && *extent <= limits.keys) return false;
  const std::vector<Var> sizes = key.extent.vars();
  const auto grows = [&](const Axis& a) {
    const std::vector<Var> of = a.extent.vars();
    return !edit::is_over_sizes(g, a.extent) || std::any_of(of.begin(), of.end(), [&](Var v) {
      return std::find(sizes.begin(), sizes.end(), v) != sizes.end();
    });
  };
  const auto last =
      std::find_if(domain.rbegin(), domain.rend(), [](const Axis& a) { return !a.extent.is(1); });
  return last != domain.rend() && !depends_on(g, s.args[0], last->var) &&
         depends_on(g, s.args[1], last->var) && std::none_of(domain.begin(), domain.end(), grows) &&
         std::all_of(s.args.begin(), s.args.end(),
                     [&](ScalarId a) { return are_cut_alike(g, node, a, key); });
}

/// The node of the parts: an output for each component of the reduction, over the parts and the domain.
Node node_of_parts(Graph& g, const Node& whole, const std::vector<Axis>& domain, const Scalar& online,
                   const Dim& count, int64_t keys) {
  const Axis part = {shape::fresh_var("part"), count};
  edit::Renaming renaming;
  const std::vector<Axis> own = edit::fresh_axes(domain, renaming);
  SomeKeys some(g, whole, {part}, Dim(part.var) * Dim(keys), Dim(keys), 0);
  const ScalarId reduction = some.reduce(online, edit::as_substitution(renaming));
  Node node;
  node.domain = {part};
  node.domain.insert(node.domain.end(), own.begin(), own.end());
  node.locals = some.locals();
  TensorType type = {g.scalars[reduction].elem, {}};
  for (const Axis& a : node.domain) type.shape.push_back(a.extent);
  for (uint32_t c = 0; c < online.args.size() + 1; ++c) {
    node.types.push_back(type);
    node.outputs.push_back(
        {type, edit::projection(g, type.elem, c, reduction), std::nullopt, identity_map(node.domain)});
  }
  return node;
}

void split(Graph& g, NodeId id, const AttentionLimits& limits) {
  const Node node = g.nodes[id];
  std::map<ScalarId, Merge> merges;
  std::vector<Local> locals;
  edit::each_body(node, [&](ScalarId body, const std::vector<Axis>& domain) {
    for (ScalarId reduction : edit::binders_in(g, body)) {
      const Scalar s = g.scalars[reduction];
      if (merges.contains(reduction) || !is_candidate(g, node, domain, s, limits)) continue;
      const Dim count = count_of(domain, s.binders[0], limits);
      if (count.constant() == 0) continue;
      const NodeId parts = edit::insert_before(g, id, node_of_parts(g, node, domain, s, count, limits.keys));
      const Dim begin = count * Dim(limits.keys);
      const auto next = [&] { return static_cast<uint32_t>(node.locals.size() + locals.size()); };
      SomeKeys left(g, node, {}, begin, s.binders[0].extent - begin, next());
      const ScalarId rest = left.reduce(s, {});
      locals.insert(locals.end(), left.locals().begin(), left.locals().end());
      const Merge merge(g, domain, s, rest, parts, count, next());
      merges.emplace(reduction, merge);
      locals.insert(locals.end(), merge.locals().begin(), merge.locals().end());
    }
  });
  if (merges.empty()) return;
  edit::each_body(g.nodes[id], [&](ScalarId& body, const std::vector<Axis>&) {
    body = edit::rebuild(g, body, [&](Scalar s) {
      const auto merge = s.op == Op::proj ? merges.find(s.args[0]) : merges.end();
      return merge == merges.end() ? make_scalar(g, std::move(s)) : merge->second.component(s.component);
    });
  });
  edit::put_locals_first(g, id, locals);
  edit::tidy_locals(g, id);
}

}  // namespace

void split_attention(Graph& g, const AttentionLimits& limits) {
  for (NodeId id : all_nodes(g))
    if (g.nodes[id].op == NodeOp::compute) split(g, id, limits);
}

}  // namespace axon::graph
