// What kind of thing each name in a file stands for, as editors colour it.
//
// In: a loaded file of a session. Out: its names, in order; keywords, numbers, strings and comments are left
// to grammars. Invariant: tokens lie in one line each and do not overlap.
#pragma once
#include <string>
#include <vector>

#include "query/mentions.h"

namespace axon::query {

struct Token {
  enum class Type : uint8_t {
    module,
    type,
    layout,
    function,
    value,
    parameter,
    variable,
    index,    ///< a binder
    size,     ///< a dimension
    shape,    ///< any number of axes
    element,  ///< an element type
    axis,     ///< of `rearrange`, or of a mesh
    field
  };
  source::Span span;
  Type type;
  bool declares = false;
  bool library = false;  ///< what is declared by the standard library
  bool entry = false;
};

/// Whether the declaration is a function by its last good type; true without one.
bool is_function(const session::Session&, const core::DeclKey&);

const char* token_type_name(Token::Type type);
constexpr size_t token_types = static_cast<size_t>(Token::Type::field) + 1;

/// Of the names that the stretch of the file touches, in order; operators are none.
std::vector<Token> tokens(const session::Session& session, const std::string& path, uint32_t begin = 0,
                          uint32_t end = UINT32_MAX);

}  // namespace axon::query
