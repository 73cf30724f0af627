// page_makespans FILE ENTRY: what the compiler's model says of the entry, as JSON lines, for test_page.py:
//   {"schedule": "events", "page": the page's JSON}
//   {"schedule": "events", "sizes": {"n": 3}, "workers": 2, "handoff": 24000, "end": 1234}
// For sizes of which none is less than 0, 1, some primes, and larger ones.
#include <fmt/format.h>

#include "page/support.h"
#include "task/names.h"

using namespace axon;

namespace {

constexpr int64_t leasts[] = {0, 1, 2, 3, 7, 13, 31, 64, 97, 211, 1009};
constexpr double most_tasks = 30000;

double tasks_of(const plan::Variant& v, const shape::Assignment& sizes) {
  const auto all = page::with_typical(v, sizes);
  double tasks = 0;
  for (const task::TaskType& type : v.program.types) {
    double of_type = 1;
    shape::Assignment values = all;
    for (task::LoopId loop : type.loops) {
      const int64_t trips = v.program.loops[loop].extent.evaluate(values).value_or(0);
      of_type *= static_cast<double>(trips);
      values[v.program.loops[loop].index] = trips / 2;
    }
    for (const task::Coordinate& c : type.coordinates)
      of_type *= static_cast<double>(c.extent.evaluate(values).value_or(0));
    tasks += of_type;
  }
  return tasks;
}

void print_cases(const plan::Variant& v, const std::string& schedule) {
  const task::Names names(v.program);
  for (const int64_t least : leasts) {
    const auto sizes = page::sizes_from(v, least);
    if (!sizes || tasks_of(v, *sizes) > most_tasks) continue;
    page::Json named = page::Json::object();
    for (const auto& [size, value] : *sizes) named[names(size)] = value;
    for (const int workers : {1, 2, 3, 8, 132})
      for (const double handoff : {0.0, 24000.0})
        fmt::print("{}\n", page::Json{{"schedule", schedule},
                                      {"sizes", named},
                                      {"workers", workers},
                                      {"handoff", handoff},
                                      {"end", plan::makespan(v, *sizes, workers, handoff)}}
                               .dump());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  for (const plan::ScheduleRules& rules : plan::schedules) {
    const std::string schedule(rules.name);
    auto c = page::empty_compilation();
    const auto file = c->sources.load(argv[1], c->diagnostics);
    if (!file) return 1;
    c->file = *file;
    const page::Made made = page::made_from(std::move(c), argv[2], rules.schedule);
    if (!made.made) return 1;
    fmt::print("{}\n", page::Json{{"schedule", schedule}, {"page", page::describe(made.subject())}}.dump());
    print_cases(made.variant(), schedule);
  }
  return 0;
}
