// What was found by a benchmark, as a table, as JSON, and as a timeline.
#pragma once
#include <string>

#include "tools/bench_figures.h"

namespace axon::tools {

/// Types with the longest times first.
std::string benchmark_table(const Benchmark&);
/// docs/bench.md says what it holds.
std::string benchmark_json(const Benchmark&);
/// The fastest traced launch in the trace event format of Chrome: complete events, a thread for each worker.
std::string chrome_trace(const plan::Variant&, const Benchmark&);

}  // namespace axon::tools
