// What the text of a plan says of its program: printed for readers, and compared when it is read back.
#pragma once
#include <string>

#include "plan/plan.h"
#include "task/names.h"

namespace axon::plan {

/// The producer of a wait, which of its tasks are waited for, in which iteration, and the loops of which only
/// the first iteration waits.
inline std::string text_of(const task::Program& p, const task::Names& names, const task::Wait& wait) {
  std::string box;
  for (const auto& range : wait.box)
    box += (box.empty() ? "" : ", ") + names(range.first) + " : " + names(range.last);
  std::string once;
  for (const task::LoopId l : loops_waited_once(p, wait))
    once += (once.empty() ? " once in " : ", ") + names(p.loops[l].index);
  return fmt::format("{} [{}] at ({}){}", p.types[p.events[wait.event].producer].name, box,
                     names(wait.iteration), once);
}

}  // namespace axon::plan
