// The workers that calls share, and what is known of their speed.
#pragma once
#include <memory>

#include "host/cost.h"
#include "host/cpu/pool.h"
#include "host/error.h"

namespace axon::host {

struct Runtime {
  std::unique_ptr<Pool> pool;
  bool fixed = true;  ///< every launch uses all workers
  CostModel model;
};

/// workers = 0: the allowed CPUs, of which each launch uses as many as pay off.
Result<std::shared_ptr<Runtime>> create_runtime(uint32_t workers);

/// Nanoseconds for one worker to notify another and to hear back.
Result<double> measure_handoff(Pool&);

}  // namespace axon::host
