// What is known of a place.
#include "query/hover.h"

#include "lsp/features.h"

namespace axon::lsp {

Json hover(Server& server, const Json& params) {
  const OpenText& text = server.text_of(params);
  const Positions positions(text.text, server.encoding());
  const uint32_t at = positions.offset(Server::position_in(params, "position"));
  const auto found = query::hover(server.session(), text.path, at);
  if (!found) return nullptr;
  std::string shown = "```axon\n" + found->code + "\n```";
  if (!found->text.empty()) shown += "\n\n" + found->text;
  return {{"contents", {{"kind", "markdown"}, {"value", shown}}},
          {"range", Server::range(positions, found->span.begin, found->span.end)}};
}

}  // namespace axon::lsp
