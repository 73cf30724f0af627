// See features.h.
#include "lsp/features.h"

#include <algorithm>

namespace axon::lsp {

namespace {

Json yes() { return true; }

Json what_code_actions_do() { return {{"codeActionKinds", {"quickfix", "source.fixAll"}}}; }
Json what_diagnostics_do() { return {{"interFileDependencies", true}, {"workspaceDiagnostics", false}}; }
Json what_rename_does() { return {{"prepareProvider", true}}; }
Json what_document_links_do() { return {{"resolveProvider", false}}; }
Json what_code_lenses_do() { return Json::object(); }

bool never(Server&, const Json&) { return false; }

/// What was found before an edit answers what is asked after it; of a file that was just opened there is
/// nothing.
bool was_checked(Server& server, const Json& params) {
  return server.session().was_checked(server.text_of(params).path);
}

}  // namespace

const std::vector<Feature>& features() {
  static const std::vector<Feature> table = {
      {"textDocument/formatting", "documentFormattingProvider", yes, formatting},
      {"textDocument/rangeFormatting", "documentRangeFormattingProvider", yes, range_formatting},
      {"textDocument/codeAction", "codeActionProvider", what_code_actions_do, code_actions,
       code_actions_are_known},
      {"textDocument/diagnostic", "diagnosticProvider", what_diagnostics_do, pulled_diagnostics, never},
      {"textDocument/documentSymbol", "documentSymbolProvider", yes, document_symbols},
      {"workspace/symbol", "workspaceSymbolProvider", yes, workspace_symbols},
      {"textDocument/foldingRange", "foldingRangeProvider", yes, folding_ranges},
      {"textDocument/selectionRange", "selectionRangeProvider", yes, selection_ranges},
      {"textDocument/codeLens", "codeLensProvider", what_code_lenses_do, code_lenses},
      {"textDocument/hover", "hoverProvider", yes, hover, was_checked},
      {"textDocument/completion", "completionProvider", completion_options, completion, are_candidates_known},
      {"completionItem/resolve", nullptr, yes, resolve_completion},
      {"textDocument/signatureHelp", "signatureHelpProvider", signature_help_options, signature_help,
       was_checked},
      {"textDocument/inlayHint", "inlayHintProvider", yes, inlay_hints, was_checked},
      {"textDocument/definition", "definitionProvider", yes, definition, was_checked},
      {"textDocument/typeDefinition", "typeDefinitionProvider", yes, type_definition, was_checked},
      {"textDocument/documentLink", "documentLinkProvider", what_document_links_do, document_links,
       was_checked},
      {"textDocument/references", "referencesProvider", yes, references, are_references_known, true},
      {"textDocument/documentHighlight", "documentHighlightProvider", yes, highlights, was_checked},
      {"textDocument/prepareRename", nullptr, yes, prepare_rename, was_checked},
      {"textDocument/rename", "renameProvider", what_rename_does, rename, never},
      {"textDocument/semanticTokens/full", "semanticTokensProvider", semantic_tokens_legend, semantic_tokens,
       was_checked},
      {"textDocument/semanticTokens/full/delta", nullptr, yes, changed_semantic_tokens, was_checked},
      {"textDocument/semanticTokens/range", nullptr, yes, semantic_tokens_in_range, was_checked},
      {"textDocument/prepareCallHierarchy", "callHierarchyProvider", yes, prepare_calls, was_checked},
      {"callHierarchy/incomingCalls", nullptr, yes, incoming_calls, are_incoming_calls_known, true},
      {"callHierarchy/outgoingCalls", nullptr, yes, outgoing_calls},
      {"workspace/executeCommand", "executeCommandProvider", commands, execute_command, never},
  };
  return table;
}

const Feature* find_feature(const std::string& method) {
  const auto found = std::find_if(features().begin(), features().end(),
                                  [&](const Feature& f) { return method == f.method; });
  return found == features().end() ? nullptr : &*found;
}

}  // namespace axon::lsp
