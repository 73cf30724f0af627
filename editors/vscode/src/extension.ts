// The extension's life: it starts the language server when an Axon file is opened, and ends it.
//
// In: the settings `axon.*`. Out: a client (client.ts), tasks (tasks.ts), the commands of lenses (lenses.ts), the texts of
// the compiler's stages (stages.ts) and the status item.
// Invariant: at most one server runs; a change of what starts it starts it again.
import * as vscode from "vscode";
import { Server } from "./client";
import { registerLensCommands } from "./lenses";
import { registerStages } from "./stages";
import { registerTasks } from "./tasks";

let server: Server | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  server = new Server();
  context.subscriptions.push(
    server,
    registerTasks(),
    ...registerLensCommands(),
    ...registerStages(),
    vscode.commands.registerCommand("axon.restart", () => server?.restart()),
    vscode.commands.registerCommand("axon.showOutput", () => server?.showOutput()),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("axon.path") || change.affectsConfiguration("axon.arguments")) void server?.restart();
    }),
  );
  await server.start();
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}
