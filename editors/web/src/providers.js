// The features of the server as Monaco asks for them. Both know the same notions; positions count from 0 there and from 1 here.
//
// In: Monaco, a connection whose server is initialized, what the server can do, and what shows the user a sentence. Out: every provider
// that the server can serve.
const place = (position) => ({ line: position.lineNumber - 1, character: position.column - 1 });

/// A range of Monaco for one of the protocol, and back.
export function range({ start, end }) {
  return {
    startLineNumber: start.line + 1,
    startColumn: start.character + 1,
    endLineNumber: end.line + 1,
    endColumn: end.character + 1,
  };
}

export function unrange(r) {
  return {
    start: { line: r.startLineNumber - 1, character: r.startColumn - 1 },
    end: { line: r.endLineNumber - 1, character: r.endColumn - 1 },
  };
}

const document = (model) => ({ textDocument: { uri: model.uri.toString() } });
const at = (model, position) => ({ ...document(model), position: place(position) });
const edits = (list) => (list ?? []).map((edit) => ({ range: range(edit.range), text: edit.newText }));
const markdown = (text) => (text === undefined ? undefined : typeof text === "string" ? text : { value: text.value });
const none = { dispose() {} };

export class Providers {
  constructor(monaco, connection, capabilities, tell) {
    this.monaco = monaco;
    this.connection = connection;
    this.capabilities = capabilities;
    this.tell = tell;
  }

  register(language) {
    const { languages } = this.monaco;
    const table = {
      hoverProvider: () => languages.registerHoverProvider(language, this.hover()),
      definitionProvider: () => languages.registerDefinitionProvider(language, this.places("definition", "provideDefinition")),
      typeDefinitionProvider: () =>
        languages.registerTypeDefinitionProvider(language, this.places("typeDefinition", "provideTypeDefinition")),
      referencesProvider: () => languages.registerReferenceProvider(language, this.references()),
      documentHighlightProvider: () => languages.registerDocumentHighlightProvider(language, this.highlights()),
      renameProvider: () => languages.registerRenameProvider(language, this.rename()),
      inlayHintProvider: () => languages.registerInlayHintsProvider(language, this.hints()),
      semanticTokensProvider: () => [
        languages.registerDocumentSemanticTokensProvider(language, this.tokens()),
        languages.registerDocumentRangeSemanticTokensProvider(language, this.tokensOfRange()),
      ],
      completionProvider: () => languages.registerCompletionItemProvider(language, this.completion()),
      signatureHelpProvider: () => languages.registerSignatureHelpProvider(language, this.signature()),
      documentFormattingProvider: () => languages.registerDocumentFormattingEditProvider(language, this.formatting()),
      documentRangeFormattingProvider: () =>
        languages.registerDocumentRangeFormattingEditProvider(language, this.formattingOfRange()),
      documentLinkProvider: () => languages.registerLinkProvider(language, this.links()),
      codeActionProvider: () => languages.registerCodeActionProvider(language, this.actions()),
      codeLensProvider: () => languages.registerCodeLensProvider(language, this.lenses()),
      foldingRangeProvider: () => languages.registerFoldingRangeProvider(language, this.folding()),
      documentSymbolProvider: () => languages.registerDocumentSymbolProvider(language, this.symbols()),
      selectionRangeProvider: () => languages.registerSelectionRangeProvider(language, this.selection()),
    };
    return Object.keys(table).filter((name) => this.capabilities[name] && table[name]());
  }

  /// An event of each time that the server has more to say than when it was asked.
  changesOf(what) {
    const emitter = new this.monaco.Emitter();
    this.connection.answer(`workspace/${what}/refresh`, () => emitter.fire());
    return emitter.event;
  }

  ask(method, params, cancellation) {
    return this.connection.request(`textDocument/${method}`, params, cancellation);
  }

  attempt(method, params, cancellation) {
    return this.connection.attempt(`textDocument/${method}`, params, cancellation);
  }

  hover() {
    return {
      provideHover: async (model, position, cancellation) => {
        const found = await this.ask("hover", at(model, position), cancellation);
        return found && { contents: [markdown(found.contents)].map((one) => (typeof one === "string" ? { value: one } : one)),
                          range: found.range && range(found.range) };
      },
    };
  }

  /// The places that are in texts of the page.
  locations(found) {
    return [found ?? []].flat()
      .map((one) => ({ uri: this.monaco.Uri.parse(one.uri), range: range(one.range) }))
      .filter(({ uri }) => this.monaco.editor.getModel(uri));
  }

  places(method, name) {
    return {
      [name]: async (model, position, cancellation) => {
        const found = await this.ask(method, at(model, position), cancellation);
        const places = this.locations(found);
        const [first] = [found ?? []].flat();
        if (first && places.length === 0) // the page has no text of the library
          this.tell(`line ${first.range.start.line + 1} of ${first.uri.split("/").slice(-2).join("/")}`);
        return places;
      },
    };
  }

