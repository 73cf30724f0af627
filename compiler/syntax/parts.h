// The parts of a text: what can be read without the rest of it.
//
// In: a text. Out: where its parts begin. A part holds a declaration with the comments before it; where a
// declaration does not begin at the first column, it belongs to the part of the one before. Parsing the parts
// one by one gives the same declarations, with the same errors, as parsing the text: a declaration that
// begins at the first column ends all that is open before it.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace axon::syntax {

/// Byte offsets, the first 0, in order; each at the beginning of a line.
std::vector<uint32_t> part_starts(std::string_view text);

}  // namespace axon::syntax
