// Where the arguments of a function show a size, a shape or an element type, in words.
#pragma once
#include <optional>
#include <string>

#include "query/mentions.h"
#include "query/typed.h"

namespace axon::query {

struct VariableText {
  std::string code;  ///< `n : i64   where 1 <= n`, `..s`, `'t : float`
  std::string text;  ///< "A size: axis 1 of `x`." in Markdown
};

/// Of a variable of the declaration's type that has this name, without `..` and quote; nothing where none
/// has.
std::optional<VariableText> places_of_variable(Typed& typed, Kind kind, const std::string& name);

}  // namespace axon::query
