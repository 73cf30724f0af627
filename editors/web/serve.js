// The page with a language server behind it: `node serve.js [PORT]`. Without a port it is 4173, or one that is free.
//
// Each page has a server of its own, `etcc lsp --socket`, and the server ends with the page, or with this process.
// Invariant: only this machine is served, and only this page may open the socket, whatever else the browser shows.
import { spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import net from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { WebSocketServer } from "ws";
import { frame, reader } from "./src/frames.js";

const host = "127.0.0.1";
const portsTried = 3;
const pages = path.join(path.dirname(fileURLToPath(import.meta.url)), "dist");
const types = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".ttf": "font/ttf" };
if (!fs.existsSync(pages)) stop("there is no page yet; `npm run build` makes it");
const known = new Map(fs.readdirSync(pages).map((name) => [`/${name}`, path.join(pages, name)]));
known.set("/", path.join(pages, "index.html"));

const web = http.createServer((request, response) => {
  const file = ours(request) && known.get(new URL(request.url, "http://page").pathname);
  if (!file) return void response.writeHead(404).end("there is no such page\n");
  response.writeHead(200, { "Content-Type": types[path.extname(file)] ?? "application/octet-stream" });
  fs.createReadStream(file).pipe(response);
});

/// Whether a request is for this address by name, so that no other name leads here.
function ours(request) {
  const { port } = web.address();
  return [`${host}:${port}`, `localhost:${port}`].includes(request.headers.host);
}

const sockets = new WebSocketServer({ noServer: true, maxPayload: 1 << 24 });
web.on("upgrade", (request, socket, head) => {
  const fine = request.url === "/lsp" && ours(request) && request.headers.origin === `http://${request.headers.host}`;
  if (!fine) return void socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  sockets.handleUpgrade(request, socket, head, serve);
});

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = net.createServer().on("error", reject);
    probe.listen(0, host, () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

function stop(reason) {
  console.error(`serve: ${reason}`);
  process.exit(1);
}

const servers = new Set(); // those that run
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(0));
process.on("exit", () => servers.forEach((etcc) => etcc.kill()));

/// Starts a server and gives its stream, once it waits for its client.
async function start(page) {
  const port = await freePort();
  const etcc = spawn("etcc", ["lsp", "--socket", port], { stdio: ["ignore", "ignore", "pipe"] });
  servers.add(etcc);
  etcc.on("exit", () => servers.delete(etcc));
  page.on("close", () => etcc.kill());
  let said = "";
  await new Promise((resolve, reject) => {
    etcc.on("error", ({ code, message }) => reject(new Error(code === "ENOENT" ? "there is no `etcc` in PATH" : message)));
    etcc.on("close", () => reject(new Error(said.trim() || "etcc ended")));
    etcc.stderr.on("data", (text) => (said += text).includes("waiting for a client") && resolve());
  });
  etcc.stderr.removeAllListeners("data").pipe(process.stderr);
  return net.connect(port, host);
}

/// The same; a port that somebody took in the meantime is none to give up for.
async function startSomewhere(page) {
  for (let tries = 1; ; ++tries) {
    try {
      return await start(page);
    } catch (problem) {
      if (tries === portsTried || !problem.message.includes("in use")) throw problem;
    }
  }
}

async function serve(page) {
  const early = [];
  const keep = (text) => early.push(text);
  page.on("message", keep);
  try {
    const stream = await startSomewhere(page);
    page.off("message", keep);
    page.on("message", (text) => stream.write(frame(text)));
    early.forEach((text) => stream.write(frame(text)));
    stream.on("data", reader((text) => page.send(text)));
    stream.on("close", () => page.close());
    stream.on("error", () => page.close());
  } catch (problem) {
    if (page.readyState === page.OPEN) console.error(`serve: etcc lsp does not start: ${problem.message}`);
    page.close();
  }
}

const [, , port] = process.argv;
web.on("error", ({ code, message }) => {
  if (code !== "EADDRINUSE") stop(message);
  if (port !== undefined) stop(`port ${port} is taken`);
  web.listen(0, host);
});
web.listen(Number(port ?? 4173), host);
web.on("listening", () => console.log(`http://${host}:${web.address().port}/`));
