// See bench_report.h: the timeline of a launch. Where a worker has no event it waits, or does what is no
// task.
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "plan/workers.h"
#include "task/names.h"
#include "tools/bench_report.h"

namespace axon::tools {

namespace {

using nlohmann::ordered_json;

const plan::Segment* segment_of(task::TaskTypeId type, const std::vector<plan::Step>& steps) {
  for (const plan::Step& step : steps) {
    if (step.segment && step.segment->type == type) return &*step.segment;
    if (const plan::Segment* inside = segment_of(type, step.body)) return inside;
  }
  return nullptr;
}

/// Coordinates of the task at a position in the order in which the tasks of a type are shared out.
class Coordinates {
 public:
  Coordinates(const plan::Variant& v, const shape::Assignment& values)
      : v_(v), names_(v.program), values_(values) {}

  ordered_json of(task::TaskTypeId id, int64_t position) const {
    const task::TaskType& type = v_.program.types[id];
    const plan::Segment* const segment = segment_of(id, v_.steps);
    std::vector<int64_t> at(type.coordinates.size());
    for (size_t c = at.size(); c-- > 0;) {
      const int64_t extent = std::max<int64_t>(type.coordinates[c].extent.evaluate(values_).value_or(1), 1);
      at[c] = c == 0 ? position : position % extent;
      position /= extent;
      if (segment && segment->folded == c) at[c] = plan::tile_at(at[c], extent);
    }
    ordered_json out = ordered_json::object();
    for (size_t c = 0; c < at.size(); ++c) out[names_(type.coordinates[c].var)] = at[c];
    return out;
  }

 private:
  const plan::Variant& v_;
  const task::Names names_;
  const shape::Assignment& values_;
};

/// Whole nanoseconds in microseconds.
double microseconds(double nanoseconds) { return std::round(nanoseconds) / 1000; }

}  // namespace

std::string chrome_trace(const plan::Variant& v, const Benchmark& b) {
  const task::Program& p = v.program;
  const Coordinates coordinates(v, b.values);
  ordered_json events = ordered_json::array();
  for (size_t worker = 0; worker < b.measured.fastest.workers.size(); ++worker) {
    std::map<std::pair<uint32_t, int64_t>, int64_t> iterations;  // a worker runs the same tasks in each
    for (const TaskRun& run : b.measured.fastest.workers[worker]) {
      const task::TaskType& type = p.types[task::TaskTypeId{run.type}];
      ordered_json args = {{"tasks", run.count},
                           {"first", coordinates.of(task::TaskTypeId{run.type}, run.first)}};
      if (!type.loops.empty()) args["iteration"] = iterations[{run.type, run.first}]++;
      events.push_back({{"name", type.name},
                        {"cat", task::family_name(type.family)},
                        {"ph", "X"},
                        {"ts", microseconds(run.begin)},
                        {"dur", std::max(std::round(run.end) - std::round(run.begin), 0.0) / 1000},
                        {"pid", 0},
                        {"tid", worker},
                        {"args", std::move(args)}});
    }
  }
  return events.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace axon::tools
