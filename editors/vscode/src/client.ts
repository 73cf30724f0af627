// The language server as a process, and the status item that says how it is.
//
// In: `axon.path` and `axon.arguments`. Out: `PATH lsp ARGUMENT...` speaking the protocol on its stdin and stdout.
// Invariant: a server that cannot be started or ends leaves the item saying so, and the editor's other services working.
import * as vscode from "vscode";
import { CloseAction, ErrorAction, LanguageClient, LanguageClientOptions, ServerOptions, State } from "vscode-languageclient/node";
import { compiler, serverSettings } from "./settings";

const document = { language: "axon" };
const restartsAllowed = 4;

export class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private readonly output = vscode.window.createOutputChannel("Axon");
  private readonly status = vscode.languages.createLanguageStatusItem("axon.server", document);

  constructor() {
    this.status.name = "Axon language server";
    this.status.command = { command: "axon.restart", title: "Restart" };
  }

  async start(): Promise<void> {
    const settings = vscode.workspace.getConfiguration("axon");
    const command = compiler();
    const server: ServerOptions = { command, args: ["lsp", ...settings.get<string[]>("arguments", [])] };
    this.client = new LanguageClient("axon", "Axon", server, this.options());
    this.client.onDidChangeState((change) => this.show(change.newState));
    this.show(State.Starting);
    try {
      await this.client.start();
    } catch (error) {
      this.fail(`\`${command} lsp\` does not start`, error);
      void this.offerSetting(command);
    }
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client?.needsStop()) await client.stop().catch(() => undefined); // it may have ended by itself
    await client?.dispose().catch(() => undefined);
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  showOutput(): void {
    this.output.show();
  }

  dispose(): void {
    this.status.dispose();
    this.output.dispose();
  }

  private options(): LanguageClientOptions {
    let ends = 0;
    return {
      documentSelector: [document],
      outputChannel: this.output,
      initializationOptions: serverSettings(),
      synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.axn"), configurationSection: "axon" },
      middleware: {
        provideInlayHints: (text, range, token, next) =>
          vscode.workspace.getConfiguration("axon", text).get("inlayHints", true) ? next(text, range, token) : [],
      },
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue }),
        closed: () => {
          const again = ++ends <= restartsAllowed;
          if (!again) this.fail(`the server ended ${ends} times`, undefined);
          return { action: again ? CloseAction.Restart : CloseAction.DoNotRestart, handled: true };
        },
      },
    };
  }

  private show(state: State): void {
    this.status.busy = state === State.Starting;
    this.status.severity = vscode.LanguageStatusSeverity.Information;
    this.status.text = state === State.Running ? "Axon" : state === State.Starting ? "Axon starts" : "Axon has stopped";
    this.status.detail = `${compiler()} lsp`;
  }

  /// Says once a start that there is no server, and leads to the setting that may be wrong.
  private async offerSetting(command: string): Promise<void> {
    const open = "Open the setting";
    const chosen = await vscode.window.showErrorMessage(`Axon: \`${command} lsp\` does not start. The setting axon.path names the compiler.`, open);
    if (chosen === open) await vscode.commands.executeCommand("workbench.action.openSettings", "axon.path");
  }

  private fail(what: string, error: unknown): void {
    this.status.busy = false;
    this.status.severity = vscode.LanguageStatusSeverity.Error;
    this.status.text = "Axon does not run";
    this.status.detail = `${what}; see the setting axon.path`;
    this.output.appendLine(error === undefined ? what : `${what}: ${String(error)}`);
  }
}
