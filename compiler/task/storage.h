// Storage classes: which graph values share memory.
//
// An update shares the memory of its base; a carried value that a loop only updates in place shares the
// memory of its initial value through every iteration. Everything else has memory of its own. insert_copies
// (insert_copies.cpp) has put an identity compute node wherever sharing would destroy a value that is still
// wanted, so that after it every class here is sound: no member is read once a later member has been written.
#pragma once
#include <map>
#include <set>
#include <vector>

#include "graph/graph.h"

namespace axon::task {

/// A union-find over values. `root(v)`: the value that first owns the memory.
class Storage {
 public:
  explicit Storage(const graph::Graph&);
  graph::Value root(graph::Value) const;
  /// Carried value `c` of `loop` is updated in place through all iterations.
  bool carried_in_place(graph::NodeId loop, uint32_t c) const;

 private:
  void join(graph::Value member, graph::Value owner);
  std::map<graph::Value, graph::Value> parent_;
  std::set<std::pair<graph::NodeId, uint32_t>> in_place_;
};

/// An identity compute node of the value, in no list of nodes yet.
graph::NodeId make_copy(graph::Graph&, graph::Value, graph::RegionId);

/// Lets steps of loops compute the next value of a consumed (`*`) state in its memory, where each element is
/// made of the same element. Meaning is unchanged (update_states.cpp).
void update_states(graph::Graph&);

/// Makes the graph one whose updates can all happen in place and whose results and carried values have memory
/// of their own, by inserting identity compute nodes ("copy") where needed. Meaning is unchanged. A copy of a
/// consumed (`*`) state is never inserted silently: each is among what is returned, so the caller can refuse.
struct CopiedState {
  enum class Why : uint8_t {
    result,     ///< the state as it was is a result
    reader,     ///< `reader` needs it at the same time or later
    iteration,  ///< each iteration of the loop `reader` needs it
    elsewhere,  ///< the update reads other elements than those that it changes
    reduction,  ///< a reduction of the update reads it
    replaced    ///< the loop goes on with something that is not made of it
  };
  uint32_t input;
  graph::NodeId update;  ///< what would overwrite the state
  Why why;
  std::optional<graph::NodeId> reader;
};
std::vector<CopiedState> insert_copies(graph::Graph&);

}  // namespace axon::task
