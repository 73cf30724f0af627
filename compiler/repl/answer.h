// What the REPL answers to a phrase.
#pragma once
#include <string>
#include <vector>

#include "repl/evaluator.h"
#include "source/diagnostic.h"

namespace axon::repl {

/// A name with its type: of a definition, or of `it`.
struct Typed {
  std::string name, type;
};

struct Answer {
  enum class Kind : uint8_t {
    nothing,
    definition,
    value,
    type,
    text,
    error,
    interrupted,
    quit
  } kind = Kind::nothing;
  std::string text;          ///< all of it, as a terminal shows it; ends with a line break unless empty
  std::vector<Typed> types;  ///< what was defined, or what the expression is
  std::vector<Value> values;
  std::vector<std::string> broken;  ///< definitions that no longer check
  bool failed() const { return kind == Kind::error; }
};

}  // namespace axon::repl
