// Making a runtime, and measuring what a handoff costs (runtime.h).
#include "host/runtime.h"

#include <algorithm>

#include "host/clock.h"
#include "host/cpu/futex.h"

namespace axon::host {
namespace {

constexpr uint32_t rounds = 20, batches = 60;  ///< short ones: some pass undisturbed even on a busy machine
constexpr double time_limit = 5e6;             ///< nanoseconds for all batches
constexpr uint32_t over = UINT32_MAX;

/// Two words on lines of their own: worker 0 writes a number to the first, worker 1 answers in the second.
struct PingPong {
  Launch launch;
  alignas(128) uint32_t ping = 0;
  alignas(128) uint32_t pong = 0;
  double best = 0;
};

void serve(PingPong& game) {
  const Clock::time_point begin = Clock::now();
  uint32_t number = 0;
  for (uint32_t batch = 0; batch < batches && nanoseconds_since(begin) < time_limit; ++batch) {
    const Clock::time_point start = Clock::now();
    for (uint32_t i = 0; i < rounds; ++i) {
      __atomic_store_n(&game.ping, ++number, __ATOMIC_RELEASE);
      while (__atomic_load_n(&game.pong, __ATOMIC_ACQUIRE) != number) pause();
    }
    const double each = nanoseconds_since(start) / rounds;
    game.best = batch == 0 ? each : std::min(game.best, each);
  }
  __atomic_store_n(&game.ping, over, __ATOMIC_RELEASE);
}

void answer(PingPong& game) {
  for (uint32_t seen = 0; seen != over;) {
    const uint32_t now = __atomic_load_n(&game.ping, __ATOMIC_ACQUIRE);
    if (now != seen)
      __atomic_store_n(&game.pong, seen = now, __ATOMIC_RELEASE);
    else
      pause();
  }
}

void play(const axon_kernel_context* context, uint32_t worker) {
  auto& game = *static_cast<PingPong*>(const_cast<void*>(context->buffers[0]));
  if (worker == 0)
    serve(game);
  else
    answer(game);
}

}  // namespace

Result<double> measure_handoff(Pool& pool) {
  PingPong game;
  void* const buffers[] = {&game};
  game.launch.context.buffers = buffers;
  game.launch.context.workers = 2;
  if (auto failure = pool.run(play, game.launch)) return *failure;
  return std::clamp(game.best, 40.0, 2'000.0);
}

Result<std::shared_ptr<Runtime>> create_runtime(uint32_t workers) {
  auto pool = Pool::create(workers);
  if (!pool) return pool.failure();
  auto runtime = std::make_shared<Runtime>();
  runtime->pool = std::move(*pool);
  runtime->fixed = workers != 0;
  if (!runtime->fixed && runtime->pool->workers() > 1) {
    auto handoff = measure_handoff(*runtime->pool);
    if (!handoff) return handoff.failure();
    runtime->model.handoff = *handoff;
  }
  return runtime;
}

}  // namespace axon::host
