// What a reader of a page meets, in Chromium: node user.mjs PAGES CASES [PICTURES]
//
// In: a file with {name: path of a page}, a file with cases {page, sizes, workers, handoff}. Out: JSON: for each page what
// is seen of it, and what it computes for each case. With PICTURES, a folder, each tab is photographed.
import fs from "node:fs";
import { Page } from "../editors/web/chromium.mjs";

const [pages, cases, pictures] = process.argv.slice(2);
const asked = JSON.parse(fs.readFileSync(cases, "utf8"));
const tabs = ["core", "graph", "tasks", "plan", "cost"];

/// Boxes that lie over each other without one being in the other, and words that leave their boxes.
const faults = `(() => {
  const boxes = [...document.querySelectorAll("#view svg .box")], found = [];
  const place = (box) => box.querySelector("rect").getBoundingClientRect();
  const places = boxes.map(place);
  for (let a = 0; a < boxes.length; ++a)
    for (let b = a + 1; b < boxes.length; ++b) {
      if (boxes[a].contains(boxes[b]) || boxes[b].contains(boxes[a])) continue;
      const p = places[a], q = places[b];
      if (p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 1 && q.top < p.bottom - 1) found.push(boxes[a].dataset.id + " over " + boxes[b].dataset.id);
    }
  boxes.forEach((box, b) => box.querySelectorAll(":scope > text.title, :scope > text.more").forEach((text) => {
    const t = text.getBoundingClientRect();
    if (t.left < places[b].left - 1 || t.right > places[b].right + 1) found.push(text.textContent + " leaves its box");
  }));
  return found;
})()`;

async function look(page, name, path) {
  const seen = { tabs: {}, faults: [], wide: [] };
  await page.send("Page.navigate", { url: `file://${path}` });
  await page.await("the page", `window.axonPage?.data.entry.name === ${JSON.stringify(name)}`);
  for (const [width, height, scheme] of [[1400, 900, "light"], [390, 844, "dark"]]) {
    await page.look(width, height, scheme);
    for (const tab of tabs) {
      const spent = await page.value(`(() => { const begin = performance.now(); axonPage.show({}, "${tab}"); document.body.getBoundingClientRect(); return performance.now() - begin; })()`);
      if (width > 1000) {
        seen.tabs[tab] = { spent, boxes: await page.value(`document.querySelectorAll("#view .box, #view tbody tr, #view .core section").length`) };
        seen.faults.push(...(await page.value(faults)));
      }
      if (await page.value("document.documentElement.scrollWidth > innerWidth")) seen.wide.push(`${tab} ${width}`);
      if (pictures) await page.screenshot(`${pictures}/${name}.${tab}.${scheme}.png`);
    }
  }
  await page.look(1400, 900, "light");
  seen.ends = await page.value(`${JSON.stringify(asked.filter((one) => one.page === name))}.map((one) => axonPage.makespan(one.sizes, one.workers, one.handoff))`);
  if (name === "one") seen.reader = await read(page);
  return [name, seen];
}

/// Clicks and types.
async function read(page) {
  await page.value(`axonPage.show({}, "tasks")`);
  await page.click("#view .box:not(.around)");
  const chosen = await page.value(`document.querySelector("#details h2").textContent`), line = await page.value(`document.querySelector("#source .here")?.dataset.line`);
  const editor = await page.value(`document.querySelector("#source a")?.href`);
  const before = await page.value(`document.querySelector("#view .quiet").textContent`);
  await page.value(`(() => { const input = document.querySelector("#sizes input[data-size]"); input.value = "1000"; input.dispatchEvent(new Event("input")); })()`);
  const after = await page.value(`document.querySelector("#view .quiet").textContent`);
  await page.value(`(() => { const input = document.querySelector("#sizes input[data-size]"); input.value = "1e300"; input.dispatchEvent(new Event("input")); })()`);
  const large = await page.value(`document.querySelector("#view").textContent`);
  return { chosen, line, editor, before, after, large, hash: await page.value("location.hash") };
}

const page = await Page.open("about:blank"), all = [];
for (const [name, path] of Object.entries(JSON.parse(fs.readFileSync(pages, "utf8")))) all.push(await look(page, name, path));
await page.close();
console.log(JSON.stringify({ pages: Object.fromEntries(all), problems: page.problems }));
