// What the syntax tree alone answers: symbols, folding, selection, lenses.
#include "query/outline.h"

#include <algorithm>

#include "lsp/features.h"
#include "lsp/locations.h"
#include "lsp/uri.h"

namespace axon::lsp {

using query::Symbol;

namespace {

/// SymbolKind of the protocol.
int number_of(Symbol::Kind kind) {
  switch (kind) {
    case Symbol::Kind::function:
    case Symbol::Kind::primitive:
      return 12;
    case Symbol::Kind::entry:
      return 6;
    case Symbol::Kind::value:
      return 14;
    case Symbol::Kind::type:
      return 23;
    case Symbol::Kind::layout:
    case Symbol::Kind::mesh:
      return 11;
    case Symbol::Kind::module:
      return 2;
    case Symbol::Kind::test:
      return 24;
    case Symbol::Kind::field:
      return 8;
    case Symbol::Kind::size:
      return 26;
  }
  return 13;
}

Json symbol_json(const Symbol& symbol, const Positions& positions) {
  Json out;
  out["name"] = symbol.name;
  out["kind"] = number_of(symbol.kind);
  out["range"] = Server::range(positions, symbol.whole.begin, symbol.whole.end);
  out["selectionRange"] = Server::range(positions, symbol.name_span.begin, symbol.name_span.end);
  if (symbol.parts.empty()) return out;
  Json& parts = out["children"];
  for (const Symbol& part : symbol.parts) parts.push_back(symbol_json(part, positions));
  return out;
}

/// Whether the letters of the query occur in the name in this order.
bool matches(const std::string& query, const std::string& name) {
  size_t at = 0;
  for (const char c : name)
    if (at < query.size() &&
        std::tolower(static_cast<unsigned char>(c)) == std::tolower(static_cast<unsigned char>(query[at])))
      ++at;
  return at == query.size();
}

Json selection_json(const std::vector<source::Span>& spans, size_t from, const Positions& positions) {
  Json out;
  for (size_t i = spans.size(); i-- > from;) {
    Json one = {{"range", Server::range(positions, spans[i].begin, spans[i].end)}};
    if (!out.is_null()) one["parent"] = std::move(out);
    out = std::move(one);
  }
  return out;
}

}  // namespace

Json document_symbols(Server& server, const Json& params) {
  const OpenText& text = server.text_of(params);
  const Positions positions(text.text, server.encoding());
  Json out = Json::array();
  for (const Symbol& symbol : query::symbols(server.session(), text.path))
    out.push_back(symbol_json(symbol, positions));
  return out;
}

Json workspace_symbols(Server& server, const Json& params) {
  const std::string wanted = params.value("query", "");
  constexpr size_t most = 500;
  Locations locations(server);
  for (const std::string& path : server.workspace().files()) server.session().documents().read(path);
  Json out = Json::array();
  for (const std::string& path : server.session().documents().paths())
    for (const Symbol& symbol : query::symbols(server.session(), path))
      if (out.size() < most && matches(wanted, symbol.name))
        if (auto place = locations.of(symbol.name_span))
          out.push_back(
              {{"name", symbol.name}, {"kind", number_of(symbol.kind)}, {"location", std::move(*place)}});
  return out;
}

Json folding_ranges(Server& server, const Json& params) {
  const OpenText& text = server.text_of(params);
  const Positions positions(text.text, server.encoding());
  Json out = Json::array();
  for (const query::Fold& fold : query::folds(server.session(), text.path)) {
    Json one = {{"startLine", positions.position(fold.span.begin).line},
                {"endLine", positions.position(fold.span.end).line}};
    if (fold.comment) one["kind"] = "comment";
    out.push_back(std::move(one));
  }
  return out;
}

Json selection_ranges(Server& server, const Json& params) {
  const OpenText& text = server.text_of(params);
  const Positions positions(text.text, server.encoding());
  Json out = Json::array();
  for (const Json& position : params.at("positions")) {
    const uint32_t at = positions.offset(Server::position_in({{"at", position}}, "at"));
    out.push_back(selection_json(query::enclosing(server.session(), text.path, at), 0, positions));
  }
  return out;
}

Json code_lenses(Server& server, const Json& params) {
  const OpenText& text = server.text_of(params);
  const Positions positions(text.text, server.encoding());
  Json out = Json::array();
  for (const Symbol& symbol : query::symbols(server.session(), text.path)) {
    const bool entry = symbol.kind == Symbol::Kind::entry;
    if (!entry && symbol.kind != Symbol::Kind::test) continue;
    // a lens stands over one line
    const size_t line_end = std::string_view(text.text).find_first_of("\r\n", symbol.name_span.begin);
    const auto end = static_cast<uint32_t>(std::min<size_t>(symbol.name_span.end, line_end));
    const auto add = [&](const char* title, const char* command) {
      out.push_back(
          {{"range", Server::range(positions, symbol.name_span.begin, end)},
           {"command", {{"title", title}, {"command", command}, {"arguments", {text.uri, symbol.name}}}}});
    };
    add(entry ? "run" : "test", entry ? "axon.run" : "axon.test");
    if (entry) add("graph", page_command);
  }
  return out;
}

}  // namespace axon::lsp
