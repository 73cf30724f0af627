// Two tasks at once, as the proofs of order see them: every way in which one may stand before the other in
// time, and whether the certificate orders them.
#pragma once
#include <map>
#include <tuple>
#include <vector>

#include "task/verify_time.h"

namespace axon::task {

/// How many iterations of the loop number `level` lie between two tasks; they stand in the same iteration of
/// the loops around it. 0: of all loops around both.
struct Apart {
  size_t level;
  int iterations;
  bool or_more;
  friend auto operator<=>(const Apart&, const Apart&) = default;
};

/// A task of each of two types, the earlier one under names of its own.
struct Two {
  TaskTypeId earlier, later;
  Apart apart;
  shape::Substitution names;     ///< of what the earlier one has names of its own for
  std::vector<Dim> coordinates;  ///< of the earlier one
  std::vector<Dim> iteration;
  std::vector<Fact> facts;
  bool ordered = false;  ///< by an entry of the certificate that speaks of all tasks of the earlier type
};

class Pairs {
 public:
  /// The certificate's entries are taken to be proved.
  Pairs(const Program&, const Timeline&);

  /// All that two tasks may be apart when one of `earlier` stands before one of `later`; tasks of one type in
  /// one iteration are not ordered in time.
  std::vector<Apart> distances(TaskTypeId earlier, TaskTypeId later) const;
  const Two& two(TaskTypeId earlier, TaskTypeId later, const Apart&);
  /// Whatever they touch, does every task of `later` run after the tasks of `earlier` that stand before it?
  bool always_ordered(TaskTypeId earlier, TaskTypeId later);

  const std::vector<const Finished*>& known(const Two&) const;
  /// Does the entry's guard hold, and is the earlier task's iteration no later than those it speaks of?
  bool applies(const Finished&, const Two&, const std::vector<Fact>&) const;

 private:
  void name(Two&) const;
  bool is_whole(const Finished&) const;

  const Program& p_;
  const Timeline& time_;
  std::map<std::pair<TaskTypeId, TaskTypeId>, std::vector<const Finished*>> known_;
  std::map<std::tuple<TaskTypeId, TaskTypeId, Apart>, Two> pairs_;
};

}  // namespace axon::task
