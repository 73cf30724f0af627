// Why a type is what it is, and why an error is one: the derivation at a place, in words.
//
// In: a file of a session that was checked, what was said of it, and a place. Out: steps. Those of an error
// are what clashes, in the order of the text. Those of an expression are its type, what gives it that (the
// signature of what is called, with what its variables stand for), the parts that it is made of, and last,
// for each size, shape and element type in the type, where it comes from. Invariant: only what inference has
// recorded is said; nothing is inferred anew.
#pragma once
#include <string>
#include <vector>

#include "session/session.h"
#include "source/diagnostic.h"

namespace axon::query {

struct Step {
  source::Span span;   ///< in the whole file; invalid where the step has no place in it
  std::string text;    ///< of one line
  unsigned depth = 0;  ///< it says more of the last step before it with a smaller depth
};

std::vector<Step> why(const session::Session& session, const std::string& path, uint32_t offset,
                      const source::Diagnostics& said);

}  // namespace axon::query
