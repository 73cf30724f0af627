// How often each name stands between which tokens.
//
// In: the texts of the files that a session has loaded. Out: for a name and the tokens next to a place, how
// usual the name is there. A file is counted again only when its text is another one; the answer depends on
// the texts alone.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "session/session.h"

namespace axon::query {

class ContextCounts {
 public:
  /// Of all files that are loaded.
  explicit ContextCounts(const session::Session& session);

  /// The tokens around a place.
  struct Around {
    std::string before_that, before, after, after_that;
  };
  /// A weight from 0 on: names that stand often between these tokens have a large one. `own`: the file that
  /// is written in, which counts more than others.
  double weight(const std::string& name, const Around& around, const std::string& own) const;

 private:
  struct File {
    size_t hash = 0;
    std::unordered_map<std::string, uint32_t> counts;  ///< by name, and by name with a token beside it
  };
  static File count(std::string_view text);
  std::map<std::string, const File*> files_;
};

}  // namespace axon::query
