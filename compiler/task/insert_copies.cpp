// In: a fused graph. Out: the same meaning, with an identity compute node wherever an update, a carried value
// or a result would otherwise need memory that somebody else still wants. See storage.h for what this buys.
//
// A value may be overwritten by its update when, in program order, nothing reads it afterwards, and its
// memory is ours: a fresh tensor, a scan's empty stack, or a consumed state. Program order is position in the
// region tree; a value defined outside a loop is read again by the next iteration, so updating it inside
// needs a copy.
#include <algorithm>
#include <functional>
#include <map>

#include "graph/uses.h"
#include "layout/strided.h"
#include "task/copied_state.h"

namespace axon::task {

using graph::Graph;
using graph::InputKind;
using graph::Node;
using graph::NodeId;
using graph::NodeOp;
using graph::RegionId;
using graph::Use;
using graph::UseKind;
using graph::Value;

namespace {

struct Usage : Use {
  Value value;
};

/// Position of every live node in program order; a loop's body lies between the loop and what follows it.
std::vector<uint32_t> positions(const Graph& g) {
  std::vector<uint32_t> position(g.nodes.size(), 0);
  uint32_t next = 1;
  for (NodeId n : graph::all_nodes(g)) position[n.index] = next++;
  return position;
}

/// All uses in order, and those of each value.
struct Usages {
  std::vector<Usage> all;
  std::map<Value, std::vector<Usage>> of;
  const std::vector<Usage>& of_value(Value v) const { return of.at(v); }
};

/// Checks and sizes are evaluated where the value is made, debugs have copies of their own (copy_shown): none
/// of them looks at it later.
Usages usages(const Graph& g) {
  Usages usages;
  for_each_use(g, [&](Value v, const Use& use) {
    if (use.kind == UseKind::check || use.kind == UseKind::size || use.kind == UseKind::debug) return;
    usages.all.push_back({use, v});
    usages.of[v].push_back({use, v});
  });
  return usages;
}

class CopyInserter {
 public:
  explicit CopyInserter(Graph& g) : g_(g) {}

  /// One copy at a time: each changes uses and positions. Terminates, since a copied use is sound afterwards.
  std::vector<CopiedState> run() {
    while (one()) {
    }
    for (size_t d = g_.debugs.size(); d-- > 0;)  // backwards: a copy goes before those of inputs that follow
      copy_shown(g_.debugs[d].value);
    return std::move(copied_states_);
  }

 private:
  bool one() {
    position_ = positions(g_);
    uses_ = usages(g_);
    storage_.emplace(g_);
    for (const Usage& use : uses_.all) {
      const bool sound = use.kind == UseKind::base     ? update_is_sound(use)
                         : use.kind == UseKind::init   ? init_is_sound(use)
                         : use.kind == UseKind::next   ? carried_is_sound(use)
                         : use.kind == UseKind::result ? result_is_sound(use)
                                                       : true;
      if (!sound) return copy_at(use), true;
    }
    return false;
  }

  bool mutable_memory(Value v) const {
    const Value root = storage_->root(v);
    const Node& node = g_.nodes[root.node];
    switch (node.op) {
      case NodeOp::input:
        return g_.inputs[node.input].kind == InputKind::state;
      case NodeOp::param:
        return true;  // the loop's own slot, written afresh each iteration
      case NodeOp::compute:
      case NodeOp::empty:
        return true;
      case NodeOp::loop:
        return true;
    }
    return false;
  }

  /// Does anything but `except` read `v` at or after `from` in program order?
  bool read_after(Value v, uint32_t from, const Usage& except) const {
    const auto& uses = uses_.of_value(v);
    return std::any_of(uses.begin(), uses.end(), [&](const Usage& use) {
      if (use.kind == except.kind && use.user == except.user && use.slot == except.slot) return false;
      if (use.kind == UseKind::result) return true;
      if (use.kind == UseKind::next) return true;
      return position_[use.user.index] >= from;
    });
  }

  bool update_is_sound(const Usage& use) const {
    const Node& node = g_.nodes[use.user];
    if (g_.nodes[use.value.node].region != node.region) return false;
    if (!mutable_memory(use.value)) return false;
    if (own_reads_elsewhere(use)) return false;
    return !read_after_except_own(use);
  }

  /// The updating node may read its base, but only at the very points that it stores.
  bool own_reads_elsewhere(const Usage& use) const {
    const Node& node = g_.nodes[use.user];
    const auto& at = node.outputs[use.slot].at;
    const auto elsewhere = [&](graph::ScalarId body) {
      for (graph::ScalarId l : loads_in(g_, body)) {
        const auto& scalar = g_.scalars[l];
        if (scalar.target != use.value) continue;
        for (size_t a = 0; a < at.size(); ++a) {
          const auto index = affine_index(g_, scalar.args[a]);
          if (!index || *index != at[a]) return true;
        }
      }
      return false;
    };
    for (const auto& local : node.locals)
      for (graph::ScalarId l : loads_in(g_, local.body))
        if (g_.scalars[l].target == use.value) return true;
    for (uint32_t o = 0; o < node.outputs.size(); ++o)
      if (elsewhere(node.outputs[o].body)) return true;
    return false;
  }

  bool read_after_except_own(const Usage& use) const {
    const uint32_t from = position_[use.user.index];
    const auto& uses = uses_.of_value(use.value);
    return std::any_of(uses.begin(), uses.end(), [&](const Usage& other) {
      if (other.user == use.user && other.is_body_load()) return false;
      if (other.user == use.user && other.kind == UseKind::base && other.slot == use.slot) return false;
      if (other.kind == UseKind::result || other.kind == UseKind::next) return true;
      return position_[other.user.index] >= from;
    });
  }

