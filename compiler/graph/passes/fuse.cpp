// fuse: grows compute nodes until no rule applies.
//
// In: factored contractions, online reductions and what is left of the pointwise nodes. Out: the nodes that
// tiling turns into tasks. Every step takes one node out of the graph, so it ends; each rule is tried again
// after any other applied, epilogues first, because a node with its epilogue is what the other rules compare.
#include "graph/passes/passes.h"

namespace axon::graph {

void fuse(Graph& g) {
  while (fuse_epilogue(g) || rematerialise(g) || fuse_multi_output(g) || fuse_siblings(g)) {
  }
  simplify(g);
}

}  // namespace axon::graph
