// The text of a declaration that is being written, with a name in place of what is missing.
//
// In: the text of a declaration and the stretch in it that is to be written, which may be empty. Out: texts
// in which a name stands there, to be tried in order: with all that stands behind it, and with only what ends
// that which is open before it. Invariant: what stands before the stretch is the same in all.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace axon::query {

/// The name that is put there.
inline constexpr std::string_view name_of_hole = "missing_";

std::vector<std::string> texts_with_hole(std::string_view text, uint32_t begin, uint32_t end);

}  // namespace axon::query
