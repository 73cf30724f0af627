// See server.h. Texts of the client, its files and its settings. Changes are collected as long as others wait
// to be read: the session sees the last text only.
#include <algorithm>

#include "lsp/params.h"
#include "lsp/server.h"
#include "lsp/uri.h"
#include "source/files.h"

namespace axon::lsp {

void Server::open(const Json& params) {
  const Json& given = part(params, "textDocument", Json::value_t::object);
  OpenText text;
  text.uri = uri_in(params);
  const auto path = path_of_uri(text.uri);
  if (!path) throw RequestError{invalid_params, fmt::format("`{}` names no file", text.uri)};
  text.path = *path;
  text.text = part(given, "text", Json::value_t::string).get<std::string>();
  text.version = given.value("version", int64_t{0});
  text.identity = source::file_identity(text.path);
  const Checker::Change held(*checker_);
  session_->documents().open(text.path, text.text);
  std::erase(recent_, text.uri);
  recent_.push_back(text.uri);
  open_[text.uri] = std::move(text);
  order_files();
}

/// The text after the changes, each of which is of the text after the one before.
static std::string changed(std::string now, const Json& changes, Encoding encoding) {
  for (const Json& change : changes) {
    const std::string& put = part(change, "text", Json::value_t::string).get_ref<const std::string&>();
    if (!change.contains("range")) {
      now = put;
      continue;
    }
    const Positions positions(now, encoding);
    uint32_t begin = positions.offset(Server::position_in(change["range"], "start"));
    uint32_t end = positions.offset(Server::position_in(change["range"], "end"));
    if (end < begin) std::swap(begin, end);
    now.replace(begin, end - begin, put);
  }
  return now;
}

void Server::change(const Json& params) {
  const auto known = open_.find(uri_in(params));
  if (known == open_.end()) return;  // an edit of what was not opened changes nothing
  std::string now =
      changed(known->second.text, part(params, "contentChanges", Json::value_t::array), encoding_);
  const int64_t version = params["textDocument"].value("version", known->second.version);
  if (now.size() > most_message_bytes) return;
  const Checker::Change held(*checker_);
  known->second.text = std::move(now);
  known->second.version = version;
  changed_.insert(known->first);
  std::erase(recent_, known->first);
  recent_.push_back(known->first);
}

void Server::take_changes() {
  if (changed_.empty()) return;
  const Checker::Change held(*checker_);
  show_changes();
}

/// With the session held.
void Server::show_changes() {
  for (const std::string& uri : changed_) {
    const OpenText& text = open_.at(uri);
    session_->documents().open(text.path, text.text);
  }
  changed_.clear();
  order_files();
}

void Server::close(const Json& params) {
  const auto known = open_.find(uri_in(params));
  if (known == open_.end()) return;
  const Checker::Change held(*checker_);
  const OpenText closed = std::move(known->second);
  std::erase(recent_, known->first);
  sent_tokens_.forget(known->first);
  open_.erase(known);
  const auto other = std::find_if(recent_.rbegin(), recent_.rend(), [&](const std::string& uri) {
    return open_.at(uri).identity == closed.identity;
  });
  if (other != recent_.rend())  // it is open by another name
    session_->documents().open(open_.at(*other).path, open_.at(*other).text);
  else
    session_->documents().close(closed.path);
  const bool is_open = std::any_of(open_.begin(), open_.end(),
                                   [&](const auto& one) { return one.second.path == closed.path; });
  if (!is_open) publisher_.forget(closed.path);
  order_files();
}

void Server::reload() {
  const Checker::Change held(*checker_);
  identities_.clear();  // links may lead elsewhere
  workspace_.look_again();
  session_->documents().reload();
}

/// Paths of what is given as folders.
static std::vector<std::string> folders_in(const Json& given) {
  std::vector<std::string> out;
  for (const Json& folder : given.is_array() ? given : Json::array()) {
    const Json uri = folder.is_object() ? folder.value("uri", Json()) : Json();
    const auto path = uri.is_string() ? path_of_uri(uri) : std::nullopt;
    if (path && path->starts_with("/")) out.push_back(*path);
  }
  return out;
}

void Server::set_folders(const Json& params) {
  std::vector<std::string> folders = folders_in(params.value("workspaceFolders", Json()));
  if (folders.empty()) folders = folders_in(Json::array({{{"uri", params.value("rootUri", Json())}}}));
  workspace_.set_folders(std::move(folders));
}

void Server::change_folders(const Json& event) {
  std::vector<std::string> folders = workspace_.folders();
  for (const std::string& gone : folders_in(event.value("removed", Json()))) std::erase(folders, gone);
  for (std::string& come : folders_in(event.value("added", Json()))) folders.push_back(std::move(come));
  const Checker::Change held(*checker_);
  workspace_.set_folders(std::move(folders));
}

/// What was edited last is checked first.
void Server::order_files() {
  std::vector<std::string> paths;
  for (auto uri = recent_.rbegin(); uri != recent_.rend(); ++uri) paths.push_back(open_.at(*uri).path);
  checker_->set_files(std::move(paths));
}

/// {"library": ["directory", ...], "delay": milliseconds}, or the same under "axon".
void Server::configure(const Json& settings) {
  if (!settings.is_object()) return;
  if (settings.contains("axon")) return configure(settings["axon"]);
  const Json delay = settings.value("delay", Json());
  if (delay.is_number_unsigned())
    checker_->set_delay(std::chrono::milliseconds(std::min<uint64_t>(delay.get<uint64_t>(), 10'000)));
  const Json directories = settings.value("library", Json());
  if (!directories.is_array()) return;
  std::vector<std::string> library;
  for (const Json& one : directories)
    if (one.is_string()) library.push_back(one);
  library.insert(library.end(), options_.library.begin(), options_.library.end());
  const Checker::Change held(*checker_);
  publisher_.clear();
  identities_.clear();
  retired_.push_back(std::move(session_));
  session_ = std::make_unique<session::Session>(std::move(library), core::Options{});
  for (const std::string& uri : recent_) session_->documents().open(open_.at(uri).path, open_.at(uri).text);
}

const OpenText& Server::text_of(const Json& params) const {
  const auto known = open_.find(uri_in(params));
  if (known == open_.end()) throw RequestError{invalid_params, "the file is not open"};
  return known->second;
}

}  // namespace axon::lsp
