// split_contractions: a deep contraction with few results becomes partial results and their sum.
//
// In: fused nodes. A contraction whose domain makes a few tiles, whatever the sizes, makes a few tasks only,
// however deep it is. Out: a node of parts, with the number of the part as its first axis, one of what is
// left after the last part, and the old node, which adds them. A part has a constant depth, so that the order
// of a sum depends on sizes alone, not on how many work on it. Nothing is masked: both nodes are contractions
// that the kernels compute, and what a part gives lies together in memory.
#include <algorithm>
#include <list>
#include <map>
#include <utility>

#include "graph/contraction.h"
#include "graph/passes/edit.h"
#include "graph/passes/passes.h"

namespace axon::graph {

namespace {

/// Number of tiles of a domain with tiles of such rows and columns; nullopt when they are not known to be at
/// most `limits.tasks`.
bool makes_few_tasks(const std::vector<Axis>& domain, const Contraction& c, const ContractionLimits& limits) {
  const auto is_last = [](const std::vector<uint32_t>& of, size_t a) {
    return !of.empty() && of.back() == a;
  };
  int64_t tasks = 1;
  for (size_t a = 0; a < domain.size(); ++a) {
    const auto extent = domain[a].extent.constant();
    const int64_t tile = is_last(c.rows, a) ? limits.rows : is_last(c.columns, a) ? limits.columns : 1;
    if (!extent || *extent > tile * limits.tasks) return false;
    tasks *= std::max<int64_t>((*extent + tile - 1) / tile, 1);
    if (tasks > limits.tasks) return false;
  }
  return true;
}

/// The binder that is cut, by position, and how long its parts are.
struct Cut {
  size_t binder;
  int64_t length;
};

/// The first binder that is longer than a part, as far as that is known. A part is as deep as the limits say,
/// the other binders included.
std::optional<Cut> cut_of(const Graph& g, const Scalar& reduce, const ContractionLimits& limits) {
  for (size_t b = 0; b < reduce.binders.size(); ++b) {
    int64_t length = limits.depth;
    for (size_t other = 0; other < reduce.binders.size(); ++other)
      if (other != b) length /= std::max<int64_t>(reduce.binders[other].extent.constant().value_or(64), 1);
    length = std::max<int64_t>(length, 1);
    const auto extent = reduce.binders[b].extent.constant();
    if (extent ? *extent > length : edit::is_over_sizes(g, reduce.binders[b].extent)) return Cut{b, length};
  }
  return std::nullopt;
}

/// The contractions of one node over binders of the same extents.
class Parts {
 public:
  Parts(Graph& g, NodeId user, const Scalar& reduce, Cut cut)
      : g_(g), user_(user), domain_(g.nodes[user].domain), binders_(reduce.binders), cut_(cut) {
    const Dim length(cut.length), whole = shape::floor_div(binders_[cut.binder].extent, length);
    parts_.domain = {{shape::fresh_var("part"), whole}};
    parts_.begin = Dim(parts_.domain[0].var) * length;
    parts_.depth = length;
    rest_.begin = whole * length;
    rest_.depth = shape::mod(binders_[cut.binder].extent, length);
    for (Half* half : {&parts_, &rest_}) {
      half->own = edit::fresh_axes(domain_, half->renaming);
      half->domain.insert(half->domain.end(), half->own.begin(), half->own.end());
      half->node.domain = half->domain;
    }
  }

  bool suits(const Scalar& reduce, Cut cut) const {
    return cut.binder == cut_.binder && cut.length == cut_.length &&
           std::equal(reduce.binders.begin(), reduce.binders.end(), binders_.begin(), binders_.end(),
                      [](const Axis& a, const Axis& b) { return a.extent == b.extent; });
  }

  /// Adds what the parts of a contraction over `domain` give.
  void add(const std::vector<Axis>& domain, const Contraction& c) {
    if (output_.contains(c.reduce)) return;
    output_[c.reduce] = static_cast<uint32_t>(output_.size());
    for (Half* half : {&parts_, &rest_}) half->add(g_, domain, c, cut_.binder);
  }

  /// Puts the nodes before the one that has the contractions, which then adds what they give.
  void move_out() {
    for (Half* half : {&parts_, &rest_}) half->id = edit::insert_before(g_, user_, half->node);
    Node& node = g_.nodes[user_];
    const auto old = static_cast<uint32_t>(node.locals.size());
    std::vector<Local> sums;
    edit::each_body(node, [&](ScalarId& body, const std::vector<Axis>& domain) {
      const auto output = output_.find(body);
      if (output == output_.end()) return;
      const Elem elem = g_.scalars[body].elem;
      std::vector<ScalarId> at;
      for (const Axis& a : domain) at.push_back(index_of(g_, Dim(a.var)));
      const auto number = old + static_cast<uint32_t>(sums.size());
      sums.push_back(sum_of_parts(output->second));
      const Elem summed = sums.back().elem;
      const ScalarId rest = load(g_, {rest_.id, output->second}, at, summed);
      body = cast(g_, elem, apply(g_, Op::add, {load(g_, local_value(number), at, summed), rest}));
    });
    edit::put_locals_first(g_, user_, sums);
  }

