// A user at work in the page: what is recorded, then each feature of a real server.
//
// In: the folder of the page, and one for pictures. Out: what was seen, as JSON. `etcc` is in PATH.
//
//   node session.mjs FOLDER PICTURES
import { spawn } from "node:child_process";
import http from "node:http";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { Page } from "./chromium.mjs";

const [folder, pictures] = process.argv.slice(2);
const said = {};
const text = (selector) => `document.querySelector(${JSON.stringify(selector)})?.innerText`;
const run = (action) => `axonEditor.getAction("${action}").run()`;
const go = (pattern) => `(() => {
  const found = axonEditor.getModel().findNextMatch(${JSON.stringify(pattern)}, { lineNumber: 1, column: 1 }, true, true, null, false);
  axonEditor.setPosition(found.range.getStartPosition());
  axonEditor.focus();
})()`;
const choose = (name) => `[...document.querySelectorAll("nav button")].find((one) => one.textContent === "${name}").click()`;

/// What is shown of `name`, where a pattern is first.
async function hover(page, pattern, name, picture) {
  await page.value(go(pattern));
  await page.value(run("editor.action.showHover"));
  const shown = await page.await("a hover", `[...document.querySelectorAll(".monaco-hover-content")].map((one) => one.innerText)
    .find((shown) => shown.startsWith("${name} : "))`);
  if (picture) await page.screenshot(path.join(pictures, picture));
  await page.key("Escape", 27);
  await page.await("no hover", `![...document.querySelectorAll(".monaco-hover")].some((one) => one.checkVisibility())`);
  return shown;
}

async function changed(page, what, action) {
  await page.value("window.before = axonEditor.getValue()");
  await page.value(action);
  await page.await(what, "axonEditor.getValue() !== window.before");
  return page.value("axonEditor.getValue()");
}

/// The page as files, which no server stands behind.
async function replayed() {
  const page = await Page.open(pathToFileURL(path.join(folder, "dist", "index.html")).href);
  await page.await("what is recorded", `${text("#state")} === "recorded"`);
  said.recorded = {
    problems: await page.await("a problem", text("#problems")),
    hover: await hover(page, "network \\(", "network"),
    keyword: await page.await("colours", `(() => {
      const found = [...document.querySelectorAll(".view-line span span")].find((one) => one.textContent === "fun");
      return found && getComputedStyle(found).color; })()`),
  };
  await page.screenshot(path.join(pictures, "recorded.png"));
  await page.value(`axonEditor.setValue("fun f x = x\\n")`);
  said.recorded.changed = await page.value(text("#state"));
  said.recorded.left = await page.value(text("#problems"));
  page.close();
}

async function repair(page) {
  await page.value(choose("layer.axn"));
  said.problems = await page.await("a problem", `document.querySelector("#problems pre")?.innerText`);
  await page.value(go("@ u"));
  await page.value("window.before = axonEditor.getValue()");
  await page.value(run("editor.action.quickFix"));
  await page.await("repairs", `!!document.querySelector(".action-widget .monaco-list-row.action")`);
  said.repairs = await page.value(`[...document.querySelectorAll(".action-widget .monaco-list-row.action")].map((one) => one.innerText)`);
  await page.key("Enter", 13);
  await page.await("a repair", "axonEditor.getValue() !== window.before");
  said.repaired = await page.value("axonEditor.getValue()");
  await page.await("no problem", `${text("#problems")} === "No problems."`);
}

async function read(page) {
  await page.value(choose("rows.axn"));
  said.hover = await hover(page, "total", "total");
  said.hoverOfSize = await hover(page, "n, m", "n", "hover.png");
  said.lenses = await page.await("lenses", `(() => { const found = [...document.querySelectorAll(".codelens-decoration a")];
    return found.length && found.map((one) => one.innerText); })()`);
  said.colours = await page.await("colours of sizes", `(() => {
    const found = {};
    for (const one of document.querySelectorAll(".view-line span span")) found[one.textContent.trim()] ??= getComputedStyle(one).color;
    return found.m !== found.x && found; })()`);
}

async function write(page) {
  await page.value(go("n, m"));
  await page.value(`void ${run("editor.action.rename")}`);
  await page.await("the field of the new name", `document.activeElement?.classList.contains("rename-input")`);
  await page.value("window.before = axonEditor.getValue()");
  await page.value("document.activeElement.select()");
  await page.type("rows");
  await page.key("Enter", 13);
  await page.await("a new name", "axonEditor.getValue() !== window.before");
  said.renamed = await page.value("axonEditor.getValue()");
  await page.value(go("total x"));
  await page.value(`axonEditor.trigger("", "editor.action.revealDefinition")`);
  await page.await("the definition", "axonEditor.getPosition().lineNumber === 2");
  await page.value(`axonEditor.setValue(axonEditor.getValue().replace("fun total (", "fun total   ("))`);
  said.formatted = await changed(page, "a layout", run("editor.action.formatDocument"));
}

/// What a stranger is answered: an upgrade from another page, and another name for this machine.
function strangers(url) {
  const { host, port } = new URL(url);
  const ask = (headers, where) => new Promise((resolve) => {
    const request = http.get({ host: "127.0.0.1", port, path: where, headers }, (response) => resolve(response.statusCode));
    request.on("upgrade", (_, socket) => (socket.destroy(), resolve(101)));
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

async function pictured(url) {
  for (const [width, height] of [[1280, 800], [390, 844]])
    for (const dark of [false, true]) {
      const page = await Page.open(url, { width, height, dark });
      await page.await("the server", `${text("#state")} === "live" && !!document.querySelector("#problems pre")`);
      said.overflow = Math.max(said.overflow ?? 0, await page.value("document.documentElement.scrollWidth - innerWidth"));
      await new Promise((resolve) => setTimeout(resolve, 300)); // the picture alone depends on it
      await page.screenshot(path.join(pictures, `${width}-${dark ? "dark" : "light"}.png`));
      page.close();
    }
}

const server = spawn("node", [path.join(folder, "serve.js"), "0"], { stdio: ["ignore", "pipe", "inherit"] });
try {
  const url = await new Promise((resolve) => server.stdout.on("data", (line) => resolve(String(line).trim())));
  await replayed();
  said.strangers = await strangers(url);
  const page = await Page.open(url);
  await page.await("the server", `${text("#state")} === "live"`);
  said.features = (await page.value("document.body.dataset.features")).split(" ");
  await read(page);
  await repair(page);
  await page.value(choose("rows.axn"));
  await write(page);
  said.exceptions = page.problems;
  page.close();
  await pictured(url);
} catch (problem) {
  said.problem = problem.stack;
} finally {
  server.kill();
}
console.log(JSON.stringify(said));
process.exit(0);
