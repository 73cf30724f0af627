// A client of an `etcc lsp` that runs as a process of its own.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "lsp/connection.h"

namespace axon::bench {

using Json = nlohmann::json;
using Milliseconds = std::chrono::duration<double, std::milli>;

class LspProcess {
 public:
  explicit LspProcess(const std::string& etcc);
  ~LspProcess();
  LspProcess(const LspProcess&) = delete;
  LspProcess& operator=(const LspProcess&) = delete;

  void tell(const std::string& method, Json params);
  /// The result of a request, and how long it took; the whole answer where it is an error.
  std::pair<Json, double> ask(const std::string& method, Json params);
  const Json& capabilities() const { return capabilities_; }

  void open(const std::string& uri, const std::string& text);
  /// Gives the file another text; what differs is sent.
  void change(const std::string& uri, const std::string& text);
  /// Waits for what is said of the version that the file has now.
  Json diagnostics(const std::string& uri);
  const std::string& text(const std::string& uri) const { return files_.at(uri).text; }

 private:
  struct File {
    std::string text;
    int64_t version = 1;
  };
  std::string next_text();
  Json next();

  pid_t child_ = -1;
  std::unique_ptr<lsp::Connection> connection_;
  int to_ = -1;
  Json capabilities_;
  std::map<std::string, File> files_;
  std::deque<Json> unread_;
  int ids_ = 0;
};

}  // namespace axon::bench
