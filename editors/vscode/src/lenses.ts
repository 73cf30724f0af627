// What the lenses above entries and tests do: the server sends them with the commands `axon.run` and `axon.test`, whose
// arguments are the file's address and the declaration's name.
//
// Invariant: names and paths reach the compiler as single arguments of its process; no shell reads them.
import * as vscode from "vscode";
import { compiler } from "./settings";

export function registerLensCommands(): vscode.Disposable[] {
  return [
    vscode.commands.registerCommand("axon.run", (uri: string, name: string) => run(uri, name)),
    vscode.commands.registerCommand("axon.test", (uri: string, name: string) => inTerminal(`test ${name}`, ["test", path(uri)])),
  ];
}

function path(uri: string): string {
  return vscode.Uri.parse(uri, true).fsPath;
}

/// Asks for the values of the entry's parameters.
async function run(uri: string, name: string): Promise<void> {
  const values = await vscode.window.showInputBox({
    title: `Run ${name}`,
    prompt: "NAME=VALUE for each parameter, with blanks between: x=[1,2] w=@weights.npy",
  });
  if (values === undefined) return;
  await inTerminal(`run ${name}`, ["run", path(uri), name, ...split(values)]);
}

/// `x=[1, 2] y=3` as `x=[1, 2]` and `y=3`: a value goes on up to the next name.
function split(values: string): string[] {
  return values.trim().split(/\s+(?=[A-Za-z_]\w*=)/).filter((value) => value !== "");
}

/// Runs the compiler in a terminal of its own, as a task that no file describes.
async function inTerminal(title: string, args: string[]): Promise<void> {
  const file = vscode.window.activeTextEditor?.document;
  if (file?.languageId === "axon" && file.isDirty) await file.save();
  const definition = { type: "axon", command: args[0] };
  const execution = new vscode.ProcessExecution(compiler(), args);
  const task = new vscode.Task(definition, vscode.TaskScope.Workspace, title, "axon", execution, "$axon");
  task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, panel: vscode.TaskPanelKind.Dedicated, clear: true };
  await vscode.tasks.executeTask(task);
}
