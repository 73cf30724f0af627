// What may be written at a place, the likeliest first.
//
// In: a loaded file of a session whose text may be broken at the place. Out: names with their types, as they
// can stand there. Names are ranked by whether their types fit what is expected there, by how near they are
// bound, whether they were used yet, and by what stands around the same names elsewhere in the files that are
// loaded.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "query/cursor.h"
#include "session/session.h"

namespace axon::query {

struct Completion {
  enum class Kind : uint8_t { local, size, function, value, type, field, module, keyword, axis } kind;
  std::string name;
  std::string type;                       ///< as `check --types` prints it; empty where it is not known
  std::optional<core::DeclKey> declared;  ///< where it is a declaration
  double score = 0;                       ///< the larger, the likelier
};

struct Completions {
  uint32_t begin = 0, end = 0;  ///< of the word that they stand for, in the whole file
  std::vector<Completion> items;
};

Completions complete(const session::Session& session, const std::string& path, uint32_t offset);

}  // namespace axon::query
