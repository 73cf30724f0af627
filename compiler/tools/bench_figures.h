// What an entry takes beside what it has to take at least on this machine.
//
// In: what was measured, and the plan that ran. Out: for the entry and each type of its tasks numbers of
// tasks, operations and bytes, and the least time for those: the longest of what operations take at the
// probed peak of multiply-adds, what comes from outside or goes there at the bandwidth that is probed over as
// many bytes as the entry moves, and what stays between tasks at the bandwidth over as many bytes as a run of
// the type moves.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include "plan/plan.h"
#include "probe/probe.h"
#include "tools/bench_measure.h"

namespace axon::tools {

/// The probed rates of so many threads.
class Rates {
 public:
  /// `level`: one that the machine has. No bandwidth is asked for over more bytes than `most`, or 1 GiB.
  Rates(std::string_view level, uint32_t threads, double most);
  double multiply_adds() const { return multiply_adds_; }  ///< a second
  /// Bytes a second, over a buffer of so many bytes, rounded up to a power of two.
  double bandwidth(double bytes);
  /// By the size of the buffer: those that were asked for.
  const std::map<size_t, double>& bandwidths() const { return bandwidths_; }

 private:
  const probe::Loops& loops_;
  const int threads_;
  const probe::Buffer buffer_;
  const double multiply_adds_;
  std::map<size_t, double> bandwidths_;
};

enum class Bound : uint8_t { nothing, bytes, operations };
const char* bound_name(Bound);

/// The least time, and what sets it.
struct Floor {
  double time = 0;  ///< nanoseconds
  Bound by = Bound::nothing;
};

/// Numbers are missing where 64 bits do not hold them.
struct Figures {
  std::string name, family;  ///< family: of a type
  std::optional<double> tasks, operations, bytes, outside, boxes;
  double time = 0;  ///< nanoseconds: of a launch, or busy with tasks of the type, over all workers
  double busy = 0;  ///< of all workers together, in the fastest traced launch
  std::optional<Floor> floor;
  /// How much of the time would have to be spent anyway.
  std::optional<double> ratio() const;
};

struct Benchmark {
  std::string file, entry, level;
  Measured measured;
  Figures whole;
  std::vector<Figures> types;  ///< in program order
  shape::Assignment values;    ///< of sizes and of trip counts that the data decides
  std::unique_ptr<Rates> rates;
};

/// Names of the types of a variant, in program order.
std::vector<std::string> type_names(const plan::Variant&);
/// Fills in all that follows from `file`, `entry`, `level` and `measured`.
void add_figures(const plan::Variant&, Benchmark&);

}  // namespace axon::tools
