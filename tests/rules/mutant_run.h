// What becomes of programs when one rule of the deriver or the planner is fixed to true or to false.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "task/support.h"

namespace axon::rules {

/// A rule by name and what it always says.
struct Mutant {
  std::string rule;
  bool always = false;
  std::string str() const { return rule + (always ? " true" : " false"); }
};

/// A program to try mutants on, and what it is without one.
struct Subject {
  std::string name;
  task::ExamplePtr example;
  std::string text;             ///< of its tasks and plan
  std::set<std::string> asked;  ///< rules that deriving it asks
};

/// The task examples; and random graphs from the first seed on.
std::vector<Subject> examples();
std::vector<Subject> random_subjects(uint64_t first, size_t count);

/// All rules of the compiler's sources, by name.
std::vector<std::string> all_rules();

enum class Fate : uint8_t {
  same,       ///< the program is not changed
  refused,    ///< by the proofs
  stopped,    ///< nothing comes out: an assertion, or no end
  harmless,   ///< accepted, and no order tried gives another result
  different,  ///< accepted although some order gives another result
};

struct Verdict {
  Fate fate = Fate::same;
  std::string why;  ///< the obligation that fails, or what differs
};

/// Does the compiler not let the program through?
inline bool ends(Fate fate) { return fate == Fate::refused || fate == Fate::stopped; }

/// The fate of every subject under a mutant, or (`to_first`) of those up to the first that is refused or
/// stopped. The programs are made in processes of their own, so that a mutant may crash.
std::vector<Verdict> try_mutant(const Mutant&, const std::vector<Subject>&, bool to_first = false);

}  // namespace axon::rules
