// Who uses which function or value.
//
// In: files of a session. Out: for a declaration those that mention it, and those that it mentions, with the
// places. Invariant: both directions are read from the same table of uses (mentions.h), so that each is the
// other one turned around. Operators are left out.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "query/mentions.h"

namespace axon::query {

/// A function, value or test.
struct Callable {
  core::DeclKey key;
  std::string name;  ///< of a test, its title
  source::Span name_span, whole;
  bool function = false;
};

struct Calls {
  Callable other;
  std::vector<source::Span> places;  ///< in the file of the one that calls
};

/// Of the name at the place; nothing where that is none of a function or value.
std::optional<Callable> callable_at(const session::Session& session, const std::string& path,
                                    uint32_t offset);
/// As it is declared now; nothing where it no longer is.
std::optional<Callable> callable(const session::Session& session, const core::DeclKey& key);
/// By file and place.
std::vector<Calls> callers(const session::Session& session, const core::DeclKey& key);
/// In the order of the first mention.
std::vector<Calls> callees(const session::Session& session, const core::DeclKey& key);

}  // namespace axon::query
