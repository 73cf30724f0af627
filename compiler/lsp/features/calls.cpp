// Who uses a function or value, and what it uses.
#include "query/calls.h"

#include "lsp/features.h"
#include "lsp/locations.h"
#include "lsp/params.h"
#include "query/references.h"

namespace axon::lsp {

using query::Callable;
using query::Calls;

namespace {

/// Null for what is in no file.
Json item_json(Locations& locations, const Callable& of) {
  const auto name = locations.of(of.name_span), whole = locations.of(of.whole);
  if (!name || !whole) return nullptr;
  constexpr int function = 12, constant = 14;  // SymbolKind
  return {{"name", of.name},
          {"kind", of.function ? function : constant},
          {"uri", (*whole)["uri"]},
          {"range", (*whole)["range"]},
          {"selectionRange", (*name)["range"]},
          {"data", {{"module", of.key.module}, {"name", of.key.name}}}};
}

/// Of an item that was given before.
core::DeclKey item_of(const Json& params) {
  const Json& data = part(part(params, "item", Json::value_t::object), "data", Json::value_t::object);
  return {part(data, "module", Json::value_t::string), core::DeclKey::Space::values,
          part(data, "name", Json::value_t::string)};
}

Json calls_json(const Server& server, const std::vector<Calls>& all, const char* other) {
  Locations locations(server);
  Json out = Json::array();
  for (const Calls& calls : all) {
    Json item = item_json(locations, calls.other);
    Json ranges = Json::array();
    for (const source::Span place : calls.places)
      if (auto location = locations.of(place)) ranges.push_back(std::move((*location)["range"]));
    if (!item.is_null()) out.push_back({{other, std::move(item)}, {"fromRanges", std::move(ranges)}});
  }
  return out;
}

}  // namespace

Json prepare_calls(Server& server, const Json& params) {
  const OpenText& text = server.text_of(params);
  const Positions positions(text.text, server.encoding());
  const auto found = query::callable_at(server.session(), text.path,
                                        positions.offset(Server::position_in(params, "position")));
  Locations locations(server);
  const Json item = found ? item_json(locations, *found) : Json();
  return item.is_null() ? item : Json::array({item});
}

bool are_incoming_calls_known(Server& server, const Json& params) {
  return server.workspace().is_known() &&
         query::mentions_are_known(server.session(), item_of(params), server.workspace().files());
}

Json incoming_calls(Server& server, const Json& params) {
  const core::DeclKey key = item_of(params);
  query::check_mentions(server.session(), key, server.workspace().files());
  return calls_json(server, query::callers(server.session(), key), "from");
}

Json outgoing_calls(Server& server, const Json& params) {
  return calls_json(server, query::callees(server.session(), item_of(params)), "to");
}

}  // namespace axon::lsp
