// In: a task program with events. Out: its proof obligations, for all sizes, each proved or not.
//
// What is shown, and how:
//   structure  steps and loops are those of the graph, in its order                     compared
//   memory     values that share a buffer are versions of one value; slots alternate    recomputed, graph
//   tiles      every domain point belongs to a task, no grid is empty                   prover
//   injective  no two domain points of an output are stored at one element              mixed radix
//   boxes      every element that a body reads or stores lies in a declared box;        prover
//              what is not row-major is a weight, which nothing writes                              compared
//   events     counts are the producers per element; wait boxes are inside, not empty   prover
//   ascending  every wait points to an earlier time: no schedule can deadlock           step order
//   known      each entry of the certificate follows from its wait and the one before   prover
//   ordered    of two accesses of a buffer, one a write, the boxes are disjoint, or an  prover
//              entry of the certificate speaks of the earlier task; or a type reads only  compared
//              what it stores at the same point of its domain
// Time is (position in the step tree with loop indices, coordinates). The waits are the only order assumed,
// apart from one task's iterations following each other; so any number of workers will do. Each part is only
// asked when those before it hold, because it builds on them. None of it uses a rule of what it checks:
// boxes.h, happens_before.h and dependence.h belong to the deriver, and nothing here includes them.
#include "task/verify.h"

namespace axon::task {

std::vector<Obligation> verify(const Program& program) {
  Report report;
  for (const auto part :
       {verify_structure, verify_memory, verify_types, verify_boxes, verify_waits, verify_order}) {
    part(program, report);
    if (!report.all_proved()) break;
  }
  return report.take();
}

}  // namespace axon::task