  references() {
    return {
      provideReferences: async (model, position, context, cancellation) =>
        this.locations(await this.ask("references", { ...at(model, position), context }, cancellation)),
    };
  }

  highlights() {
    return {
      provideDocumentHighlights: async (model, position, cancellation) =>
        ((await this.ask("documentHighlight", at(model, position), cancellation)) ?? []).map((one) => ({
          range: range(one.range),
          kind: (one.kind ?? 1) - 1,
        })),
    };
  }

  /// The edits of a change of several files, of which this page shows some.
  workspaceEdit(change) {
    const byFile = Object.entries(change?.changes ?? {});
    for (const one of change?.documentChanges ?? []) byFile.push([one.textDocument.uri, one.edits]);
    return {
      edits: byFile.flatMap(([uri, list]) =>
        edits(list).map((textEdit) => ({ resource: this.monaco.Uri.parse(uri), versionId: undefined, textEdit }))),
    };
  }

  rename() {
    return {
      provideRenameEdits: async (model, position, newName, cancellation) => {
        const { result, error } = await this.attempt("rename", { ...at(model, position), newName }, cancellation);
        if (result) return this.workspaceEdit(result);
        this.tell(error.message); // Monaco would say it to the console
        return { edits: [], rejectReason: error.message };
      },
      resolveRenameLocation: async (model, position, cancellation) => {
        const { result, error } = await this.attempt("prepareRename", at(model, position), cancellation);
        if (!result) return { range: undefined, text: "", rejectReason: error?.message ?? "this has no name to change" };
        const where = range(result.range ?? result);
        return { range: where, text: result.placeholder ?? model.getValueInRange(where) };
      },
    };
  }

  hints() {
    return {
      onDidChangeInlayHints: this.changesOf("inlayHint"),
      provideInlayHints: async (model, within, cancellation) => {
        const found = await this.ask("inlayHint", { ...document(model), range: unrange(within) }, cancellation);
        const hints = (found ?? []).map((hint) => ({
          label: typeof hint.label === "string" ? hint.label : hint.label.map((part) => part.value).join(""),
          position: { lineNumber: hint.position.line + 1, column: hint.position.character + 1 },
          kind: hint.kind ?? 1,
          paddingLeft: hint.paddingLeft,
          paddingRight: hint.paddingRight,
          tooltip: markdown(hint.tooltip),
          textEdits: edits(hint.textEdits),
        }));
        return { hints, ...none };
      },
    };
  }

  tokens() {
    return {
      onDidChange: this.changesOf("semanticTokens"),
      getLegend: () => this.capabilities.semanticTokensProvider.legend,
      /// All of them, or what has changed since those that the last answer named.
      provideDocumentSemanticTokens: async (model, previousResultId, cancellation) => {
        const differs = previousResultId && this.capabilities.semanticTokensProvider.full.delta;
        const found = differs
          ? await this.ask("semanticTokens/full/delta", { ...document(model), previousResultId }, cancellation)
          : await this.ask("semanticTokens/full", document(model), cancellation);
        if (!found?.edits) return found && { resultId: found.resultId, data: Uint32Array.from(found.data) };
        const changes = found.edits.map((edit) => ({ ...edit, data: Uint32Array.from(edit.data ?? []) }));
        return { resultId: found.resultId, edits: changes };
      },
      releaseDocumentSemanticTokens() {},
    };
  }

  tokensOfRange() {
    return {
      getLegend: () => this.capabilities.semanticTokensProvider.legend,
      provideDocumentRangeSemanticTokens: async (model, within, cancellation) => {
        const found = await this.ask("semanticTokens/range", { ...document(model), range: unrange(within) }, cancellation);
        return found && { data: Uint32Array.from(found.data) };
      },
    };
  }

  links() {
    return {
      provideLinks: async (model, cancellation) => {
        const found = (await this.ask("documentLink", document(model), cancellation)) ?? [];
        return { links: found.map((one) => ({ range: range(one.range), url: this.monaco.Uri.parse(one.target), tooltip: one.tooltip })) };
      },
    };
  }