 private:
  /// The whole parts, or what is left: a node, and where along the binder it begins.
  struct Half {
    std::vector<Axis> domain, own;  ///< all axes; those that the contraction has had
    edit::Renaming renaming;
    Dim begin, depth;
    Node node;
    NodeId id;  ///< once it is in the graph

    void add(Graph& g, const std::vector<Axis>& of, const Contraction& c, size_t cut) {
      Scalar s = g.scalars[c.reduce];
      shape::Substitution at;
      for (size_t a = 0; a < of.size(); ++a) at[of[a].var] = Dim(own[a].var);
      for (size_t b = 0; b < s.binders.size(); ++b) {
        Axis& binder = s.binders[b];
        const Axis inside = {shape::fresh_var(shape::var_name(binder.var)), b == cut ? depth : binder.extent};
        at[binder.var] = b == cut ? begin + Dim(inside.var) : Dim(inside.var);
        binder = inside;
      }
      // Narrow floats are not rounded before the parts are added.
      s.elem = base::accumulator(s.elem);
      ScalarId product;
      for (ScalarId factor : factors_of(g, s.args[0])) {
        const ScalarId moved = cast(g, s.elem, substitute(g, factor, at));
        product = product.valid() ? apply(g, Op::mul, {product, moved}) : moved;
      }
      s.args = {product};
      TensorType type = {s.elem, {}};
      for (const Axis& a : domain) type.shape.push_back(a.extent);
      node.types.push_back(type);
      node.outputs.push_back({type, make_scalar(g, std::move(s)), std::nullopt, identity_map(domain)});
    }
  };

  Local sum_of_parts(uint32_t output) {
    edit::Renaming renaming;
    std::vector<Axis> own = edit::fresh_axes(domain_, renaming);
    const Axis part = {shape::fresh_var("part"), parts_.domain[0].extent};
    std::vector<ScalarId> at = {index_of(g_, Dim(part.var))};
    for (const Axis& a : own) at.push_back(index_of(g_, Dim(a.var)));
    const Elem elem = parts_.node.types[output].elem;
    const ScalarId sum = reduce(g_, Monoid::sum, {part}, load(g_, {parts_.id, output}, at, elem));
    return {"sum", elem, std::move(own), sum};
  }

  Graph& g_;
  const NodeId user_;
  const std::vector<Axis> domain_;
  const std::vector<Axis> binders_;  ///< of the first contraction
  const Cut cut_;
  Half parts_, rest_;
  std::map<ScalarId, uint32_t> output_;  ///< by contraction: the output of both nodes
};

/// Over an axis for each of the node's, does it read what the node alone has?
bool stands_by_itself(const Graph& g, const Node& node, const std::vector<Axis>& domain, ScalarId body) {
  const auto loads = loads_in(g, body);
  return std::equal(domain.begin(), domain.end(), node.domain.begin(), node.domain.end(),
                    [](const Axis& a, const Axis& b) { return a.extent == b.extent; }) &&
         std::none_of(loads.begin(), loads.end(), [&](ScalarId l) { return g.scalars[l].target.is_local(); });
}

void split(Graph& g, NodeId id, const ContractionLimits& limits) {
  std::list<Parts> all;
  const Node node = g.nodes[id];
  edit::each_body(node, [&](ScalarId body, const std::vector<Axis>& domain) {
    const auto contraction = find_contraction(g, node.locals, body, domain);
    if (!contraction || !contraction->load.valid() || !stands_by_itself(g, node, domain, body)) return;
    if (!makes_few_tasks(domain, *contraction, limits)) return;
    const Scalar reduce = g.scalars[body];
    const auto cut = cut_of(g, reduce, limits);
    if (!cut) return;
    auto parts = std::find_if(all.begin(), all.end(), [&](const Parts& p) { return p.suits(reduce, *cut); });
    if (parts == all.end()) parts = all.emplace(parts, g, id, reduce, *cut);
    parts->add(domain, *contraction);
  });
  for (Parts& parts : all) parts.move_out();
}

}  // namespace

void split_contractions(Graph& g, const ContractionLimits& limits) {
  for (NodeId id : all_nodes(g))
    if (g.nodes[id].op == NodeOp::compute) split(g, id, limits);
}

}  // namespace axon::graph
