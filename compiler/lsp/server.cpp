// See server.h.
#include "lsp/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "base/bug.h"
#include "lsp/features.h"
#include "lsp/uri.h"
#include "source/files.h"

namespace axon::lsp {

namespace {

Json error_json(int code, const std::string& message) { return {{"code", code}, {"message", message}}; }

/// The part of the parameters, which has to be there and of that kind.
const Json& part(const Json& params, const char* name, Json::value_t type) {
  if (!params.is_object() || !params.contains(name) || params[name].type() != type)
    throw RequestError{invalid_params, fmt::format("`{}` is missing, or not what it should be", name)};
  return params[name];
}

std::string uri_in(const Json& params) {
  return part(part(params, "textDocument", Json::value_t::object), "uri", Json::value_t::string)
      .get<std::string>();
}

std::string path_in(const std::string& uri) {
  const auto path = path_of_uri(uri);
  if (!path) throw RequestError{invalid_params, fmt::format("`{}` names no file", uri)};
  return *path;
}

}  // namespace

/// Messages on their way from the thread that reads to the one that answers.
struct Server::Queue {
  explicit Queue(Connection& connection) : reader([this, &connection] { read(connection); }) {}
  ~Queue() { reader.join(); }

  void read(Connection& connection) {
    while (auto message = connection.read()) {
      Json parsed = Json::parse(*message, nullptr, false);
      const std::lock_guard held(lock);
      if (parsed.is_object() && parsed.value("method", Json()) == "$/cancelRequest" &&
          parsed.contains("params") && parsed["params"].is_object())
        cancelled.insert(parsed["params"].value("id", Json()));
      else
        messages.push_back(std::move(parsed));
      arrived.notify_all();
    }
    const std::lock_guard held(lock);
    ended = true;
    arrived.notify_all();
  }

  std::optional<Json> next() {
    std::unique_lock held(lock);
    arrived.wait(held, [&] { return !messages.empty() || ended; });
    if (messages.empty()) return std::nullopt;
    Json out = std::move(messages.front());
    messages.pop_front();
    return out;
  }
  bool is_cancelled(const Json& id) {
    const std::lock_guard held(lock);
    return cancelled.erase(id) > 0;
  }

