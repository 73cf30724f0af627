// What may stand at a place of a text that is being written.
//
// In: a text and a place in it; what stands behind the place need not be a program, nor what stands before.
// Out: the kind of thing that is written there, and the names that were bound before it in the same
// declaration. Only tokens are looked at, so the answer is the same for broken text.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace axon::query {

struct BoundName {
  std::string name;
  uint32_t at = 0;    ///< where it is bound, in the text
  bool size = false;  ///< named in a type
  bool used = false;  ///< it stands somewhere between there and the place
};

struct Cursor {
  enum class Place : uint8_t {
    nothing,  ///< in a comment, a string or a number, or where a new name is written
    expression,
    member,  ///< behind a point
    type,
    size,         ///< in the brackets of a type, or in `where`
    element,      ///< behind a quote
    field,        ///< of a record that is written, or behind `with`
    axis,         ///< in the brackets of `rearrange`
    import_name,  ///< behind `import`
    declaration   ///< at the beginning of a line
  } place = Place::nothing;
  uint32_t begin = 0, end = 0;    ///< the word that is written
  std::string prefix;             ///< of it, up to the place
  uint32_t operand = 0;           ///< of a member: where what stands before the point ends
  std::vector<BoundName> names;   ///< in scope, the innermost last
  std::vector<std::string> axes;  ///< named in brackets of `rearrange` before the place
  std::string before_that, before, after, after_that;  ///< the tokens next to the word
};

Cursor cursor_at(std::string_view text, uint32_t offset);

}  // namespace axon::query
