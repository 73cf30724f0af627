// When two layouts are one: the canonical form, equality, and the first index that they place differently.
//
// In: well-formed layouts. Out: the same map in a form with few iters. Invariant: the form of shards of
// numbers is unique: two of them place every index alike when their forms are equal. Replicas are sorted,
// merged and begin at 0; sets of sums that can still be written in several ways are compared as sets.
#pragma once
#include <optional>

#include "layout/layout.h"
#include "shape/prover.h"

namespace axon::layout {

/// No iter of extent 1; no two neighbours among the shards that count on as one; a shard of stride 0 on `m`.
/// Replicas have positive strides, where the sign is known, and no two that count on as one.
Layout canonical(const Layout&);

/// Do they place every index alike, for all sizes that satisfy the facts? nullopt where that is not decided:
/// the facts say too little, or replicas have over a million points.
std::optional<bool> same(const Layout&, const Layout&, const std::vector<shape::Fact>& = {});

/// The least index that two layouts of numbers and of one size place differently; nullopt where there is
/// none.
std::optional<int64_t> first_difference(const Layout&, const Layout&);

}  // namespace axon::layout
