// evaluate_checks: every element of a checked tensor is held against its bound, as the interpreter does.
//
// A reader evaluates `bounded` where it comes to it: not in a branch that is not taken, nor for an element
// that nothing reads. In: a graph whose checks of the data are made by readers alone. Out: the same with each
// check where the tensor is stored, or by a node of its own where the tensor is not computed here but given,
// carried or updated. What the host checks before the launch stays as it is.
#include <algorithm>

#include "graph/passes/cleanup.h"
#include "graph/passes/passes.h"

namespace axon::graph {

namespace {

ScalarId bounded(Graph& g, ScalarId value, uint32_t check) {
  Scalar s;
  s.op = Op::bounded;
  s.elem = Elem::i64;
  s.args = {cast(g, Elem::i64, value)};
  s.dim = g.checks[check].bound;
  s.check = check;
  return make_scalar(g, std::move(s));
}

/// Checks what the output stores. Returns false where it does not compute every element by itself, or the
/// bound may be a data-dependent size that is computed later.
bool check_stored(Graph& g, uint32_t check) {
  const Value value = g.checks[check].value;
  if (g.nodes[value.node].op != NodeOp::compute || reads_data(g, g.checks[check].bound)) return false;
  const Output output = g.nodes[value.node].outputs[value.output];
  if (output.base || !edit::is_pointwise(g, output.body)) return false;
  g.nodes[value.node].outputs[value.output].body = cast(g, output.type.elem, bounded(g, output.body, check));
  return true;
}

/// Adds a node that looks at every element; for its check alone.
void look_at(Graph& g, uint32_t check) {
  const Value value = g.checks[check].value;
  const TensorType type = g.nodes[value.node].types[value.output];
  std::vector<Axis> axes;
  std::vector<ScalarId> at;
  for (const Dim& extent : type.shape) {
    axes.push_back({shape::fresh_var("i"), extent});
    at.push_back(index_of(g, Dim(axes.back().var)));
  }
  ScalarId body = bounded(g, load(g, value, at, type.elem), check);
  if (!axes.empty()) body = reduce(g, Monoid::sum, axes, body);
  Node node;
  node.name = "check";
  node.region = g.nodes[value.node].region;
  node.types = {{Elem::i64, {}}};
  node.outputs.push_back({node.types[0], body, std::nullopt, {}});
  const RegionId region = node.region;
  const NodeId looks = g.nodes.add(std::move(node));
  std::vector<NodeId>& nodes = g.regions[region].nodes;
  const bool needs_size = reads_data(g, g.checks[check].bound);  // which a later node may decide
  nodes.insert(needs_size ? nodes.end() : std::find(nodes.begin(), nodes.end(), value.node) + 1, looks);
  Check effect;
  effect.value = {looks, 0};
  effect.bound = Dim(1);
  effect.message = g.checks[check].message;
  effect.effect = true;
  g.checks.push_back(std::move(effect));
}

}  // namespace

void evaluate_checks(Graph& g) {
  const auto written = static_cast<uint32_t>(g.checks.size());
  for (uint32_t c = 0; c < written; ++c) {
    const Check& check = g.checks[c];
    if (check.fact || check.effect || input_checked_by_host(g, check)) continue;
    if (!check_stored(g, c)) look_at(g, c);
  }
}

}  // namespace axon::graph
