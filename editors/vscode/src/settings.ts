// What the settings name.
import * as vscode from "vscode";

/// The compiler: a name that is looked up in PATH, or a path.
export function compiler(): string {
  return vscode.workspace.getConfiguration("axon").get<string>("path", "").trim() || "etcc";
}

/// What the language server is told of the settings, in its own names.
export function serverSettings(): { library: string[]; delay: number | undefined } {
  const settings = vscode.workspace.getConfiguration("axon");
  return { library: settings.get<string[]>("library", []), delay: settings.get<number>("delay") };
}
