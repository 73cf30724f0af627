// See bench_figures.h.
#include "tools/bench_figures.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "page/cost.h"
#include "page/traffic.h"
#include "task/trip_counts.h"

namespace axon::tools {

namespace {

using Number = std::optional<double>;

constexpr size_t least_buffer = size_t{1} << 12, most_buffer = size_t{1} << 30;

size_t buffer_for(double bytes) {
  const double within = std::clamp(bytes, double{least_buffer}, double{most_buffer});
  return std::bit_ceil(static_cast<size_t>(within));
}

Number sum(Number a, Number b) { return a && b ? Number(*a + *b) : std::nullopt; }

Number number(const shape::Dim& d, const shape::Assignment& values) {
  const auto value = d.evaluate(values);
  return value ? Number(static_cast<double>(*value)) : std::nullopt;
}

/// A type whose innermost loop is this one.
std::optional<task::TaskTypeId> type_in(const task::Program& p, task::LoopId loop) {
  for (uint32_t t = 0; t < p.types.size(); ++t)
    if (const auto& loops = p.types[task::TaskTypeId{t}].loops; !loops.empty() && loops.back() == loop)
      return task::TaskTypeId{t};
  return std::nullopt;
}

/// How many tasks of a type a launch has noted.
double noted(const Timeline& launch, task::TaskTypeId type) {
  double tasks = 0;
  for (const auto& runs : launch.workers)
    for (const TaskRun& run : runs)
      if (run.type == type.index) tasks += static_cast<double>(run.count);
  return tasks;
}

/// Sizes, and the trip counts that the data decides: of a loop inside of others what it has in the mean,
/// rounded.
shape::Assignment values_of(const task::Program& p, const Measured& measured) {
  shape::Assignment values;
  for (const graph::Size& size : p.graph->sizes)
    if (const auto value = measured.sizes.find(size.name); value != measured.sizes.end())
      values[size.var] = value->second;
  for (uint32_t l = 0; l < p.loops.size(); ++l) {
    const auto steps = task::data_trip_count(p, task::LoopId{l});
    const auto inside = type_in(p, task::LoopId{l});
    if (!steps || !inside) continue;
    values[*steps] = 1;
    const Number once = number(plan::tasks_of(p.types[*inside]) * page::runs_of(p, *inside), values);
    values[*steps] = once && *once > 0 ? std::llround(noted(measured.fastest, *inside) / *once) : 0;
  }
  return values;
}

/// Formulas of the least that has to be done, as numbers.
class LeastTimes {
 public:
  LeastTimes(Rates& rates, double whole) : rates_(rates), outer_(rates.bandwidth(whole)) {}

  /// `inner`: of the bytes that stay inside, those of one run.
  Floor of(double operations, double outside, double inside, double inner) {
    const double moving = std::max(outside / outer_, inside > 0 ? inside / rates_.bandwidth(inner) : 0);
    const double computing = operations / rates_.multiply_adds();
    const Bound by = std::max(moving, computing) <= 0 ? Bound::nothing
                     : moving >= computing            ? Bound::bytes
                                                      : Bound::operations;
    return {std::max(moving, computing) * 1e9, by};
  }

 private:
  Rates& rates_;
  const double outer_;
};

/// What the formulas of a type say.
Figures figures_of(const task::Program& p, task::TaskTypeId id, const shape::Assignment& values) {
  const task::TaskType& type = p.types[id];
  const page::Least least = page::least_of(p, id);
  Figures out;
  out.name = type.name;
  out.family = task::family_name(type.family);
  out.tasks = number(plan::tasks_of(type) * page::runs_of(p, id), values);
  out.operations = number(least.operations, values);
  out.bytes = number(least.bytes, values);
  out.outside = number(least.outside, values);
  out.boxes = page::box_bytes(p, id, values);
  return out;
}

/// Of the bytes of a type those that stay inside, of one run.
double inside_of_a_run(const task::Program& p, task::TaskTypeId id, const Figures& figures,
                       const shape::Assignment& values) {
  const double runs = number(page::runs_of(p, id), values).value_or(1);
  return (figures.bytes.value_or(0) - figures.outside.value_or(0)) / std::max(runs, 1.0);
}

void add_times(const Measured& measured, Figures& whole, std::vector<Figures>& types) {
  whole.time = measured.time;
  for (size_t t = 0; t < types.size(); ++t) types[t].time = measured.of_type[t];
  for (const auto& worker : measured.fastest.workers)
    for (const TaskRun& run : worker) {
      types[run.type].busy += run.end - run.begin;
      whole.busy += run.end - run.begin;
    }
}

}  // namespace

Rates::Rates(std::string_view level, uint32_t threads, double most)
    : loops_(*probe::find_loops(level)),
      threads_(static_cast<int>(threads)),
      buffer_(std::max(buffer_for(most), threads * size_t{512})),
      multiply_adds_(probe::multiply_add_peak(loops_, threads_)) {}

double Rates::bandwidth(double bytes) {
  const size_t size = std::min(buffer_for(bytes), buffer_.bytes());
  double& rate = bandwidths_[size];
  if (rate == 0) rate = probe::read_bandwidth(loops_, buffer_, size, threads_);
  return rate;
}

const char* bound_name(Bound bound) {
  return bound == Bound::bytes ? "bytes" : bound == Bound::operations ? "operations" : "nothing";
}

std::optional<double> Figures::ratio() const {
  if (!floor || time <= 0) return std::nullopt;
  return floor->time / time;
}

std::vector<std::string> type_names(const plan::Variant& v) {
  std::vector<std::string> names;
  for (const task::TaskType& type : v.program.types) names.push_back(type.name);
  return names;
}

void add_figures(const plan::Variant& v, Benchmark& out) {
  const task::Program& p = v.program;
  out.values = values_of(p, out.measured);
  out.whole.name = out.entry;
  out.whole.tasks = out.whole.operations = out.whole.boxes = 0;
  out.whole.bytes = out.whole.outside = number(page::least_cost(p).bytes, out.values);
  const double moved = out.whole.bytes.value_or(0);
  std::vector<double> inside;  // by type
  for (uint32_t t = 0; t < p.types.size(); ++t) {
    const Figures& type = out.types.emplace_back(figures_of(p, task::TaskTypeId{t}, out.values));
    inside.push_back(inside_of_a_run(p, task::TaskTypeId{t}, type, out.values));
    out.whole.tasks = sum(out.whole.tasks, type.tasks);
    out.whole.operations = sum(out.whole.operations, type.operations);
    out.whole.boxes = sum(out.whole.boxes, type.boxes);
  }
  add_times(out.measured, out.whole, out.types);
  const double most =
      inside.empty() ? moved : std::max(moved, *std::max_element(inside.begin(), inside.end()));
  out.rates = std::make_unique<Rates>(out.level, out.measured.workers, most);
  LeastTimes least(*out.rates, moved);
  for (size_t t = 0; t < out.types.size(); ++t) {
    Figures& type = out.types[t];
    if (type.operations && type.bytes && type.outside)
      type.floor = least.of(*type.operations, *type.outside, *type.bytes - *type.outside, inside[t]);
  }
  if (out.whole.operations && out.whole.bytes) out.whole.floor = least.of(*out.whole.operations, moved, 0, 0);
}

}  // namespace axon::tools
