// Which of the edits that are offered for an error repair it.
//
// In: diagnostics of a file with edits, some of them drafts, likeliest first (core/drafts.h). Out: the same
// with those edits that were found to help. Of a draft that does not help nothing is left, of another edit
// the words that say what may be wrong. Each edit is made in the text of the file, and what that reaches is
// checked: its declaration, and those that use it where its type is another one. An edit repairs an error
// when the declaration has fewer errors, this one not among them and none that is new, and no other one has
// more. Invariant: the session and its answers are the same as before.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "session/session.h"

namespace axon::session {

/// Runs a step. One that was ended by an interrupt has left no trace, and may be run again.
using RunStep = std::function<void(const std::function<void()>& step)>;
inline void run_at_once(const std::function<void()>& step) { step(); }

/// What trials may cost. Where nothing is left, an edit counts as one that does not help.
struct TrialAllowance {
  size_t trials = 100;
  size_t work = 1'000'000;  ///< expressions that they check
  bool exhausted = false;   ///< a trial was wanted that there was nothing left for
};

/// Trials in the text that a file has now.
class Trials {
 public:
  /// `file`: the one at `path`, as the diagnostics know it. The session has checked the file, and no text in
  /// it changes while this is used. `run`: takes each trial.
  Trials(Session& session, std::string path, source::FileId file, RunStep run = run_at_once);

  /// Whether something of the diagnostic has to be tried.
  static bool are_needed(const source::Diagnostic& d);
  /// The diagnostic with the edits that help; of drafts, where several help, the likeliest.
  source::Diagnostic repaired(source::Diagnostic d, TrialAllowance& left);

 private:
  /// Errors by declaration, counted from 0; what lies outside of any belongs to the one before it.
  using Errors = std::map<size_t, std::multiset<std::string>>;
  const source::SourceFile& whole() const;
  std::vector<uint32_t> begins() const;
  Errors errors(const std::string& text, size_t& work);
  size_t declaration_with_errors(const source::Diagnostic& d) const;
  bool repairs_it(const source::Edit& edit, const source::Diagnostic& d, TrialAllowance& left);

  Session& session_;
  const std::string path_;
  const source::FileId file_;
  const RunStep run_;
  const std::string text_;
  const std::vector<uint32_t> begins_;  ///< of the declarations
  bool begun_ = false;
  Errors before_;  ///< once it has begun
};

/// All diagnostics of a file that the session has checked, with one allowance.
void try_edits(Session& session, const std::string& path, source::FileId file,
               source::Diagnostics& diagnostics);

/// The same of a file that no session holds.
void try_edits(const std::string& path, std::string text, const std::vector<std::string>& library,
               const core::Options& options, source::FileId file, source::Diagnostics& diagnostics);

}  // namespace axon::session
