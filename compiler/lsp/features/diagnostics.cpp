// Diagnostics as the protocol has them, and the edits that repair them.
#include <fmt/format.h>

#include <algorithm>

#include "lsp/features.h"
#include "session/try_edits.h"

namespace axon::lsp {

using source::Applicability;
using source::Diagnostic;
using source::Diagnostics;
using source::Help;
using source::Severity;

namespace {

/// The words of the command line, without the text that the editor shows itself. What is offered as an edit
/// is a code action.
std::string message_of(const Diagnostic& d) {
  std::string out(d.headline());
  if (!d.primary.text.empty()) out += "\n" + d.primary.text;
  if (!d.body.empty()) out += "\n" + d.body;
  for (const source::Note& n : d.notes) out += fmt::format("\n{}: {}", n.kind, n.text);
  for (const Help& help : d.helps)
    if (!help.edit) out += "\nhelp: " + help.text;
  return out;
}

Json diagnostic_json(const Server& server, const Diagnostic& d, const Positions& positions) {
  Json out = {{"range", Server::range(positions, d.primary.span.begin, d.primary.span.end)},
              {"severity", d.severity == Severity::error ? 1 : 2},
              {"code", code_name(d.code)},
              {"source", "axon"},
              {"message", message_of(d)}};
  Json related = Json::array();
  for (const source::Label& label : d.secondary)
    if (auto place = server.location(label.span))
      related.push_back(
          {{"location", std::move(*place)}, {"message", label.text.empty() ? "here" : label.text}});
  if (!related.empty()) out["relatedInformation"] = std::move(related);
  return out;
}

/// The errors of the last check that are marked in the range, with those of their edits that repair them.
Diagnostics repaired(Server& server, const OpenText& text, uint32_t begin, uint32_t end) {
  Diagnostics out;
  const auto found = server.found().find(text.path);
  const session::Document* const document = server.session().documents().find(text.path);
  if (found == server.found().end() || !document) return out;
  const source::FileId file = document->text().source;
  for (const Diagnostic& d : found->second.in_order_of_report()) {
    const source::Span at = d.primary.span;
    if (at.file == file && at.begin <= end && begin <= at.end) out.report(d);
  }
  session::try_edits(server.session(), text.path, file, out,
                     [&](const std::function<void()>& step) { server.exclusively(step); });
  return out;
}

Json edits_json(const OpenText& text, const Positions& positions,
                const std::vector<const source::Edit*>& edits) {
  Json all = Json::array();
  for (const source::Edit* edit : edits)
    all.push_back({{"range", Server::range(positions, edit->span.begin, edit->span.end)},
                   {"newText", edit->replacement}});
  return {{"changes", {{text.uri, std::move(all)}}}};
}

/// Edits that may be applied unasked and do not touch each other.
std::vector<const source::Edit*> safe_edits(const Diagnostics& found) {
  std::vector<const source::Edit*> out;
  for (const Diagnostic& d : found.in_order_of_report())
    for (const Help& help : d.helps) {
      if (!help.edit || help.edit->applicability != Applicability::safe) continue;
      const auto touches = [&](const source::Edit* other) {
        return other->span.begin <= help.edit->span.end && help.edit->span.begin <= other->span.end;
      };
      if (std::none_of(out.begin(), out.end(), touches)) out.push_back(&*help.edit);
      break;
    }
  return out;
}

}  // namespace

Json diagnostics_json(const Server& server, const std::vector<const Diagnostic*>& found,
                      const Positions& positions) {
  Json out = Json::array();
  for (const Diagnostic* d : found) out.push_back(diagnostic_json(server, *d, positions));
  return out;
}

Json pulled_diagnostics(Server& server, const Json& params) {
  const std::string path = server.text_of(params).path;
  server.publisher().refusals().look_at(server.session(), path);
  return {{"kind", "full"}, {"items", server.publisher().said_of(path)}};
}

Json code_actions(Server& server, const Json& params) {
  const OpenText& text = server.text_of(params);
  const Positions positions(text.text, server.encoding());
  const uint32_t begin = positions.offset(Server::position_in(params.at("range"), "start"));
  const uint32_t end = positions.offset(Server::position_in(params.at("range"), "end"));
  const Diagnostics found = repaired(server, text, begin, end);
  const Json only = params.value(Json::json_pointer("/context/only"), Json());
  const auto wanted = [&](const char* kind) {
    return only.is_null() || std::any_of(only.begin(), only.end(), [&](const Json& one) {
             return one.is_string() && std::string_view(kind).starts_with(one.get_ref<const std::string&>());
           });
  };
  Json out = Json::array();
  for (const Diagnostic& d : found.in_order_of_report())
    for (const Help& help : d.helps) {
      if (!help.edit || !wanted("quickfix")) continue;
      out.push_back({{"title", help.text},
                     {"kind", "quickfix"},
                     {"diagnostics", {diagnostic_json(server, d, positions)}},
                     {"isPreferred", help.edit->applicability == Applicability::safe},
                     {"edit", edits_json(text, positions, {&*help.edit})}});
    }
  if (!wanted("source.fixAll") || (only.is_null() && out.empty())) return out;
  const Diagnostics all = repaired(server, text, 0, static_cast<uint32_t>(text.text.size()));
  if (const auto edits = safe_edits(all); !edits.empty())
    out.push_back({{"title", "apply all safe repairs in the file"},
                   {"kind", "source.fixAll"},
                   {"edit", edits_json(text, positions, edits)}});
  return out;
}

}  // namespace axon::lsp
