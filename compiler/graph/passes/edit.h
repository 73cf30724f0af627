// What passes share: reading and rebuilding expressions, who uses what, facts at a point, dead value removal.
//
// Expressions are hash-consed with arguments numbered below their users, so every traversal here is a loop
// over sorted ids: no recursion on the depth of an expression.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/uses.h"

namespace axon::graph::edit {

/// Bodies never grow beyond this many distinct scalars by inlining.
inline constexpr size_t max_body_size = 512;

// ---- expressions ----

/// Everything reachable from `root` (under binders too), arguments before users.
std::vector<ScalarId> post_order(const Graph&, ScalarId root);

/// Rebuilds `root` bottom-up: `make` gets each scalar with its new arguments and returns what stands in its
/// place.
ScalarId rebuild(Graph&, ScalarId root, const std::function<ScalarId(Scalar)>& make);

/// The scalar with folding: what apply(), cast() and index_of() make of its fields.
ScalarId fold(Graph&, Scalar);

/// Component `component` of an online reduction.
ScalarId projection(Graph&, Elem, uint32_t component, ScalarId online);

/// `id` occurs inside a reduction of `root`.
bool is_under_binder(const Graph&, ScalarId root, ScalarId id);
/// No reduction anywhere inside.
bool is_pointwise(const Graph&, ScalarId);
/// Expressions with variables of their own inside, in id order.
std::vector<ScalarId> binders_in(const Graph&, ScalarId);

/// Rewrites the loads that no reduction surrounds: what holds a reduction may stand in their place.
ScalarId rewrite_outside_binders(Graph&, ScalarId, const std::function<ScalarId(ScalarId)>& change);

/// The body of a tensor over `domain` at the point `indices` (one i64 scalar per axis). Binders keep their
/// variables: reductions do not nest, so none can capture another's. nullopt when an index that depends on
/// data would have to enter a dimension.
std::optional<ScalarId> instantiate(Graph&, const std::vector<Axis>& domain, ScalarId body,
                                    const std::vector<ScalarId>& indices);

/// Renames variables, those of binders included. A key for equality up to renaming is rename() to shared
/// variables.
using Renaming = std::map<Var, Var>;
ScalarId rename(Graph&, ScalarId, const Renaming&);
std::vector<Axis> fresh_axes(const std::vector<Axis>&, Renaming&);
shape::Substitution as_substitution(const Renaming&);

// ---- cost ----

struct Cost {
  int cheap = 0;  ///< additions, products, comparisons, selections
  int heavy = 0;  ///< transcendental functions, roots, float division
  int loads = 0;
};
/// Per evaluation; indices, constants and casts are free.
Cost cost_of(const Graph&, ScalarId body);
bool is_free(const Cost&);   ///< reading somewhere else, at most converting
bool is_cheap(const Cost&);  ///< worth repeating rather than storing

/// The load inside `body` over `domain` reads no element twice: every axis around it moves its index
/// linearly.
bool reads_each_once(const Graph&, ScalarId load, const std::vector<Axis>& domain, ScalarId body);

/// Does the dimension mention sizes of the entry only? Then it is the same in every iteration of a loop.
bool is_over_sizes(const Graph&, const Dim&);

// ---- nodes ----

/// Calls `visit(ScalarId& body, const std::vector<Axis>& domain)` for every body of a compute node.
template <class Visit>
void each_body(Node& node, const Visit& visit) {
  for (Local& local : node.locals) visit(local.body, local.domain);
  for (Output& output : node.outputs) visit(output.body, node.domain);
}
template <class Visit>
void each_body(const Node& node, const Visit& visit) {
  for (const Local& local : node.locals) visit(local.body, local.domain);
  for (const Output& output : node.outputs) visit(output.body, node.domain);
}

/// A fresh tensor stored where its domain says: element p is the body at p.
bool is_plain(const Node&, const Output&);
bool all_plain(const Node&);
/// Outputs whose shape has axes of extent 1 that the domain does not name (`keep` makes them): the domain
/// gets them, and the outputs become plain. Nothing changes when the outputs do not agree on where those axes
/// are.
void name_unit_axes(Node&);
/// Some body reduces.
bool has_reduction(const Graph&, const Node&);
bool has_online(const Graph&, const Node&);
/// It goes through whole rows, or has an online reduction: its tiles are made for that, and nothing joins it
/// that only shares what it reads.
bool stands_alone(const Graph&, const Node&);
/// All output bodies are pointwise (locals may reduce).
bool has_pointwise_outputs(const Graph&, const Node&);

/// Puts a new node before another in its region, with the name and place in the source of that one.
NodeId insert_before(Graph&, NodeId user, Node);

/// Adds locals before those that a node has: its bodies, and the new ones, name them as if they stood last.
void put_locals_first(Graph&, NodeId, const std::vector<Local>&);

/// Values that a node uses, and the sizes that it mentions and the data decides; of a loop also those that
/// its region uses from outside.
std::set<Value> values_read(const Graph&, NodeId);

/// How a value is used.
struct Uses {
  std::vector<Use> loads;          ///< in bodies
  int others = 0;                  ///< places that need the whole tensor
  std::set<NodeId> users() const;  ///< that load it
};
std::map<Value, Uses> uses_of(const Graph&);
/// Brings the loads of a user up to date after its bodies have changed. `before`: what it read until then.
void update_loads(std::map<Value, Uses>&, const Graph&, NodeId user, const std::set<Value>& before);

/// Values whose storage a use continues: bases of updates, what loops carry.
std::set<Value> consumed_values(const Graph&);
/// Nodes with a value that a check looks at.
std::set<NodeId> checked_nodes(const Graph&);

/// Replaces values everywhere they are used. Chains are followed: no value may lead to itself.
void replace_values(Graph&, const std::map<Value, Value>&);

/// Drops nodes, outputs, carried values, locals and checks that nothing needs. A check is needed by itself
/// unless it is in `unneeded_checks`: then where something needed evaluates it.
void sweep(Graph&, const std::set<uint32_t>& unneeded_checks = {});

/// Within one node: equal locals become one, locals that cost nothing or serve one load move into their
/// users, a local that is exactly an output's body becomes it, projections move into the outputs that read
/// them, unused ones go.
void tidy_locals(Graph&, NodeId);

// ---- facts ----

/// What is known of the variables at a node: sizes, enclosing loops, its domain.
class Scope {
 public:
  Scope(const Graph&, const Node&);
  Scope(const Graph&, RegionId);
  void add(const std::vector<Axis>&);
  /// Binders are known only where they occur: an expression that names one stands inside its reduction.
  void add_binders(const std::vector<Axis>&);
  Dim simplify(const Dim&) const;
  bool proves(const Fact&) const;

 private:
  std::vector<Fact> facts_for(const std::vector<Var>&) const;
  std::vector<Fact> facts_;
  std::map<Var, Dim> binders_;
  mutable std::map<const shape::DimNode*, Dim> simplified_;
};

/// A condition that is false only when the axes are empty, for expressions that would not be 0 then; `value`
/// itself when the facts show that they are not empty.
ScalarId zero_if_empty(Graph&, const Scope&, const std::vector<Axis>&, ScalarId value);

}  // namespace axon::graph::edit
