// Small wrong changes to a task program, one at a time: what the proofs must refuse.
#pragma once
#include <string>
#include <vector>

#include "task/task.h"

namespace axon::task {

struct Mutant {
  std::string kind;    ///< "removed wait", "loop extent", ...
  std::string change;  ///< what was changed, in words
  Program program;
};

/// Mutants of every kind that the program has something to change for, at most `per_kind` of each, none
/// equal in text to the program.
std::vector<Mutant> mutants_of(const Program&, size_t per_kind);

}  // namespace axon::task
