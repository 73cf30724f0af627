// What Monaco knows of Axon without a server: colours, brackets, comments, and how lines are indented.
import * as words from "./words.js";

const declared = "[A-Za-z_]\\w*";

/// How each kind of name that the server finds is coloured; the rules of `themes.js` name the same.
export const tokens = {
  defaultToken: "",
  ...words,
  tokenizer: {
    root: [
      [/--\|.*$/, "comment.doc"],
      [/--.*$/, "comment"],
      [/"/, "string", "@string"],
      [/(fun|entry|prim|val)(\s+)([A-Za-z_]\w*)/, ["keyword.declaration", "white", "function"]],
      [/(type|layout|mesh)(\s+)([A-Za-z_]\w*)/, ["keyword.declaration", "white", "type"]],
      [/(\.\.)(\s*)([A-Za-z_]\w*)/, ["operator", "white", "shape"]],
      [/'[A-Za-z_]\w*/, "type"],
      [/0x[0-9a-fA-F_]+|0b[01_]+|[0-9][0-9_]*(?:\.[0-9][0-9_]*)?(?:[eE][+-]?[0-9]+)?/, "number"],
      [/([\w\])}])(\.)([A-Za-z_]\w*)/, ["", "delimiter", "field"]],
      [
        /[A-Za-z_]\w*/,
        {
          cases: {
            "@declarations": "keyword.declaration",
            "@conditionals": "keyword",
            "@keywords": "keyword",
            "@constants": "constant",
            "@elements": "element",
            "[A-Z]\\w*": "type",
            "@default": "identifier",
          },
        },
      ],
      [/[()[\]{}]/, "@brackets"],
      [words.operators, "operator"],
      [/[,:.]/, "delimiter"],
    ],
    string: [
      [/[^"\\]+/, "string"],
      [/\\(?:[ntr"\\]|u\{[0-9a-fA-F]{1,6}\})/, "string.escape"],
      [/"/, "string", "@pop"],
      [/$/, "string", "@pop"],
      [/./, "string"],
    ],
  },
};

export const configuration = {
  comments: { lineComment: "--" },
  brackets: [["(", ")"], ["[", "]"], ["{", "}"]],
  autoClosingPairs: [{ open: "(", close: ")" }, { open: "[", close: "]" }, { open: "{", close: "}" }, { open: '"', close: '"' }],
  wordPattern: new RegExp(`'?${declared}|[0-9][\\w.]*`),
  onEnterRules: [
    { beforeText: /^--\|/, action: { indentAction: 0, appendText: "--| " } },
    { beforeText: /(=|=>)\s*$/, action: { indentAction: 1 } },
  ],
};
