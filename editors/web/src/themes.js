// Two calm themes, for a light and a dark page, with the colours of the page around the editor.
const light = {
  ink: "24292f", soft: "6e7781", page: "ffffff", line: "eaeef2", keyword: "8250df", function: "0550ae", type: "953800",
  size: "1a7f37", string: "0a3069", number: "0550ae", hint: "57606a", hintPage: "f3f5f7",
};
const dark = {
  ink: "d8dee9", soft: "7f8b9d", page: "14171c", line: "232830", keyword: "c8a5f5", function: "8fbcff", type: "f0b083",
  size: "8fd19e", string: "a9d3f5", number: "9ecbff", hint: "95a1b3", hintPage: "1f242c",
};

function theme(base, c) {
  const rule = (token, foreground, fontStyle) => ({ token, foreground, fontStyle });
  return {
    base,
    inherit: true,
    semanticHighlighting: true,
    rules: [
      rule("", c.ink), rule("identifier", c.ink), rule("comment", c.soft), rule("comment.doc", c.soft, "italic"),
      rule("keyword", c.keyword), rule("constant", c.number), rule("number", c.number), rule("string", c.string),
      rule("operator", c.soft), rule("delimiter", c.soft), rule("function", c.function), rule("type", c.type),
      rule("element", c.type), rule("shape", c.size), rule("field", c.function),
      // What the server knows of names.
      rule("namespace", c.type), rule("enumMember", c.size), rule("property", c.function), rule("parameter", c.ink),
      rule("size", c.size), rule("dimension", c.size), rule("shapeVariable", c.size), rule("axis", c.size), rule("index", c.ink),
    ],
    colors: {
      "editor.background": `#${c.page}`,
      "editor.foreground": `#${c.ink}`,
      "editor.lineHighlightBackground": `#${c.line}66`,
      "editor.lineHighlightBorder": "#00000000",
      "editorLineNumber.foreground": `#${c.soft}88`,
      "editorLineNumber.activeForeground": `#${c.ink}`,
      "editorInlayHint.foreground": `#${c.hint}`,
      "editorInlayHint.background": `#${c.hintPage}`,
      "editorCodeLens.foreground": `#${c.soft}`,
      "editorHoverWidget.background": `#${c.page}`,
      "editorHoverWidget.border": `#${c.line}`,
    },
  };
}

export function defineThemes(monaco) {
  monaco.editor.defineTheme("axon-light", theme("vs", light));
  monaco.editor.defineTheme("axon-dark", theme("vs-dark", dark));
}
