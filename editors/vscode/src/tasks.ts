// Tasks: `etcc check`, `build` and `test` of a file, with their errors in the list of problems.
import * as vscode from "vscode";
import { compiler } from "./settings";

interface AxonTask extends vscode.TaskDefinition {
  command: string;
  file?: string;
}

const commands = ["check", "build", "test"];

export function registerTasks(): vscode.Disposable {
  return vscode.tasks.registerTaskProvider("axon", {
    provideTasks: () => commands.map((command) => task({ type: "axon", command })),
    resolveTask: (given) => {
      const definition = given.definition as AxonTask;
      return commands.includes(definition.command) ? task(definition) : undefined;
    },
  });
}

function task(definition: AxonTask): vscode.Task {
  const args = [definition.command, "--error-format=short", definition.file ?? "${file}"];
  const execution = new vscode.ProcessExecution(compiler(), args);
  const made = new vscode.Task(definition, vscode.TaskScope.Workspace, definition.command, "axon", execution, "$axon");
  if (definition.command !== "test") made.group = vscode.TaskGroup.Build;
  else made.group = vscode.TaskGroup.Test;
  return made;
}
