// The page: programs in an editor, with what the language server says of them, live or as it was recorded.
import * as monaco from "monaco-editor";
import { InlayHintsController } from "monaco-editor/esm/vs/editor/contrib/inlayHints/browser/inlayHintsController.js";
import recorded from "../recorded.json";
import { connect } from "./connection.js";
import { configuration, tokens } from "./language.js";
import "./page.css";
import { Problems, severity } from "./problems.js";
import { Providers, range, unrange } from "./providers.js";
import { defineThemes } from "./themes.js";

const language = "axon";
const state = document.getElementById("state");

if (location.protocol.startsWith("http"))
  self.MonacoEnvironment = { getWorker: () => new Worker("editor.worker.js") };
monaco.languages.register({ id: language, extensions: [".axn"] });
monaco.languages.setMonarchTokensProvider(language, tokens);
monaco.languages.setLanguageConfiguration(language, configuration);
defineThemes(monaco);

// What Monaco itself gives up, because it is not wanted any more, is no error of the page.
addEventListener("unhandledrejection", (event) => event.reason?.name === "Canceled" && event.preventDefault());

// Of the hints in a line Monaco shows 43 characters, which no option changes. A type that is cut says nothing.
InlayHintsController._MAX_LABEL_LEN = Infinity;

const darkness = matchMedia("(prefers-color-scheme: dark)");
const narrow = matchMedia("(max-width: 600px)");
const theme = () => (darkness.matches ? "axon-dark" : "axon-light");
darkness.addEventListener("change", () => monaco.editor.setTheme(theme()));

const programs = recorded.map((program) => ({
  ...program,
  model: monaco.editor.createModel(program.text, language, monaco.Uri.parse(`file:///playground/${program.name}`)),
  shown: [],
}));
for (const { model } of programs)
  model.updateOptions({ tabSize: 2, bracketColorizationOptions: { enabled: false, independentColorPoolPerBracketType: false } });
const programOf = (model) => programs.find((program) => program.model === model);

/// What depends on the width of the screen.
const fitting = () => ({
  fontSize: narrow.matches ? 13 : 15,
  lineNumbersMinChars: narrow.matches ? 2 : 4,
  folding: !narrow.matches,
  wordWrap: narrow.matches ? "on" : "off",
});

const editor = monaco.editor.create(document.getElementById("editor"), {
  model: null,
  theme: theme(),
  automaticLayout: true,
  "semanticHighlighting.enabled": true,
  fontFamily: 'ui-monospace, "DejaVu Sans Mono", monospace',
  lineHeight: 1.6,
  lineDecorationsWidth: 12,
  glyphMargin: false,
  minimap: { enabled: false },
  guides: { indentation: false },
  overviewRulerLanes: 0,
  padding: { top: 16, bottom: 16 },
  scrollBeyondLastLine: false,
  renderLineHighlight: "none",
  occurrencesHighlight: "off",
  fixedOverflowWidgets: true,
  ...fitting(),
});

narrow.addEventListener("change", () => editor.updateOptions(fitting()));

const problems = new Problems(document.getElementById("problems"), visit);

/// What is said of one program: marks in its text, and the whole messages below it.
function showDiagnostics(program, diagnostics) {
  program.shown = diagnostics;
  monaco.editor.setModelMarkers(program.model, language, diagnostics.map((one) => ({
    ...range(one.range),
    severity: monaco.MarkerSeverity[severity(one)],
    message: one.message,
    code: String(one.code ?? ""),
  })));
  if (editor.getModel() === program.model) listProblems(program);
}

function listProblems({ model, shown }) {
  problems.show(model.uri.toString(), shown);
}

/// Shows a place, of which the page has the text or not.
function visit(uri, position) {
  const program = programs.find(({ model }) => model.uri.toString() === uri);
  if (!program) return false;
  if (editor.getModel() !== program.model) open(program);
  editor.setPosition(position);
  editor.revealPositionInCenterIfOutsideViewport(position);
  editor.focus();
  return true;
}

function open(program) {
  editor.setModel(program.model);
  listProblems(program);
  for (const button of document.querySelectorAll("nav button"))
    button.setAttribute("aria-pressed", String(button.textContent === program.name));
}

/// Links and definitions lead from one program to another.
monaco.editor.registerEditorOpener({
  openCodeEditor: (_, resource, where) =>
    visit(resource.toString(), { lineNumber: where?.startLineNumber ?? where?.lineNumber ?? 1, column: where?.startColumn ?? where?.column ?? 1 }),
});

/// Without a server: what was recorded, as long as the text is the one that it was said of. `why` there is none is shown.
function replay(why) {
  state.textContent = why;
  const unchanged = (program) => program.model.getValue() === program.text;
  for (const program of programs) {
    const show = () => showDiagnostics(program, unchanged(program) ? program.diagnostics : []);
    show();
    program.model.onDidChangeContent(() => {
      state.textContent = unchanged(program) ? why : "changed: nothing is recorded of this text";
      show();
    });
  }
  recolour(unchanged);
  monaco.languages.registerHoverProvider(language, {
    provideHover(model, { lineNumber, column }) {
      const program = programOf(model);
      const found = program && unchanged(program) && program.hovers.find(({ line, character, length }) =>
        line === lineNumber - 1 && character <= column - 1 && column - 1 <= character + length);
      return found && found.text !== "" ? { contents: [{ value: found.text }] } : null;
    },
  });
}

