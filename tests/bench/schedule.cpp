// What the order by events gains: for the models of examples/models, or any entry, the makespan of both
// schedules in the model of plan/makespan.cpp.
//
//   bench_schedule                             the models, at the sizes of the table below
//   bench_schedule FILE ENTRY n=12 m=512 ..    one entry
//
// Per number of workers: the makespan with a barrier after every segment and with events, their ratio, the
// floor under both (all work shared evenly, or the critical path, whichever is longer), the bound that the
// floor is for the ratio, and the efficiency: work / (workers * makespan of events). Where the bound is near
// 1, no order can gain anything over barriers; the last lines give the mean ratio of all entries, and of
// those whose bound leaves room. Times are milliseconds at `rate` operations a nanosecond and worker.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "models.h"
#include "target/cost_model.h"

namespace {

using namespace axon;
using namespace axon::bench;

constexpr double rate = target::CostModel{}.operations, handoff_ns = target::CostModel{}.handoff;
constexpr int most_workers = 1 << 14;

/// What one run of each task type is: its tasks, and how long one takes.
void print_types(const plan::Variant& v, const shape::Assignment& sizes) {
  fmt::print("{:32} {:>5} {:>8} {:>12}\n", "task type", "loops", "tasks", "ms per task");
  for (const task::TaskType& type : v.program.types) {
    int64_t tasks = 1;
    for (const auto& c : type.coordinates) tasks *= c.extent.evaluate(sizes).value_or(0);
    const auto work = type.work.evaluate(sizes);
    fmt::print("{:32} {:5} {:8} {:>12}\n", type.name, type.loops.size(), tasks,
               work ? fmt::format("{:.4f}", static_cast<double>(*work) / rate * 1e-6) : "varies");
  }
}

constexpr double leaves_room = 0.95;  ///< the greatest bound of an entry that order can make faster

struct GeometricMean {
  double logarithms = 0;
  int count = 0;
  void add(double x) {
    logarithms += std::log(x);
    ++count;
  }
  double value() const { return count == 0 ? 1 : std::exp(logarithms / count); }
};

struct Sums {
  GeometricMean ratios, bounds, with_room;
  double worst = 0;
};

void measure(const std::string& path, const std::string& entry, const std::string& sizes_text,
             std::vector<std::pair<int, Sums>>& sums, bool types) {
  const auto events = planned(path, entry, plan::Schedule::events),
             barrier = planned(path, entry, plan::Schedule::barrier);
  const auto time = [&](const Compilation& c, int workers, double handoff) {
    const shape::Assignment sizes = parse_sizes(c.entries.front().graph, sizes_text);
    return plan::makespan(variant_for(c, sizes), sizes, workers, handoff) / rate * 1e-6;
  };
  if (types) {
    const shape::Assignment sizes = parse_sizes(events->entries.front().graph, sizes_text);
    print_types(variant_for(*events, sizes), sizes);
  }
  const double work = time(*events, 1, 0), path_length = time(*events, most_workers, 0);
  const std::string name = name_of(path, entry);
  for (auto& [workers, sum] : sums) {
    const double handoff = handoff_ns * rate;
    const double e = time(*events, workers, handoff), b = time(*barrier, workers, handoff);
    const double floor = std::max(work / workers, path_length), bound = floor / b;
    fmt::print("{:24} {:7} {:10.3f} {:10.3f} {:6.3f} {:10.3f} {:6.3f} {:10.0f} %\n", name, workers, b, e,
               e / b, floor, bound, 100 * work / workers / e);
    sum.ratios.add(e / b);
    sum.bounds.add(bound);
    if (bound <= leaves_room) sum.with_room.add(e / b);
    sum.worst = std::max(sum.worst, e / b);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::pair<int, Sums>> sums;
  for (const int workers : {1, 2, 16, 132}) sums.push_back({workers, {}});
  fmt::print("{:24} {:>7} {:>10} {:>10} {:>6} {:>10} {:>6} {:>12}\n", "entry", "workers", "barrier ms",
             "events ms", "ratio", "floor ms", "bound", "efficiency");
  if (argc > 2) {
    measure(argv[1], argv[2], sizes_text(argc, argv), sums, true);
    return 0;
  }
  for (const Model& model : models) measure(path_of(model), model.entry, model.sizes, sums, false);
  for (const auto& [workers, sum] : sums)
    fmt::print(
        "{} workers: geometric mean of the ratios {:.3f} (bound {:.3f}), the largest {:.3f}; of the {} "
        "entries "
        "with a bound of at most {} {:.3f}\n",
        workers, sum.ratios.value(), sum.bounds.value(), sum.worst, sum.with_room.count, leaves_room,
        sum.with_room.value());
}
