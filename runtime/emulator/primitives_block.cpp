// See semantics.h: special registers, barriers of a block, fences, events.
#include <fmt/format.h>

#include "emulator/engine.h"
#include "emulator/semantics.h"

namespace axon::emulator {

void read_register(const Call& call) {
  const Thread& self = call.self;
  const auto threads = static_cast<uint32_t>(call.engine.launch().threads);
  const auto value = [&]() -> uint32_t {
    switch (static_cast<Register>(call.parameter)) {
      case Register::tid:
        return self.index;
      case Register::ntid:
        return threads;
      case Register::ctaid:
        return self.block;
      case Register::nctaid:
        return static_cast<uint32_t>(call.engine.launch().blocks);
      case Register::zero:
        return 0;
      case Register::one:
        return 1;
      case Register::lane:
        return self.lane();
      case Register::warp:
        return self.warp();
      case Register::warps:
        return (threads + 31) / 32;
      case Register::warp_size:
        return 32;
    }
    return 0;
  };
  call.values[0] = value();
}

void arrive_at_barrier_0(const Call& call) {
  call.engine.collectives().arrive(call.self, {.site = call.site});
}

namespace {

void arrive_numbered(const Call& call, bool aligned) {
  const uint64_t number = call.values[0];
  if (number >= Collectives::hardware_barriers)
    call.engine.fail(Kind::divergence, call.site,
                     fmt::format("{}: there is no barrier {} ({})", call.engine.describe(call.self), number,
                                 call.engine.site(call.site).place));
  call.engine.collectives().arrive(call.self,
                                   {.barrier = static_cast<int>(number),
                                    .count = call.parameter == 1 ? static_cast<uint32_t>(call.values[1]) : 0,
                                    .aligned = aligned,
                                    .site = call.site});
}

}  // namespace

void arrive_aligned(const Call& call) { arrive_numbered(call, /*aligned=*/true); }
void arrive_unaligned(const Call& call) { arrive_numbered(call, /*aligned=*/false); }

void fence_memory(const Call& call) { Synchronisation::fence(call.self, /*acquire=*/true, /*release=*/true); }

void wait_for_events(const Call& call) {
  const auto* words = reinterpret_cast<const uint32_t*>(call.values[0]);
  const auto count = static_cast<int64_t>(call.values[1]);
  const auto target = static_cast<uint32_t>(call.values[2]);
  if (call.self.index == 0)
    for (int64_t i = 0; i < count; ++i) call.engine.events().wait(call.self, words + i, target, call.site);
  call.engine.collectives().arrive(call.self, {.barrier = Collectives::wait_barrier,
                                               .agreed = (call.values[0] * 31 + call.values[1]) * 31 + target,
                                               .site = call.site});
}

void notify_event(const Call& call) {
  auto* word = reinterpret_cast<uint32_t*>(call.values[0]);
  const auto epoch = static_cast<uint32_t>(call.values[1]);
  call.engine.collectives().arrive(
      call.self,
      {.barrier = Collectives::notify_barrier, .agreed = call.values[0] * 31 + epoch, .site = call.site});
  if (call.self.index != 0) return;
  call.engine.step();
  call.engine.events().notify(call.self, word, epoch, call.site);
}

void enter_task(const Call& call) {
  call.self.task =
      call.engine.tasks().number(static_cast<int32_t>(call.values[0]), static_cast<int64_t>(call.values[1]));
}

void give_up(const Call& call) {
  call.engine.fail(
      Kind::trap, call.site,
      fmt::format("{} ({})", call.engine.describe(call.self), call.engine.site(call.site).place));
}

void leave_kernel(const Call& call) { call.engine.leave(call.self); }

}  // namespace axon::emulator
