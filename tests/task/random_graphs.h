// Small random graphs as text: chains of every kind of node over a few sizes, with loops, updates and
// gathers.
#pragma once
#include <cstdint>
#include <string>

namespace axon::task {

/// The same seed gives the same text on every platform. Sizes: m, d, n (trip counts) and v; v >= 1.
std::string random_graph(uint64_t seed);

}  // namespace axon::task
