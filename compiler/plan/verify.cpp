// In: a plan variant whose task program is proved (task/verify.cpp). Out: the plan's own obligations, for all
// sizes and any number of workers.
//
//   segments  the steps are those of the program; each wait stands at its consumer's segment, once; what is
//             waited for once per segment is the same for all of its tasks; a debugged value
//             is shown behind the step that computes it                                         compared
//   ranges    the workers' ranges are the whole grid, none twice, the same in every iteration,
//             so a task's iterations run on one worker, in order                                 prover
//   slots     each temporary fits into a slot of its own                                         prover
//             of any two one lies above the other, or their lives follow each other: all tasks
//             that touch one are before all that write the other                                compared
//   words     every word of the event area has one use; the epochs of a launch suffice           prover
//   data      exit conditions and data-dependent sizes are published by one task, the one that
//             computes them, before any step reads them                                          compared
#include "plan/verify.h"

#include <algorithm>

namespace axon::plan {

std::vector<task::Obligation> verify(const Variant& v) {
  task::Report report;
  verify_segments(v, report);
  if (!report.all_proved()) return report.take();
  verify_memory(v, report);
  verify_words(v, report);
  verify_data_dependent(v, report);
  return report.take();
}

std::vector<task::Obligation> obligations(const Variant& v) {
  auto list = task::verify(v.program);
  if (std::any_of(list.begin(), list.end(), [](const task::Obligation& o) { return !o.proved; })) return list;
  for (task::Obligation& o : verify(v)) list.push_back(std::move(o));
  return list;
}

}  // namespace axon::plan
