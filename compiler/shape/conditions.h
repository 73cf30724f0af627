// Conditions as a user reads them: without what says nothing, and in words that say it plainly.
//
// In: facts that hold together. Out: facts that say the same, or those of them that something follows from.
#pragma once
#include <vector>

#include "shape/prover.h"

namespace axon::shape {

/// Which of the facts mention one of the variables, or one that such a fact mentions, and so on; in the order
/// in which they are found. `reach` has all of these variables in the end.
std::vector<size_t> connected(const std::vector<Fact>& facts, std::vector<Var>& reach);
/// Which of the facts are needed to prove one of the goals, by their places: all of these together do, and
/// without any one of them the others do not. Without goals: to contradict each other.
std::vector<size_t> needed_facts(const std::vector<Fact>& facts, const std::vector<Fact>& goals);
/// The same conditions without those that the others and what is known imply, remainders of one variable
/// merged: `n % 8 == 0` and `n % 12 == 0` are `n % 24 == 0`.
std::vector<Fact> simplified(const std::vector<Fact>& facts, const std::vector<Fact>& known);

}  // namespace axon::shape
