// What may be written at a place, the likeliest first.
//
// In: a loaded file of a session whose text may be broken at the place. Out: names with their types. What can
// stand at the place by its type and shape comes before what cannot: the declaration is inferred with a hole
// there (session/hole.h), and values are tried in it, the likeliest first, until enough fit or a limit is
// reached; those that were not tried come behind those that fit. What is likely depends on how much of a name
// is typed, how near it is bound, whether it was used yet, and what stands around the same name elsewhere in
// the files that are loaded. Invariant: what is offered for a word that is longer was offered for its
// beginning, unless that was more than is shown.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "query/context_counts.h"
#include "query/cursor.h"
#include "session/session.h"

namespace axon::query {

/// The import of a module of the library.
struct ImportEdit {
  uint32_t at = 0;   ///< in the whole file
  std::string text;  ///< to be put there
};

struct Completion {
  enum class Kind : uint8_t { local, size, function, value, type, field, module, keyword, axis } kind;
  std::string name;
  /// As `check --types` prints it; empty where it is not known, and of declarations that are not among the
  /// first.
  std::string type;
  std::optional<core::DeclKey> declared;  ///< where it is a declaration
  std::optional<ImportEdit> import;       ///< where it needs one that is not there yet
  double score = 0;                       ///< the larger, the likelier
};

struct Completions {
  uint32_t begin = 0, end = 0;  ///< of the word that they stand for, in the whole file
  std::vector<Completion> items;
  bool all = true;  ///< false where others were left out, which a longer word may show
};

/// `counts`: kept from one call to the next, whatever the session and the file are.
Completions complete(const session::Session& session, const std::string& path, uint32_t offset,
                     ContextCounts& counts);

/// The type of what an item declares, empty where it is not known.
std::string type_of_declared(const session::Session& session, const core::DeclKey& key);

}  // namespace axon::query
