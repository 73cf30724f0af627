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

/// Takes a wait away, with the entries of the certificate that it is a reason for.
void remove_wait(Program&, uint32_t wait);

/// Programs with an entry of the certificate that claims more or something else than the deriver's, or that
/// has another reason.
std::vector<Mutant> forged(const Program&, size_t per_kind);

}  // namespace axon::task
