// Messages on their way from the thread that reads to the one that answers.
//
// In: a connection. Out: its messages in order, parsed, and which requests were cancelled in the meantime.
// Invariant: what is no JSON, or nested deeper than any message of the protocol, comes out as a discarded
// value.
#pragma once
#include <condition_variable>
#include <deque>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <thread>

#include "lsp/connection.h"

namespace axon::lsp {

using Json = nlohmann::json;

class Queue {
 public:
  explicit Queue(Connection& connection) : reader_([this, &connection] { read(connection); }) {}
  ~Queue() { reader_.join(); }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// Waits for the next message; nothing once the input has ended.
  std::optional<Json> next();
  bool empty();  ///< nothing waits
  /// Whether the request was cancelled; asked once.
  bool is_cancelled(const Json& id);

 private:
  void read(Connection& connection);
  void add(Json message);

  std::mutex lock_;
  std::condition_variable arrived_;
  std::deque<Json> messages_;
  std::set<Json> cancelled_;
  bool ended_ = false;
  std::thread reader_;
};

/// The JSON of a message; a discarded value for what is none.
Json parse_message(std::string_view text);

}  // namespace axon::lsp
