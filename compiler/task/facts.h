// What is known of the variables of a task program, and how much of it a question needs.
//
// A question about a few dimensions is decided by the facts that tie their variables; the prover's cost
// grows with every other fact it is shown. relevant() follows coordinates, loop indices and index variables
// to what bounds them, and takes of the sizes' facts only those about sizes already met. Leaving facts out
// can only lose a proof, never make one.
#pragma once
#include <vector>

#include "task/task.h"

namespace axon::task {

/// Facts of an entry's sizes, with the guard of a variant.
std::vector<Fact> facts_of(const graph::Graph&, const std::vector<Fact>& guard);

/// 0 <= v < extent for the coordinates and loop indices of a type, under other names where `rename` gives
/// them.
std::vector<Fact> ranges(const Program&, TaskTypeId, const shape::Substitution& rename = {});

std::vector<Fact> both(std::vector<Fact> a, const std::vector<Fact>& b);

/// The facts that matter to a question about `about`, in their order.
std::vector<Fact> relevant(const Program&, const std::vector<Fact>& facts, const std::vector<Dim>& about);

/// Is the goal proved from the relevant facts without the solver? And the slow way: with all facts, then
/// with it.
bool cheaply(const Program&, const std::vector<Fact>& facts, const Fact& goal);
bool holds(const Program&, const std::vector<Fact>& facts, const Fact& goal);

/// Is there an axis on which two boxes never meet, wherever the facts hold?
bool cheaply_disjoint(const Program&, const std::vector<Fact>& facts, const std::vector<Interval>& a,
                      const std::vector<Interval>& b);
bool disjoint(const Program&, const std::vector<Fact>& facts, const std::vector<Interval>& a,
              const std::vector<Interval>& b);

}  // namespace axon::task
