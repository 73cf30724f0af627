// The only door to Z3: is a conjunction of facts satisfiable over the integers?
//
// Every question gets a context of its own: the answers of a reused one depend on what was asked before, and
// a verdict must not. That costs a few milliseconds, which is why Z3 comes last, and why its answers are
// remembered: a question that differs from one before in the names of its variables only gets the same
// answer. A question with products is asked as a linear one first, to which a product is any integer. A
// resource limit ends every query, and nothing large is shown to Z3 at all, since no limit covers the release
// of its terms. Floor division and remainder are given by their defining equations for either
// sign of the divisor; a division by zero may have any value.
#pragma once
#include "shape/prover.h"

namespace axon::shape {

enum class Satisfiable : uint8_t { yes, no, unknown };
struct Z3Answer {
  Satisfiable satisfiable = Satisfiable::unknown;
  Assignment model;       ///< yes: a proposal, to be evaluated by the caller
  unsigned resource = 0;  ///< what the query used of its limit
  bool too_large = false;
};
Z3Answer z3_solve(const std::vector<Fact>& conjunction, const ProverLimits&);
/// The same for a text in SMT-LIB 2 (declarations and assertions); used to check the rules of the normal
/// form.
Z3Answer z3_solve_text(const std::string& smt_lib, unsigned rlimit);

}  // namespace axon::shape
