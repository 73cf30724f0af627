// When each worker of a launch ran which tasks, as a traced kernel notes it.
//
// In: the runs of tasks that a launch ends, each from the worker that ran them. Out: per worker those runs in
// order of time, as many as there is room for; the others are counted. Times never go back within a worker,
// also where the system moves its thread to another CPU. Noting a run allocates nothing.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "axon/axon.h"
#include "host/manifest.h"

namespace axon::host {

class Trace {
 public:
  /// Room for so many runs of each worker.
  Trace(uint32_t workers, size_t runs);

  /// A launch of the variant begins: what was noted before is forgotten.
  void begin(const Variant&);
  /// Tasks `first` to `first + count` of a kernel ran from `begin` to `end` of now().
  void add(uint32_t worker, uint32_t kernel, int64_t first, int64_t count, uint64_t begin, uint64_t end);
  /// The clock of kernels: ticks of the processor's, where those are of equal length, else nanoseconds.
  static uint64_t now();

  size_t workers() const { return workers_.size(); }
  std::span<const axon_task_run> runs(uint32_t worker) const { return workers_[worker].runs; }
  size_t lost(uint32_t worker) const { return workers_[worker].lost; }

 private:
  struct alignas(128) Worker {
    std::vector<axon_task_run> runs;
    size_t lost = 0;
    double last = 0;  ///< when its last run ended
  };

  double since_begin(uint64_t ticks) const;

  std::vector<Worker> workers_;
  const size_t room_;
  const double tick_;  ///< nanoseconds
  const Variant* variant_ = nullptr;
  uint64_t begin_ = 0;
};

}  // namespace axon::host
