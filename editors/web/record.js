// What the language server says of the programs of the page, for a page that has none: `node record.js [--check]`.
//
// In: the programs in `programs`. Out: recorded.json, each with its text, diagnostics and hovers; or, of `--check`, whether it is so.
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Connection } from "./src/connection.js";
import { frame, reader } from "./src/frames.js";

const patience = 60_000; // milliseconds for all of it
const folder = path.dirname(fileURLToPath(import.meta.url));
const etcc = spawn("etcc", ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
const connection = new Connection((message) => etcc.stdin.write(frame(JSON.stringify(message))));
etcc.stdout.on("data", reader((text) => connection.received(JSON.parse(text))));
etcc.stdin.on("error", () => {}); // it has ended, which is said here:
etcc.on("error", () => fail("there is no etcc to run"));
etcc.on("exit", () => fail("etcc lsp ended"));
setTimeout(() => fail("etcc lsp does not answer"), patience).unref();

function fail(reason) {
  console.error(`record: ${reason}`);
  etcc.kill();
  process.exit(1);
}

/// Without what an entry costs: the server finds that out when nothing else is to be done, which may be later.
const known = (text) => text.replace(/\n\nCosts `[^`]*`\.$/, "");

/// A hover for each name, where it stands.
async function hovers(textDocument, legend) {
  const { data } = await connection.request("textDocument/semanticTokens/full", { textDocument });
  const found = [];
  let line = 0;
  let character = 0;
  for (let i = 0; i < data.length; i += 5) {
    character = data[i] === 0 ? character + data[i + 1] : data[i + 1];
    line += data[i];
    const hover = await connection.request("textDocument/hover", { textDocument, position: { line, character } });
    const type = legend.tokenTypes[data[i + 3]];
    found.push({ line, character, length: data[i + 2], type, text: known(hover?.contents.value ?? "") });
  }
  return found;
}

function open(name) {
  const text = fs.readFileSync(path.join(folder, "programs", name), "utf8");
  const uri = `file:///playground/${name}`;
  connection.notify("textDocument/didOpen", { textDocument: { uri, languageId: "axon", version: 1, text } });
  return { name, text, uri };
}

async function record({ name, text, uri }, legend) {
  const { items } = await connection.request("textDocument/diagnostic", { textDocument: { uri } });
  return { name, text, diagnostics: items, hovers: await hovers({ uri }, legend) };
}

const { capabilities } = await connection.request("initialize", {
  processId: process.pid,
  rootUri: null,
  capabilities: { textDocument: { hover: { contentFormat: ["markdown"] }, diagnostic: {} } },
});
connection.notify("initialized", {});
const programs = fs.readdirSync(path.join(folder, "programs")).sort().map(open); // they import each other
const recorded = [];
for (const program of programs) recorded.push(await record(program, capabilities.semanticTokensProvider.legend));
etcc.removeAllListeners("exit");
etcc.kill();
const text = JSON.stringify(recorded, null, 1) + "\n";
const file = path.join(folder, "recorded.json");
if (!process.argv.includes("--check")) fs.writeFileSync(file, text);
else if (fs.readFileSync(file, "utf8") !== text) {
  console.error("recorded.json is not what the server says; node record.js writes it");
  process.exitCode = 1;
}
