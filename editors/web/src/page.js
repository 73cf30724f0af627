// The page: programs in an editor, with what the language server says of them, live or as it was recorded.
import * as monaco from "monaco-editor";
import recorded from "../recorded.json";
import { connect } from "./connection.js";
import { configuration, tokens } from "./language.js";
import "./page.css";
import { Providers, range } from "./providers.js";
import { defineThemes } from "./themes.js";

const language = "axon";
const state = document.getElementById("state");
const problems = document.getElementById("problems");

if (location.protocol.startsWith("http"))
  self.MonacoEnvironment = { getWorker: () => new Worker("editor.worker.js") };
monaco.languages.register({ id: language, extensions: [".axn"] });
monaco.languages.setMonarchTokensProvider(language, tokens);
monaco.languages.setLanguageConfiguration(language, configuration);
defineThemes(monaco);

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

const editor = monaco.editor.create(document.getElementById("editor"), {
  model: null,
  theme: theme(),
  automaticLayout: true,
  "semanticHighlighting.enabled": true,
  fontFamily: 'ui-monospace, "DejaVu Sans Mono", monospace',
  fontSize: narrow.matches ? 13 : 15,
  lineHeight: 1.6,
  lineNumbersMinChars: narrow.matches ? 2 : 4,
  lineDecorationsWidth: 12,
  folding: !narrow.matches,
  glyphMargin: false,
  minimap: { enabled: false },
  overviewRulerLanes: 0,
  padding: { top: 16, bottom: 16 },
  scrollBeyondLastLine: false,
  wordWrap: narrow.matches ? "on" : "off",
  renderLineHighlight: "none",
  occurrencesHighlight: "off",
  fixedOverflowWidgets: true,
});

/// What is said of one program: marks in its text, and the whole messages below it.
function showDiagnostics(program, diagnostics) {
  program.shown = diagnostics;
  const severities = [undefined, 8, 4, 2, 1];
  monaco.editor.setModelMarkers(program.model, language, diagnostics.map((one) => ({
    ...range(one.range),
    severity: severities[one.severity ?? 1],
    message: one.message,
    code: String(one.code ?? ""),
  })));
  if (editor.getModel() === program.model) listProblems(program);
}

function listProblems(program) {
  const nothing = document.createElement("p");
  nothing.textContent = "No problems.";
  problems.replaceChildren(...(program.shown.length > 0 ? program.shown.map(problem) : [nothing]));
}

function problem(one) {
  const box = document.createElement("pre");
  const place = document.createElement("span");
  const head = document.createElement("b");
  const [first, ...rest] = one.message.split("\n");
  place.textContent = `${one.range.start.line + 1}:${one.range.start.character + 1}  `;
  head.textContent = first;
  box.append(place, head, rest.map((line) => `\n${line}`).join(""));
  box.onclick = () => {
    const { startLineNumber: lineNumber, startColumn: column } = range(one.range);
    editor.setPosition({ lineNumber, column });
    editor.focus();
  };
  return box;
}

function open(program) {
  editor.setModel(program.model);
  listProblems(program);
  for (const button of document.querySelectorAll("nav button"))
    button.setAttribute("aria-pressed", String(button.textContent === program.name));
}

/// Without a server: what was recorded, as long as the text is the one that it was said of.
function replay() {
  state.textContent = "recorded";
  const unchanged = (program) => program.model.getValue() === program.text;
  for (const program of programs) {
    const show = () => showDiagnostics(program, unchanged(program) ? program.diagnostics : []);
    show();
    program.model.onDidChangeContent(() => {
      state.textContent = unchanged(program) ? "recorded" : "changed: nothing is recorded of this text";
      show();
    });
  }
  monaco.languages.registerHoverProvider(language, {
    provideHover(model, { lineNumber, column }) {
      const program = programOf(model);
      const found = program && unchanged(program) && program.hovers.find(({ line, character, length }) =>
        line === lineNumber - 1 && character <= column - 1 && column - 1 <= character + length);
      return found && found.text !== "" ? { contents: [{ value: found.text }] } : null;
    },
  });
}

/// What the page can show, so that the server says it.
const capabilities = {
  workspace: { workspaceEdit: { documentChanges: false } },
  textDocument: {
    publishDiagnostics: { relatedInformation: true },
    hover: { contentFormat: ["markdown"] },
    codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ["quickfix", "source"] } } },
    documentSymbol: { hierarchicalDocumentSymbolSupport: true },
    rename: { prepareSupport: true },
    signatureHelp: { signatureInformation: { documentationFormat: ["markdown"], parameterInformation: { labelOffsetSupport: true } } },
    completion: { completionItem: { snippetSupport: true, documentationFormat: ["markdown"] } },
    semanticTokens: { requests: { full: true }, formats: ["relative"] },
  },
};

/// Lenses need a terminal, which a page does not have: it says what to type there.
function registerLenses() {
  const say = (text) => (state.textContent = text);
  monaco.editor.registerCommand("axon.run", (_, uri, name) => say(`etcc run ${uri.split("/").pop()} ${name} NAME=VALUE`));
  monaco.editor.registerCommand("axon.test", (_, uri) => say(`etcc test ${uri.split("/").pop()}`));
}

async function live() {
  const { connection, closed } = await connect(`ws://${location.host}/lsp`);
  connection.on("textDocument/publishDiagnostics", ({ uri, diagnostics }) => {
    const program = programs.find((one) => one.model.uri.toString() === uri);
    if (program) showDiagnostics(program, diagnostics);
  });
  const server = await connection.request("initialize", { processId: null, rootUri: null, capabilities });
  connection.notify("initialized", {});
  for (const { model } of programs) synchronize(connection, model);
  registerLenses();
  document.body.dataset.features = new Providers(monaco, connection, server.capabilities).register(language).join(" ");
  editor.updateOptions({ occurrencesHighlight: "singleFile" });
  state.textContent = "live";
  closed.then(() => (state.textContent = "the language server has ended"));
}

/// Tells the server of a text and its changes.
function synchronize(connection, model) {
  const uri = model.uri.toString();
  const version = () => model.getVersionId();
  connection.notify("textDocument/didOpen", { textDocument: { uri, languageId: language, version: version(), text: model.getValue() } });
  model.onDidChangeContent(() =>
    connection.notify("textDocument/didChange", { textDocument: { uri, version: version() }, contentChanges: [{ text: model.getValue() }] }));
}

for (const program of programs) {
  const button = document.createElement("button");
  button.textContent = program.name;
  button.onclick = () => open(program);
  document.querySelector("nav").append(button);
}
open(programs[0]);
if (location.protocol.startsWith("http")) live().catch(replay);
else replay();
Object.assign(window, { axonEditor: editor, axonMonaco: monaco }); // for a console, and the tests
