// Diagnostics as the protocol has them, and the edits that repair them.
#include <fmt/format.h>

#include <algorithm>

#include "lsp/features.h"
#include "lsp/params.h"

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

/// What code actions are asked for.
struct ActionsAsked {
  ActionsAsked(const Server& server, const Json& params)
      : text(server.text_of(params)), positions(text.text, server.encoding()) {
    const Json& range = part(params, "range", Json::value_t::object);
    const session::Document* const document = server.session().documents().find(text.path);
    if (document) file = document->text().source;
    begin = positions.offset(Server::position_in(range, "start"));
    end = positions.offset(Server::position_in(range, "end"));
    const Json only = params.value(Json::json_pointer("/context/only"), Json());
    is_open = only.is_null();
    const auto wanted = [&](std::string_view kind) {
      return is_open || std::any_of(only.begin(), only.end(), [&](const Json& one) {
               return one.is_string() && kind.starts_with(one.get_ref<const std::string&>());
             });
    };
    fixes = wanted("quickfix");
    fixes_all = wanted("source.fixAll");
  }

  bool is_of_file(const Diagnostic& d) const { return d.primary.span.file == file; }
  bool is_in_range(const Diagnostic& d) const {
    return fixes && is_of_file(d) && d.primary.span.begin <= end && begin <= d.primary.span.end;
  }
  /// Whether it may have an edit that may be made unasked.
  bool may_be_safe(const Diagnostic& d) const {
    return fixes_all && is_of_file(d) && std::any_of(d.helps.begin(), d.helps.end(), [](const Help& help) {
             return help.edit && help.edit->applicability == Applicability::safe;
           });
  }
  bool operator()(const Diagnostic& d) const { return is_in_range(d) || may_be_safe(d); }

  const OpenText& text;
  const Positions positions;
  source::FileId file;
  uint32_t begin = 0, end = 0;
  bool is_open = false;  ///< no kind is named
  bool fixes = false, fixes_all = false;
};

Json edits_json(const OpenText& text, const Positions& positions,
                const std::vector<const source::Edit*>& edits) {
  Json all = Json::array();
  for (const source::Edit* edit : edits)
    all.push_back({{"range", Server::range(positions, edit->span.begin, edit->span.end)},
                   {"newText", edit->replacement}});
  return {{"changes", {{text.uri, std::move(all)}}}};
}

/// Edits that may be applied unasked and do not touch each other.
std::vector<const source::Edit*> safe_edits(const std::vector<Diagnostic>& found) {
  std::vector<const source::Edit*> out;
  for (const Diagnostic& d : found)
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

bool code_actions_are_known(Server& server, const Json& params) {
  const ActionsAsked asked(server, params);
  return server.repairs().are_known(asked.text.path, asked);
}

Json code_actions(Server& server, const Json& params) {
  const ActionsAsked asked(server, params);
  server.repairs().find(asked.text.path, asked);
  Json out = Json::array();
  std::vector<Diagnostic> safe;
  for (Diagnostic& d : server.repairs().of(asked.text.path, asked)) {
    if (asked.is_in_range(d))
      for (const Help& help : d.helps) {
        if (!help.edit) continue;
        out.push_back({{"title", help.text},
                       {"kind", "quickfix"},
                       {"diagnostics", {diagnostic_json(server, d, asked.positions)}},
                       {"isPreferred", help.edit->applicability == Applicability::safe},
                       {"edit", edits_json(asked.text, asked.positions, {&*help.edit})}});
      }
    if (asked.may_be_safe(d)) safe.push_back(std::move(d));
  }
  if (asked.is_open && out.empty()) return out;
  if (const auto edits = safe_edits(safe); !edits.empty())
    out.push_back({{"title", "apply all safe repairs in the file"},
                   {"kind", "source.fixAll"},
                   {"edit", edits_json(asked.text, asked.positions, edits)}});
  return out;
}

}  // namespace axon::lsp
