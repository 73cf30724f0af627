// A user at work in the page: what is recorded, then each feature of a real server.
//
// In: the folder of the page, and perhaps one for pictures. Out: what was seen, as JSON. `etcc` is in PATH.
//
//   node session.mjs FOLDER [PICTURES]
import { spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { Page } from "./chromium.mjs";
import { changed, choose, go, hover, leave, lines, rename, run, select, text, texts } from "./user.mjs";

const [folder, pictures] = process.argv.slice(2);
const said = {};

/// Takes a picture once what appears has appeared; nothing else depends on it.
async function picture(page, name) {
  if (pictures === undefined) return;
  await new Promise((resolve) => setTimeout(resolve, 400));
  await page.screenshot(path.join(pictures, `${name}.png`));
}

const nowLive = `${text("#state")} === "live"`;

/// The page as files, which no server stands behind.
async function replayed() {
  const page = await Page.open(pathToFileURL(path.join(folder, "dist", "index.html")).href);
  await page.await("what is recorded", `${text("#state")} === "recorded"`);
  await page.value(choose("layer.axn"));
  said.recorded = {
    problems: await page.await("a problem", text("#problems")),
    hover: await hover(page, "network \\(", "network"),
    keyword: await page.await("colours", `(() => {
      const found = [...document.querySelectorAll(".view-line span span")].find((one) => one.textContent === "fun");
      return found && getComputedStyle(found).color; })()`),
    colours: await coloursOf(page, ["d", "x"]),
  };
  await picture(page, "recorded");
  await page.value(`axonEditor.setValue("fun f x = x\\n")`);
  said.recorded.changed = await page.value(text("#state"));
  said.recorded.left = await page.value(text("#problems"));
  await page.close();
}

/// The colours of words, once the first two differ: the grammar alone has one for all names.
function coloursOf(page, [size, value, ...others]) {
  return page.await("colours of names", `(() => {
    const found = {};
    for (const one of document.querySelectorAll(".view-line span span")) found[one.textContent.trim()] ??= getComputedStyle(one).color;
    return found["${size}"] !== found["${value}"] && Object.fromEntries(${JSON.stringify([size, value, ...others])}.map((word) => [word, found[word]])); })()`);
}

async function repair(page) {
  await page.value(choose("layer.axn"));
  said.problems = await page.await("a problem", `document.querySelector("#problems article")?.innerText`);
  await page.click("#problems article button:nth-of-type(2)");
  said.related = await page.value(`(() => { const { lineNumber, column } = axonEditor.getPosition();
    return axonEditor.getModel().getLineContent(lineNumber).slice(column - 1); })()`);
  await page.value(go("@ u"));
  await page.value("window.before = axonEditor.getValue()");
  await page.value(run("editor.action.quickFix"));
  said.repairs = await page.await("repairs", texts(".action-widget .monaco-list-row.action"));
  await picture(page, "repairs");
  await page.key("Enter", 13);
  await page.await("a repair", "axonEditor.getValue() !== window.before");
  said.repaired = await page.value("axonEditor.getValue()");
  await page.await("no problem", `${text("#problems")} === "No problems."`);
}

async function read(page) {
  await page.value(choose("rows.axn"));
  said.hover = await hover(page, "total", "total");
  said.hoverOfSize = await hover(page, "n, m", "n", () => picture(page, "hover"));
  said.colours = await coloursOf(page, ["m", "x", "n", "f32", "sum", "total"]);
  said.lenses = await page.await("lenses", texts(".codelens-decoration a"));
  await page.click(".codelens-decoration a");
  said.lensSays = await page.await("what a lens does", `${text("#state")} !== "live" && ${text("#state")}`);
  await page.value(go("w : f32"));
  await page.value(`axonEditor.trigger("", "editor.action.wordHighlight.trigger")`);
  const highlights = await page.await("highlights", `(() => {
    const found = axonEditor.getModel().getAllDecorations().filter((one) => /^wordHighlight/.test(one.options.className));
    return found.length > 0 && found.map(({ range, options }) => [range.startLineNumber, range.startColumn, options.className].join(" ")); })()`);
  said.highlights = [...new Set(highlights)]; // each is there for the text and for the ruler
  await page.value(choose("attention.axn"));
  await page.await("hints", `${lines}.some((line, i) => !axonEditor.getValue().includes(line.trimEnd()))`);
  said.hinted = await page.value(lines);
  await picture(page, "hints");
}

async function structure(page) {
  await page.value(choose("attention.axn"));
  await page.value(run("editor.action.quickOutline"));
  said.outline = await page.await("an outline", texts(".quick-input-list .monaco-list-row .label-name"));
  await picture(page, "outline");
  await leave(page, ".quick-input-widget");
  await page.value(go("transpose k"));
  said.selected = [];
  for (let step = 0; step < 12; ++step) {
    await page.value(run("editor.action.smartSelect.expand"));
    said.selected.push(await page.value("axonEditor.getModel().getValueInRange(axonEditor.getSelection())"));
  }
  await page.value(run("editor.foldAllBlockComments"));
  said.foldedComments = await page.await("folded comments", `axonEditor.getVisibleRanges().length > 1 &&
    axonEditor.getVisibleRanges().map((one) => [one.startLineNumber, one.endLineNumber])`);
  await page.value(run("editor.unfoldAll"));
  await page.value(run("editor.foldAll"));
  said.folded = await page.await("folds", `axonEditor.getVisibleRanges().length > 1 &&
    axonEditor.getVisibleRanges().map((one) => [one.startLineNumber, one.endLineNumber])`);
  await page.value(run("editor.unfoldAll"));
}

async function travel(page) {
  const cursor = `[axonEditor.getModel().uri.path.split("/").pop(), axonEditor.getPosition().lineNumber]`;
  const arrive = async (action, file, line) => {
    await page.value(`axonEditor.trigger("", "${action}")`);
    return page.await(action, `(() => { const [file, line] = ${cursor}; return file === "${file}" && line === ${line} && [file, line]; })()`);
  };
  const lineOf = (program, pattern) => fs.readFileSync(path.join(folder, "programs", program), "utf8").split("\n").findIndex((one) => one.startsWith(pattern)) + 1;
  await page.value(choose("attention.axn"));
  await page.value(go("total \\("));
  said.definition = await arrive("editor.action.revealDefinition", "rows.axn", lineOf("rows.axn", "fun total"));
  await page.value(go("total"));
  await page.value(`axonEditor.trigger("", "editor.action.goToReferences")`);
  await page.await("references", texts(".reference-zone-widget .monaco-list-row"));
  said.references = await page.await("all references", texts(".reference-zone-widget .ref-tree .monaco-list-row"));
  await picture(page, "references");
  await leave(page, ".reference-zone-widget");
  await page.value(choose("attention.axn"));
  await page.value(go("h\\.q"));
  said.typeDefinition = await arrive("editor.action.goToTypeDefinition", "attention.axn", lineOf("attention.axn", "type Heads"));
  await page.value(go("softmax"));
  await page.value(`axonEditor.trigger("", "editor.action.revealDefinition")`);
  said.library = await page.await("a place in the library", `/^line /.test(${text("#state")}) && ${text("#state")}`);
  await page.await("links", `document.querySelectorAll(".detected-link").length > 0`);
  said.links = await page.value(`[...document.querySelectorAll(".detected-link")].map((one) => one.innerText)`);
  await page.value(go("rows.axn"));
  said.link = await arrive("editor.action.openLink", "rows.axn", 1);
}

async function write(page) {
  await page.value(choose("rows.axn"));
  await page.value(go("n, m"));
  said.refused = await rename(page, "m");
  await page.value(choose("layer.axn")); // and what the page said is over
  await page.value(choose("rows.axn"));
  await page.value(go("n, m"));
  said.renamed = await rename(page, "rows");
  await page.value(`axonEditor.setValue(axonEditor.getValue().replace("fun total (", "fun total   (").replace("fun weighted (", "fun weighted   ("))`);
  await page.value(select(2, 2));
  said.formattedRange = await changed(page, "a layout of a line", run("editor.action.formatSelection"));
  said.formatted = await changed(page, "a layout", run("editor.action.formatDocument"));
  await page.value(`axonEditor.executeEdits("", [{ range: new axonMonaco.Range(1, 1, 1, 1), text: "fun again (z : f32[q, 2]) = z\\n" }])`);
  said.coloursOfNew = await coloursOf(page, ["q", "z"]);
  await page.value(`axonEditor.executeEdits("", [{ range: new axonMonaco.Range(1, 1, 2, 1), text: "" }])`);
}

/// Types a call of a function that is begun, letter by letter as its candidates need them.
async function complete(page) {
  await page.value(`axonEditor.setValue(axonEditor.getValue() + "\\nfun twice (x : f32[n, m]) = weigh")`);
  await page.value("axonEditor.setPosition(axonEditor.getModel().getFullModelRange().getEndPosition()); axonEditor.focus()");
  await page.value(run("editor.action.triggerSuggest"));
  said.candidates = await page.await("candidates", texts(".suggest-widget .monaco-list-row .label-name"));
  await page.value(`axonEditor.trigger("", "toggleSuggestionDetails")`);
  said.documented = await page.await("documentation", text(".suggest-details .docs.markdown-docs"));
  await picture(page, "completion");
  await page.key("Enter", 13);
  said.completed = await page.await("a completed name", `(() => { const last = axonEditor.getValue().split("\\n").pop();
    return last.endsWith("weighted") && last; })()`);
  await page.type(" ");
  await page.value(`axonEditor.trigger("", "editor.action.triggerParameterHints")`);
  said.signature = await page.await("a signature", text(".parameter-hints-widget .signature"));
  said.parameter = await page.value(text(".parameter-hints-widget .parameter.active"));
  await picture(page, "signature");
  await leave(page, ".parameter-hints-widget");
}

/// What a stranger is answered: an upgrade from another page, and another name for this machine.
function strangers(url) {
  const { host, port } = new URL(url);
  const ask = (headers, where) => new Promise((resolve) => {
    const request = http.get({ host: "127.0.0.1", port, path: where, headers }, (response) => (response.resume(), resolve(response.statusCode)));
    request.on("upgrade", (_, socket) => (socket.destroy(), resolve(101)));
    request.on("error", (problem) => resolve(problem.code));
  });
  const upgrade = { Host: host, Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==" };
  return Promise.all([
    ask({ ...upgrade, Origin: "http://elsewhere.example" }, "/lsp"),
    ask(upgrade, "/lsp"),
    ask({ ...upgrade, Origin: `http://${host}` }, "/lsp"),
    ask({ Host: "elsewhere.example" }, "/"),
    ask({ Host: host }, "/../package.json"),
    ask({ Host: host }, "/"),
  ]);
}

/// How the page looks on screens of several widths; by how much it is wider than the screen.
async function pictured(page) {
  await page.value(choose("layer.axn"));
  await page.await("a problem", `!!document.querySelector("#problems article")`);
  said.overflow = [];
  for (const [width, height] of [[1280, 800], [600, 800], [390, 844]])
    for (const scheme of ["light", "dark"]) {
      await page.look(width, height, scheme);
      const editor = await page.await("the size of the screen", `innerWidth === ${width} && axonEditor.getLayoutInfo().width <= innerWidth &&
        axonEditor.getLayoutInfo().width`);
      said.overflow.push([width, editor, await page.value("document.documentElement.scrollWidth - innerWidth")]);
      await picture(page, `${width}-${scheme}`);
    }
}

/// The processes that `server` started and that run.
function childrenOf({ pid }) {
  return fs.readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter((one) => one !== "");
}

async function serverOf(options) {
  const server = spawn("node", [path.join(folder, "serve.js"), "0"], { stdio: ["ignore", "pipe", "pipe"], ...options });
  server.said = "";
  server.stderr.on("data", (piece) => (server.said += piece));
  process.on("exit", () => server.kill());
  const url = await new Promise((resolve, reject) => {
    server.stdout.on("data", (line) => resolve(String(line).trim()));
    server.on("error", reject).on("close", () => reject(new Error(`serve.js ended: ${server.said}`)));
  });
  return { server, url };
}

/// A page whose server cannot be started.
async function withoutCompiler() {
  const { server, url } = await serverOf({ env: { ...process.env, PATH: path.dirname(process.execPath) } });
  const page = await Page.open(url);
  said.withoutCompiler = { state: await page.await("that no server runs", `/no language server/.test(${text("#state")}) && ${text("#state")}`), said: server.said };
  await page.close();
  server.kill();
}

async function live() {
  const { server, url } = await serverOf({});
  said.strangers = await strangers(url);
  const page = await Page.open(url);
  await page.await("the server", nowLive);
  await page.value(`(() => {
    window.asked = new Set();
    const { send } = WebSocket.prototype;
    WebSocket.prototype.send = function (message) {
      window.asked.add(JSON.parse(message).method);
      return send.call(this, message);
    };
  })()`);
  for (const work of [pictured, read, structure, travel, repair, write, complete]) {
    await page.look(1280, 800, "light");
    await work(page);
  }
  said.asked = await page.value("[...asked]");
  said.exceptions = page.problems;
  await page.close();
  for (let tries = 0; tries < 100 && childrenOf(server).length > 0; ++tries) await new Promise((resolve) => setTimeout(resolve, 100));
  said.serversLeft = childrenOf(server).length;
  server.kill();
}

try {
  await replayed();
  await withoutCompiler();
  await live();
} catch (problem) {
  said.problem = problem.stack;
}
console.log(JSON.stringify(said));
process.exit(0);
