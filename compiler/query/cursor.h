// What may stand at a place of a text that is being written.
//
// In: a text and a place in it; what stands behind the place need not be a program, nor what stands before.
// Out: the kind of thing that is written there, and the names that were bound before it in the same
// declaration. Only tokens are looked at, so the answer is the same for broken text.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace axon::query {

struct BoundName {
  std::string name;
  uint32_t at = 0;    ///< where it is bound, in the text
  bool size = false;  ///< named in a type
  bool used = false;  ///< it stands somewhere between there and the place
  /// What the type that is written behind it says.
  enum class Annotation : uint8_t { none, integer, other } annotation = Annotation::none;
};

struct Cursor {
  enum class Place : uint8_t {
    nothing,  ///< in a comment, a string or a number, or where a new name is written
    expression,
    member,  ///< behind a point
    type,
    size,           ///< in the brackets of a type, or in `where`
    element,        ///< behind a quote
    element_class,  ///< behind `'t :` in `where`
    layout,         ///< of a type, behind `@`, or in a declaration of one
    mesh_axis,      ///< behind `@` in a layout
    field,          ///< of a record that is written, or behind `with`
    axis,           ///< in the brackets of `rearrange`
    import_name,    ///< behind `import`
    import_file,    ///< in the quotes behind it
    import_alias,   ///< behind what is imported
    declaration     ///< at the beginning of a part
  } place = Place::nothing;
  uint32_t begin = 0, end = 0;            ///< the word that is written
  std::string prefix;                     ///< of it, up to the place
  uint32_t part_begin = 0, part_end = 0;  ///< of the declaration
  uint32_t operand = 0;                   ///< of a member: where what stands before the point ends
  bool in_type = false;                   ///< of a member
  std::string directory;                  ///< of the file of an import: what is written before its name
  /// Of a field: the record that is written, from brace to brace, and the fields that it has; none behind
  /// `with`.
  std::optional<std::pair<uint32_t, uint32_t>> record;
  std::vector<std::string> fields;
  std::vector<BoundName> names;   ///< in scope, the innermost last
  bool in_definition = false;     ///< in what a `let` binds a name to
  bool where_may_follow = false;  ///< behind a parameter of a function
  /// Another declaration may begin, whatever the place is: at the first column; and whether what is before it
  /// can end there.
  bool at_line_begin = false, is_complete_before = false;
  std::vector<std::string>
      elements;                   ///< variables of element types that the declaration names, without quote
  std::vector<std::string> axes;  ///< named in brackets of `rearrange` before the place
  std::string before_that, before, after, after_that;  ///< the tokens next to the word
};

Cursor cursor_at(std::string_view text, uint32_t offset);

/// Where the declaration around the place begins and ends, with the comments before it.
std::pair<uint32_t, uint32_t> part_around(std::string_view text, uint32_t offset);

/// The innermost value of that name; null where there is none.
const BoundName* bound_in(const std::vector<BoundName>& names, std::string_view name);

/// Whether it names an element type of integers.
bool is_integer(std::string_view element);

/// Whether it is part of a name or a number.
bool is_letter(char c);

}  // namespace axon::query
