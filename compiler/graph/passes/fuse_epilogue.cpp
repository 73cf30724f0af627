// fuse_epilogue: fuses a reduction with the pointwise consumer that alone reads it.
//
// In: P, a reduction over domain (u..), and C, pointwise, whose loads of P cover C's domain. Out: C over P's
// domain, with P as a local. C's domain may be a permutation of P's, or split one axis of P in several:
//
//     P [i < m, J < h*d]     C [i < m, a < h, c < d] reads P[i, a*d + c]      =>   a = J / d, c = J % d
//
// Loads may also stray within an aligned block of 2, 4 or 8 around the point: P[i, a*d + 2*(c/2) + 1] is the
// partner in a rotated pair, at 2*(J/2) + 1. What is stored follows: C's `at` becomes [.., J / d, J % d]. An
// update of a cache is a consumer like any other. What reads an order stays apart: that is sorted in the
// memory of its own output.
#include <algorithm>

#include "graph/passes/absorb.h"
#include "graph/passes/cleanup.h"
#include "graph/passes/order.h"
#include "graph/passes/passes.h"
#include "graph/prefix.h"

namespace axon::graph {

namespace {

constexpr int max_block = 8;

/// How one axis of the producer is read: as the mixed radix number of some of the consumer's axes.
struct AxisMap {
  std::vector<Axis> digits;  ///< most significant first; none: the axis has extent 1
  Axis axis;                 ///< the new variable
  int block = 1;             ///< loads stay within an aligned block of this size
};

class Flattening {
 public:
  Flattening(Graph& graph, NodeId consumer_id, NodeId producer_id)
      : g(graph),
        consumer(graph.nodes[consumer_id]),
        producer(graph.nodes[producer_id]),
        producer_id_(producer_id),
        scope(graph, consumer),
        outside(graph, consumer.region) {}

  /// The consumer over the producer's domain (without the producer's body); nullopt when the loads do not
  /// fit.
  std::optional<Node> run() {
    for (const Axis& a : consumer.domain) {
      if (a.extent.is(0)) return std::nullopt;  // of no points everything is proved
      if (a.extent.is(1)) old_to_new[a.var] = Dim(0);
    }
    for (size_t a = 0; a < producer.domain.size(); ++a)
      if (!map_axis(a)) return std::nullopt;
    for (const Axis& a : consumer.domain)
      if (!old_to_new.count(a.var)) return std::nullopt;
    pair_units();
    return rewritten();
  }

 private:
  Graph& g;
  const Node consumer;
  const Node producer;
  NodeId producer_id_;
  edit::Scope scope, outside;
  shape::Substitution old_to_new;
  std::vector<AxisMap> maps;

  bool is_read(const Scalar& s) const {
    return s.op == Op::load && !s.target.is_local() && s.target.node == producer_id_;
  }

  /// The distinct indices by which the axis is read; nullopt when one depends on data.
  std::optional<std::vector<Dim>> indices_of(size_t axis) const {
    shape::Substitution units;
    for (const Axis& a : consumer.domain)
      if (a.extent.is(1)) units[a.var] = Dim(0);
    std::vector<Dim> found;
    for (const Output& o : consumer.outputs)
      for (ScalarId l : loads_in(g, o.body)) {
        if (!is_read(g.scalars[l])) continue;
        auto dim = affine_index(g, g.scalars[l].args[axis]);
        if (!dim) return std::nullopt;
        Dim index = scope.simplify(dim->substitute(units));
        if (std::find(found.begin(), found.end(), index) == found.end()) found.push_back(index);
      }
    return found;
  }

  bool map_axis(size_t number) {
    auto indices = indices_of(number);
    if (!indices) return false;
    AxisMap map;
    for (const Axis& a : consumer.domain)
      if (std::any_of(indices->begin(), indices->end(), [&](const Dim& d) { return d.contains(a.var); })) {
        if (old_to_new.count(a.var)) return false;  // moves two axes
        map.digits.push_back(a);
      }
    if (map.digits.size() > 3) return false;
    const Axis& read = producer.domain[number];
    map.axis = {shape::fresh_var(shape::var_name(read.var)), read.extent};
    if (!order_digits(map, *indices)) return false;
    Dim rest = Dim(map.axis.var);
    for (size_t d = map.digits.size(); d-- > 0;) {
      old_to_new[map.digits[d].var] = d == 0 ? rest : shape::mod(rest, map.digits[d].extent);
      rest = shape::floor_div(rest, map.digits[d].extent);
    }
    maps.push_back(std::move(map));
    return true;
  }

  /// Axes of extent 1 keep a name: the consumer's first stands for the producer's first, and so on.
  void pair_units() {
    auto unit = consumer.domain.begin();
    for (const AxisMap& map : maps) {
      if (!map.digits.empty()) continue;
      unit = std::find_if(unit, consumer.domain.end(), [](const Axis& a) { return a.extent.is(1); });
      if (unit == consumer.domain.end()) return;
      old_to_new[(unit++)->var] = Dim(map.axis.var);
    }
  }

