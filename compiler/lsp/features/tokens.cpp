// What names stand for, as numbers for colours.
#include "query/tokens.h"

#include "lsp/features.h"

namespace axon::lsp {

Json semantic_tokens_legend() {
  Json types = Json::array();
  for (size_t i = 0; i < query::token_types; ++i)
    types.push_back(query::token_type_name(static_cast<query::Token::Type>(i)));
  return {
      {"legend",
       {{"tokenTypes", types}, {"tokenModifiers", {"declaration", "defaultLibrary", "readonly", "entry"}}}},
      {"full", true},
      {"range", true}};
}

/// Bits, in the order of the legend.
static int modifiers(const query::Token& t) {
  const bool fixed = t.type == query::Token::Type::value;
  return (t.declares ? 1 : 0) | (t.library ? 2 : 0) | (fixed ? 4 : 0) | (t.entry ? 8 : 0);
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
  for (const query::Token& t : query::tokens(server.session(), text.path, begin, end)) {
    const Position at = positions.position(t.span.begin), to = positions.position(t.span.end);
    data.push_back(at.line - before.line);
    data.push_back(at.line == before.line ? at.character - before.character : at.character);
    data.push_back(to.character - at.character);
    data.push_back(static_cast<int>(t.type));
    data.push_back(modifiers(t));
    before = at;
  }
  return {{"data", std::move(data)}};
}

}  // namespace axon::lsp
