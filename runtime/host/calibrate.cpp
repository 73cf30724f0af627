// Measuring the kernels of a plan, each alone (costs.h).
//
// A kernel alone computes from whatever memory holds, so it gets memory of its own: every temporary a place
// for itself, zeros at first. Kernels run in the plan's order, so what one reads is zeros or what those
// before it made of them. States and results are written to, as in a launch.
#include <algorithm>

#include "host/call.h"
#include "host/clock.h"
#include "host/limits.h"

namespace axon::host {

namespace {

constexpr size_t least_runs = 3, most_runs = 200;
constexpr uint64_t alignment = 64;

void nothing(const axon_kernel_context*, uint32_t) {}

/// The median of some runs, after one that warms up.
Status measure_launch(Pool& pool, axon_kernel kernel, Launch& launch, double seconds, double& out) {
  std::vector<double> times;
  const Clock::time_point begin = Clock::now();
  for (size_t run = 0; run <= most_runs; ++run) {
    const Clock::time_point start = Clock::now();
    if (auto failure = pool.run(kernel, launch)) return failure;
    if (run > 0) times.push_back(nanoseconds_since(start));
    if (times.size() >= least_runs && nanoseconds_since(begin) > seconds * 1e9) break;
  }
  std::nth_element(times.begin(), times.begin() + static_cast<ptrdiff_t>(times.size() / 2), times.end());
  out = times[times.size() / 2];
  return std::nullopt;
}

/// Memory for the temporaries of a variant, one behind the other; `buffers` points there.
Result<Memory> part_temporaries(const Variant& variant, const SizeTable& sizes, std::vector<void*>& buffers) {
  std::vector<uint64_t> offsets(buffers.size(), 0);
  uint64_t total = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (variant.buffers[i].kind != Buffer::Kind::slot) continue;
    const Dim& dim = variant.slots[variant.buffers[i].index].bytes;
    int64_t bytes = 0;
    if (!dim.evaluate(sizes.values(), bytes) || bytes < 0) return sizes.bad_formula(dim);
    offsets[i] = total;
    total += round_up(static_cast<uint64_t>(bytes) + alignment, alignment);
    if (total > limits::tensor_bytes) return sizes.bad_formula(dim);
  }
  auto memory = Memory::allocate(total);
  if (!memory) return system_failure(text("cannot get ", total, " bytes for temporaries"));
  for (size_t i = 0; i < buffers.size(); ++i)
    if (variant.buffers[i].kind == Buffer::Kind::slot) buffers[i] = memory->data() + offsets[i];
  return std::move(*memory);
}

/// What a kernel costs with one worker, and with all. An empty launch takes time, too, which does not count.
Status measure_kernel(const Kernel& kernel, axon_kernel code, const SizeTable& sizes, Pool& pool,
                      Launch& launch, double seconds, Costs& costs) {
  int64_t work = 0;
  if (!kernel.work.evaluate(sizes.values(), work) || work < 0) return sizes.bad_formula(kernel.work);
  KernelCost cost{kernel.name, 0, 0};
  for (const bool shared : {false, true}) {
    launch.context.workers = shared ? pool.workers() : 1;
    double empty = 0, whole = 0;
    if (auto failure = measure_launch(pool, nothing, launch, 0, empty)) return failure;
    if (auto failure = measure_launch(pool, code, launch, seconds, whole)) return failure;
    (shared ? cost.all : cost.one) =
        std::max(whole - empty, 0.0) / static_cast<double>(std::max<int64_t>(work, 1));
  }
  costs.kernels[kernel.symbol] = cost;
  return std::nullopt;
}

}  // namespace

Status Call::calibrate(double seconds, Costs& costs) {
  if (incomplete_)
    if (auto failure = check_missing()) return failure;
  incomplete_ = false;
  if (dirty_)
    if (auto failure = resolve()) return failure;
  if (has_ranges_)
    if (auto failure = check_ranges()) return failure;
  Plan& plan = *plan_;
  fill_buffers(plan);
  pointers_dirty_ = true;  // the next launch has its own temporaries again
  auto temporaries = part_temporaries(*plan.variant, sizes_, plan.buffers);
  if (!temporaries) return std::move(temporaries.failure());
  std::copy_n(sizes_.values(), launch_sizes_.size(), launch_sizes_.begin());
  launch_.context.scratch_bytes = static_cast<uint64_t>(plan.scratch_bytes);
  launch_.trace = nullptr;
  ran_ = false;
  Pool& pool = *runtime_->pool;
  costs.workers = pool.workers();
  if (costs.workers > 1) {
    auto handoff = measure_handoff(pool);
    if (!handoff) return std::move(handoff.failure());
    costs.handoff = *handoff;
  }
  for (const Kernel& kernel : plan.variant->kernels) {
    auto code = bundle_->image->kernel(kernel.symbol);
    if (!code) return std::move(code.failure());
    if (auto failure = measure_kernel(kernel, *code, sizes_, pool, launch_, seconds, costs)) return failure;
  }
  failed_ = 0;
  return std::nullopt;
}

Status Call::predict(uint32_t workers, double& nanoseconds) const {
  if (!ran_) return misuse("what a run takes is predicted for the arguments of the last one: there was none");
  std::optional<double> predicted;
  if (bundle_->costs)
    predicted = bundle_->costs->predict(*plan_->variant, sizes_.values(), plan_->handoffs, workers);
  if (!predicted) return misuse("the bundle has not been calibrated (`etcc calibrate`)");
  nanoseconds = *predicted;
  return std::nullopt;
}

/// The workers of the next launch: where the bundle was calibrated, those that its costs predict the shortest
/// time for, else what the model and trials say (cost.h).
uint32_t Call::choose_workers(Plan& plan) const {
  const uint32_t most = runtime_->pool->workers();
  const auto work = static_cast<double>(plan.work);
  if (bundle_->costs && !plan.choice.fits(work, most))
    if (const auto best = bundle_->costs->fastest(*plan.variant, sizes_.values(), plan.handoffs, most)) {
      plan.choice.settle_on(*best, work, most);
      return *best;
    }
  return plan.choice.next(runtime_->model, work, static_cast<double>(plan.handoffs), most);
}

}  // namespace axon::host
