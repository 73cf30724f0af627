// The words of the event area, and the epochs that a launch uses.
//
// A word holds the epoch up to which what it stands for is done, and epochs are counted in a window of 31
// bits: a launch may not use more than it says (Variant::iterations), and its words are its own.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "plan/verify.h"
#include "task/facts.h"
#include "task/verify_time.h"

namespace axon::plan {

namespace {

using task::Program;
using task::TaskType;

class Words {
 public:
  Words(const Variant& v, task::Report& report) : v_(v), p_(v.program), time_(p_), report_(report) {}

  void run() {
    report_.add("every word of the event area has one use", give_words() && stand_apart(), "normal form");
    report_.add("the epochs of a launch suffice", epochs_suffice(), "prover");
  }

 private:
  /// How many words each region has; false when one has two uses or none.
  bool give_words() {
    for (uint32_t e = 0; e < p_.events.size(); ++e) {
      Dim tasks(1);
      for (const auto& c : p_.types[p_.events[task::EventId{e}].producer].coordinates)
        tasks = tasks * c.extent;
      if (!give(e, tasks)) return false;
    }
    for (const ExitCondition& d : v_.exit_conditions)
      if (!give(d.word, Dim(1)) || (d.left && !give(*d.left, Dim(most_workers)))) return false;
    for (const DataSize& d : v_.data_sizes)
      if (!give(d.word, Dim(1))) return false;
    return words_.size() == v_.event_offset.size();
  }

  bool give(uint32_t region, const Dim& words) {
    return region < v_.event_offset.size() && words_.emplace(region, words).second;
  }

  bool stand_apart() const {
    Dim next(0);
    for (const auto& [region, words] : words_) {
      if (v_.event_offset[region] != next) return false;
      next = next + words;
    }
    return v_.event_words == next;
  }

  /// Iterations are numbered over the loops around a type; inside of a loop with a condition, which counts
  /// its steps and stops when there are too many, over the loops inside of that.
  bool epochs_suffice() const {
    const auto enough = [&](const Dim& epochs) {
      return holds(p_, p_.facts, shape::at_most(epochs, v_.iterations));
    };
    std::map<const ExitCondition*, Dim>
        inside;  // of each exit condition: the most that a type in its loop needs
    for (const ExitCondition& d : v_.exit_conditions) inside[&d] = Dim(1);
    for (const TaskType& type : p_.types) {
      Dim trips(1);
      std::vector<const ExitCondition*> around;
      for (task::LoopId l : type.loops) {
        if (const ExitCondition* d = exit_condition_of(l)) {
          around.push_back(d);
          trips = Dim(1);
        } else {
          trips = trips * p_.loops[l].extent;
        }
      }
      if (around.empty() && !enough(trips)) return false;
      if (!around.empty() && !holds(p_, p_.facts, shape::at_most(trips, around.back()->inner))) return false;
      for (const ExitCondition* d : around) inside[d] = shape::max(inside[d], trips);
    }
    // More would end the loop before its steps are done.
    for (const auto& [exit, most] : inside)
      if (!holds(p_, p_.facts, shape::at_most(exit->inner, most))) return false;
    return std::all_of(v_.exit_conditions.begin(), v_.exit_conditions.end(), [&](const ExitCondition& d) {
      if (d.loop.index >= p_.loops.size()) return false;  // names nothing
      if (time_.is_nested_run(d.loop)) return enough(Dim(epoch_limit));
      return enough(Dim(2) * Dim(graph::step_limit) + Dim(2)) &&
             enough(shape::min(d.inner * Dim(graph::step_limit), Dim(epoch_limit)));
    });
  }

  const ExitCondition* exit_condition_of(task::LoopId loop) const {
    for (const ExitCondition& d : v_.exit_conditions)
      if (d.loop == loop) return &d;
    return nullptr;
  }

  const Variant& v_;
  const Program& p_;
  const task::Timeline time_;
  task::Report& report_;
  std::map<uint32_t, Dim> words_;
};

}  // namespace

void verify_words(const Variant& v, task::Report& report) { Words(v, report).run(); }

}  // namespace axon::plan
