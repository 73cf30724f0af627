// Which fenced blocks of Markdown are coloured as Axon.
//
// In: the folder of the grammars. Out: {language of a block: whether its keyword `fun` is one}, and of text after the blocks.
// The Markdown grammar here has paragraphs alone: the injection is what is tested.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const [folder] = process.argv.slice(2);
const packages = createRequire(path.join(process.cwd(), "package.json"));
const textmate = packages("vscode-textmate");
const oniguruma = packages("vscode-oniguruma");

const markdown = { scopeName: "text.html.markdown", patterns: [{ match: "^#.*$", name: "heading" }] };
const files = {
  "source.axon": "axon.tmLanguage.json",
  "markdown.axon.codeblock": "axon.markdown.tmLanguage.json",
};
const wasm = fs.readFileSync(packages.resolve("vscode-oniguruma/release/onig.wasm"));
await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
const registry = new textmate.Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  }),
  loadGrammar: async (scope) =>
    scope === "text.html.markdown"
      ? textmate.parseRawGrammar(JSON.stringify(markdown), "markdown.json")
      : textmate.parseRawGrammar(fs.readFileSync(path.join(folder, files[scope]), "utf8"), files[scope]),
  getInjections: (scope) => (scope === "text.html.markdown" ? ["markdown.axon.codeblock"] : []),
});
const grammar = await registry.loadGrammar("text.html.markdown");

const languages = ["axn", "axon", "axn E0310", "text"];
const lines = [...languages.flatMap((language) => ["```" + language, "-- a comment", "fun f x = x", "```", ""]), "fun f x = x"];
let state = textmate.INITIAL;
const isKeyword = lines.map((line) => {
  const { tokens, ruleStack } = grammar.tokenizeLine(line, state);
  state = ruleStack;
  return tokens[0].scopes.includes("keyword.declaration.axon");
});
const said = Object.fromEntries(languages.map((language, i) => [language, isKeyword[5 * i + 2]]));
console.log(JSON.stringify({ ...said, after: isKeyword[lines.length - 1] }));