  bool init_is_sound(const Usage& use) const {
    const bool in_place = storage_->carried_in_place(use.user, use.slot);
    if (g_.nodes[use.value.node].region != g_.nodes[use.user].region) return false;
    if (read_after(use.value, position_[use.user.index], use)) return false;
    if (in_place) return mutable_memory(use.value);
    // Double-buffered: the initial value is computed straight into slot 0.
    const Node& node = g_.nodes[use.value.node];
    if (node.op != NodeOp::compute || node.outputs[use.value.output].base) return false;
    return uses_.of_value(use.value).size() == 1;
  }

  bool carried_is_sound(const Usage& use) const {
    const Node& loop = g_.nodes[use.user];
    if (storage_->carried_in_place(use.user, use.slot)) return true;
    const Node& node = g_.nodes[use.value.node];
    if (node.op != NodeOp::compute || node.region != loop.body || node.outputs[use.value.output].base)
      return false;
    for (const Usage& other : uses_.of_value(use.value)) {
      if (other.kind == UseKind::base || other.kind == UseKind::init) return false;
      if (other.kind == UseKind::next && other.slot != use.slot) return false;
    }
    return true;
  }

  /// Is the memory of the state that which the result states, where it states any?
  bool lies_as_stated(const graph::Result& result, const Node& state) const {
    const auto& shape = g_.type(result.value).shape;
    const auto& place = g_.inputs[state.input].place;
    return !result.place || (place ? result.place == place : layout::is_row_major(*result.place, shape));
  }

  bool result_is_sound(const Usage& use) const {
    const Value root = storage_->root(use.value);
    const Node& node = g_.nodes[root.node];
    for (const Usage& other : uses_.all)
      if (other.kind == UseKind::result && other.slot < use.slot && storage_->root(other.value) == root)
        return false;
    if (node.op == NodeOp::input)
      return g_.inputs[node.input].kind == InputKind::state && lies_as_stated(g_.results[use.slot], node);
    if (node.op == NodeOp::empty) return !node.place;
    if (node.op != NodeOp::compute) return false;  // a loop's double-buffered slot
    // Computed into a carried slot 0, it cannot also be the result.
    return std::none_of(uses_.all.begin(), uses_.all.end(), [&](const Usage& other) {
      return other.kind == UseKind::init && storage_->root(other.value) == root &&
             !storage_->carried_in_place(other.user, other.slot);
    });
  }

  /// What a task makes is where the task puts it. An input is copied before anything else runs, what a loop
  /// leaves in one of two slots behind the loop.
  void copy_shown(Value& value) {
    const NodeId made_by = value.node;
    const bool is_input = g_.nodes[made_by].op == NodeOp::input;
    const bool is_slot =
        g_.nodes[made_by].op == NodeOp::loop && g_.nodes[storage_->root(value).node].op == NodeOp::loop;
    if (!is_input && !is_slot) return;
    const NodeId copy = make_copy(g_, value, g_.root);
    auto& nodes = g_.regions[g_.root].nodes;
    const auto is_computed = [&](NodeId id) { return g_.nodes[id].op != NodeOp::input; };
    const auto at = is_input ? std::find_if(nodes.begin(), nodes.end(), is_computed)
                             : std::find(nodes.begin(), nodes.end(), made_by) + 1;
    nodes.insert(at, copy);
    value = {copy, 0};
  }

  void copy_at(const Usage& use) {
    const Value root = storage_->root(use.value);
    const Node& origin = g_.nodes[root.node];
    if (origin.op == NodeOp::input && g_.inputs[origin.input].kind == InputKind::state &&
        use.kind != UseKind::result)
      copied_states_.push_back(why_copied(g_, *storage_, origin.input, use.value, use.user, use.slot));
    const bool in_body = use.kind == UseKind::next;
    const RegionId region = use.kind == UseKind::result ? g_.root
                            : in_body                   ? g_.nodes[use.user].body
                                                        : g_.nodes[use.user].region;
    const NodeId copy = make_copy(g_, use.value, region);
    auto& nodes = g_.regions[region].nodes;
    const bool at_end = in_body || use.kind == UseKind::result;
    nodes.insert(at_end ? nodes.end() : std::find(nodes.begin(), nodes.end(), use.user), copy);
    replace_use(g_, use, {copy, 0});
  }

  Graph& g_;
  std::vector<CopiedState> copied_states_;
  std::vector<uint32_t> position_;
  Usages uses_;
  std::optional<Storage> storage_;
};

}  // namespace

NodeId make_copy(Graph& g, Value v, RegionId region) {
  const graph::TensorType type = g.type(v);
  Node copy;
  copy.op = NodeOp::compute;
  copy.name = "copy";
  copy.region = region;
  copy.types = {type};
  graph::Output output;
  output.type = type;
  std::vector<graph::ScalarId> indices;
  for (const auto& extent : type.shape) {
    const graph::Var var = shape::fresh_var("i" + std::to_string(copy.domain.size()));
    copy.domain.push_back({var, extent});
    output.at.push_back(var);
    indices.push_back(index_of(g, var));
  }
  output.body = load(g, v, indices, type.elem);
  copy.outputs.push_back(output);
  return g.nodes.add(std::move(copy));
}

std::vector<CopiedState> insert_copies(Graph& g) { return CopyInserter(g).run(); }

}  // namespace axon::task
