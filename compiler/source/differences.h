// What differs between two texts that are cut into pieces: lines, or words.
//
// In: the pieces of both. Out: stretches of the first that become stretches of the second, in order and
// apart. Invariant: what lies between two of them is the same in both.
#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

namespace axon::source {

/// Pieces [first, last) that become [new_first, new_last) of the other text.
struct Change {
  size_t first, last, new_first, new_last;
};

/// A shortest list of changes where few pieces differ (E. Myers, An O(ND) Difference Algorithm, 1986); one
/// change between the common ends where more than 400 do.
std::vector<Change> differences(const std::vector<std::string_view>& before,
                                const std::vector<std::string_view>& after);

}  // namespace axon::source
