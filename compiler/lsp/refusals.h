// What a build would refuse of the entries of a file, besides what a check finds; and what the others cost.
//
// In: a session that has just checked the file. Out: errors of its entries, from the stages behind the core,
// in places that move with the text. Invariant: an entry is looked at again only when its text or the text of
// what it uses has changed.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "session/session.h"

namespace axon::lsp {

class Refusals {
 public:
  /// Looks at the entries of the file. May take long; where it is ended, what was found so far is kept.
  void look_at(session::Session& session, const std::string& path);
  /// What is said of the entries that are as they were looked at, in places of the whole file.
  std::vector<source::Diagnostic> of(const session::Session& session, const std::string& path) const;
  /// What the entry costs, as formulas, if it is as it was looked at; else empty.
  std::string cost_of(const session::Session& session, const std::string& path,
                      const std::string& entry) const;
  void forget(const std::string& path) { files_.erase(path); }
  void clear() { files_.clear(); }

 private:
  struct Looked {
    std::string texts;  ///< what the entry was made of
    std::vector<source::Diagnostic> found;
    std::string cost;
  };
  std::map<std::string, std::map<std::string, Looked>> files_;  ///< by path and name of the entry
};

}  // namespace axon::lsp
