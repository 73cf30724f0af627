// What is given to the function, or set in the record, that a place is inside of.
//
// In: a loaded file of a session whose text may be broken at the place. Out: what is applied there as it
// would be declared, with the stretches of its parameters, and which of them the place is for. Invariants:
// types are those of the last check, and read as `check --types` prints them; where nothing more can be
// given, what is around that is looked at, and in the end there is no signature.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "session/session.h"

namespace axon::query {

struct Signature {
  std::string label;  ///< `scale (x : f32[n]) (factor : f32) : f32[n]`, in one line
  std::vector<std::pair<uint32_t, uint32_t>> parameters;  ///< stretches of the label, in bytes
  size_t active = 0;                                      ///< of the parameters
  std::string documentation;                              ///< in Markdown; empty where there is none
};

/// Several only for a record that may be of several declared types.
std::vector<Signature> signatures(const session::Session& session, const std::string& path, uint32_t offset);

}  // namespace axon::query
