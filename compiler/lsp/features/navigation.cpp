// Where a name is declared, and where else it stands.
#include "lsp/features.h"
#include "query/mentions.h"
#include "query/rename.h"
#include "query/tokens.h"

namespace axon::lsp {

namespace {

std::optional<query::Mention> mention_in(Server& server, const OpenText& text, const Json& params) {
  const Positions positions(text.text, server.encoding());
  return query::mention_at(server.session(), text.path,
                           positions.offset(Server::position_in(params, "position")));
}

}  // namespace

Json definition(Server& server, const Json& params) {
  const OpenText& text = server.text_of(params);
  const auto mention = mention_in(server, text, params);
  const auto place = mention ? query::definition(server.session(), mention->meaning) : std::nullopt;
  if (!place) return nullptr;
  const auto location = server.location(*place);
  return location ? *location : Json();
}

Json references(Server& server, const Json& params) {
  const OpenText& text = server.text_of(params);
  const auto mention = mention_in(server, text, params);
  Json out = Json::array();
  if (!mention) return out;
  const bool with_declaration = params.value(Json::json_pointer("/context/includeDeclaration"), true);
  for (const query::Mention& m : query::mentions_of(server.session(), mention->meaning))
    if (with_declaration || !m.binds)
      if (auto place = server.location(m.span)) out.push_back(std::move(*place));
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
  const uint32_t at = positions.offset(Server::position_in(params, "position"));
  const query::Renamable found = query::renamable(server.session(), text.path, at);
  if (!found.refusal.empty()) throw RequestError{request_failed, found.refusal};
  return Server::range(positions, found.span.begin, found.span.end);
}

Json rename(Server& server, const Json& params) {
  const OpenText& text = server.text_of(params);
  const Positions positions(text.text, server.encoding());
  const uint32_t at = positions.offset(Server::position_in(params, "position"));
  const query::Renaming done =
      query::rename(server.session(), text.path, at, params.at("newName").get<std::string>(),
                    [&](const std::function<void()>& step) { server.exclusively(step); });
  if (!done.refusal.empty()) throw RequestError{request_failed, done.refusal};
  Json changes = Json::object();
  for (const source::Edit& edit : done.edits)
    if (auto location = server.location(edit.span))
      changes[(*location)["uri"].get<std::string>()].push_back(
          {{"range", (*location)["range"]}, {"newText", edit.replacement}});
  return {{"changes", std::move(changes)}};
}

Json semantic_tokens_legend() {
  Json types = Json::array();
  for (size_t i = 0; i < query::token_types; ++i)
    types.push_back(query::token_type_name(static_cast<query::Token::Type>(i)));
  return {{"legend", {{"tokenTypes", types}, {"tokenModifiers", {"declaration", "defaultLibrary"}}}},
          {"full", true},
          {"range", true}};
}

/// Five numbers for each: lines and columns since the one before, length, type, modifiers.
Json semantic_tokens(Server& server, const Json& params) {
  const OpenText& text = server.text_of(params);
  const Positions positions(text.text, server.encoding());
  uint32_t begin = 0, end = UINT32_MAX;
  if (params.contains("range")) {
    begin = positions.offset(Server::position_in(params["range"], "start"));
    end = positions.offset(Server::position_in(params["range"], "end"));
  }
  Json data = Json::array();
  Position before;
  for (const query::Token& t : query::tokens(server.session(), text.path)) {
    if (t.span.end < begin || end < t.span.begin) continue;
    const Position at = positions.position(t.span.begin), to = positions.position(t.span.end);
    data.push_back(at.line - before.line);
    data.push_back(at.line == before.line ? at.character - before.character : at.character);
    data.push_back(to.character - at.character);
    data.push_back(static_cast<int>(t.type));
    data.push_back((t.declares ? 1 : 0) | (t.library ? 2 : 0));
    before = at;
  }
  return {{"data", std::move(data)}};
}

}  // namespace axon::lsp
