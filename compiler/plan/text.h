// What the text of a plan says of its program: printed for readers, and compared when it is read back.
#pragma once
#include <string>

#include "plan/plan.h"
#include "task/names.h"

namespace axon::plan {

/// How many tasks the grid of a type has.
inline Dim tasks_of(const task::TaskType& type) {
  Dim tasks(1);
  for (const auto& c : type.coordinates) tasks = tasks * c.extent;
  return tasks;
}

/// The producer of a wait, which of its tasks are waited for, and in which iteration.
inline std::string text_of(const task::Program& p, const task::Names& names, const task::Wait& wait) {
  std::string box;
  for (const auto& range : wait.box)
    box += (box.empty() ? "" : ", ") + names(range.first) + " : " + names(range.last);
  return fmt::format("{} [{}] at ({})", p.types[p.events[wait.event].producer].name, box,
                     names(wait.iteration));
}

}  // namespace axon::plan
