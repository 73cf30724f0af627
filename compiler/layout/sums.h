// Sets of numbers that are the sums of digits: the replicas of one axis. Only layout/ includes this.
//
// In: iters of numbers on one axis. Out: every number that their digits sum to, in order, each once; and
// iters again, for a set that has any. Invariant: a set is exact or not given.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "layout/layout.h"

namespace axon::layout {

constexpr size_t most_sums = size_t{1} << 20;

/// nullopt where an iter is no number, or the sums are more than most_sums.
std::optional<std::vector<int64_t>> sums(const std::vector<Iter>&);
/// The sums of two sets; nullopt where they are more than most_sums.
std::optional<std::vector<int64_t>> sums(const std::vector<int64_t>&, const std::vector<int64_t>&);
/// The numbers q for which q + p is in the set for each p of the part, which begins with 0; nullopt where
/// that is over most_sums to look at.
std::optional<std::vector<int64_t>> difference(const std::vector<int64_t>& set,
                                               const std::vector<int64_t>& part);
/// Iters on the axis whose sums the set is, by rising strides, which are > 0; the set begins with 0. nullopt:
/// there are none, or a thousand tries, fewer of a large set, found none.
std::optional<std::vector<Iter>> as_iters(const std::vector<int64_t>& set, const Axis&);

}  // namespace axon::layout
