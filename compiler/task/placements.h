// Where the weights of a bundle lie.
//
// In: the graphs of all entries, after fusion. Out: for each weight one placement, which all entries can live
// with, and why. The choice is the least cost: the time to move each element once in each use, as a multiple
// of streaming it. A use that reads elements one by one, or where the data says, needs row-major order, in
// which the file is mapped without a copy; another placement has to gain 3 %.
//
// Arguments and states of other entries may have the path of a weight; they are the caller's, and stay as
// they are.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "layout/placement.h"

namespace axon::task {

struct ChosenPlacement {
  graph::TensorType type;
  layout::Placement placement;
  std::string why;
};
using ChosenPlacements = std::map<std::string, ChosenPlacement>;  ///< by path

ChosenPlacements choose_placements(const std::vector<const graph::Graph*>&, int64_t panel_columns);
/// One for each input of the graph: of those that are no weights, what the program states.
std::vector<layout::Placement> placements_of(const graph::Graph&, const ChosenPlacements&);
/// A line for each weight.
std::string print(const ChosenPlacements&);

}  // namespace axon::task
