// See bench_measure.h.
#include "tools/bench_measure.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "base/bug.h"

namespace axon::tools {

namespace {

constexpr size_t most_launches = 100'000;
constexpr size_t noted_runs = size_t{1} << 20;  ///< of a worker

/// A call whose debugged values are not shown.
Call silent_call(SizedBundle& bundle, const std::string& entry, axon_runtime* runtime) {
  Call call = bundle.call_of(entry, runtime);
  axon_call_on_debug(
      call.get(), [](void*, const char*, const axon_view*) {}, nullptr);
  return call;
}

void take_sizes(const SizedBundle& bundle, const std::string& entry, axon_call* call, Sizes& sizes) {
  const axon_entry* const of = bundle.find(entry);
  for (size_t s = 0; s < axon_entry_size_count(of); ++s) {
    const char* name = nullptr;
    bundle.must(axon_entry_size(of, s, &name, nullptr, bundle.error()));
    bundle.must(axon_call_size(call, name, &sizes[name], bundle.error()));
  }
}

/// What the last launch of a call has noted.
class Notes {
 public:
  Notes(const SizedBundle& bundle, axon_call* call, uint32_t workers, const std::vector<std::string>& types)
      : bundle_(bundle), call_(call), workers_(workers), types_(types), busy_(types.size()) {}

  void take(double time) {
    std::vector<double> busy(types_.size());
    const bool is_fastest = time < fastest_.time;
    if (is_fastest) fastest_ = {time, std::vector<std::vector<TaskRun>>(workers_), 0};
    for (uint32_t worker = 0; worker < workers_; ++worker) {
      const axon_task_run* runs = nullptr;
      size_t count = 0, lost = 0;
      bundle_.must(axon_call_traced(call_, worker, &runs, &count, &lost, bundle_.error()));
      if (is_fastest) fastest_.lost += lost;
      for (const axon_task_run* run = runs; run != runs + count; ++run) {
        const uint32_t type = type_of(run->type);
        busy[type] += run->end - run->begin;
        if (is_fastest)
          fastest_.workers[worker].push_back({type, run->first, run->count, run->begin, run->end});
      }
    }
    for (size_t t = 0; t < busy.size(); ++t) busy_[t].push_back(busy[t] / workers_);
  }

  void give(Measured& out) && {
    for (std::vector<double>& of_type : busy_) out.of_type.push_back(median(std::move(of_type)));
    out.fastest = std::move(fastest_);
  }

 private:
  uint32_t type_of(std::string_view name) const {
    const auto at = std::find(types_.begin(), types_.end(), name);
    if (at == types_.end()) base::bug("tools::Notes", "no task type " + std::string(name));
    return static_cast<uint32_t>(at - types_.begin());
  }

  const SizedBundle& bundle_;
  axon_call* const call_;
  const uint32_t workers_;
  const std::vector<std::string>& types_;
  std::vector<std::vector<double>> busy_;  ///< by type, of each launch
  Timeline fastest_{std::numeric_limits<double>::infinity(), {}, 0};
};

}  // namespace

void measure_plain(SizedBundle& bundle, const std::string& entry, uint32_t workers, double seconds,
                   Measured& out) {
  const Runtime runtime = runtime_of(workers);
  const Call call = silent_call(bundle, entry, runtime.get());
  const std::vector<double> times = times_of(bundle, call.get(), seconds, most_launches);
  out.time = median(times);
  out.launches = times.size();
  axon_call_statistics statistics{};
  bundle.must(axon_call_get_statistics(call.get(), &statistics, bundle.error()));
  out.workers = statistics.workers;
  out.variant = statistics.variant;
  take_sizes(bundle, entry, call.get(), out.sizes);
}

void measure_traced(SizedBundle& bundle, const std::string& entry, const std::vector<std::string>& types,
                    double seconds, Measured& out) {
  const Runtime runtime = runtime_of(out.workers);
  const Call call = silent_call(bundle, entry, runtime.get());
  bundle.must(axon_call_trace(call.get(), noted_runs, bundle.error()));
  Notes notes(bundle, call.get(), out.workers, types);
  const std::vector<double> times =
      times_of(bundle, call.get(), seconds, most_launches, [&](double time) { notes.take(time); });
  out.traced_time = median(times);
  out.traced_launches = times.size();
  std::move(notes).give(out);
}

}  // namespace axon::tools
