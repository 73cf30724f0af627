// Texts of tile programs, tensors for them, and what plain loops make of these.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "../sanitized.h"
#include "tile/interpret.h"

namespace axon::tile {

using Sizes = std::map<std::string, int64_t>;
using Tensors = std::map<std::string, TensorData>;

std::string text_of(const std::string& program);  ///< programs/NAME.tiles
std::vector<std::string> all_programs();          ///< names
Program program_of(const std::string& text);

/// Inputs of a run, and what comes out.
struct Sample {
  Tensors given, wanted;
  double tolerance = 0;  ///< relative, of floats; 0: equal bits
};
/// The sizes that a program is run with: 0, 1, primes, edges of tiles, two tiles and one more.
std::vector<Sizes> sizes_of(const std::string& program);
Sample sample_of(const std::string& program, const Sizes&, uint64_t seed);

/// Why the tensors are not what the sample wants; empty where they are.
std::string difference(const Program&, const std::vector<TensorData>&, const Sample&);
/// The same of a run, or its error.
std::string difference(const Program&, const Sizes&, const Sample&, const RunOptions&);

}  // namespace axon::tile
