// The files that a user works on, whether they are open or not.
//
// In: folders. Out: their .axn files, within limits, and a session that has checked those that matter: only
// what was checked has mentions (mentions.h). Invariant: files are in the order of their paths, and of a
// folder that holds more than the limits say the first ones are taken.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "session/session.h"

namespace axon::query {

class Workspace {
 public:
  void set_folders(std::vector<std::string> folders);
  const std::vector<std::string>& folders() const { return folders_; }
  /// Files may have come or gone.
  void look_again() { files_.reset(); }
  /// Whether files() need not look.
  bool is_known() const { return files_.has_value(); }
  /// What is hidden, and what links lead to, is left out.
  const std::vector<std::string>& files();

 private:
  std::vector<std::string> folders_;
  std::optional<std::vector<std::string>> files_;
};

/// Checks those of the files, and of all that are loaded, whose text has the word; all where that is empty.
/// Those of the library are left out. What is said of each.
std::map<std::string, source::Diagnostics> check_files(session::Session& session,
                                                       const std::vector<std::string>& files,
                                                       const std::string& word);
bool has_word(std::string_view text, std::string_view word);

}  // namespace axon::query
