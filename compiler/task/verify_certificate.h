// The certificate's entries, proved one link at a time by the prover.
//
// An entry says which tasks of one type have finished before a task of another begins (task.h, Finished). It
// is proved from what is assumed of a wait: that its producers, in the iteration that it names, have finished
// before the task that waits begins, and with them all their earlier iterations. How the entries were found
// plays no part.
#pragma once
#include <map>
#include <tuple>
#include <vector>

#include "task/verify_time.h"

namespace axon::task {

class Certificate {
 public:
  Certificate(const Program& p, const Timeline& time) : p_(p), time_(time) {}
  /// Does the entry follow from its wait and the entry before it, if that one is right?
  bool follows(uint32_t entry) const;

 private:
  /// Whose wait the link is, and of which of its tasks and iterations it may be used.
  struct Waiting {
    TaskTypeId type;
    Ranges ranges;
    std::vector<Dim> through;
    std::vector<Fact> guard;
    bool itself;  ///< the consumer's own task, in its current iteration
  };
  /// One iteration of the waiting type: its loops' indices and what the data decides in it.
  struct Iteration {
    shape::Substitution names;
    std::vector<Fact> facts;
    std::vector<Dim> through;  ///< what the producer has then run through
  };

  Waiting waiting(const Finished&) const;
  bool is_well_formed(const Finished&) const;
  std::optional<Iteration> last_iteration(const Finished&, const Waiting&) const;
  std::optional<Iteration> same_iteration(const Finished&, const Waiting&) const;
  void rename_runs(Iteration&) const;
  void add_awaited(const Finished&, size_t same, Iteration&) const;
  bool follows_in(const Finished&, const Waiting&, const Iteration&) const;

  struct Swept {
    uint32_t coordinate;  ///< of the waiting type
    Wait::Range range;
  };
  bool ranges_follow(const Finished&, const Waiting&, const Iteration&, std::vector<Fact> facts) const;
  bool is_part(const Wait::Range& inner, const Wait::Range& outer, const Dim& extent,
               const std::vector<Fact>&) const;
  bool is_in_grid(const Wait::Range&, const Dim& extent, const std::vector<Fact>&) const;
  Wait::Range awaited(const Wait&, uint32_t coordinate) const;
  /// Along a coordinate of the waiting type, do the awaited ranges of neighbours touch? 1: the next one
  /// begins no later than just behind this one's end, and ends no earlier; -1: it ends no earlier than just
  /// before this one begins, and no later; 0: neither. So over consecutive values their union has no holes,
  /// from the first one's begin to the last one's end (1) or the other way round (-1).
  int touching(uint32_t wait, uint32_t coordinate, uint32_t along) const;

  const Program& p_;
  const Timeline& time_;
  mutable std::map<std::tuple<uint32_t, uint32_t, uint32_t>, int> touching_;
};

}  // namespace axon::task
