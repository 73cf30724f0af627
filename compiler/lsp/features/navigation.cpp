// Where a name is declared, where else it stands, and another name for it.
#include "lsp/features.h"
#include "lsp/locations.h"
#include "lsp/uri.h"
#include "query/declared_types.h"
#include "query/imports.h"
#include "query/mentions.h"
#include "query/references.h"
#include "query/rename.h"

namespace axon::lsp {

namespace {

uint32_t offset_in(const Server& server, const OpenText& text, const Json& params) {
  return Positions(text.text, server.encoding()).offset(Server::position_in(params, "position"));
}

std::optional<query::Mention> mention_in(Server& server, const OpenText& text, const Json& params) {
  return query::mention_at(server.session(), text.path, offset_in(server, text, params));
}

}  // namespace

Json definition(Server& server, const Json& params) {
  const OpenText& text = server.text_of(params);
  const auto mention = mention_in(server, text, params);
  const auto place = mention
                         ? query::definition(server.session(), *mention)
                         : query::imported_at(server.session(), text.path, offset_in(server, text, params));
  if (!place) return nullptr;
  const auto location = server.location(*place);
  return location ? *location : Json();
}

Json type_definition(Server& server, const Json& params) {
  const OpenText& text = server.text_of(params);
  Json out = Json::array();
  for (const core::DeclKey& type :
       query::declared_types(server.session(), text.path, offset_in(server, text, params)))
    if (const auto place = query::definition(
            server.session(), {query::Kind::type, std::make_shared<const core::DeclKey>(type), {}}))
      if (auto location = server.location(*place)) out.push_back(std::move(*location));
  return out;
}

Json document_links(Server& server, const Json& params) {
  const OpenText& text = server.text_of(params);
  const Positions positions(text.text, server.encoding());
  Json out = Json::array();
  for (const query::Import& import : query::imports(server.session(), text.path))
    if (!import.file.empty())
      out.push_back({{"range", Server::range(positions, import.span.begin, import.span.end)},
                     {"target", uri_of_path(import.file)}});
  return out;
}

bool are_references_known(Server& server, const Json& params) {
  const OpenText& text = server.text_of(params);
  return server.workspace().is_known() &&
         query::references_are_known(server.session(), text.path, offset_in(server, text, params),
                                     server.workspace().files());
}

Json references(Server& server, const Json& params) {
  const OpenText& text = server.text_of(params);
  Json out = Json::array();
  Locations locations(server);
  const bool with_declaration = params.value(Json::json_pointer("/context/includeDeclaration"), true);
  for (const query::Mention& m : query::references(
           server.session(), text.path, offset_in(server, text, params), server.workspace().files()))
    if (with_declaration || !m.binds)
      if (auto place = locations.of(m.span)) out.push_back(std::move(*place));
  return out;
}

Json highlights(Server& server, const Json& params) {
  const OpenText& text = server.text_of(params);
  const auto mention = mention_in(server, text, params);
  Json out = Json::array();
  if (!mention) return out;
  const Positions positions(text.text, server.encoding());
  constexpr int read = 2, write = 3;  // DocumentHighlightKind
  for (const query::Mention& m : query::mentions(server.session(), text.path))
    if (m.meaning == mention->meaning)
      out.push_back(
          {{"range", Server::range(positions, m.span.begin, m.span.end)}, {"kind", m.binds ? write : read}});
  return out;
}

Json prepare_rename(Server& server, const Json& params) {
  const OpenText& text = server.text_of(params);
  const Positions positions(text.text, server.encoding());
  const query::Renamable found =
      query::renamable(server.session(), text.path, offset_in(server, text, params));
  if (!found.refusal.empty()) throw RequestError{request_failed, found.refusal};
  return Server::range(positions, found.span.begin, found.span.end);
}

Json rename(Server& server, const Json& params) {
  const OpenText& text = server.text_of(params);
  const query::Renaming done = query::rename(
      server.session(), text.path, offset_in(server, text, params), params.at("newName").get<std::string>(),
      server.workspace().files(), [&](const std::function<void()>& step) { server.exclusively(step); });
  if (!done.refusal.empty()) throw RequestError{request_failed, done.refusal};
  Locations locations(server);
  Json changes = Json::object();
  for (const source::Edit& edit : done.edits)
    if (auto location = locations.of(edit.span))
      changes[(*location)["uri"].get<std::string>()].push_back(
          {{"range", (*location)["range"]}, {"newText", edit.replacement}});
  return {{"changes", std::move(changes)}};
}

}  // namespace axon::lsp
