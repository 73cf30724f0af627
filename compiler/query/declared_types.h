// The declared types in the type of what stands at a place.
//
// In: a loaded file of a session, and a place. Out: types that were written by their names, in the order in
// which the type has them, each once. Invariant: of a name of a type it is that type alone.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "session/session.h"

namespace axon::query {

/// The declared type by whose name a type of a program was written; nothing where it was not.
std::optional<core::DeclKey> declared_type(const session::Session& session, const core::Program& program,
                                           core::TypeId type);

std::vector<core::DeclKey> declared_types(const session::Session& session, const std::string& path,
                                          uint32_t offset);

}  // namespace axon::query
