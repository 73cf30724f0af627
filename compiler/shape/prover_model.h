// The search for an assignment that satisfies a conjunction: small values first, propagation after each
// choice. What it returns has been evaluated; finding nothing says nothing.
#pragma once
#include "shape/prover.h"
#include "shape/prover_linear.h"

namespace axon::shape {

/// True when every constraint evaluates, without overflow or division by zero, and holds.
bool satisfies(const std::vector<Fact>& conjunction, const Assignment&);
/// `system` holds the conjunction; `conjunction` is what a model is checked against.
std::optional<Assignment> find_model(System system, const std::vector<Fact>& conjunction, size_t node_budget);

}  // namespace axon::shape
