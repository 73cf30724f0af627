// Another name for what a name stands for.
//
// In: a session whose files were checked, a place and a name. Out: the places to write the name at, or why
// that would change what the program means. Where the name may stand in text that has errors, it is refused:
// what is meant there is not known. Invariant: after the edits every name stands for what it stood
// for before, and nothing is said that was not said before; that is tried, and the session is the same as
// before.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "query/mentions.h"
#include "session/try_edits.h"

namespace axon::query {

struct Renaming {
  std::string refusal;              ///< a sentence; empty where it can be done
  std::vector<source::Edit> edits;  ///< in whole files, by file and place
};

/// The name at the place, where it can have another one; else why not.
struct Renamable {
  std::string refusal;
  source::Span span;
};
Renamable renamable(const session::Session& session, const std::string& path, uint32_t offset);

/// `others`: files that may use it, whether they are loaded or not. `run`: takes the trial.
Renaming rename(
    session::Session& session, const std::string& path, uint32_t offset, const std::string& name,
    const std::vector<std::string>& others = {},
    const session::RunStep& run = [](const std::function<void()>& step) { step(); });

}  // namespace axon::query
