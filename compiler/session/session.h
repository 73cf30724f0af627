// The front end with a memory: files stay loaded, and each declaration is checked again only where its text
// or the type of something that it uses has changed.
//
// In: texts of files. Out: what elaboration of each file finds, in places of the whole files. Invariant: the
// answers are those of a session that has just begun with the same texts.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "session/documents.h"
#include "session/record.h"
#include "session/round.h"

namespace axon::session {

class Session {
 public:
  Session(std::vector<std::string> library, core::Options options)
      : documents_(std::move(library)), options_(std::move(options)) {}

  Documents& documents() { return documents_; }
  const source::SourceManager& sources() { return documents_.sources(); }

  /// What is said of the file, of what it imports, and of all that it uses. The file has to be there.
  source::Diagnostics check(const std::string& path);
  /// The types of its declarations, one line each; of the last check of the file.
  std::string types(const std::string& path) const;
  size_t checked() const { return checked_; }  ///< declarations that the last check looked at anew

 private:
  source::Diagnostic in_whole(source::Diagnostic d);

  Documents documents_;
  core::Options options_;
  Records records_;
  std::map<std::string, std::vector<core::DeclKey>> own_;  ///< by path: its declarations, in order
  size_t checked_ = 0;
};

}  // namespace axon::session
