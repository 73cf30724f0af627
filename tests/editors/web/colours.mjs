// The colours that the page gives the words of programs before any server has said what they are.
//
// In: the folder of the page, and a file with a list of texts and places in them, as JSON. Out: for each text the kinds of the words at
// its places, as JSON.
//
//   node colours.mjs FOLDER ASKED
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { Page } from "./chromium.mjs";

const [folder, asked] = process.argv.slice(2);
const page = await Page.open(pathToFileURL(path.join(folder, "dist", "index.html")).href);
await page.await("the page", "!!window.axonMonaco");
const answers = [];
for (const { text, at } of JSON.parse(fs.readFileSync(asked, "utf8")))
  answers.push(await page.value(`(() => {
    const lines = axonMonaco.editor.tokenize(${JSON.stringify(text)}, "axon");
    return ${JSON.stringify(at)}.map(([line, column]) => lines[line].findLast((token) => token.offset <= column).type);
  })()`));
await page.close();
console.log(JSON.stringify(answers));
process.exit(0);
