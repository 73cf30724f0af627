// Persistent workers. A launch runs a kernel on the calling thread (worker 0) and on n - 1 pool threads, each
// woken by its own word; it returns when all have. Between launches threads spin for a bounded time, then
// park on a futex; a launch of one worker touches no other thread. Threads are pinned to the allowed CPUs
// when there are enough of them. The caller is not: a worker that is pinned to where the caller now stands
// goes to the CPU that the caller has left, or the two would take turns until the kernel moves one.
//
// A fork copies the memory of the process and none of its other threads, so a child starts threads of its own
// at its first launch; what the parent's left behind (a lock that is held, a launch half done) is not looked
// at.
#pragma once
#include <cstdint>
#include <memory>

#include "device/abi.h"
#include "host/cpu/fork.h"
#include "host/cpu/services.h"
#include "host/error.h"

namespace axon::host {

uint32_t allowed_cpus();

class Pool final : private ForkListener {
 public:
  /// workers = 0: as many as there are allowed CPUs.
  static Result<std::unique_ptr<Pool>> create(uint32_t workers);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  uint32_t workers() const { return workers_; }
  Services& services() { return services_; }
  /// Runs worker 0 .. launch.context.workers - 1, at most workers(). Launches from several threads take
  /// turns, or run alone, as worker 0 of 1, where they may and the others are taken. Fails, without having
  /// run anything, when threads of a forked process cannot be started.
  Status run(axon_kernel, Launch&);

 private:
  class Crew;

  explicit Pool(uint32_t workers);
  /// Threads are to be started again.
  void forked() override;

  const uint32_t workers_;
  Services services_;
  std::unique_ptr<Crew> crew_;
};

}  // namespace axon::host
