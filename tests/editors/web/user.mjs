// What a user does in the page and what is then to be seen, as expressions that the page evaluates.
//
// In: a page of chromium.mjs. Out: texts as they stand on the screen.
// Invariant: nothing asks the server; what is seen is what Monaco drew of its answers.
export const text = (selector) => `document.querySelector(${JSON.stringify(selector)})?.innerText`;
export const run = (action) => `axonEditor.getAction("${action}").run()`;
export const choose = (name) => `[...document.querySelectorAll("nav button")].find((one) => one.textContent === "${name}").click()`;

/// The texts of the elements of a selector, once there are some that are not empty.
export const texts = (selector) => `(() => {
  const found = [...document.querySelectorAll(${JSON.stringify(selector)})].filter((one) => one.checkVisibility());
  const said = found.map((one) => one.innerText.replaceAll("\\u00a0", " ").trim());
  return said.some((one) => one !== "") && said;
})()`;

/// The lines on the screen with all that stands between the words.
export const lines = `[...document.querySelectorAll(".view-line")].sort((a, b) => parseFloat(a.style.top) - parseFloat(b.style.top))
  .map((one) => one.innerText.replaceAll("\\u00a0", " "))`;

/// Puts the cursor where a pattern is first.
export const go = (pattern) => `(() => {
  const found = axonEditor.getModel().findNextMatch(${JSON.stringify(pattern)}, { lineNumber: 1, column: 1 }, true, true, null, false);
  axonEditor.setPosition(found.range.getStartPosition());
  axonEditor.focus();
})()`;

/// Selects the lines from FIRST to LAST.
export const select = (first, last) =>
  `axonEditor.setSelection(new axonMonaco.Selection(${first}, 1, ${last}, axonEditor.getModel().getLineMaxColumn(${last})))`;

/// What the text is after an action.
export async function changed(page, what, action) {
  await page.value("window.before = axonEditor.getValue()");
  await page.value(action);
  await page.await(what, "axonEditor.getValue() !== window.before");
  return page.value("axonEditor.getValue()");
}

/// What is shown of `name`, where a pattern is first; `looked` is called while it is there.
export async function hover(page, pattern, name, looked = () => undefined) {
  await page.value(go(pattern));
  await page.value(run("editor.action.showHover"));
  const shown = await page.await("a hover", `[...document.querySelectorAll(".monaco-hover-content")].map((one) => one.innerText)
    .find((shown) => shown.startsWith("${name} : "))`, run("editor.action.showHover")); // before the first check there is none
  await looked();
  await leave(page, ".monaco-hover");
  return shown;
}

/// Closes what floats above the text.
export async function leave(page, selector) {
  await page.key("Escape", 27);
  await page.await(`no ${selector}`, `![...document.querySelectorAll("${selector}")].some((one) => one.checkVisibility())`);
}

/// Gives the name at the cursor another one: the text afterwards, or what the page says instead.
export async function rename(page, name) {
  await page.value(`void ${run("editor.action.rename")}`);
  await page.await("the field of the new name", `document.activeElement?.classList.contains("rename-input")`);
  await page.value("window.before = axonEditor.getValue()");
  await page.value("document.activeElement.select()");
  await page.type(name);
  await page.key("Enter", 13);
  return page.await("a new name", `axonEditor.getValue() !== window.before ? axonEditor.getValue() : ${text("#state")} !== "live" && ${text("#state")}`);
}
