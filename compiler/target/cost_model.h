// The machine that costs are estimated for.
#pragma once

namespace axon::target {

/// One core's float32 with 256-bit vectors, and the memory of a machine with a few of them. The runtime has
/// the same numbers of its own (runtime/host/cost.h): it never sees the compiler.
struct CostModel {
  double operations = 60;  ///< a nanosecond and worker
  double bytes = 20;       ///< a nanosecond, all workers together
  double handoff = 400;    ///< nanoseconds until a worker sees what another has done
};

/// The least nanoseconds that so many operations and bytes take.
inline double floor_time(const CostModel& m, double operations, double bytes, int workers) {
  const double computing = operations / (m.operations * workers), moving = bytes / m.bytes;
  return computing > moving ? computing : moving;
}

}  // namespace axon::target