  /// Finds the order of digits in which every index lies in the block around the point. That there is a point
  /// shows nothing of the number of points.
  bool order_digits(AxisMap& map, const std::vector<Dim>& indices) {
    Dim count = 1;
    for (const Axis& a : map.digits) count = count * a.extent;
    if (count != map.axis.extent && !outside.proves(shape::equal(count, map.axis.extent))) return false;
    std::vector<size_t> order(map.digits.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    const std::vector<Axis> digits = map.digits;
    do {
      Dim point = 0;
      for (size_t i = 0; i < order.size(); ++i) {
        map.digits[i] = digits[order[i]];
        point = point * map.digits[i].extent + Dim(map.digits[i].var);
      }
      auto fits = [&](const Dim& index) { return in_block(index, point, map.block); };
      for (map.block = 1; map.block <= max_block; map.block *= 2)
        if (std::all_of(indices.begin(), indices.end(), fits)) return true;
    } while (std::next_permutation(order.begin(), order.end()));
    return false;
  }

  bool in_block(const Dim& index, const Dim& point, int block) const {
    if (block == 1) return index == point || scope.proves(shape::equal(index, point));
    Dim b = block;
    return scope.proves(shape::equal(shape::floor_div(index, b), shape::floor_div(point, b)));
  }

  /// An old index of the axis in the new variables.
  Dim new_index(const AxisMap& map, const Dim& index) const {
    if (map.block == 1) return Dim(map.axis.var);
    Dim block = map.block;
    Dim offset = scope.simplify(shape::mod(index, block));
    for (int r = 0; r < map.block && !offset.constant(); ++r)
      if (scope.proves(shape::equal(offset, Dim(r)))) offset = r;
    return block * shape::floor_div(Dim(map.axis.var), block) + offset.substitute(old_to_new);
  }

  Node rewritten() {
    Node node = consumer;
    node.domain.clear();
    for (const AxisMap& m : maps) node.domain.push_back(m.axis);
    for (Output& o : node.outputs) {
      for (Dim& d : o.at) d = d.substitute(old_to_new);
      ScalarId body = rewrite_loads(g, o.body, [&](ScalarId id) {
        const Scalar s = g.scalars[id];
        if (!is_read(s)) return id;
        std::vector<ScalarId> indices;
        for (size_t a = 0; a < maps.size(); ++a)
          indices.push_back(index_of(g, new_index(maps[a], *affine_index(g, s.args[a]))));
        return load(g, s.target, indices, s.elem);
      });
      o.body = substitute(g, body, old_to_new);
    }
    return node;
  }
};

bool reads_only_in_outputs(const std::map<Value, edit::Uses>& uses, const Graph& g, NodeId producer) {
  for (uint32_t o = 0; o < g.nodes[producer].outputs.size(); ++o) {
    auto use = uses.find({producer, o});
    if (use == uses.end()) continue;
    for (const Use& load : use->second.loads)
      if (load.kind != UseKind::output_load) return false;
  }
  return true;
}

bool absorb(Graph& g, NodeId consumer, NodeId producer, const std::map<Value, edit::Uses>& uses,
            edit::Orders& orders) {
  const Node& from = g.nodes[producer];
  if (from.op != NodeOp::compute || !edit::has_reduction(g, from) || !edit::all_plain(from)) return false;
  if (goes_through_rows(g, from)) return false;
  if (edit::only_readers(uses, g, producer) != std::set<NodeId>{consumer}) return false;
  if (!reads_only_in_outputs(uses, g, producer)) return false;
  if (!edit::can_move_into(g, orders, producer, consumer)) return false;
  auto flat = Flattening(g, consumer, producer).run();
  if (!flat) return false;
  Node merged = edit::with_locals_of(g, *flat, producer);
  if (!edit::updates_in_place(g, merged)) return false;
  edit::commit_merge(g, consumer, producer, std::move(merged));
  return true;
}

}  // namespace

bool edit::absorb_into_reader(Graph& g, NodeId producer) {
  std::map<Value, edit::Uses> uses = edit::uses_of(g);
  std::set<NodeId> readers = edit::only_readers(uses, g, producer);
  if (readers.size() != 1) return false;
  const Node& reader = g.nodes[*readers.begin()];
  edit::Orders orders(g);
  return reader.op == NodeOp::compute && edit::has_pointwise_outputs(g, reader) &&
         absorb(g, *readers.begin(), producer, uses, orders);
}

bool fuse_epilogue(Graph& g) {
  std::map<Value, edit::Uses> uses = edit::uses_of(g);
  edit::Orders orders(g);
  for (NodeId id : all_nodes(g)) {
    const Node& node = g.nodes[id];
    if (node.op != NodeOp::compute || !edit::has_pointwise_outputs(g, node)) continue;
    for (Value v : edit::values_read(g, id))
      if (absorb(g, id, v.node, uses, orders)) return true;
  }
  return false;
}

}  // namespace axon::graph
