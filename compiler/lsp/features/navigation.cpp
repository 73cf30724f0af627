// Where a name is declared, and where else it stands.
#include "lsp/features.h"
#include "query/mentions.h"

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

}  // namespace axon::lsp
