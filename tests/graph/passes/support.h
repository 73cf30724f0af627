// What the tests of graph passes share: reading graphs, running passes with verification, and comparing
// meanings.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/interpret.h"

namespace axon::graph::testing {

/// The parsed and verified text; fails the test otherwise.
Graph read(const std::string& text);
std::string file_text(const std::string& path);

/// Runs the passes of that name ("all": the whole table; "whole": without split_attention), verifying after
/// each.
void run(Graph&, const std::string& pass);

/// Both graphs give the same results on random inputs of several sizes (0, 1 and primes among them) in
/// float64 and in storage precision. Sizes that break a fact are left out; the number of compared runs is
/// returned.
int expect_same_meaning(const Graph& before, const Graph& after, uint32_t seed = 1,
                        const std::vector<int64_t>& choices = {});

/// Compute nodes in the region of the first loop, or in the root when there is none.
int compute_nodes(const Graph&);
/// The text without names and source positions: hints must not matter.
std::string without_names(const std::string& text);
bool contains(const std::string& text, const std::string& part);

}  // namespace axon::graph::testing
