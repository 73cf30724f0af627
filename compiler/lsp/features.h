// What a client may ask for: one row for each method, one function that answers it.
//
// To add a feature: a function in features/, a row in features.cpp with the capability that announces it.
#pragma once
#include <string>
#include <vector>

#include "lsp/server.h"

namespace axon::lsp {

struct Feature {
  const char* method;
  const char* capability;  ///< its name in ServerCapabilities; null: announced by another row
  Json (*announced)();     ///< what is announced
  Json (*answer)(Server& server, const Json& params);
  /// Whether it can be answered at once; where not, it is answered once the text that it is about has been
  /// checked. Null: it always can.
  bool (*is_known)(Server& server, const Json& params) = nullptr;
  bool before_check = false;  ///< it does not wait for the check then, but checks what it needs itself
};

const std::vector<Feature>& features();
const Feature* find_feature(const std::string& method);

/// The diagnostics of one file as the protocol has them. `uri_of`: of the files of labels.
Json diagnostics_json(const Server& server, const std::vector<const source::Diagnostic*>& found,
                      const Positions& positions);

// features/*.cpp
Json formatting(Server& server, const Json& params);
Json range_formatting(Server& server, const Json& params);
Json code_actions(Server& server, const Json& params);
bool code_actions_are_known(Server& server, const Json& params);
Json pulled_diagnostics(Server& server, const Json& params);
Json document_symbols(Server& server, const Json& params);
Json workspace_symbols(Server& server, const Json& params);
Json folding_ranges(Server& server, const Json& params);
Json selection_ranges(Server& server, const Json& params);
Json code_lenses(Server& server, const Json& params);
Json hover(Server& server, const Json& params);
Json completion_options();
Json completion(Server& server, const Json& params);
bool are_candidates_known(Server& server, const Json& params);
Json resolve_completion(Server& server, const Json& params);
Json signature_help_options();
Json signature_help(Server& server, const Json& params);
Json inlay_hints(Server& server, const Json& params);
Json definition(Server& server, const Json& params);
Json type_definition(Server& server, const Json& params);
Json document_links(Server& server, const Json& params);
Json references(Server& server, const Json& params);
bool are_references_known(Server& server, const Json& params);
Json highlights(Server& server, const Json& params);
Json prepare_rename(Server& server, const Json& params);
Json rename(Server& server, const Json& params);
Json semantic_tokens_legend();
Json semantic_tokens(Server& server, const Json& params);
Json semantic_tokens_in_range(Server& server, const Json& params);
Json changed_semantic_tokens(Server& server, const Json& params);
Json prepare_calls(Server& server, const Json& params);
Json incoming_calls(Server& server, const Json& params);
bool are_incoming_calls_known(Server& server, const Json& params);
Json outgoing_calls(Server& server, const Json& params);
/// Of the lens over an entry, and of execute_command().
inline constexpr const char* page_command = "axon.page";
Json commands();
Json execute_command(Server& server, const Json& params);

}  // namespace axon::lsp
