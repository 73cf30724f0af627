// Two calm themes, for a light and a dark page, with the colours of the page around the editor.
const light = {
  ink: "24292f", soft: "6e7781", page: "ffffff", line: "eaeef2", keyword: "8250df", function: "0550ae", type: "953800",
  size: "1a7f37", string: "0a3069", number: "0550ae", hint: "57606a", hintPage: "f3f5f7", raised: "ffffff", chosen: "e4edf9",
  mark: "ffe3a3",
};
const dark = {
  ink: "d8dee9", soft: "7f8b9d", page: "14171c", line: "232830", keyword: "c8a5f5", function: "8fbcff", type: "f0b083",
  size: "8fd19e", string: "a9d3f5", number: "9ecbff", hint: "95a1b3", hintPage: "1f242c", raised: "1b1f26", chosen: "2a3648",
  mark: "6b5520",
};

/// What floats above the text: hovers, lists, and the places of a name.
function raised(c) {
  const widgets = ["editorWidget", "editorHoverWidget", "editorSuggestWidget", "editorActionList", "quickInput", "menu"];
  const chosen = ["editorSuggestWidget.selected", "editorActionList.focus", "quickInputList.focus", "list.activeSelection",
    "list.focus", "menu.selection", "peekViewResult.selection"];
  const colors = {
    focusBorder: `#${c.function}88`,
    "input.background": `#${c.page}`,
    "list.hoverBackground": `#${c.hintPage}`,
    "list.highlightForeground": `#${c.function}`,
    "list.focusHighlightForeground": `#${c.function}`,
    "editorSuggestWidget.highlightForeground": `#${c.function}`,
    "editorSuggestWidget.focusHighlightForeground": `#${c.function}`,
    "quickInputList.focusIconForeground": `#${c.ink}`,
    "editorSuggestWidget.selectedIconForeground": `#${c.ink}`,
    "list.activeSelectionIconForeground": `#${c.ink}`,
    "widget.shadow": "#00000028",
    "scrollbar.shadow": "#00000000",
    "peekView.border": `#${c.line}`,
    "peekViewEditor.background": `#${c.raised}`,
    "peekViewEditorGutter.background": `#${c.raised}`,
    "peekViewResult.background": `#${c.hintPage}`,
    "peekViewTitle.background": `#${c.hintPage}`,
    "peekViewResult.lineForeground": `#${c.ink}`,
    "peekViewResult.fileForeground": `#${c.ink}`,
    "peekViewEditor.matchHighlightBackground": `#${c.mark}`,
    "peekViewResult.matchHighlightBackground": `#${c.mark}`,
  };
  for (const widget of widgets) {
    colors[`${widget}.background`] = `#${c.raised}`;
    colors[`${widget}.foreground`] = `#${c.ink}`;
    colors[`${widget}.border`] = `#${c.line}`;
  }
  for (const one of chosen) {
    colors[`${one}Background`] = `#${c.chosen}`;
    colors[`${one}Foreground`] = `#${c.ink}`;
  }
  return colors;
}

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
      // What the server knows of names: the types of its tokens.
      rule("namespace", c.type), rule("layout", c.type), rule("typeParameter", c.type), rule("property", c.function),
      rule("parameter", c.ink), rule("variable", c.ink), rule("index", c.ink),
      rule("size", c.size), rule("axis", c.size),
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
      "editorLink.activeForeground": `#${c.function}`,
      "editorCodeLens.foreground": `#${c.soft}`,
      "editor.rangeHighlightBackground": `#${c.chosen}`,
      "editorBracketMatch.background": "#00000000",
      "editorBracketMatch.border": `#${c.soft}66`,
      ...raised(c),
    },
  };
}

export function defineThemes(monaco) {
  monaco.editor.defineTheme("axon-light", theme("vs", light));
  monaco.editor.defineTheme("axon-dark", theme("vs-dark", dark));
}
