// Many places of files as the protocol has them.
//
// In: spans of whole files or of parts, while the session is held. Out: what Server::location() gives; each
// file is looked at once.
#pragma once
#include <map>
#include <optional>

#include "lsp/server.h"

namespace axon::lsp {

class Locations {
 public:
  explicit Locations(const Server& server) : server_(server) {}

  /// Nothing for a place in no file.
  std::optional<Json> of(source::Span span);

 private:
  struct File {
    std::string uri;
    Positions positions;
  };
  const Server& server_;
  std::map<source::FileId, File> files_;
};

}  // namespace axon::lsp
