// The worker pool (pool.h). Parking follows one pattern: the sleeper announces itself, looks again, sleeps;
// the other side changes the word, then looks for sleepers; all four accesses are sequentially consistent.
#include "host/cpu/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "host/cpu/futex.h"
#include "host/limits.h"

namespace axon::host {
namespace {

constexpr auto idle_spin =
    std::chrono::microseconds(50);   ///< a thread looks out for the next launch for this long
constexpr int pauses_per_look = 32;  ///< at the clock

uint32_t load(const uint32_t& word) { return __atomic_load_n(&word, __ATOMIC_ACQUIRE); }
uint32_t load_ordered(const uint32_t& word) { return __atomic_load_n(&word, __ATOMIC_SEQ_CST); }
void store_ordered(uint32_t& word, uint32_t value) { __atomic_store_n(&word, value, __ATOMIC_SEQ_CST); }

/// True as soon as `done()`, false when the spin is over.
template <class Done>
bool spin(Done done) {
  const auto end = std::chrono::steady_clock::now() + idle_spin;
  do {
    for (int i = 0; i < pauses_per_look; ++i) {
      if (done()) return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return done();
}

/// The CPUs that this process may use, the one that the caller stands on first: it is worker 0 and is not
/// pinned, so the others are given the CPUs that it does not use now.
std::vector<int> allowed_cpu_list() {
  std::vector<int> out;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) out.push_back(cpu);
  if (const auto here = std::find(out.begin(), out.end(), sched_getcpu()); here != out.end())
    std::rotate(out.begin(), here, out.end());
  return out;
}

/// A refusal costs speed only.
void pin(std::thread& thread, int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  pthread_setaffinity_np(thread.native_handle(), sizeof set, &set);
}

/// Signals of the process belong to its own threads.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

uint32_t allowed_cpus() { return std::max<uint32_t>(1, static_cast<uint32_t>(allowed_cpu_list().size())); }

/// The threads of one process and what they share with the launching thread.
class Pool::Crew {
 public:
  explicit Crew(uint32_t workers) : slots_(workers - 1) {}
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  /// Starts the threads unless they are there.
  Status start();
  /// The right to run a launch; none where another thread has it and `waits` is false.
  std::unique_lock<std::mutex> turn(bool waits);
  /// In one's turn. launch.context.workers is from 2 to as many as there are.
  Status run(axon_kernel, Launch&);

 private:
  /// What worker w > 0 reads and writes; own cache lines. `generation` counts its launches.
  struct alignas(128) Slot {
    uint32_t generation = 0;
    uint32_t parked = 0;
    axon_kernel kernel = nullptr;
    Launch* launch = nullptr;
  };

  void stop();
  void work(uint32_t worker);
  uint32_t await_launch(Slot&, uint32_t seen) const;
  void await_workers();
  void make_way();

  std::mutex mutex_;   ///< held during a launch
  bool spins_ = true;  ///< false when threads share CPUs: the awaited one may need this one's
  std::atomic<bool> stopping_{false};
  std::vector<Slot> slots_;  ///< of workers 1 ...
  std::vector<std::thread> threads_;
  std::vector<int> cpus_;  ///< of the caller at its last launch, then of workers 1 ...; empty: not pinned
  alignas(128) uint32_t pending_ = 0;  ///< workers that still run the launch
  alignas(128) uint32_t caller_parked_ = 0;
};

Status Pool::Crew::start() {
  if (threads_.size() == slots_.size()) return std::nullopt;
  const auto workers = static_cast<uint32_t>(slots_.size()) + 1;
  std::vector<int> cpus = allowed_cpu_list();
  spins_ = workers <= cpus.size();
  threads_.reserve(workers - 1);
  const SignalsBlocked blocked;
  for (uint32_t worker = 1; worker < workers; ++worker) {
    try {
      threads_.emplace_back([this, worker] { work(worker); });
    } catch (const std::system_error& error) {
      stop();
      return system_failure(text("cannot start worker ", worker, ": ", std::string(error.what())));
    }
    pthread_setname_np(threads_.back().native_handle(), text("axon-", worker).c_str());
    if (spins_) pin(threads_.back(), cpus[worker]);
  }
  cpus.resize(spins_ ? workers : 0);
  cpus_ = std::move(cpus);
  return std::nullopt;
}

Pool::Crew::~Crew() { stop(); }

/// Ends the threads that were started; all of them can be started again.
void Pool::Crew::stop() {
  stopping_.store(true);
  for (size_t i = 0; i < threads_.size(); ++i) {
    store_ordered(slots_[i].generation, slots_[i].generation + 1);
    futex_wake_all(&slots_[i].generation);
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  for (Slot& slot : slots_) slot.generation = 0;
  stopping_.store(false);
}

uint32_t Pool::Crew::await_launch(Slot& slot, uint32_t seen) const {
  const auto launched = [&] { return load(slot.generation) != seen; };
  if (spins_ && spin(launched)) return load(slot.generation);
  store_ordered(slot.parked, 1);
  while (load_ordered(slot.generation) == seen) futex_wait(&slot.generation, seen);
  __atomic_store_n(&slot.parked, 0u, __ATOMIC_RELAXED);
  return load(slot.generation);
}

void Pool::Crew::work(uint32_t worker) {
  Slot& slot = slots_[worker - 1];
  for (uint32_t seen = 0;;) {
    seen = await_launch(slot, seen);
    if (stopping_.load()) return;
    slot.kernel(&slot.launch->context, worker);
    slot.launch->finished.fetch_add(1);
    const uint32_t left =
        __atomic_sub_fetch(&pending_, 1u, __ATOMIC_SEQ_CST);  // from here the launch may be gone
    if (left == 0 && load_ordered(caller_parked_)) futex_wake_all(&pending_);
  }
}

void Pool::Crew::await_workers() {
  const auto done = [&] { return load(pending_) == 0; };
  if (spins_ && spin(done)) return;
  store_ordered(caller_parked_, 1);
  for (uint32_t left; (left = load_ordered(pending_)) != 0;) futex_wait(&pending_, left);
  store_ordered(caller_parked_, 0);
}

void Pool::Crew::make_way() {
  if (cpus_.empty()) return;
  const int here = sched_getcpu();
  if (here < 0 || here == cpus_[0]) return;
  if (const auto worker = std::find(cpus_.begin() + 1, cpus_.end(), here); worker != cpus_.end()) {
    *worker = cpus_[0];
    pin(threads_[static_cast<size_t>(worker - cpus_.begin()) - 1], *worker);
  }
  cpus_[0] = here;
}

std::unique_lock<std::mutex> Pool::Crew::turn(bool waits) {
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock && waits) lock.lock();
  return lock;
}

Status Pool::Crew::run(axon_kernel kernel, Launch& launch) {
  if (auto failure = start()) return failure;
  make_way();
  const uint32_t workers = launch.context.workers;
  store_ordered(pending_, workers - 1);
  for (uint32_t worker = 1; worker < workers; ++worker) {
    Slot& slot = slots_[worker - 1];
    slot.kernel = kernel;
    slot.launch = &launch;
    store_ordered(slot.generation, slot.generation + 1);
    if (load_ordered(slot.parked)) futex_wake_all(&slot.generation);
  }
  kernel(&launch.context, 0);
  launch.finished.fetch_add(1);
  await_workers();
  return std::nullopt;
}

Pool::Pool(uint32_t workers) : workers_(workers), crew_(std::make_unique<Crew>(workers)) {}

Pool::~Pool() { remove_fork_listener(this); }

Result<std::unique_ptr<Pool>> Pool::create(uint32_t workers) {
  if (workers > limits::workers)
    return misuse(text(workers, " workers, at most ", limits::workers, " are possible"));
  std::unique_ptr<Pool> pool(new Pool(workers ? workers : std::min(allowed_cpus(), limits::workers)));
  if (auto failure = pool->crew_->start()) return *failure;
  add_fork_listener(pool.get());
  return pool;
}

void Pool::forked() {
  (void)crew_.release();  // joining its threads or locking its mutex would wait for the parent's threads
  crew_ = std::make_unique<Crew>(workers_);
  services_.restart();
}

Status Pool::run(axon_kernel kernel, Launch& launch) {
  launch.context.workers = std::min(launch.context.workers, workers_);
  launch.services = &services_;
  launch.context.services = services_.table();
  launch.waiting.store(0, std::memory_order_relaxed);
  launch.finished.store(0, std::memory_order_relaxed);
  if (launch.context.workers > 1) {
    if (const auto turn = crew_->turn(!launch.may_run_alone)) return crew_->run(kernel, launch);
    launch.context.workers = 1;
  }
  kernel(&launch.context, 0);
  return std::nullopt;
}

}  // namespace axon::host
