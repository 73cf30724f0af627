// Names in the examples of documentation comments, `--| >>> f 1`, which are programs of their own.
//
// In: a loaded file. Out: where a name stands in its examples for something that is declared, here or in a
// module. Only tokens are looked at: examples are checked by `etcc test` alone. Invariant: what an example
// binds itself, fields and words in texts are none.
#pragma once
#include <string>
#include <vector>

#include "query/cursor.h"
#include "session/session.h"

namespace axon::query {

struct ExampleName {
  source::Span span;             ///< in the whole file
  std::string module;            ///< before its point; empty where it stands alone
  std::vector<BoundName> bound;  ///< by the example, around the place
};

/// Those that are spelled so, as types or as values.
std::vector<ExampleName> names_in_examples(const session::Session& session, const std::string& path,
                                           const std::string& name, bool types);

}  // namespace axon::query
