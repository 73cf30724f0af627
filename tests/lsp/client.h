// A client that talks to a server in this process, over pipes.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "lsp/server.h"

namespace axon::lsp {

/// A document that is on no disk.
inline const std::string uri = "file:///nowhere/a.axn";

class Client {
 public:
  /// `encodings`: what it offers for positions. Without `start` it says nothing by itself.
  explicit Client(const std::vector<std::string>& encodings = {}, bool start = true,
                  const Json& settings = nullptr);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// The answer to a request: its result, or {"error": ...}.
  Json ask(const std::string& method, const Json& params = Json::object());
  void tell(const std::string& method, const Json& params = Json::object());
  /// Bytes as they are.
  void send_raw(const std::string& bytes);
  void send(const Json& message) { connection_.write(message.dump()); }
  /// The next message of the server; null where it has ended.
  Json next();

  void open(const std::string& uri, const std::string& text);
  /// A whole text, or the stretch between two places.
  void change(const std::string& uri, const Json& changes);
  /// The diagnostics of the file for the version that it has now; for none, where it is not open.
  Json diagnostics(const std::string& uri);
  void close(const std::string& uri);
  /// All that is wrong with the file as it is now, asked for.
  Json pulled(const std::string& uri);
  /// Codes of these, in order, each with a space behind it.
  std::string codes(const std::string& uri);
  /// Whether the codes of the file become these; reads messages until then, or until others were sent 100
  /// times.
  bool become(const std::string& uri, const std::string& codes);
  const Json& capabilities() const { return capabilities_; }
  /// Ends the input; what run() of the server gives.
  int end();

 private:
  int in_[2], out_[2];
  int status_ = -1;
  bool ended_ = false;
  std::unique_ptr<Server> server_;
  std::thread thread_;
  Connection connection_;
  Json capabilities_;
  int ids_ = 0;
  std::map<std::string, int64_t> versions_;
  std::vector<Json> unread_;
};

}  // namespace axon::lsp
