// How often each name stands between which tokens.
//
// In: the texts of the files that a session has loaded. Out: for a name and the tokens next to a place, how
// usual the name is there. Invariants: a declaration is counted again only when its text is another one; the
// answer depends on the texts that are loaded now, and on nothing that was loaded before.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "session/session.h"

namespace axon::query {

class ContextCounts {
 public:
  /// From now on the answers are of the texts that the session has now.
  void update(const session::Session& session);

  /// The tokens around a place.
  struct Around {
    std::string_view before_that, before, after, after_that;
  };
  /// A weight from 0 on: names that stand often between these tokens have a large one. `own`: the file that
  /// is written in, which counts more than others.
  double weight(std::string_view name, const Around& around, const std::string& own) const;

 private:
  /// By what is counted of an occurrence: a number for the name with some of the tokens beside it. Two of
  /// 2^64 that are equal would only rank a name wrongly.
  using Counts = std::unordered_map<uint64_t, uint32_t>;
  struct Part {
    std::string text;
    std::vector<uint64_t> counted;
  };
  struct File {
    std::string text;
    std::vector<Part> parts;
    Counts counts;
  };
  static std::vector<uint64_t> count(const std::string& text);
  void read(File& file, std::string_view text, const std::vector<std::string_view>& parts);
  void add(File& file, const Part& part);
  void remove(File& file, const Part& part);

  std::map<std::string, File> files_;  ///< by identity
  Counts all_;                         ///< of all files together
};

}  // namespace axon::query
