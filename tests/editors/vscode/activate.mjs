// The extension starts, and goes on without a compiler.
//
// In: the bundle, what the setting axon.path says, commands that a user gives, as JSON, and perhaps a file whose stage `core` is looked
// at. `vscode` is replaced by a module that remembers what it was asked for, since there is no editor. Out: what was registered and
// shown, as JSON.
//
//   node activate.mjs BUNDLE PATH COMMANDS [FILE]
import { createRequire } from "node:module";
import Module from "node:module";
import path from "node:path";

const [bundle, compiler, given, file] = process.argv.slice(2);
const said = { commands: [], tasks: [], executed: [], states: [], errors: [], opened: [], status: {}, output: [] };

/// The status item, whose texts are remembered.
const status = new Proxy(said.status, {
  set: (item, name, value) => {
    if (name === "text") said.states.push(value);
    return Reflect.set(item, name, value);
  },
});

const disposable = () => ({ dispose() {} });

/// Any member that is asked for: a function that gives another such thing, and a class.
function anything() {
  return new Proxy(class {}, {
    get: (target, name) => (name === "then" ? undefined : name in target ? target[name] : (target[name] = anything())),
    apply: () => anything(),
  });
}

const settings = { path: compiler, arguments: [], inlayHints: true };
const handlers = new Map();
const known = {
  version: "1.82.0",
  env: { appName: "test", language: "en" },
  EventEmitter: class {
    event = disposable;
    fire() {}
    dispose() {}
  },
  Uri: { parse: (text) => ({ fsPath: decodeURIComponent(new URL(text).pathname), toString: () => text }) },
  LanguageStatusSeverity: { Information: 0, Warning: 1, Error: 2 },
  TaskScope: { Workspace: 2 },
  TaskGroup: { Build: "build", Test: "test" },
  TaskRevealKind: {},
  TaskPanelKind: {},
  ProcessExecution: class {
    constructor(program, args) {
      Object.assign(this, { program, args });
    }
  },
  Task: class {
    constructor(definition, scope, name, source, execution, matchers) {
      Object.assign(this, { definition, scope, name, source, execution, matchers });
    }
  },
  commands: {
    registerCommand: (name, handler) => (said.commands.push(name), handlers.set(name, handler), disposable()),
    executeCommand: async (...command) => void said.opened.push(command),
  },
  languages: Object.assign(anything(), { createLanguageStatusItem: () => status }),
  tasks: {
    registerTaskProvider: (_, provider) => ((known.provider = provider), disposable()),
    executeTask: async (task) => said.executed.push([task.execution.program, ...task.execution.args]),
  },
  window: Object.assign(anything(), {
    activeTextEditor: undefined,
    visibleTextEditors: [],
    createOutputChannel: () => ({ appendLine: (line) => said.output.push(line), append() {}, show() {}, dispose() {} }),
    showErrorMessage: async (message, ...choices) => (said.errors.push(message), choices[0]),
    showInputBox: async () => "x=[1, 2] y=@a.npy",
  }),
  workspace: Object.assign(anything(), {
    workspaceFolders: undefined,
    textDocuments: [],
    getConfiguration: () => ({ get: (name, otherwise) => settings[name] ?? otherwise }),
    createFileSystemWatcher: () => ({ onDidChange: disposable, onDidCreate: disposable, onDidDelete: disposable, dispose() {} }),
    onDidChangeConfiguration: disposable,
    registerTextDocumentContentProvider: (_, provider) => ((known.contents = provider), disposable()),
  }),
};
const vscode = new Proxy(known, { get: (target, name) => (name in target ? target[name] : (target[name] = anything())) });

const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
const extension = createRequire(import.meta.url)(path.resolve(bundle));
await extension.activate({ subscriptions: [] });
said.tasks = (await known.provider.provideTasks()).map((task) => [task.execution.program, ...task.execution.args]);
for (const { command, arguments: values } of JSON.parse(given)) await handlers.get(command)(...values);
if (file) {
  const token = { onCancellationRequested: disposable };
  said.stage = await known.contents.provideTextDocumentContent({ fragment: "core", query: file }, token);
}
await extension.deactivate();
console.log(JSON.stringify(said));
process.exit(0);
