// A page in Chromium without a window, by the DevTools protocol over a pipe.
//
// In: an address. Out: values of expressions in the page, keys typed, pictures taken.
// Invariant: every wait ends: with what was waited for, the end of Chromium, or an error that says what never came.
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

const patience = 60_000; // milliseconds for one answer of Chromium, or for one thing to appear
const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-breakpad", "--no-first-run",
  "--remote-debugging-pipe"];

/// A promise that fails after `patience`.
function within(what, promise) {
  let timer;
  const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error(`never seen: ${what}`)), patience)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

export class Page {
  #next = 0;
  #waiting = new Map();
  #over = false;
  problems = []; ///< what the page's console complains of

  static async open(url) {
    const page = new Page();
    page.folder = fs.mkdtempSync(path.join(os.tmpdir(), "chromium-"));
    page.process = spawn("chromium", [...flags, `--user-data-dir=${page.folder}`], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    page.ended = new Promise((resolve) => page.process.on("exit", resolve).on("error", resolve));
    page.ended.then(() => page.#fail(new Error("Chromium ended")));
    page.process.stdio[3].on("error", () => {}); // it has ended, which is said above
    let rest = "";
    page.process.stdio[4].setEncoding("utf8").on("data", (piece) => {
      const messages = (rest + piece).split("\0");
      rest = messages.pop();
      messages.forEach((one) => page.#received(JSON.parse(one)));
    });
    const { targetId } = await page.send("Target.createTarget", { url: "about:blank" });
    page.session = (await page.send("Target.attachToTarget", { targetId, flatten: true })).sessionId;
    await page.send("Runtime.enable");
    await page.look(1280, 800, "light");
    await page.send("Page.navigate", { url });
    return page;
  }

  /// A screen of that size, of a user who likes it light or dark.
  async look(width, height, scheme) {
    await this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width <= 600 });
    await this.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
  }

  #received({ id, method, params, result, error }) {
    if (id !== undefined) {
      const [resolve, reject] = this.#waiting.get(id);
      this.#waiting.delete(id);
      return error ? reject(new Error(error.message)) : resolve(result);
    }
    if (method === "Runtime.exceptionThrown") this.problems.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
  }

  #fail(problem) {
    this.#over = true;
    for (const [, reject] of this.#waiting.values()) reject(problem);
    this.#waiting.clear();
  }

  send(method, params = {}) {
    if (this.#over) return Promise.reject(new Error("Chromium ended"));
    const id = ++this.#next;
    const answer = new Promise((...both) => this.#waiting.set(id, both));
    this.process.stdio[3].write(JSON.stringify({ id, method, params, sessionId: this.session }) + "\0");
    return within(`the answer to ${method}`, answer);
  }

  /// The value of an expression in the page, of a promise once it is there.
  async value(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /// Waits until an expression has a value that counts as true, and gives it. Some seconds later, what `again` says is done again.
  async await(what, expression, again = "undefined") {
    const end = Date.now() + patience;
    for (let tries = 1; Date.now() < end && !this.#over; ++tries) {
      if (tries % 60 === 0) await this.value(again);
      const found = await this.value(expression).catch(() => undefined);
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`never seen: ${what}\n${this.problems.join("\n")}`);
  }

  async key(key, code, modifiers = 0) {
    for (const type of ["rawKeyDown", "keyUp"])
      await this.send("Input.dispatchKeyEvent", { type, key, code: key, windowsVirtualKeyCode: code, modifiers });
  }

  /// Clicks in the middle of the first element of a selector.
  async click(selector) {
    const { x, y, width, height } = await this.value(`document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect().toJSON()`);
    const at = { x: x + width / 2, y: y + height / 2, button: "left", clickCount: 1 };
    for (const type of ["mouseMoved", "mousePressed", "mouseReleased"]) await this.send("Input.dispatchMouseEvent", { type, ...at });
  }

  type(text) {
    return this.send("Input.insertText", { text });
  }

  async screenshot(file) {
    const { data } = await this.send("Page.captureScreenshot");
    fs.writeFileSync(file, Buffer.from(data, "base64"));
  }

  /// Ends Chromium, and waits until it has.
  async close() {
    this.process.kill();
    await within("the end of Chromium", this.ended).catch(() => this.process.kill("SIGKILL"));
    try {
      fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
    } catch { // a process of Chromium writes to its end; the folder is where temporary files go
    }
  }
}
