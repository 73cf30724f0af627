// The one style of a text that is edited: each declaration is laid out once.
//
// In: texts. Out: what format() makes of each. Invariant: the answer does not depend on what was asked
// before; a declaration is laid out without a look at the others, and what stands between two is an empty
// line or none.
#pragma once
#include <map>
#include <optional>
#include <string>

namespace axon::lsp {

class Formatter {
 public:
  /// Nothing where the text has errors. `path`: what it is called.
  std::optional<std::string> format(const std::string& path, const std::string& text);

 private:
  using Known = std::map<std::string, std::optional<std::string>, std::less<>>;  ///< by text of a part
  std::map<std::string, Known> files_;                                           ///< by path
};

}  // namespace axon::lsp
