// Persistent workers. A launch runs a kernel on the calling thread (worker 0) and on n - 1 pool threads, each
// woken by its own word; it returns when all have. Between launches threads spin for a bounded time, then
// park on a futex; a launch of one worker touches no other thread. Threads are pinned to the allowed CPUs
// when there are enough of them. The caller is not: a worker that is pinned to where the caller now stands
// goes to the CPU that the caller has left, or the two would take turns until the kernel moves one.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "device/abi.h"
#include "host/cpu/services.h"
#include "host/error.h"

namespace axon::host {

uint32_t allowed_cpus();

class Pool {
 public:
  /// workers = 0: as many as there are allowed CPUs.
  static Result<std::unique_ptr<Pool>> create(uint32_t workers);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  uint32_t workers() const { return static_cast<uint32_t>(threads_.size()) + 1; }
  Services& services() { return services_; }
  /// Runs worker 0 .. launch.context.workers - 1, at most workers(). Launches from several threads take
  /// turns.
  void run(axon_kernel, Launch&);

 private:
  /// What worker w > 0 reads and writes; own cache lines. `generation` counts its launches.
  struct alignas(128) Slot {
    uint32_t generation = 0;
    uint32_t parked = 0;
    axon_kernel kernel = nullptr;
    Launch* launch = nullptr;
  };

  Pool() = default;
  Status start(uint32_t workers);
  void work(uint32_t worker);
  uint32_t await_launch(Slot&, uint32_t seen) const;
  void await_workers();
  void make_way();

  Services services_;
  std::mutex mutex_;   ///< held during a launch of several workers
  bool spins_ = true;  ///< false when threads share CPUs: the awaited one may need this one's
  std::atomic<bool> stopping_{false};
  std::vector<Slot> slots_;  ///< of workers 1 ...
  std::vector<std::thread> threads_;
  std::vector<int> cpus_;  ///< of the caller at its last launch, then of workers 1 ...; empty: not pinned
  alignas(128) uint32_t pending_ = 0;  ///< workers that still run the launch
  alignas(128) uint32_t caller_parked_ = 0;
};

}  // namespace axon::host
