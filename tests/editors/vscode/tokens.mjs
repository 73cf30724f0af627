// The TextMate grammar agrees with the lexer.
//
// In: the compiler, and programs. Each token that `etcc build --emit=tokens` prints must begin in a scope that its kind may have,
// and what stands between tokens must be white space or a comment.
//
//   node tokens.mjs ETCC GRAMMAR TABLE FILE...      TABLE is compiler/syntax/tokens.def
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const [etcc, grammarPath, tablePath, ...files] = process.argv.slice(2);
const packages = createRequire(path.join(process.cwd(), "package.json"));
const textmate = packages("vscode-textmate");
const oniguruma = packages("vscode-oniguruma");

async function loadGrammar() {
  const wasm = fs.readFileSync(packages.resolve("vscode-oniguruma/release/onig.wasm"));
  await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => textmate.parseRawGrammar(fs.readFileSync(grammarPath, "utf8"), grammarPath),
  });
  return registry.loadGrammar("source.axon");
}

// The scopes that a token may begin with, by its kind. `weights` and `into` are names to the lexer.
const bracket = /^punctuation\.section\./;
const byClass = {
  ID: /^(variable\.|entity\.name\.|storage\.type\.element|support\.type\.class)/,
  TYVAR: /^entity\.name\.type\.parameter\./,
  NUM: /^constant\.numeric\./,
  STR: /^(string\.quoted|punctuation\.definition\.string\.begin)/,
  IDX: bracket,
  PREMINUS: /^keyword\.operator\./,
};
const contextual = { weights: /^storage\.modifier\./, into: /^keyword\.other\./ };
const bySpelling = {
  true: /^constant\.language\./,
  false: /^constant\.language\./,
  _: /^variable\.language\.wildcard/,
  ".": /^punctuation\.accessor\./,
  ",": /^punctuation\.separator\./,
  ":": /^punctuation\.separator\./,
};
const byRow = {
  DECLARATION: /^keyword\.declaration\./,
  KEYWORD: /^keyword\.(other|control)\./,
  SYMBOL: /^keyword\.operator\./,
  OPENER: bracket,
  CLOSER: bracket,
};

/// What each kind of token may be, from the table of the lexer.
function expectations() {
  const kinds = new Map(Object.entries(byClass));
  const spellings = [];
  for (const [, row, kind, spelling] of fs.readFileSync(tablePath, "utf8").matchAll(/^([A-Z]+)\((\w+), "(.*)"\)/gm)) {
    if (row === "CLASS") continue;
    kinds.set(kind, bySpelling[spelling] ?? byRow[row]);
    spellings.push(spelling);
  }
  return { kinds, spellings };
}

/// The scopes of every character of a text: lines of scope stacks, by UTF-16 unit.
function scopesOf(grammar, lines) {
  let state = textmate.INITIAL;
  return lines.map((line) => {
    const result = grammar.tokenizeLine(line, state);
    state = result.ruleStack;
    const scopes = new Array(line.length);
    for (const token of result.tokens) scopes.fill(token.scopes, token.startIndex, Math.min(token.endIndex, line.length));
    return scopes;
  });
}

/// The compiler counts characters, JavaScript UTF-16 units.
function unit(line, column) {
  return [...line].slice(0, column - 1).join("").length;
}

function isFine(kind, text, scopes, expected) {
  if (scopes.some((scope) => scope.startsWith("comment"))) return false;
  const innermost = scopes[scopes.length - 1];
  return expected.test(innermost) || (kind === "ID" && contextual[text]?.test(innermost));
}

const failures = [];
const { kinds, spellings } = expectations();
const seen = new Set();
let count = 0;

function check(grammar, file) {
  const lines = fs.readFileSync(file, "utf8").split("\n");
  const scopes = scopesOf(grammar, lines);
  const covered = lines.map((line) => new Array(line.length).fill(false));
  const printed = execFileSync(etcc, ["build", "--emit=tokens", file], { encoding: "utf8", maxBuffer: 1 << 28 });
  for (const row of printed.split("\n")) {
    const [, line, column, kind, text = ""] = /^(\d+):(\d+) +(\w+)(?:  (.*))?$/.exec(row) ?? [];
    if (kind === undefined || kind === "END") continue;
    const at = unit(lines[line - 1], Number(column));
    const end = at + text.length;
    if (lines[line - 1].slice(at, end) !== text) failures.push(`${file}:${row}: the token is not in the text`);
    covered[line - 1].fill(true, at, end);
    seen.add(text);
    count += 1;
    const expected = kinds.get(kind);
    if (!expected) failures.push(`${file}:${row}: nothing says which scope ${kind} may have`);
    else if (!isFine(kind, text, scopes[line - 1][at], expected))
      failures.push(`${file}:${line}:${column}: ${kind} ${text} is ${scopes[line - 1][at].join(" ")}`);
  }
  for (let row = 0; row < lines.length; row++)
    for (let i = 0; i < lines[row].length; i++)
      if (!covered[row][i] && lines[row][i].trim() && !scopes[row][i].some((scope) => scope.startsWith("comment")))
        failures.push(`${file}:${row + 1}:${i + 1}: a comment is ${scopes[row][i].join(" ")}`);
}

const grammar = await loadGrammar();
for (const file of files) check(grammar, file);
const unseen = spellings.filter((spelling) => !seen.has(spelling));
if (unseen.length > 0) failures.push(`no program has ${unseen.join(" ")}`);
for (const failure of failures.slice(0, 40)) console.log(failure);
console.log(`${files.length} programs, ${count} tokens, ${failures.length} failures`);
process.exit(failures.length > 0 || files.length < 30 || count < 10000 ? 1 : 0);
