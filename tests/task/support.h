// What the tests of task programs share: examples from data/, programs made from them, inputs, comparison.
//
// An example is two files: NAME.graph, a graph as text, and NAME.case with what it shows (comment lines),
// the tiling (`tiling rows 2 columns 4 panel 2 points 8`; small, so that several tiles exist), sizes to run
// it with, one binding per line (`sizes n=2 d=3`), and waits that others imply without derive_events seeing
// it (`implied mix.3 enter.1`).
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "graph/interpret.h"
#include "task/task.h"

namespace axon::task {

struct Example {
  std::string name;
  graph::Graph graph;  ///< copies inserted
  std::vector<uint32_t> copied_states;
  target::Class tiling = target::x86_64();
  std::vector<shape::Assignment> bindings;  ///< a value for every size
  std::vector<std::string> implied;         ///< "consumer producer": waits kept although nothing needs them
};

/// An example stays where it is: its programs point at its graph.
using ExamplePtr = std::unique_ptr<Example>;

std::string read_file(const std::string& path);
std::string data_folder();
std::vector<std::string> example_names();
ExamplePtr load_example(const std::string& name);
/// From texts: `settings` as in a .case file.
ExamplePtr make_example(const std::string& name, const std::string& graph_text, const std::string& settings);
/// A random graph (random_graphs.h) with tiles and sizes that are small enough to look at every task.
ExamplePtr random_example(uint64_t seed);

Program program_of(const Example&);
std::vector<std::string> unproved(const Program&);

/// Random inputs for the sizes: small floats, integers below the bounds that the graph checks.
std::vector<graph::Tensor> inputs_for(const graph::Graph&, const shape::Assignment&, uint64_t seed);
/// The sizes that the caller gives; the others follow from the inputs.
shape::Assignment parameters_of(const graph::Graph&, const shape::Assignment&);
/// Empty when both ran and agree up to rounding; else what differs first.
std::string difference(const graph::Outcome& expected, const graph::Outcome& actual);
std::string text_of(const graph::Graph&, const shape::Assignment&);

/// Compares with the file, or rewrites it when AXON_BLESS is set.
void expect_golden(const std::string& path, const std::string& text);

}  // namespace axon::task
