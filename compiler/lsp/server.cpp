// See server.h. Which message is what; the texts are in texts.cpp.
#include "lsp/server.h"

#include <fmt/format.h>

#include <utility>

#include "base/bug.h"
#include "lsp/features.h"
#include "lsp/params.h"
#include "lsp/uri.h"
#include "source/files.h"

namespace axon::lsp {

namespace {

Json error_json(int code, const std::string& message) { return {{"code", code}, {"message", message}}; }

/// The result, or the error that stands for it.
Json outcome(const Json& id, const std::function<Json()>& answer) {
  Json out = {{"jsonrpc", "2.0"}, {"id", id}};
  try {
    out["result"] = answer();
  } catch (const RequestError& e) {
    out["error"] = error_json(e.code, e.message);
  } catch (const Json::exception&) {
    out["error"] = error_json(invalid_params, "a parameter is missing, or of another kind");
  } catch (const std::exception& e) {
    out["error"] = error_json(request_failed, e.what());
  }
  return out;
}

}  // namespace

Server::Server(int in, int out, const Options& options)
    : connection_(in, out),
      options_(options),
      session_(std::make_unique<session::Session>(options.library, core::Options{})) {
  checker_ = std::make_unique<Checker>(Checker::Tasks{[this](const std::string& path) { check(path); },
                                                      [this] {
                                                        publisher_.publish_others();
                                                        refresh();
                                                      },
                                                      [this] { look_ahead(); },
                                                      [this](const std::string& what) { log(what); },
                                                      [this] { repairs_.outdate(); }});
  checker_->set_delay(options.delay);
}
Server::~Server() = default;

int Server::run() {
  queue_ = std::make_unique<Queue>(connection_);
  while (!exit_) {
    const auto message = queue_->next();
    if (!message) break;
    handle(*message);
    if (queue_->empty()) take_changes();
  }
  checker_->end();
  return exit_.value_or(shut_down_ ? 0 : 1);
}

void Server::send(const Json& message) {
  const std::lock_guard held(output_lock_);
  connection_.write(message.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void Server::notify(const std::string& method, Json params) {
  send({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
}

void Server::log(const std::string& what) { notify("window/logMessage", {{"type", 1}, {"message", what}}); }

void Server::handle(const Json& message) {
  const auto refuse = [&](const Json& id, int code, const std::string& why) {
    send({{"jsonrpc", "2.0"}, {"id", id}, {"error", error_json(code, why)}});
  };
  if (message.is_discarded())
    return refuse(nullptr, parse_error, "the message is no JSON, or is nested too deep");
  if (!message.is_object() || !message.contains("method") || !message["method"].is_string()) {
    const bool is_answer = message.is_object() && (message.contains("result") || message.contains("error"));
    if (!is_answer) refuse(nullptr, invalid_request, "the message is no request");
    return;
  }
  const std::string method = message["method"];
  Json params = message.value("params", Json());
  if (params.is_null()) params = Json::object();
  if (method != "textDocument/didChange") take_changes();
  if (!message.contains("id")) return notice(method, params);
  const Json& id = message["id"];
  if (!id.is_string() && !id.is_number_integer())
    return refuse(nullptr, invalid_request, "the id of a request is a number or a text");
  answer_to(id, method, params);
}

void Server::give(const Json& id, const std::function<Json()>& answer) { send(outcome(id, answer)); }

void Server::answer_to(const Json& id, const std::string& method, const Json& params) {
  if (method == "initialize") return give(id, [&] { return initialize(params); });
  const Feature* const feature = find_feature(method);
  if (feature && initialized_ && !shut_down_ && has_to_wait(*feature, params))
    return give_later(id, *feature, params);
  give(id, [&]() -> Json {
    if (!initialized_) throw RequestError{not_initialized, "the first request is `initialize`"};
    if (shut_down_) throw RequestError{invalid_request, "the server is shut down"};
    if (queue_->is_cancelled(id)) throw RequestError{request_cancelled, "the request was cancelled"};
    if (method == "shutdown") {
      shut_down_ = true;
      return nullptr;
    }
    if (!feature) throw RequestError{method_not_found, fmt::format("there is no request `{}`", method)};
    const Checker::Hold hold(*checker_);
    return feature->answer(*this, params);
  });
}

bool Server::has_to_wait(const Feature& feature, const Json& params) {
  if (!feature.is_known) return false;
  const Checker::Hold hold(*checker_);
  try {
    return !feature.is_known(*this, params);
  } catch (const RequestError&) {  // which the answer is
  } catch (const Json::exception&) {
  }
  return false;
}

/// From the thread that checks, once it has. Where the text has become another one, the places of the request
/// mean nothing.
void Server::give_later(const Json& id, const Feature& feature, const Json& params) {
  const auto drop = [this, id] {
    give(id, []() -> Json { throw RequestError{content_modified, "the text has changed"}; });
  };
  std::optional<int64_t> version;  // none: the request is about no open text
  if (params.contains("textDocument")) {
    try {
      version = text_of(params).version;
    } catch (const RequestError& e) {
      return give(id, [&]() -> Json { throw e; });
    }
  }
  const auto run = [this, id, &feature, params, version, drop] {
    if (queue_->is_cancelled(id))
      return give(id, []() -> Json { throw RequestError{request_cancelled, "the request was cancelled"}; });
    const auto text = version ? open_.find(params["textDocument"]["uri"].get<std::string>()) : open_.end();
    if (version && (text == open_.end() || text->second.version != version)) return drop();
    give(id, [&] { return feature.answer(*this, params); });
  };
  checker_->add({run, drop, feature.before_check});
}

void Server::notice(const std::string& method, const Json& params) {
  if (method == "exit") exit_ = shut_down_ ? 0 : 1;
  if (!initialized_ || shut_down_) return;
  try {
    if (method == "initialized" && watches_) watch_files();
    if (method == "textDocument/didOpen") open(params);
    if (method == "textDocument/didChange") change(params);
    if (method == "textDocument/didClose") close(params);
    if (method == "workspace/didChangeWorkspaceFolders")
      change_folders(part(params, "event", Json::value_t::object));
    if (method == "workspace/didChangeConfiguration") configure(params.value("settings", Json()));
    for (const char* of_disk :
         {"workspace/didChangeWatchedFiles", "textDocument/didSave", "workspace/didCreateFiles",
          "workspace/didRenameFiles", "workspace/didDeleteFiles"})
      if (method == of_disk) reload();
  } catch (const RequestError&) {  // nobody waits for an answer
  } catch (const Json::exception&) {
  } catch (const std::exception& e) {
    log(e.what());
  }
}

/// That of texts in memory where the client has it, else what it names first; every client has UTF-16.
std::string Server::choose_encoding(const Json& offered) {
  static const std::map<std::string, Encoding> known = {
      {"utf-8", Encoding::utf8}, {"utf-16", Encoding::utf16}, {"utf-32", Encoding::utf32}};
  std::string chosen;
  for (const Json& one : offered.is_array() ? offered : Json::array()) {
    const std::string name = one.is_string() ? one.get<std::string>() : "";
    if (known.count(name) && (chosen.empty() || name == "utf-8")) chosen = name;
  }
  if (chosen.empty()) chosen = "utf-16";
  encoding_ = known.at(chosen);
  return chosen;
}

Json Server::initialize(const Json& params) {
  if (initialized_) throw RequestError{invalid_request, "the server is initialized already"};
  const auto offers = [&](const char* pointer) { return params.value(Json::json_pointer(pointer), Json()); };
  const std::string chosen = choose_encoding(offers("/capabilities/general/positionEncodings"));
  label_offsets_ = offers(
                       "/capabilities/textDocument/signatureHelp/signatureInformation/parameterInformation/"
                       "labelOffsetSupport") == true;
  for (const char* what : {"semanticTokens", "inlayHint"})
    if (offers((std::string("/capabilities/workspace/") + what + "/refreshSupport").c_str()) == true)
      refreshed_.push_back(std::string("workspace/") + what + "/refresh");
  shows_documents_ = offers("/capabilities/window/showDocument/support") == true;
  watches_ = offers("/capabilities/workspace/didChangeWatchedFiles/dynamicRegistration") == true;
  const Json of_axon = {{"filters", {{{"pattern", {{"glob", "**/*.axn"}}}}}}};
  Json capabilities = {
      {"positionEncoding", chosen},
      {"textDocumentSync", {{"openClose", true}, {"change", 2}, {"save", true}}},
      {"workspace",
       {{"workspaceFolders", {{"supported", true}, {"changeNotifications", true}}},
        {"fileOperations", {{"didCreate", of_axon}, {"didRename", of_axon}, {"didDelete", of_axon}}}}}};
  for (const Feature& feature : features())
    if (feature.capability) capabilities[feature.capability] = feature.announced();
  // Who has both hears of each error twice.
  const bool pulls = offers("/capabilities/textDocument/diagnostic").is_object();
  if (!pulls || offers("/capabilities/textDocument/publishDiagnostics").is_object())
    capabilities.erase("diagnosticProvider");
  if (capabilities.contains("diagnosticProvider") &&
      offers("/capabilities/workspace/diagnostics/refreshSupport") == true)
    refreshed_.push_back("workspace/diagnostic/refresh");
  set_folders(params);
  initialized_ = true;
  configure(params.value("initializationOptions", Json()));
  return {{"capabilities", capabilities}, {"serverInfo", {{"name", "etcc"}, {"version", AXON_VERSION}}}};
}

void Server::watch_files() {
  const Json watchers = {{{"globPattern", "**/*.axn"}}};
  send({{"jsonrpc", "2.0"},
        {"id", "watch"},
        {"method", "client/registerCapability"},
        {"params",
         {{"registrations",
           {{{"id", "watch"},
             {"method", "workspace/didChangeWatchedFiles"},
             {"registerOptions", {{"watchers", watchers}}}}}}}}});
}

/// What the last check of the file found, and what is wrong with its entries.
void Server::check(const std::string& path) {
  retired_.clear();
  show_changes();
  if (!session_->documents().read(path)) return;
  const bool was_stale = std::exchange(is_stale_, true);  // also by a check that a change ends halfway
  try {
    const source::Diagnostics found = session_->check_with_drafts(path);
    publisher_.found(path, found);
    repairs_.begin(*session_, path, found,
                   [this](const std::function<void()>& step) { checker_->exclusively(step); });
    is_stale_ = was_stale || session_->checked() != 0;
  } catch (const std::exception& bug) {  // outside of any declaration
    source::Diagnostics found;
    found.report(source::error(source::Code::E9003, {session_->documents().find(path)->text().source, 0, 0})
                     .text(bug.what()));
    publisher_.found(path, found);
  }
  publisher_.publish(path);
}

/// Tells the client to ask again for what it shows of files that it did not edit since, or before they were
/// checked.
void Server::refresh() {
  if (!is_stale_) return;
  is_stale_ = false;
  for (const std::string& method : refreshed_)
    send({{"jsonrpc", "2.0"}, {"id", fmt::format("refresh {}", ++refreshes_)}, {"method", method}});
}

void Server::show_document(const std::string& uri) {
  if (!shows_documents_) return;
  send({{"jsonrpc", "2.0"},
        {"id", fmt::format("show {}", ++shown_)},
        {"method", "window/showDocument"},
        {"params", {{"uri", uri}, {"external", true}}}});
}

void Server::look_ahead() {
  for (auto uri = recent_.rbegin(); uri != recent_.rend(); ++uri) {
    const auto& [path, text] = std::pair(open_.at(*uri).path, open_.at(*uri).text);
    repairs_.look_ahead(path);
    formatter_.format(path, text);
    publisher_.refusals().look_at(*session_, path);
    publisher_.publish(path);
  }
  if (!recent_.empty()) session_->check_visible(open_.at(recent_.back()).path);  // for completion
  query::check_files(*session_, workspace_.files(), "");
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
  // Not from lists in braces, which are built and then copied: answers are mostly made of ranges.
  const auto json = [&](uint32_t offset) {
    const Position p = positions.position(offset);
    Json out(Json::value_t::object);
    out.emplace("line", p.line);
    out.emplace("character", p.character);
    return out;
  };
  Json out(Json::value_t::object);
  out.emplace("start", json(begin));
  out.emplace("end", json(end));
  return out;
}

/// The URI of a file, as the client gave it where it did.
std::string Server::uri_of(source::FileId file) const {
  std::string& identity = identities_[file.index];
  if (identity.empty()) identity = source::file_identity(session_->sources()[file].name());
  for (const auto& [uri, text] : open_)
    if (text.identity == identity) return uri;
  return uri_of_path(identity);
}

std::optional<Json> Server::location(source::Span span) const {
  if (!span.valid()) return std::nullopt;
  span = session_->sources().in_whole(span);
  const source::SourceFile& file = session_->sources()[span.file];
  return Json{{"uri", uri_of(span.file)},
              {"range", range(Positions(file.text(), encoding_), span.begin, span.end)}};
}

}  // namespace axon::lsp
