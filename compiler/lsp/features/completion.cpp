// What may be written at a place.
#include <fmt/format.h>

#include <optional>

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

/// A key goes through the client and comes back in a request for more.
Json key_json(const core::DeclKey& key) {
  return {{"module", key.module}, {"space", static_cast<int>(key.space)}, {"name", key.name}};
}
std::optional<core::DeclKey> key_in(const Json& data) {
  if (!data.is_object()) return std::nullopt;
  const Json module = data.value("module", Json()), name = data.value("name", Json());
  if (!module.is_string() || !name.is_string()) return std::nullopt;
  const bool type = data.value("space", Json()) == static_cast<int>(core::DeclKey::Space::types);
  return core::DeclKey{module, type ? core::DeclKey::Space::types : core::DeclKey::Space::values, name};
}

/// Whether the list is asked for because of a letter that means something else at this place: a division, the
/// quote of another text, a product.
bool is_by_chance(const Json& params, std::string_view text, uint32_t at) {
  const Json context = params.value("context", Json());
  const Json trigger = context.is_object() ? context.value("triggerCharacter", Json()) : Json();
  using Place = query::Cursor::Place;
  const Place place = query::cursor_at(text, at).place;
  if (trigger == "/" || trigger == "\"") return place != Place::import_file;
  return trigger == "@" && place != Place::layout && place != Place::mesh_axis;
}

}  // namespace

Json completion_options() {
  return {{"triggerCharacters", {".", "[", "'", "@", "{", "\"", "/"}}, {"resolveProvider", true}};
}

/// Only for a moment after a file was opened, or has a new import, they are not: then the answer checks them.
bool are_candidates_known(Server& server, const Json& params) {
  return server.session().is_visible_known(server.text_of(params).path);
}

Json completion(Server& server, const Json& params) {
  const OpenText& text = server.text_of(params);
  if (!are_candidates_known(server, params)) server.session().check_visible(text.path);
  const Positions positions(text.text, server.encoding());
  const uint32_t at = positions.offset(Server::position_in(params, "position"));
  if (is_by_chance(params, text.text, at)) return {{"isIncomplete", false}, {"items", Json::array()}};
  const query::Completions found = query::complete(server.session(), text.path, at, server.context_counts());
  const Json range = Server::range(positions, found.begin, found.end);
  Json items = Json::array();
  for (const Completion& c : found.items) {
    Json one = {{"label", c.name},
                {"kind", number_of(c.kind)},
                {"sortText", fmt::format("{:04}", items.size())},
                {"filterText", c.name},
                {"textEdit", {{"range", range}, {"newText", c.name}}}};
    if (!c.type.empty()) one["detail"] = c.type;
    if (c.declared) one["data"] = key_json(*c.declared);
    if (c.import)
      one["additionalTextEdits"] = {
          {{"range", Server::range(positions, c.import->at, c.import->at)}, {"newText", c.import->text}}};
    items.push_back(std::move(one));
  }
  return {{"isIncomplete", !found.all}, {"items", std::move(items)}};
}

/// The type and the documentation of what an item names.
Json resolve_completion(Server& server, const Json& params) {
  Json out = params;
  const auto key = key_in(params.value("data", Json()));
  if (!key) return out;
  const std::string type = query::type_of_declared(server.session(), *key),
                    doc = query::documentation(server.session(), *key);
  if (!type.empty()) out["detail"] = type;
  if (!doc.empty()) out["documentation"] = {{"kind", "markdown"}, {"value", doc}};
  return out;
}

}  // namespace axon::lsp
