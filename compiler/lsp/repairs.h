// The edits that repair what checks found, tried ahead of the editor's question.
//
// In: what the last check of a file said, with drafts of edits (session/try_edits.h). Out: the same with the
// edits that help. Invariants: an answer is of the texts that the session has now, or there is none; it does
// not depend on what was asked, or tried, before; each diagnostic is tried once for all that ask.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "session/try_edits.h"

namespace axon::lsp {

class Repairs {
 public:
  /// Which diagnostics somebody asks for.
  using Wanted = std::function<bool(const source::Diagnostic&)>;

  /// A check of the file has just said this, and nothing has changed since. `run`: takes each trial.
  void begin(session::Session& session, const std::string& path, source::Diagnostics found,
             const session::RunStep& run);
  /// A text has changed: nothing is known any more. What is being tried still lives, to be ended.
  void outdate() { outdated_ = true; }

  /// Whether all that the diagnostics of the file need was tried.
  bool are_known(const std::string& path, const Wanted& wanted) const;
  /// Tries what was not tried yet. Where it is ended, what was found so far is kept.
  void find(const std::string& path, const Wanted& wanted);
  /// The same for all diagnostics, the first ones first, as far as one allowance for all of them goes.
  void look_ahead(const std::string& path, session::TrialAllowance left = {});
  /// Those of the diagnostics that were tried.
  std::vector<source::Diagnostic> of(const std::string& path, const Wanted& wanted) const;

 private:
  struct One {
    source::Diagnostic diagnostic;
    bool tried = false;
  };
  struct File {
    session::Trials trials;
    std::vector<One> all;
  };
  static bool repair(File& file, One& one, session::TrialAllowance& left);
  bool outdated_ = false;
  std::map<std::string, File> files_;  ///< by path
};

}  // namespace axon::lsp
