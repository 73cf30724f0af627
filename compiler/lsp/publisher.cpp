// See publisher.h.
#include "lsp/publisher.h"

#include <fmt/format.h>

#include <set>

#include "lsp/features.h"
#include "lsp/server.h"

namespace axon::lsp {

using source::Diagnostic;
using source::FileId;

namespace {

/// Of what is found more than once, such as by the checks of two importers, the first.
class Once {
 public:
  bool is_new(const Diagnostic& d) {
    return seen_
        .insert(fmt::format("{} {} {} {}", d.primary.span.file.index, d.primary.span.begin, code_name(d.code),
                            d.headline()))
        .second;
  }

 private:
  std::set<std::string> seen_;
};

}  // namespace

void Publisher::forget(const std::string& path) {
  found_.erase(path);
  refusals_.forget(path);
}

void Publisher::clear() {
  found_.clear();
  refusals_.clear();
}

Json Publisher::said_of(const std::string& path) const {
  const session::Document* const document = server_.session().documents().find(path);
  const auto known = found_.find(path);
  if (!document || known == found_.end()) return Json::array();
  const FileId file = document->text().source;
  const std::vector<Diagnostic> refused = refusals_.of(server_.session(), path);
  std::vector<const Diagnostic*> all;
  Once once;
  const auto add = [&](const Diagnostic& d) {
    const source::Span at = d.primary.span;
    if ((!at.valid() || at.file == file) && once.is_new(d)) all.push_back(&d);
  };
  for (const Diagnostic& d : known->second.in_order_of_report()) add(d);
  for (const Diagnostic& d : refused) add(d);
  return diagnostics_json(server_, all,
                          Positions(server_.session().sources()[file].text(), server_.encoding()));
}

void Publisher::send(const std::string& uri, const Json& said, std::optional<int64_t> version) {
  Sent now{said.dump(-1, ' ', false, Json::error_handler_t::replace), version};
  const auto before = sent_.find(uri);
  if (before == sent_.end() ? now.said == "[]" && !version : before->second == now) return;
  Json params = {{"uri", uri}, {"diagnostics", said}};
  if (version) params["version"] = *version;
  server_.notify("textDocument/publishDiagnostics", std::move(params));
  if (now.said == "[]" && !version)
    sent_.erase(uri);
  else
    sent_[uri] = std::move(now);
}

void Publisher::publish(const std::string& path) {
  const Json said = said_of(path);
  for (const auto& [uri, text] : server_.open_texts())
    if (text.path == path) send(uri, said, text.version);
}

void Publisher::publish_others() {
  std::map<std::string, std::vector<const Diagnostic*>> by_uri;
  std::map<std::string, FileId> files;
  Once once;
  for (const auto& [path, found] : found_)
    for (const Diagnostic& d : found.in_order_of_report()) {
      if (!d.primary.span.valid() || !once.is_new(d)) continue;
      const std::string uri = server_.uri_of(d.primary.span.file);
      if (server_.open_texts().count(uri)) continue;
      by_uri[uri].push_back(&d);
      files[uri] = d.primary.span.file;
    }
  std::vector<std::string> silent;
  for (const auto& [uri, sent] : sent_)
    if (!server_.open_texts().count(uri) && !by_uri.count(uri)) silent.push_back(uri);
  for (const std::string& uri : silent) send(uri, Json::array(), std::nullopt);
  for (const auto& [uri, found] : by_uri)
    send(uri,
         diagnostics_json(server_, found,
                          Positions(server_.session().sources()[files.at(uri)].text(), server_.encoding())),
         std::nullopt);
}

}  // namespace axon::lsp
