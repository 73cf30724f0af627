// The schedules of schedules.def by value and by name.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace axon::plan {

enum class Schedule : uint8_t {
#define SCHEDULE(name, barriers, lines, folds, help) name,
#include "plan/schedules.def"
};

struct ScheduleRules {
  Schedule schedule;
  std::string_view name;
  bool barriers, lines, folds;
  std::string_view help;  ///< what it does, after "to"
};

/// In the order of schedules.def; the first is the default of every tool.
inline constexpr ScheduleRules schedules[] = {
#define SCHEDULE(name, barriers, lines, folds, help) {Schedule::name, #name, barriers, lines, folds, help},
#include "plan/schedules.def"
};

constexpr const ScheduleRules& rules_of(Schedule schedule) {
  return schedules[static_cast<size_t>(schedule)];
}

/// The schedule of that name, one of `schedules`.
constexpr std::optional<Schedule> schedule_named(std::string_view name) {
  for (const ScheduleRules& rules : schedules)
    if (rules.name == name) return rules.schedule;
  return std::nullopt;
}

}  // namespace axon::plan
