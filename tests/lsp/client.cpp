// See client.h.
#include "client.h"

#include <unistd.h>

namespace axon::lsp {

namespace {

int* opened(int (&ends)[2]) {
  if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
  return ends;
}

}  // namespace

Client::Client(const std::vector<std::string>& encodings, bool start, const Json& settings)
    : connection_(opened(out_)[0], opened(in_)[1]) {
  Server::Options options{{AXON_SOURCE_DIR "/stdlib"}};
  options.delay = std::chrono::milliseconds(1);
  server_ = std::make_unique<Server>(in_[0], out_[1], options);
  thread_ = std::thread([this] {
    status_ = server_->run();
    ::close(out_[1]);
  });
  if (!start) return;
  capabilities_ = ask("initialize", {{"capabilities", {{"general", {{"positionEncodings", encodings}}}}},
                                     {"initializationOptions", settings}})["capabilities"];
  tell("initialized");
}

Client::~Client() {
  end();
  server_.reset();
  for (const int descriptor : {in_[0], out_[0]}) ::close(descriptor);
}

int Client::end() {
  if (!ended_) {
    ended_ = true;
    ::close(in_[1]);
    thread_.join();
  }
  return status_;
}

void Client::send_raw(const std::string& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::write(in_[1], bytes.data() + done, bytes.size() - done);
    if (count <= 0) return;
    done += static_cast<size_t>(count);
  }
}

Json Client::next() {
  const auto message = connection_.read();
  return message ? Json::parse(*message) : Json();
}

Json Client::ask(const std::string& method, const Json& params) {
  const int id = ++ids_;
  send({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}});
  for (;;) {
    Json message = next();
    if (message.is_null()) return message;
    if (message.value("id", Json()) == id) return message.contains("error") ? message : message["result"];
    unread_.push_back(std::move(message));
  }
}

void Client::tell(const std::string& method, const Json& params) {
  send({{"jsonrpc", "2.0"}, {"method", method}, {"params", params}});
}

void Client::open(const std::string& uri, const std::string& text) {
  versions_[uri] = 1;
  tell("textDocument/didOpen",
       {{"textDocument", {{"uri", uri}, {"languageId", "axon"}, {"version", 1}, {"text", text}}}});
}

void Client::change(const std::string& uri, const Json& changes) {
  tell("textDocument/didChange",
       {{"textDocument", {{"uri", uri}, {"version", ++versions_[uri]}}}, {"contentChanges", changes}});
}

Json Client::diagnostics(const std::string& uri) {
  const auto wanted = [&](const Json& message) {
    return message.value("method", "") == "textDocument/publishDiagnostics" &&
           message["params"]["uri"] == uri &&
           message["params"].value("version", int64_t{-1}) == (versions_.count(uri) ? versions_.at(uri) : -1);
  };
  for (;;) {
    for (size_t i = unread_.size(); i-- > 0;)
      if (wanted(unread_[i])) return unread_[i]["params"]["diagnostics"];
    Json message = next();
    if (message.is_null()) return message;
    unread_.push_back(std::move(message));
  }
}

void Client::close(const std::string& uri) {
  versions_.erase(uri);
  tell("textDocument/didClose", {{"textDocument", {{"uri", uri}}}});
}

Json Client::pulled(const std::string& uri) {
  const Json said = ask("textDocument/diagnostic", {{"textDocument", {{"uri", uri}}}});
  return said.contains("items") ? said["items"] : said;
}

bool Client::become(const std::string& uri, const std::string& wanted) {
  for (int i = 0; i < 100 && codes(uri) != wanted; ++i) {
    Json message = next();
    if (message.is_null()) return false;
    unread_.push_back(std::move(message));
  }
  return codes(uri) == wanted;
}

std::string Client::codes(const std::string& uri) {
  std::string out;
  for (const Json& d : diagnostics(uri)) out += d["code"].get<std::string>() + " ";
  return out;
}

}  // namespace axon::lsp