  std::mutex lock;
  std::condition_variable arrived;
  std::deque<Json> messages;
  std::set<Json> cancelled;
  bool ended = false;
  std::thread reader;
};

Server::Server(int in, int out, const Options& options)
    : connection_(in, out), session_(options.library, {}) {
  checker_ = std::make_unique<Checker>(
      session_, [this](const std::string& path, const source::Diagnostics& found) { found_[path] = found; },
      [this] { publish(); });
  checker_->set_delay(options.delay);
}
Server::~Server() = default;

int Server::run() {
  queue_ = std::make_unique<Queue>(connection_);
  while (!exit_) {
    const auto message = queue_->next();
    if (!message) break;
    handle(*message);
  }
  checker_.reset();
  return exit_.value_or(shut_down_ ? 0 : 1);
}

void Server::send(const Json& message) {
  const std::lock_guard held(output_lock_);
  connection_.write(message.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void Server::handle(const Json& message) {
  const auto answer_with = [&](const Json& id, const char* part, const Json& value) {
    send({{"jsonrpc", "2.0"}, {"id", id}, {part, value}});
  };
  if (message.is_discarded())
    return answer_with(nullptr, "error", error_json(parse_error, "the message is no JSON"));
  if (!message.is_object() || !message.contains("method") || !message["method"].is_string()) {
    const bool is_answer = message.is_object() && (message.contains("result") || message.contains("error"));
    if (!is_answer) answer_with(nullptr, "error", error_json(invalid_request, "the message is no request"));
    return;
  }
  const std::string method = message["method"];
  const Json params = message.value("params", Json::object());
  try {
    if (!message.contains("id")) return notice(method, params);
    const Json& id = message["id"];
    if (queue_->is_cancelled(id)) throw RequestError{request_cancelled, "the request was cancelled"};
    answer_with(id, "result", answer(method, params));
  } catch (const RequestError& e) {
    if (message.contains("id")) answer_with(message["id"], "error", error_json(e.code, e.message));
  } catch (const Json::exception&) {
    if (message.contains("id"))
      answer_with(message["id"], "error",
                  error_json(invalid_params, "a parameter is missing, or of another kind"));
  } catch (const base::InternalError& e) {
    if (message.contains("id")) answer_with(message["id"], "error", error_json(request_failed, e.what()));
  }
}

Json Server::answer(const std::string& method, const Json& params) {
  if (method == "initialize") {
    if (initialized_) throw RequestError{invalid_request, "the server is initialized already"};
    return initialize(params);
  }
  if (!initialized_) throw RequestError{not_initialized, "the first request is `initialize`"};
  if (shut_down_) throw RequestError{invalid_request, "the server is shut down"};
  if (method == "shutdown") {
    shut_down_ = true;
    return nullptr;
  }
  const Feature* const feature = find_feature(method);
  if (!feature) throw RequestError{method_not_found, fmt::format("there is no request `{}`", method)};
  const Checker::Hold hold(*checker_);
  return feature->answer(*this, params);
}

void Server::notice(const std::string& method, const Json& params) {
  if (method == "exit") exit_ = shut_down_ ? 0 : 1;
  if (!initialized_ || shut_down_) return;
  if (method == "textDocument/didOpen") open(params);
  if (method == "textDocument/didChange") change(params);
  if (method == "textDocument/didClose") close(params);
  if (method == "workspace/didChangeWatchedFiles" || method == "textDocument/didSave") {
    const Checker::Change held(*checker_);
    session_.documents().reload();
  }
}

Json Server::initialize(const Json& params) {
  const Json offered =
      params.value(Json::json_pointer("/capabilities/general/positionEncodings"), Json::array());
  const char* chosen = "utf-16";
  for (const Json& one : offered)
    if (one == "utf-8") {
      encoding_ = Encoding::utf8;
      chosen = "utf-8";
    }
  Json capabilities = {{"positionEncoding", chosen},
                       {"textDocumentSync", {{"openClose", true}, {"change", 2}, {"save", true}}}};
  for (const Feature& feature : features())
    if (feature.capability) capabilities[feature.capability] = feature.announced();
  initialized_ = true;
  return {{"capabilities", capabilities}, {"serverInfo", {{"name", "etcc"}, {"version", AXON_VERSION}}}};
}

void Server::open(const Json& params) {
  const Json& given = part(params, "textDocument", Json::value_t::object);
  OpenText text{uri_in(params), path_in(uri_in(params)),
                part(given, "text", Json::value_t::string).get<std::string>(),
                given.value("version", int64_t{0})};
  edited(open_[text.uri] = text);
}

void Server::change(const Json& params) {
  const auto known = open_.find(uri_in(params));
  if (known == open_.end()) return;  // an edit of what was not opened changes nothing
  OpenText& text = known->second;
  std::string now = text.text;
  for (const Json& change : part(params, "contentChanges", Json::value_t::array)) {
    const std::string& put = part(change, "text", Json::value_t::string).get_ref<const std::string&>();
    if (!change.contains("range")) {
      now = put;
      continue;
    }
    const Positions positions(now, encoding_);
    uint32_t begin = positions.offset(position_in(change["range"], "start"));
    uint32_t end = positions.offset(position_in(change["range"], "end"));
    if (end < begin) std::swap(begin, end);
    now.replace(begin, end - begin, put);
  }
  text.text = std::move(now);
  text.version = params["textDocument"].value("version", text.version);
  edited(text);
}

void Server::close(const Json& params) {
  const auto known = open_.find(uri_in(params));
  if (known == open_.end()) return;
  const Checker::Change held(*checker_);
  session_.documents().close(known->second.path);
  found_.erase(known->second.path);
  std::erase(recent_, known->first);
  open_.erase(known);
  order_files();
}

void Server::edited(OpenText& text) {
  const Checker::Change held(*checker_);
  session_.documents().open(text.path, text.text);
  std::erase(recent_, text.uri);
  recent_.push_back(text.uri);
  order_files();
}

/// What was edited last is checked first.
void Server::order_files() {
  std::vector<std::string> paths;
  for (auto uri = recent_.rbegin(); uri != recent_.rend(); ++uri) paths.push_back(open_.at(*uri).path);
  checker_->set_files(std::move(paths));
}

const OpenText& Server::text_of(const Json& params) const {
  const auto known = open_.find(uri_in(params));
  if (known == open_.end()) throw RequestError{invalid_params, "the file is not open"};
  return known->second;
}

Position Server::position_in(const Json& params, const char* name) {
  const Json& given = part(params, name, Json::value_t::object);
  const auto number = [&](const char* which) {
    const Json value = given.value(which, Json());
    if (!value.is_number_integer())
      throw RequestError{invalid_params, fmt::format("`{}` is no position", name)};
    const auto n = value.is_number_unsigned()
                       ? value.get<uint64_t>()
                       : static_cast<uint64_t>(std::max<int64_t>(0, value.get<int64_t>()));
    return static_cast<uint32_t>(std::min<uint64_t>(n, UINT32_MAX));
  };
  return {number("line"), number("character")};
}

Json Server::range(const Positions& positions, uint32_t begin, uint32_t end) {
  const auto json = [](Position p) { return Json{{"line", p.line}, {"character", p.character}}; };
  return {{"start", json(positions.position(begin))}, {"end", json(positions.position(end))}};
}

/// The URI of a file, as the client gave it where it did.
std::string Server::uri_of(source::FileId file) const {
  const std::string identity = source::file_identity(session_.sources()[file].name());
  for (const auto& [uri, text] : open_)
    if (source::file_identity(text.path) == identity) return uri;
  return uri_of_path(identity);
}

std::optional<Json> Server::location(source::Span span) const {
  if (!span.valid()) return std::nullopt;
  span = session_.sources().in_whole(span);
  const source::SourceFile& file = session_.sources()[span.file];
  return Json{{"uri", uri_of(span.file)},
              {"range", range(Positions(file.text(), encoding_), span.begin, span.end)}};
}

/// Sends what is said of each file, where that is not what was sent before.
void Server::publish() {
  std::map<std::string, std::vector<const source::Diagnostic*>> by_uri;
  std::map<std::string, source::FileId> files;
  std::set<std::string> seen;
  for (const auto& [path, found] : found_)
    for (const source::Diagnostic& d : found.in_order_of_report()) {
      const source::FileId at =
          d.primary.span.valid() ? d.primary.span.file : session_.documents().find(path)->text().source;
      const std::string uri = uri_of(at);
      if (!seen.insert(fmt::format("{} {} {} {}", uri, d.primary.span.begin, code_name(d.code), d.headline()))
               .second)
        continue;
      by_uri[uri].push_back(&d);
      files[uri] = at;
    }
  std::map<std::string, std::string> now;
  for (const auto& [uri, text] : open_) now[uri] = "[]";
  for (const auto& [uri, found] : by_uri)
    now[uri] = diagnostics_json(*this, found, Positions(session_.sources()[files.at(uri)].text(), encoding_))
                   .dump(-1, ' ', false, Json::error_handler_t::replace);
  for (const auto& [uri, sent] : published_) now.try_emplace(uri, "[]");
  for (const auto& [uri, all] : now) {
    const auto open = open_.find(uri);
    const auto before = published_.find(uri);
    if (before != published_.end() ? before->second == all && open == open_.end()
                                   : all == "[]" && open == open_.end())
      continue;
    Json params = {{"uri", uri}, {"diagnostics", Json::parse(all)}};
    if (open != open_.end()) params["version"] = open->second.version;
    send({{"jsonrpc", "2.0"}, {"method", "textDocument/publishDiagnostics"}, {"params", std::move(params)}});
  }
  published_ = std::move(now);
}

}  // namespace axon::lsp
