// What is given to the function, or set in the record, that a place is inside of.
#include "query/signature.h"

#include "lsp/features.h"

namespace axon::lsp {

/// Arguments stand behind blanks, sizes and fields in brackets; what ends one leads to the next.
Json signature_help_options() {
  return {{"triggerCharacters", {" ", "(", "[", "{"}}, {"retriggerCharacters", {",", ")", "]", "}", "="}}};
}

Json signature_help(Server& server, const Json& params) {
  const OpenText& text = server.text_of(params);
  const Positions positions(text.text, server.encoding());
  const uint32_t at = positions.offset(Server::position_in(params, "position"));
  Json all = Json::array();
  for (const query::Signature& signature : query::signatures(server.session(), text.path, at)) {
    const Positions in_label(signature.label, server.encoding());
    Json parameters = Json::array();
    for (const auto& [begin, end] : signature.parameters) {
      const bool offsets = server.takes_label_offsets();
      parameters.push_back(
          {{"label", offsets ? Json{in_label.position(begin).character, in_label.position(end).character}
                             : Json(signature.label.substr(begin, end - begin))}});
    }
    Json one = {{"label", signature.label},
                {"parameters", std::move(parameters)},
                {"activeParameter", signature.active}};
    if (!signature.documentation.empty())
      one["documentation"] = {{"kind", "markdown"}, {"value", signature.documentation}};
    all.push_back(std::move(one));
  }
  if (all.empty()) return nullptr;
  const Json active = all[0]["activeParameter"];  // for clients that look there alone
  return {{"signatures", std::move(all)}, {"activeSignature", 0}, {"activeParameter", active}};
}

}  // namespace axon::lsp
