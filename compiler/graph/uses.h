// Def-use: enumerates and replaces the uses of values. All passes go through these functions, so a new kind
// of use is added in one place (each_expression, each_slot and each_root in uses.cpp).
//
// The uses of a value are loads in the bodies of compute nodes, bases of updates, and the values that loops
// carry; and, outside of all nodes, results, checks, data-dependent sizes and debugs. A load of a local is no
// use, for a local is no value of the graph.
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "graph/graph.h"

namespace axon::graph {

/// What names the value; in brackets what Use::slot counts.
enum class UseKind : uint8_t {
  output_load,  ///< a load in the body of an output [output]
  local_load,   ///< a load in the body of a local [local]
  extent_load,  ///< a load in the value of a dynamic size [dynamic size]
  base,         ///< an update, which keeps the value's other elements [output]
  init,         ///< a loop: what a carried value is before the first iteration [carried value]
  next,         ///< a loop: what a carried value is after an iteration [carried value]
  result,       ///< what the entry returns [result]
  check,        ///< a value whose elements are held against a bound [check]
  size,         ///< a data-dependent size [size]
  debug         ///< a value that is shown [debug]
};

struct Use {
  UseKind kind;
  NodeId user;  ///< invalid for the kinds outside of all nodes
  uint32_t slot = 0;
  ScalarId load = {};  ///< the expression; invalid for kinds that are no load
  bool is_body_load() const { return kind == UseKind::output_load || kind == UseKind::local_load; }
  /// Does the user continue the value's storage? Then it is updated in place, or copied.
  bool continues_storage() const {
    return kind == UseKind::base || kind == UseKind::init || kind == UseKind::next;
  }
};

using VisitUse = std::function<void(Value, const Use&)>;
/// Calls `visit` for the uses by the node itself: not for those by nodes in its region, if it is a loop.
void for_each_use(const Graph&, NodeId, const VisitUse& visit);
/// Calls `visit` for the uses outside of all nodes.
void for_each_root_use(const Graph&, const VisitUse& visit);
/// Calls `visit` for every use: by nodes in program order, then outside of all nodes.
void for_each_use(const Graph&, const VisitUse& visit);

/// Replaces each used value by `now(value)`.
void replace_uses(Graph&, const std::function<Value(Value)>& now);
/// The same for uses that are no loads.
void replace_whole_uses(Graph&, const std::function<Value(Value)>& now);
/// Replaces one use, which is no load, by `now`.
void replace_use(Graph&, const Use&, Value now);

/// The nodes of all regions in program order: those of a loop's region follow the loop. (Passes leave removed
/// nodes in the store, where they mean nothing.)
std::vector<NodeId> all_nodes(const Graph&);

/// The value that `v` is an update of: followed back through the bases of updates and from a loop to what it
/// begins with, up to an input, a parameter of a region, or a tensor that is computed anew.
Value origin(const Graph&, Value v);
/// The state that `v` updates, as its position in Graph::inputs; nullopt where its origin is no state.
std::optional<uint32_t> state_of(const Graph&, Value v);
/// What a state holds when the entry returns: the result handed back for it, else its last update; invalid
/// when there is neither.
Value final_value(const Graph&, uint32_t state);

}  // namespace axon::graph
