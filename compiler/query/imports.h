// The imports of a file, with the files that they name.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "session/session.h"

namespace axon::query {

struct Import {
  source::Span span;  ///< of the path that is written, in the whole file
  std::string file;   ///< empty where it is not there
};

/// As of the last check, in order.
std::vector<Import> imports(const session::Session& session, const std::string& path);
/// The beginning of the file whose path is written at the place.
std::optional<source::Span> imported_at(const session::Session& session, const std::string& path,
                                        uint32_t offset);

}  // namespace axon::query
