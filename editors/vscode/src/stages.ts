// What the compiler makes of a file, as `etcc build --emit=STAGE` prints it, beside the file.
//
// In: the file of the active editor, and a stage that is chosen. Out: a text that nobody writes, made anew when the file is saved.
// Invariant: the address of such a text names the stage and the file, and nothing else decides what it shows.
import { execFile } from "node:child_process";
import * as path from "node:path";
import * as vscode from "vscode";
import { compiler } from "./settings";

const scheme = "axon-stage";
const bytes = 1 << 26; // the most that is shown of a stage

/// The names that `--emit` takes, in the order of the compiler.
const stages: [name: string, what: string][] = [
  ["tokens", "the words of the file"],
  ["ast", "its tree"],
  ["core", "names resolved, every type and shape inferred"],
  ["graph", "tensors in index notation"],
  ["fused", "the same, fused"],
  ["inplace", "the same, with copies where updates in place need them"],
  ["places", "where weights lie, and why"],
  ["tasks", "tiles and events"],
  ["plan", "per-worker order and memory"],
  ["proof", "why no task comes too early"],
  ["tiles", "what one task does"],
  ["llvm", "LLVM's representation"],
  ["asm", "machine code"],
  ["ptx", "code for a GPU"],
];

export function registerStages(): vscode.Disposable[] {
  const changed = new vscode.EventEmitter<vscode.Uri>();
  return [
    changed,
    vscode.commands.registerCommand("axon.showStage", show),
    vscode.workspace.registerTextDocumentContentProvider(scheme, { onDidChange: changed.event, provideTextDocumentContent: text }),
    vscode.workspace.onDidSaveTextDocument((saved) => {
      for (const shown of vscode.workspace.textDocuments)
        if (shown.uri.scheme === scheme && shown.uri.query === saved.uri.fsPath) changed.fire(shown.uri);
    }),
  ];
}

async function show(): Promise<void> {
  const file = vscode.window.activeTextEditor?.document;
  if (file?.languageId !== "axon" || file.isUntitled) {
    await vscode.window.showInformationMessage("Axon: open a file to see what the compiler makes of it");
    return;
  }
  const items = stages.map(([label, description]) => ({ label, description }));
  const chosen = await vscode.window.showQuickPick(items, { placeHolder: "Which stage of the compiler?", matchOnDescription: true });
  if (chosen === undefined) return;
  if (file.isDirty) await file.save();
  const uri = vscode.Uri.from({ scheme, path: `/${path.basename(file.fileName)}.${chosen.label}`, query: file.uri.fsPath, fragment: chosen.label });
  await vscode.window.showTextDocument(uri, { viewColumn: vscode.ViewColumn.Beside, preview: true, preserveFocus: true });
}

/// What the compiler prints; its errors where there are some.
function text(uri: vscode.Uri, token: vscode.CancellationToken): Promise<string> {
  return new Promise((resolve) => {
    const args = ["build", `--emit=${uri.fragment}`, uri.query];
    const child = execFile(compiler(), args, { maxBuffer: bytes }, (problem, printed, said) => {
      resolve(problem === null ? printed : said || problem.message);
    });
    token.onCancellationRequested(() => child.kill());
  });
}
