// See probe.h.
#include "probe/probe.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace axon::probe {

namespace {

/// Others may take a CPU for a while: where a repetition is short there are many.
constexpr int least_repetitions = 5, most_repetitions = 30;
constexpr double long_enough = 0.05;           ///< seconds for all of them
constexpr size_t floats_of_a_step = 128;       ///< what read_all reads a multiple of
constexpr size_t bytes_of_a_time = 16U << 20;  ///< read by a thread before it looks at the clock
constexpr int64_t rounds = 1'000'000;

std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

/// A refusal costs accuracy only.
void pin_this_thread(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

/// Runs `work(thread)` on so many threads at once and gives the seconds of the slowest.
double on_threads(int threads, const std::function<void(int)>& work) {
  using Clock = std::chrono::steady_clock;
  const std::vector<int> cpus = allowed_cpus();
  const bool pinned = static_cast<size_t>(threads) <= cpus.size();
  std::vector<double> seconds(static_cast<size_t>(threads));
  std::atomic<int> missing{threads};
  {
    std::vector<std::jthread> pool;
    try {
      for (int t = 0; t < threads; ++t)
        pool.emplace_back([&, t] {
          if (pinned) pin_this_thread(cpus[static_cast<size_t>(t)]);
          --missing;
          while (missing > 0) std::this_thread::yield();
          const Clock::time_point begin = Clock::now();
          work(t);
          seconds[static_cast<size_t>(t)] = std::chrono::duration<double>(Clock::now() - begin).count();
        });
    } catch (const std::system_error&) {
      missing = 0;  // those that have begun wait for the others
      throw;
    }
  }
  return *std::max_element(seconds.begin(), seconds.end());
}

double best_of(int threads, const std::function<void(int)>& work) {
  double best = std::numeric_limits<double>::infinity(), all = 0;
  for (int i = 0; i < least_repetitions || (i < most_repetitions && all < long_enough); ++i) {
    const double seconds = on_threads(threads, work);
    best = std::min(best, seconds);
    all += seconds;
  }
  return best;
}

}  // namespace

const Loops* find_loops(std::string_view level) {
  if (level == "x86-64-v2") return &v2::loops;
  if (level == "x86-64-v3") return &v3::loops;
  return level == "x86-64-v4" ? &v4::loops : nullptr;
}

Buffer::Buffer(size_t bytes) : bytes_(std::max<size_t>(bytes, floats_of_a_step * sizeof(float))) {
  void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  madvise(memory, bytes_, MADV_HUGEPAGE);
  data_ = static_cast<float*>(memory);
  std::fill_n(data_, bytes_ / sizeof(float), 1.0F);
}

Buffer::~Buffer() { munmap(data_, bytes_); }

double read_bandwidth(const Loops& loops, const Buffer& buffer, size_t bytes, int threads) {
  const auto shares = static_cast<size_t>(threads);
  const auto whole_steps = [&](size_t of) {
    return std::max<size_t>(of / sizeof(float) / shares / floats_of_a_step, 1) * floats_of_a_step;
  };
  const size_t share = std::min(whole_steps(bytes), whole_steps(buffer.bytes()));
  const size_t passes = std::max<size_t>(bytes_of_a_time / (share * sizeof(float)), 1);
  double best = std::numeric_limits<double>::infinity();
  for (const auto read : loops.read_all)
    best = std::min(best, best_of(threads, [&](int t) {
                      for (size_t pass = 0; pass < passes; ++pass)
                        read(buffer.data() + share * static_cast<size_t>(t), share);
                    }));
  return static_cast<double>(share * shares * sizeof(float)) * static_cast<double>(passes) / best;
}

double multiply_add_peak(const Loops& loops, int threads) {
  const double best = best_of(threads, [&](int) { loops.multiply_adds(rounds); });
  return static_cast<double>(rounds * loops.multiply_adds_of_a_round) * threads / best;
}

}  // namespace axon::probe
