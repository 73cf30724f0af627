// What inference found out and nobody wrote, to be shown between the words of a text.
//
// In: a loaded file of a session, and a stretch of it. Out: hints in order of their places. Invariant: the
// edits of a hint, made in the text, leave all types as they are; so do those of several hints together.
#pragma once
#include <string>
#include <vector>

#include "session/session.h"
#include "source/diagnostic.h"

namespace axon::query {

struct Hint {
  enum class Kind : uint8_t {
    parameter,  ///< ` : f32[n]`, the type of a parameter
    result,     ///< ` : f32[n]`, of a function
    value,      ///< ` : f32[n]`, of what `let` and `fn` bind
    range,      ///< ` < n`, of a binder
    step,       ///< ` : f32[n]`, at the end of a line of a pipeline
    sizes,      ///< `[8, 64]`, what a call found for declared sizes
    broadcast   ///< ` -> [b, n]`, an operand that is stretched
  };
  uint32_t at = 0;  ///< in the whole file: the hint stands before it
  Kind kind = Kind::value;
  std::string label;
  std::vector<source::Edit> edits;  ///< that write it down; none where it cannot be written there
};

std::vector<Hint> hints(const session::Session& session, const std::string& path, uint32_t begin,
                        uint32_t end);

}  // namespace axon::query
