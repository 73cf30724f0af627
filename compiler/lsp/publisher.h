// What is said of files, and what the client was told.
//
// In: what checks found. Out: a notification wherever that is not what was sent last. Invariants: of an open
// file the client hears what its own check said, of the version that it has; of another one what the checks
// of those say that import it.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lsp/refusals.h"
#include "source/diagnostic.h"

namespace axon::lsp {

using Json = nlohmann::json;
class Server;

class Publisher {
 public:
  explicit Publisher(Server& server) : server_(server) {}

  void found(const std::string& path, const source::Diagnostics& found) { found_[path] = found; }
  void forget(const std::string& path);
  void clear();
  /// Tells of the open file, where there is something new to tell.
  void publish(const std::string& path);
  /// Of files that are not open.
  void publish_others();
  Refusals& refusals() { return refusals_; }
  /// All that is said of an open file, as the client hears it.
  Json said_of(const std::string& path) const;

 private:
  struct Sent {
    std::string said;
    std::optional<int64_t> version;
    friend bool operator==(const Sent&, const Sent&) = default;
  };
  void send(const std::string& uri, const Json& said, std::optional<int64_t> version);

  Server& server_;
  Refusals refusals_;
  std::map<std::string, source::Diagnostics> found_;  ///< by path
  std::map<std::string, Sent> sent_;                  ///< by URI
};

}  // namespace axon::lsp
