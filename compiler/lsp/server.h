// The language server: requests of an editor, answered from a session.
//
// In: messages of a client (LSP 3.17), in order. Out: answers, and what is said of the open files whenever
// that has changed. A request is answered from what is known at that moment; it waits for no check, except
// where its answer is what a check finds. Invariants: each request gets one answer; a message that makes no
// sense gets an error and changes nothing.
#pragma once
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lsp/checker.h"
#include "lsp/connection.h"
#include "lsp/formatter.h"
#include "lsp/positions.h"
#include "lsp/publisher.h"
#include "lsp/queue.h"
#include "lsp/repairs.h"
#include "lsp/sent_tokens.h"
#include "query/context_counts.h"
#include "query/workspace.h"
#include "session/session.h"

namespace axon::lsp {

/// A request that cannot be answered; becomes an error of JSON-RPC.
struct RequestError {
  int code;
  std::string message;
};
inline constexpr int parse_error = -32700, invalid_request = -32600, method_not_found = -32601,
                     invalid_params = -32602, not_initialized = -32002, request_cancelled = -32800,
                     content_modified = -32801, request_failed = -32803;

/// A text that an editor has open.
struct OpenText {
  std::string uri, path, text;
  int64_t version = 0;
  std::string identity;  ///< the file that it is (source/files.h)
};

struct Feature;

class Server {
 public:
  struct Options {
    std::vector<std::string> library;
    std::chrono::milliseconds delay{20};  ///< how long texts stay the same before they are checked
  };
  Server(int in, int out, const Options& options);
  ~Server();

  /// Until the client is gone or asks for the end. The exit status: 0 after an orderly shutdown.
  int run();
  const std::string& problem() const { return connection_.problem(); }

  // ---- For features (features.h), with the session held.
  session::Session& session() { return *session_; }
  const session::Session& session() const { return *session_; }
  /// The open text that a request is about; throws RequestError where the client has not opened it.
  const OpenText& text_of(const Json& params) const;
  const std::map<std::string, OpenText>& open_texts() const { return open_; }  ///< by URI
  Encoding encoding() const { return encoding_; }
  /// Whether the client finds the parameters of a signature by their places in its label.
  bool takes_label_offsets() const { return label_offsets_; }
  static Json range(const Positions& positions, uint32_t begin, uint32_t end);
  static Position position_in(const Json& params, const char* name);
  /// In whole files; nothing for a place in no file.
  std::optional<Json> location(source::Span span) const;
  std::string uri_of(source::FileId file) const;
  Publisher& publisher() { return publisher_; }
  Repairs& repairs() { return repairs_; }
  const Repairs& repairs() const { return repairs_; }
  Formatter& formatter() { return formatter_; }
  SentTokens& sent_tokens() { return sent_tokens_; }
  /// A step that leaves the session in another state for a while; of features that wait for the check.
  void exclusively(const std::function<void()>& step) { checker_->exclusively(step); }
  void notify(const std::string& method, Json params);
  /// Asks the client to show it outside of the editor; a client that cannot is not asked.
  void show_document(const std::string& uri);
  query::Workspace& workspace() { return workspace_; }
  query::ContextCounts& context_counts() { return context_counts_; }

 private:
  void handle(const Json& message);
  void answer_to(const Json& id, const std::string& method, const Json& params);
  void give(const Json& id, const std::function<Json()>& answer);
  bool has_to_wait(const Feature& feature, const Json& params);
  void give_later(const Json& id, const Feature& feature, const Json& params);
  void notice(const std::string& method, const Json& params);
  Json initialize(const Json& params);
  std::string choose_encoding(const Json& offered);
  void watch_files();
  void set_folders(const Json& params);
  void change_folders(const Json& event);
  void configure(const Json& settings);
  void open(const Json& params);
  void change(const Json& params);
  void close(const Json& params);
  void take_changes();
  void show_changes();
  void order_files();
  void reload();
  void check(const std::string& path);
  void refresh();
  void look_ahead();
  void log(const std::string& what);
  void send(const Json& message);

  Connection connection_;
  Options options_;
  std::unique_ptr<session::Session> session_;
  std::vector<std::unique_ptr<session::Session>> retired_;  ///< which a check may still be in
  std::map<std::string, OpenText> open_;                    ///< by URI
  std::vector<std::string> recent_;                         ///< URIs, the one that was edited last at the end
  std::set<std::string> changed_;                           ///< URIs of texts that the session has not seen
  mutable std::map<uint32_t, std::string> identities_;      ///< of files, by id
  query::Workspace workspace_;
  query::ContextCounts context_counts_;
  Publisher publisher_{*this};
  Repairs repairs_;
  Formatter formatter_;
  SentTokens sent_tokens_;
  Encoding encoding_ = Encoding::utf16;
  bool initialized_ = false, shut_down_ = false, watches_ = false, label_offsets_ = false,
       shows_documents_ = false;
  bool is_stale_ = false;               ///< what the client shows may have changed with the last checks
  std::vector<std::string> refreshed_;  ///< requests of a client that asks again when it is told to
  size_t refreshes_ = 0, shown_ = 0;    ///< requests of either kind so far
  std::optional<int> exit_;
  std::mutex output_lock_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Checker> checker_;
};

}  // namespace axon::lsp
