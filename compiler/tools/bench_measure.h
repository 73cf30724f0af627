// What an entry takes, measured: launches without tracing, and traced ones.
//
// In: an entry's bundle, once without and once with tracing, and sizes. Out: the time of its launches, and of
// traced ones how long workers were busy with the tasks of each type.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tools/sized_bundle.h"

namespace axon::tools {

/// Tasks that a worker ran one after the other; times are nanoseconds since the launch began.
struct TaskRun {
  uint32_t type = 0;  ///< position among the types that were asked for
  int64_t first = 0, count = 0;
  double begin = 0, end = 0;
};

/// One traced launch.
struct Timeline {
  double time = 0;  ///< of the launch, as its caller sees it
  std::vector<std::vector<TaskRun>> workers;
  size_t lost = 0;  ///< runs that had no room
};

struct Measured {
  Sizes sizes;  ///< of the entry, with those that the data has decided
  std::string variant;
  uint32_t workers = 0;
  double time = 0;  ///< median of the launches without tracing, nanoseconds
  size_t launches = 0;
  double traced_time = 0;  ///< the same with tracing
  size_t traced_launches = 0;
  std::vector<double> of_type;  ///< median of what each worker is busy with its tasks, over all workers
  Timeline fastest;             ///< of the traced launches
};

/// Measures the entry of a bundle that is open for about so many seconds. `workers`: 0 for as many as pay
/// off.
void measure_plain(SizedBundle&, const std::string& entry, uint32_t workers, double seconds, Measured&);
/// The same of a traced bundle, with the workers that were found before. `types`: names of task types.
void measure_traced(SizedBundle&, const std::string& entry, const std::vector<std::string>& types,
                    double seconds, Measured&);

}  // namespace axon::tools
