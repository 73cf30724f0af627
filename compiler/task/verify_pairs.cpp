// See verify_pairs.h.
#include "task/verify_pairs.h"

#include <algorithm>

#include "task/facts.h"

namespace axon::task {

Pairs::Pairs(const Program& p, const Timeline& time) : p_(p), time_(time) {
  for (const Finished& f : p.certificate) known_[{f.producer, f.consumer}].push_back(&f);
}

std::vector<Apart> Pairs::distances(TaskTypeId earlier, TaskTypeId later) const {
  const size_t shared = time_.shared_loops(earlier, later);
  std::vector<Apart> distances;
  if (earlier != later && time_.position(earlier) < time_.position(later))
    distances.push_back({shared, 0, false});
  for (size_t level = shared; level-- > 0;)
    for (const Apart apart : {Apart{level, 1, false}, Apart{level, 2, false}, Apart{level, 3, true}})
      distances.push_back(apart);
  return distances;
}

const Two& Pairs::two(TaskTypeId earlier, TaskTypeId later, const Apart& apart) {
  const auto [it, added] = pairs_.try_emplace({earlier, later, apart});
  Two& two = it->second;
  if (!added) return two;
  two.earlier = earlier;
  two.later = later;
  two.apart = apart;
  name(two);
  for (const Finished* f : known(two))
    two.ordered = two.ordered || (is_whole(*f) && applies(*f, two, two.facts));
  return two;
}

bool Pairs::always_ordered(TaskTypeId earlier, TaskTypeId later) {
  const auto all = distances(earlier, later);
  return std::all_of(all.begin(), all.end(),
                     [&](const Apart& apart) { return two(earlier, later, apart).ordered; });
}

const std::vector<const Finished*>& Pairs::known(const Two& two) const {
  static const std::vector<const Finished*> nothing;
  const auto it = known_.find({two.earlier, two.later});
  return it == known_.end() ? nothing : it->second;
}

/// The earlier task has names of its own for its coordinates, and for the indices of those loops in which
/// its iteration is another or may be; and for what the data decides in such an iteration.
void Pairs::name(Two& two) const {
  const TaskType& earlier = p_.types[two.earlier];
  const auto fresh = [&](Var v) { return two.names[v] = Dim(shape::fresh_var(shape::var_name(v) + "'")); };
  for (const Coordinate& c : earlier.coordinates) two.coordinates.push_back(fresh(c.var));
  const size_t same = two.apart.level;
  for (size_t b = 0; b < earlier.loops.size(); ++b) {
    const Var index = p_.loops[earlier.loops[b]].index;
    if (b == same && two.apart.iterations > 0) {
      const Dim latest = Dim(index) - Dim(two.apart.iterations);
      if (two.apart.or_more)
        two.facts.push_back(shape::at_most(fresh(index), latest));
      else
        two.names[index] = latest;
    } else if (b >= same) {
      fresh(index);
    }
    two.iteration.push_back(Dim(index).substitute(two.names));
  }
  for (const Timeline::Run& run : time_.nested_runs())
    if (run.around.size() > same || !std::equal(run.around.begin(), run.around.end(), earlier.loops.begin()))
      add_steps_range(fresh(run.steps), two.facts);
  two.facts = both(both(p_.facts, two.facts), ranges(p_, two.later));
  two.facts = both(std::move(two.facts), ranges(p_, two.earlier, two.names));
  for (LoopId l : earlier.loops)
    two.facts.push_back(shape::at_least(p_.loops[l].extent.substitute(two.names), Dim(1)));
  for (LoopId l : p_.types[two.later].loops) two.facts.push_back(shape::at_least(p_.loops[l].extent, Dim(1)));
}

bool Pairs::is_whole(const Finished& f) const {
  const auto& grid = p_.types[f.producer].coordinates;
  for (size_t c = 0; c < grid.size(); ++c)
    if (!f.ranges[c] || !f.ranges[c]->first.is(0) || f.ranges[c]->last != grid[c].extent - Dim(1))
      return false;
  return true;
}

bool Pairs::applies(const Finished& f, const Two& two, const std::vector<Fact>& facts) const {
  for (size_t b = 0; b < f.through.size(); ++b) {
    const Dim &theirs = two.iteration[b], &through = f.through[b];
    if (theirs == through) continue;
    if (cheaply(p_, facts, shape::less(theirs, through))) break;
    if (!cheaply(p_, facts, shape::at_most(theirs, through))) return false;
  }
  return std::all_of(f.guard.begin(), f.guard.end(),
                     [&](const Fact& fact) { return cheaply(p_, facts, fact); });
}

}  // namespace axon::task
