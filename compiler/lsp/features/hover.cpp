// What is known of a place, and what is shown between the words of a text.
#include "query/hover.h"

#include <fmt/format.h>

#include "lsp/features.h"
#include "query/hints.h"

namespace axon::lsp {

/// What the entry whose name is shown costs; empty where the span is none of an entry's name.
static std::string cost_of(Server& server, const std::string& path, source::Span name) {
  for (const session::Entry& entry : server.session().declarations_in(path, name.begin, name.end)) {
    const auto* function = syntax::as<syntax::FunDecl>(*entry.decl);
    if (function && function->is_entry && server.session().sources().in_whole(entry.decl->name.span) == name)
      return server.publisher().refusals().cost_of(server.session(), path, entry.key.name);
  }
  return "";
}

Json hover(Server& server, const Json& params) {
  const OpenText& text = server.text_of(params);
  const Positions positions(text.text, server.encoding());
  const uint32_t at = positions.offset(Server::position_in(params, "position"));
  const auto found = query::hover(server.session(), text.path, at);
  if (!found) return nullptr;
  std::string shown = "```axon\n" + found->code + "\n```";
  if (!found->text.empty()) shown += "\n\n" + found->text;
  if (const std::string cost = cost_of(server, text.path, found->span); !cost.empty())
    shown += fmt::format("\n\nCosts `{}`.", cost);
  return {{"contents", {{"kind", "markdown"}, {"value", shown}}},
          {"range", Server::range(positions, found->span.begin, found->span.end)}};
}

Json inlay_hints(Server& server, const Json& params) {
  const OpenText& text = server.text_of(params);
  const Positions positions(text.text, server.encoding());
  const Json& range = params.at("range");
  const uint32_t begin = positions.offset(Server::position_in(range, "start"));
  const uint32_t end = positions.offset(Server::position_in(range, "end"));
  constexpr int type = 1;  // InlayHintKind; what is no type has none
  Json out = Json::array();
  for (const query::Hint& hint : query::hints(server.session(), text.path, begin, end)) {
    const bool blank = hint.label.starts_with(" ");
    const Json at = Server::range(positions, hint.at, hint.at)["start"];
    Json one = {{"position", at}, {"label", hint.label.substr(blank ? 1 : 0)}, {"paddingLeft", blank}};
    if (hint.label.starts_with(" : ")) one["kind"] = type;
    for (const source::Edit& edit : hint.edits)
      one["textEdits"].push_back({{"range", Server::range(positions, edit.span.begin, edit.span.end)},
                                  {"newText", edit.replacement}});
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace axon::lsp
