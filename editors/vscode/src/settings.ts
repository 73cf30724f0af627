// What the settings name.
import * as vscode from "vscode";

/// The compiler: a name that is looked up in PATH, or a path.
export function compiler(): string {
  return vscode.workspace.getConfiguration("axon").get<string>("path", "").trim() || "etcc";
}