/// The colours that a server gave the names of the programs that `unchanged` holds of.
function recolour(unchanged) {
  const tokenTypes = [...new Set(programs.flatMap(({ hovers }) => hovers.map(({ type }) => type)))];
  monaco.languages.registerDocumentSemanticTokensProvider(language, {
    getLegend: () => ({ tokenTypes, tokenModifiers: [] }),
    provideDocumentSemanticTokens(model) {
      const program = programOf(model);
      if (!program || !unchanged(program)) return null;
      let before = { line: 0, character: 0 };
      const data = program.hovers.flatMap((one) => {
        const lines = one.line - before.line;
        const columns = lines === 0 ? one.character - before.character : one.character;
        before = one;
        return [lines, columns, one.length, tokenTypes.indexOf(one.type), 0];
      });
      return { data: Uint32Array.from(data) };
    },
    releaseDocumentSemanticTokens() {},
  });
}

/// What the page can show, so that the server says it.
const capabilities = {
  workspace: {
    workspaceEdit: { documentChanges: false },
    semanticTokens: { refreshSupport: true },
    inlayHint: { refreshSupport: true },
    codeLens: { refreshSupport: true },
  },
  textDocument: {
    publishDiagnostics: { relatedInformation: true },
    hover: { contentFormat: ["markdown"] },
    codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ["quickfix", "source"] } } },
    documentSymbol: { hierarchicalDocumentSymbolSupport: true },
    rename: { prepareSupport: true },
    signatureHelp: { signatureInformation: { documentationFormat: ["markdown"], parameterInformation: { labelOffsetSupport: true } } },
    completion: { completionItem: { snippetSupport: true, documentationFormat: ["markdown"] } },
    semanticTokens: { requests: { full: { delta: true }, range: true }, formats: ["relative"] },
  },
};

/// Shows a sentence, until the text or the program changes.
function tell(sentence) {
  const usual = state.dataset.usual ?? state.textContent;
  state.dataset.usual = usual;
  state.textContent = sentence;
  const events = [editor.onDidChangeModel(forget), editor.onDidChangeModelContent(forget)];
  function forget() {
    events.forEach((event) => event.dispose());
    if (state.textContent === sentence) state.textContent = usual;
  }
}

/// Lenses need a terminal, which a page does not have: it says what to type there.
function registerLenses() {
  monaco.editor.registerCommand("axon.run", (_, uri, name) => tell(`etcc run ${uri.split("/").pop()} ${name} NAME=VALUE`));
  monaco.editor.registerCommand("axon.test", (_, uri) => tell(`etcc test ${uri.split("/").pop()}`));
}

async function live() {
  const { connection, closed } = await connect(`ws://${location.host}/lsp`);
  const server = await connection.request("initialize", { processId: null, rootUri: null, capabilities });
  if (!server) throw new Error("the language server does not start");
  connection.on("textDocument/publishDiagnostics", ({ uri, diagnostics }) => {
    const program = programs.find((one) => one.model.uri.toString() === uri);
    if (program) showDiagnostics(program, diagnostics);
  });
  connection.answer("client/registerCapability", () => {}); // there are no files to watch
  connection.notify("initialized", {});
  for (const { model } of programs) synchronize(connection, model);
  registerLenses();
  document.body.dataset.features = new Providers(monaco, connection, server.capabilities, tell).register(language).join(" ");
  editor.updateOptions({ occurrencesHighlight: "singleFile" });
  state.textContent = "live";
  closed.then(() => (state.textContent = "the language server has ended"));
}

/// Tells the server of a text and its changes.
function synchronize(connection, model) {
  const uri = model.uri.toString();
  const version = () => model.getVersionId();
  connection.notify("textDocument/didOpen", { textDocument: { uri, languageId: language, version: version(), text: model.getValue() } });
  model.onDidChangeContent(({ changes, isFlush }) => {
    // Monaco's changes do not touch each other and the last one in the text is first, so that each may be taken by itself.
    const parts = changes.map(({ range: replaced, text }) => ({ range: unrange(replaced), text }));
    const contentChanges = isFlush ? [{ text: model.getValue() }] : parts;
    connection.notify("textDocument/didChange", { textDocument: { uri, version: version() }, contentChanges });
  });
}

for (const program of programs) {
  const button = document.createElement("button");
  button.textContent = program.name;
  button.onclick = () => open(program);
  document.querySelector("nav").append(button);
}
open(programs[0]);
if (location.protocol.startsWith("http")) live().catch(() => replay("recorded: no language server runs"));
else replay("recorded");
Object.assign(window, { axonEditor: editor, axonMonaco: monaco }); // for a console, and the tests
