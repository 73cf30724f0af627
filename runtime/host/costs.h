// What calibration finds out about a bundle on this machine: how long its kernels take.
//
// In: the times of each kernel alone (calibrate.cpp), or the file that they were written to, which stands
// beside the bundle and is named after it. Out: how long a launch should take with so many workers. Kernels
// are measured one by one, so the sum over a plan's kernels is a prediction, not a memory of earlier
// launches.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "host/error.h"
#include "host/manifest.h"
#include "host/weights/file.h"

namespace axon::host {

/// Nanoseconds per unit of the manifest's work.
struct KernelCost {
  std::string name;
  double one = 0;  ///< on one worker
  double all = 0;  ///< shared by all workers of the machine
};

struct Costs {
  uint32_t workers = 1;                       ///< how many `all` are
  double handoff = 0;                         ///< nanoseconds, as CostModel::handoff
  std::map<std::string, KernelCost> kernels;  ///< by symbol

  /// Nanoseconds that so much work of a kernel takes. Between one worker and all, the gain is taken to grow
  /// evenly; more workers than were measured gain nothing.
  static double time(const KernelCost&, double work, uint32_t workers, uint32_t all);
  /// Nanoseconds that a launch of the variant takes; nullopt where a kernel of it has not been measured.
  std::optional<double> predict(const Variant&, const int64_t* sizes, int64_t handoffs,
                                uint32_t workers) const;
  /// The number of workers, of worker_candidates(most), that the shortest time is predicted for.
  std::optional<uint32_t> fastest(const Variant&, const int64_t* sizes, int64_t handoffs,
                                  uint32_t most) const;
};

/// As text, for a bundle with this hash whose code of this level was measured.
std::string print_costs(const Costs&, uint64_t bundle, const std::string& level);
/// nullptr for a text that is damaged, or was written for another bundle or level: launches then go without.
std::shared_ptr<const Costs> read_costs(weights::Bytes text, uint64_t bundle, const std::string& level);

/// The file beside a bundle.
std::string costs_path(const std::string& bundle);

}  // namespace axon::host