  completion() {
    const { CompletionItemKind, CompletionItemInsertTextRule } = this.monaco.languages;
    const kinds = ["Text", "Method", "Function", "Constructor", "Field", "Variable", "Class", "Interface", "Module", "Property",
      "Unit", "Value", "Enum", "Keyword", "Snippet", "Color", "File", "Reference", "Folder", "EnumMember", "Constant", "Struct",
      "Event", "Operator", "TypeParameter"];
    return {
      triggerCharacters: this.capabilities.completionProvider?.triggerCharacters ?? [],
      provideCompletionItems: async (model, position, context, cancellation) => {
        const found = await this.ask("completion", at(model, position), cancellation);
        const word = model.getWordUntilPosition(position);
        const here = { startLineNumber: position.lineNumber, endLineNumber: position.lineNumber,
                       startColumn: word.startColumn, endColumn: position.column };
        const suggestions = [found?.items ?? found ?? []].flat().map((item) => ({
          label: item.label,
          kind: CompletionItemKind[kinds[(item.kind ?? 1) - 1]],
          detail: item.detail ?? item.labelDetails?.detail,
          documentation: markdown(item.documentation),
          insertText: item.textEdit?.newText ?? item.insertText ?? item.label,
          insertTextRules: item.insertTextFormat === 2 ? CompletionItemInsertTextRule.InsertAsSnippet : undefined,
          sortText: item.sortText,
          filterText: item.filterText,
          range: item.textEdit?.range ? range(item.textEdit.range) : here,
          additionalTextEdits: edits(item.additionalTextEdits),
          item,
        }));
        return { suggestions, incomplete: found?.isIncomplete };
      },
      /// The documentation, once a candidate is looked at.
      resolveCompletionItem: async (suggestion, cancellation) => {
        const resolved = await this.connection.request("completionItem/resolve", suggestion.item, cancellation);
        return { ...suggestion, documentation: markdown(resolved?.documentation) };
      },
    };
  }

  signature() {
    const { triggerCharacters, retriggerCharacters } = this.capabilities.signatureHelpProvider ?? {};
    return {
      signatureHelpTriggerCharacters: triggerCharacters ?? [],
      signatureHelpRetriggerCharacters: retriggerCharacters ?? [],
      provideSignatureHelp: async (model, position, cancellation) => {
        const found = await this.ask("signatureHelp", at(model, position), cancellation);
        if (!found) return null;
        const signatures = found.signatures.map((one) => ({
          label: one.label,
          documentation: markdown(one.documentation),
          activeParameter: one.activeParameter,
          parameters: (one.parameters ?? []).map((p) => ({ label: p.label, documentation: markdown(p.documentation) })),
        }));
        const value = { signatures, activeSignature: found.activeSignature ?? 0, activeParameter: found.activeParameter ?? 0 };
        return { value, ...none };
      },
    };
  }

  formatting() {
    return {
      provideDocumentFormattingEdits: async (model, options, cancellation) =>
        edits(await this.ask("formatting", { ...document(model), options }, cancellation)),
    };
  }

  formattingOfRange() {
    return {
      provideDocumentRangeFormattingEdits: async (model, within, options, cancellation) =>
        edits(await this.ask("rangeFormatting", { ...document(model), range: unrange(within), options }, cancellation)),
    };
  }

  /// Repairs of the diagnostics in a range. The server knows its diagnostics by the range.
  actions() {
    return {
      provideCodeActions: async (model, within, context, cancellation) => {
        const params = { ...document(model), range: unrange(within), context: { diagnostics: [], only: context.only && [context.only] } };
        const found = (await this.ask("codeAction", params, cancellation)) ?? [];
        const actions = found.map((one) => ({
          title: one.title,
          kind: one.kind,
          isPreferred: one.isPreferred,
          diagnostics: context.markers,
          edit: this.workspaceEdit(one.edit),
        }));
        return { actions, ...none };
      },
    };
  }

  lenses() {
    return {
      onDidChange: this.changesOf("codeLens"),
      provideCodeLenses: async (model, cancellation) => {
        const found = (await this.ask("codeLens", document(model), cancellation)) ?? [];
        // A page of an entry is a file on the server's machine, which no page of a browser can open.
        const lenses = found.filter(({ command }) => command?.command !== "axon.page").map(({ range: where, command }) => ({
          range: range(where),
          command: command && { id: command.command, title: command.title, arguments: command.arguments },
        }));
        return { lenses, ...none };
      },
    };
  }

  folding() {
    const { FoldingRangeKind } = this.monaco.languages;
    return {
      provideFoldingRanges: async (model, _, cancellation) =>
        ((await this.ask("foldingRange", document(model), cancellation)) ?? []).map(({ startLine, endLine, kind }) => ({
          start: startLine + 1,
          end: endLine + 1,
          kind: kind && FoldingRangeKind.fromValue(kind),
        })),
    };
  }

  symbols() {
    const symbol = (one) => ({
      name: one.name,
      detail: one.detail ?? "",
      kind: one.kind - 1,
      tags: [],
      range: range(one.range),
      selectionRange: range(one.selectionRange),
      children: (one.children ?? []).map(symbol),
    });
    return {
      provideDocumentSymbols: async (model, cancellation) =>
        ((await this.ask("documentSymbol", document(model), cancellation)) ?? []).map(symbol),
    };
  }

  selection() {
    const chain = (one) => (one ? [{ range: range(one.range) }, ...chain(one.parent)] : []);
    return {
      provideSelectionRanges: async (model, positions, cancellation) =>
        ((await this.ask("selectionRange", { ...document(model), positions: positions.map(place) }, cancellation)) ?? []).map(chain),
    };
  }
}
