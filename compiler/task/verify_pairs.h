// Pairs of tasks, as the proofs of order see them: the dependence distances at which one task can precede
// another in program time, and whether the certificate orders them.
#pragma once
#include <map>
#include <tuple>
#include <vector>

#include "task/verify_time.h"

namespace axon::task {

/// A dependence distance: two tasks are `iterations` (with `or_more`: at least as many) iterations of loop
/// number `level` apart, in the same iteration of the loops around it. 0: in the same iteration of all common
/// loops.
struct Apart {
  size_t level;
  int iterations;
  bool or_more;
  friend auto operator<=>(const Apart&, const Apart&) = default;
};

/// A task of each of two types; the variables of the earlier one are renamed apart.
struct Two {
  TaskTypeId earlier, later;
  Apart apart;
  shape::Substitution names;     ///< the renaming of the earlier one's variables
  std::vector<Dim> coordinates;  ///< of the earlier one
  std::vector<Dim> iteration;
  std::vector<Fact> facts;
  bool ordered = false;  ///< by an entry of the certificate for all tasks of the earlier type
};

class Pairs {
 public:
  /// Assumes that the entries of the certificate are proved.
  Pairs(const Program&, const Timeline&);

  /// Returns the distances at which a task of `earlier` can precede one of `later`. Tasks of one type in one
  /// iteration are not ordered.
  std::vector<Apart> distances(TaskTypeId earlier, TaskTypeId later) const;
  const Two& two(TaskTypeId earlier, TaskTypeId later, const Apart&);
  /// Does every task of `later` run after all tasks of `earlier` that precede it, whatever they access?
  bool always_ordered(TaskTypeId earlier, TaskTypeId later);

  const std::vector<const Finished*>& known(const Two&) const;
  /// Does the guard of the entry hold, and is the iteration of the earlier task among those that it covers?
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
