// Runs of small entries with known results or errors, in every executor.
#pragma once
#include <cstdint>
#include <vector>

#include "executors.h"

namespace axon::differential {

/// A run of an entry whose parameters are a vector of f32, a vector of i64, and i64 scalars: its first
/// result, or words of its error.
struct CheckedRun {
  const char* entry;
  std::vector<double> x;
  std::vector<int64_t> k;
  std::vector<double> result;
  const char* error = "";
  std::vector<int64_t> scalars = {};
};

/// Every run gives its result, or its error, in every executor.
void expect_runs(const Compiled&, const std::vector<CheckedRun>&);

}  // namespace axon::differential
