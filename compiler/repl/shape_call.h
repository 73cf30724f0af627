// A function applied to shapes alone: `f [b, 128] _ [128, k]`.
//
// In: a function, and types of arguments in which element types may be left out; `_` leaves an argument open.
// Out: a declaration whose parameters have these types and whose body is the application: what the checker of
// the language finds out about it is the answer.
#pragma once
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace axon::repl {

struct ShapeCall {
  std::string error;                    ///< rendered; empty when it was read
  std::string function;                 ///< as it was typed
  std::vector<std::string> parameters;  ///< of the declaration: those with a type, then those left open
  size_t given = 0;                     ///< of these, how many have a type
  std::vector<size_t> places;           ///< of those with a type among the arguments
  std::string body;
  std::set<std::string> sizes;  ///< that the types name
  /// A parameter `[]` takes the element type of the number that the function has there, so that it is called
  /// a size by the name of the parameter. `types`: of each parameter of the function (number_types()).
  void take_numbers(const std::vector<std::string>& types);
  /// The declaration of this name, with these conditions. Sizes that they mention and no type names are
  /// `beside`: a first parameter has them.
  std::string declaration(const std::string& name, const std::set<std::string>& beside,
                          const std::vector<std::string>& where) const;
};

/// `is_value`: whether a name stands for a value, which then is the argument itself.
ShapeCall read_shape_call(const std::string& text, const std::function<bool(const std::string&)>& is_value);

}  // namespace axon::repl
