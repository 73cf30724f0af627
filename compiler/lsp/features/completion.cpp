// What may be written at a place.
#include <fmt/format.h>

#include "lsp/features.h"
#include "query/complete.h"
#include "query/hover.h"

namespace axon::lsp {

using query::Completion;

namespace {

/// CompletionItemKind of the protocol.
int number_of(Completion::Kind kind) {
  switch (kind) {
    case Completion::Kind::local:
      return 6;
    case Completion::Kind::size:
    case Completion::Kind::axis:
      return 25;
    case Completion::Kind::function:
      return 3;
    case Completion::Kind::value:
      return 21;
    case Completion::Kind::type:
      return 22;
    case Completion::Kind::field:
      return 5;
    case Completion::Kind::module:
      return 9;
    case Completion::Kind::keyword:
      return 14;
  }
  return 1;
}

}  // namespace

Json completion_options() { return {{"triggerCharacters", {".", "[", "'"}}, {"resolveProvider", true}}; }

Json completion(Server& server, const Json& params) {
  const OpenText& text = server.text_of(params);
  const Positions positions(text.text, server.encoding());
  const uint32_t at = positions.offset(Server::position_in(params, "position"));
  const query::Completions found = query::complete(server.session(), text.path, at);
  const Json range = Server::range(positions, found.begin, found.end);
  Json items = Json::array();
  for (const Completion& c : found.items) {
    Json one = {{"label", c.name},
                {"kind", number_of(c.kind)},
                {"sortText", fmt::format("{:04}", items.size())},
                {"textEdit", {{"range", range}, {"newText", c.name}}}};
    if (!c.type.empty()) one["detail"] = c.type;
    if (c.declared) one["data"] = {{"module", c.declared->module}, {"name", c.declared->name}};
    items.push_back(std::move(one));
  }
  // names are ranked for what is typed so far, and others come in where more is known
  return {{"isIncomplete", true}, {"items", std::move(items)}};
}

/// The documentation of what an item names.
Json resolve_completion(Server& server, const Json& params) {
  Json out = params;
  const Json data = params.value("data", Json::object());
  if (!data.is_object() || !data.contains("module") || !data.contains("name")) return out;
  const core::DeclKey key{data["module"].get<std::string>(), core::DeclKey::Space::values,
                          data["name"].get<std::string>()};
  const std::string doc = query::documentation(server.session(), key);
  if (!doc.empty()) out["documentation"] = {{"kind", "markdown"}, {"value", doc}};
  return out;
}

}  // namespace axon::lsp
