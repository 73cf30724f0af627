// What a client has the server do: `axon.page`, with the address of a file and the name of an entry, writes
// the page of the entry, asks the client to show it where that can, and gives its address.
#include "lsp/features.h"
#include "lsp/pages.h"
#include "lsp/uri.h"

namespace axon::lsp {

Json commands() { return {{"commands", {page_command}}}; }

Json execute_command(Server& server, const Json& params) {
  if (params.at("command") != page_command) throw RequestError{invalid_params, "there is no such command"};
  const Json& arguments = params.at("arguments");
  const OpenText& text = server.text_of({{"textDocument", {{"uri", arguments.at(0)}}}});
  std::string problem;
  const std::string path =
      make_page(server.session(), text.path, arguments.at(1).get<std::string>(), problem);
  if (!problem.empty()) throw RequestError{request_failed, problem};
  const std::string uri = uri_of_path(path);
  server.show_document(uri);
  return {{"uri", uri}};
}

}  // namespace axon::lsp
