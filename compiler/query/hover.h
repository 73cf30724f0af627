// What is known of a place in a file, to be shown beside it.
//
// In: a loaded file of a session, and a place. Out: types and ranges in the syntax of the language, and
// documentation. Invariant: what is said of a declaration is the line that `check --types` prints for it, up
// to where lines end.
#pragma once
#include <optional>
#include <string>

#include "session/session.h"

namespace axon::query {

struct Hover {
  source::Span span;  ///< in the whole file, of what it is about
  std::string code;   ///< lines of the language
  std::string text;   ///< a sentence or documentation, in Markdown; empty where there is nothing to say
};

/// The documentation of a declaration in Markdown; empty where there is none.
std::string documentation(const session::Session& session, const core::DeclKey& key);

std::optional<Hover> hover(const session::Session& session, const std::string& path, uint32_t offset);

}  // namespace axon::query
