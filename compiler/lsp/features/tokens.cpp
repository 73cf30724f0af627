// What names stand for, as numbers for colours.
#include "query/tokens.h"

#include "lsp/features.h"
#include "lsp/params.h"

namespace axon::lsp {

Json semantic_tokens_legend() {
  Json types = Json::array();
  for (size_t i = 0; i < query::token_types; ++i)
    types.push_back(query::token_type_name(static_cast<query::Token::Type>(i)));
  return {
      {"legend",
       {{"tokenTypes", types}, {"tokenModifiers", {"declaration", "defaultLibrary", "readonly", "entry"}}}},
      {"full", {{"delta", true}}},
      {"range", true}};
}

/// Bits, in the order of the legend.
static uint32_t modifiers(const query::Token& t) {
  const bool fixed = t.type == query::Token::Type::value;
  return (t.declares ? 1U : 0) | (t.library ? 2U : 0) | (fixed ? 4U : 0) | (t.entry ? 8U : 0);
}

/// Five numbers for each: lines and columns since the one before, length, type, modifiers.
static SentTokens::Numbers numbers_of(Server& server, const Json& params) {
  const OpenText& text = server.text_of(params);
  const Positions positions(text.text, server.encoding());
  uint32_t begin = 0, end = UINT32_MAX;
  if (params.contains("range")) {
    begin = positions.offset(Server::position_in(params["range"], "start"));
    end = positions.offset(Server::position_in(params["range"], "end"));
  }
  SentTokens::Numbers out;
  Position before;
  const std::vector<query::Token> tokens = query::tokens(server.session(), text.path, begin, end);
  out.reserve(5 * tokens.size());
  for (const query::Token& t : tokens) {
    const Position at = positions.position(t.span.begin);
    out.push_back(at.line - before.line);
    out.push_back(at.line == before.line ? at.character - before.character : at.character);
    out.push_back(positions.units(t.span.begin, t.span.end));
    out.push_back(static_cast<uint32_t>(t.type));
    out.push_back(modifiers(t));
    before = at;
  }
  return out;
}

Json semantic_tokens_in_range(Server& server, const Json& params) {
  part(params, "range", Json::value_t::object);
  Json out;
  out["data"] = numbers_of(server, params);
  return out;
}

Json semantic_tokens(Server& server, const Json& params) {
  SentTokens::Numbers numbers = numbers_of(server, params);
  Json out;
  out["data"] = numbers;
  out["resultId"] = server.sent_tokens().remember(uri_in(params), std::move(numbers));
  return out;
}

/// What differs from the tokens that the client says it has; all of them where those are not known any more.
Json changed_semantic_tokens(Server& server, const Json& params) {
  const std::string before = part(params, "previousResultId", Json::value_t::string).get<std::string>();
  SentTokens::Numbers numbers = numbers_of(server, params);
  const auto edit = server.sent_tokens().difference(uri_in(params), before, numbers);
  if (!edit) return semantic_tokens(server, params);
  Json edits = Json::array();
  if (edit->deleted != 0 || !edit->put.empty())
    edits.push_back({{"start", edit->start}, {"deleteCount", edit->deleted}, {"data", edit->put}});
  const std::string name = server.sent_tokens().remember(uri_in(params), std::move(numbers));
  return {{"resultId", name}, {"edits", std::move(edits)}};
}

}  // namespace axon::lsp
