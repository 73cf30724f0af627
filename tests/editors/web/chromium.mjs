// A page in Chromium without a window, by the DevTools protocol over a pipe.
import { spawn } from "node:child_process";
import fs from "node:fs";

export class Page {
  #next = 0;
  #waiting = new Map();
  problems = []; ///< what the page's console complains of

  static async open(url, { width = 1280, height = 800, dark = false } = {}) {
    const page = new Page();
    const folder = fs.mkdtempSync("/tmp/chromium-");
    const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run", `--user-data-dir=${folder}`];
    page.process = spawn("chromium", flags, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    page.process.on("exit", () => fs.rmSync(folder, { recursive: true, force: true }));
    let rest = "";
    page.process.stdio[4].setEncoding("utf8").on("data", (piece) => {
      const messages = (rest + piece).split("\0");
      rest = messages.pop();
      messages.forEach((one) => page.#received(JSON.parse(one)));
    });
    const { targetId } = await page.send("Target.createTarget", { url: "about:blank" });
    page.session = (await page.send("Target.attachToTarget", { targetId, flatten: true })).sessionId;
    await page.send("Runtime.enable");
    await page.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 600 });
    const features = [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }];
    await page.send("Emulation.setEmulatedMedia", { features });
    await page.send("Page.navigate", { url });
    return page;
  }

  #received({ id, method, params, result, error }) {
    if (id !== undefined) {
      const [resolve, reject] = this.#waiting.get(id);
      this.#waiting.delete(id);
      return error ? reject(new Error(error.message)) : resolve(result);
    }
    if (method === "Runtime.exceptionThrown") this.problems.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
  }

  send(method, params = {}) {
    const id = ++this.#next;
    this.process.stdio[3].write(JSON.stringify({ id, method, params, sessionId: this.session }) + "\0");
    return new Promise((...both) => this.#waiting.set(id, both));
  }

  /// The value of an expression in the page, of a promise once it is there.
  async value(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /// Waits until an expression has a value that counts as true, and gives it.
  async await(what, expression) {
    for (let tries = 0; tries < 300; ++tries) {
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

  type(text) {
    return this.send("Input.insertText", { text });
  }

  async screenshot(file) {
    const { data } = await this.send("Page.captureScreenshot");
    fs.writeFileSync(file, Buffer.from(data, "base64"));
  }

  close() {
    this.process.kill();
  }
}
