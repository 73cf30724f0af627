// Sizes and contents for one run of a generated program.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "executors.h"

namespace axon::differential {

/// What a run's sizes are chosen to show.
enum class Round : uint8_t { zero, one, primes, tile_edge, special };
inline constexpr Round rounds[] = {Round::zero, Round::one, Round::primes, Round::tile_edge, Round::special};
const char* round_name(Round);

using Sizes = std::map<std::string, int64_t>;

/// Sizes that the program is defined for and that keep its cost within bounds. zero: one of them 0 if the
/// program allows it; one: one of them 1; tile_edge: one of them next to a power of two that tiles have;
/// special: as primes.
Sizes choose_sizes(const Generated&, Round, uint64_t seed);
/// The same for programs that share weights.
Sizes choose_sizes(std::span<const Generated>, Round, uint64_t seed);

/// Scalar operations of a run, roughly.
int64_t cost(const Generated&, const Sizes&);

/// Contents for every input of the graph, repeated indices among them. special: also NaN, infinities,
/// denormals and -0. faults: checked integers may be others than the program asks for, so that it fails.
Inputs choose_inputs(const Generated&, const graph::Graph&, const Sizes&, Round, uint64_t seed,
                     bool faults = false);

/// The same for a program by hand: sizes by name, integers below `bound`.
Inputs make_inputs(const graph::Graph&, const Sizes&, int64_t bound, uint64_t seed);

}  // namespace axon::differential
