// Which of the edits that are offered for an error repair it.
//
// In: diagnostics of a file with edits, some of them drafts, likeliest first (core/drafts.h). Out: the same
// with those edits that were found to help. Of a draft that does not help nothing is left, of another edit the
// words that say what may be wrong. Each edit is made in the text of the file, and what that reaches is
// checked: its declaration, and those that use it where its type is another one. An edit repairs an error
// when the declaration has fewer errors, this one not among them and none that is new, and no other one has
// more. Invariant: the session and its answers are the same as before.
#pragma once
#include "session/session.h"

namespace axon::session {

/// Runs a step. One that was ended by an interrupt has left no trace, and may be run again.
using RunStep = std::function<void(const std::function<void()>& step)>;

/// `file`: the one at `path`, as the diagnostics know it. `run`: takes each trial.
void try_edits(
    Session& session, const std::string& path, source::FileId file, source::Diagnostics& diagnostics,
    const RunStep& run = [](const std::function<void()>& step) { step(); });

/// The same of a file that no session holds.
void try_edits(const std::string& path, std::string text, const std::vector<std::string>& library,
               const core::Options& options, source::FileId file, source::Diagnostics& diagnostics);

}  // namespace axon::session
