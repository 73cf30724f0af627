// The semantic tokens that a client has, so that it need only hear what has changed.
//
// In: the numbers of the tokens of a text, each time they are sent. Out: a name for them, and the stretch
// that differs from those of an earlier name. Invariant: of each text the numbers that were sent last are
// known.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace axon::lsp {

class SentTokens {
 public:
  using Numbers = std::vector<uint32_t>;
  struct Edit {
    size_t start = 0, deleted = 0;
    Numbers put;
  };

  /// Returns the name of what is sent.
  std::string remember(const std::string& uri, Numbers numbers);
  /// What makes the numbers of that name these; nothing where the name is not that of the last.
  std::optional<Edit> difference(const std::string& uri, const std::string& name,
                                 const Numbers& numbers) const;
  void forget(const std::string& uri) { sent_.erase(uri); }

 private:
  struct Sent {
    std::string name;
    Numbers numbers;
  };
  std::map<std::string, Sent> sent_;  ///< by URI
  uint64_t count_ = 0;
};

}  // namespace axon::lsp
