// Search over `index` (search.json, put before this text), the key `/` to get there, and the theme. No network.
(function () {
  "use strict";
  const root = document.documentElement;
  const base = root.dataset.base || "";
  const box = document.getElementById("search");
  const list = document.getElementById("results");
  let chosen = -1;

  // Better first: the name itself, names that begin so, names that contain it, then types and text.
  function rank(entry, words) {
    let total = 0;
    for (const word of words) {
      const name = entry.name.toLowerCase();
      const at = name.indexOf(word);
      const elsewhere = (entry.type + " " + entry.summary + " " + entry.module).toLowerCase().includes(word);
      if (name === word) total += 0;
      else if (at === 0) total += 1;
      else if (at > 0) total += 2;
      else if (elsewhere) total += 10;
      else return -1;
    }
    return total;
  }

  function line(entry) {
    const item = document.createElement("li");
    const link = document.createElement("a");
    const module = document.createElement("span");
    const type = document.createElement("code");
    link.href = base + entry.url;
    link.textContent = entry.name;
    module.className = "module";
    module.textContent = "  " + entry.module + "  ";
    type.textContent = entry.type;
    item.append(link, module, type);
    return item;
  }

  function show() {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = words.length === 0 ? [] : index
      .map((entry, position) => ({ entry, position, rank: rank(entry, words) }))
      .filter((one) => one.rank >= 0)
      .sort((a, b) => a.rank - b.rank || a.entry.name.length - b.entry.name.length || a.position - b.position);
    list.replaceChildren(...found.slice(0, 40).map((one) => line(one.entry)));
    chosen = -1;
  }

  function choose(step) {
    const lines = list.children;
    if (lines.length === 0) return;
    if (chosen >= 0) lines[chosen].classList.remove("chosen");
    chosen = (chosen + step + lines.length) % lines.length;
    lines[chosen].classList.add("chosen");
    lines[chosen].scrollIntoView({ block: "nearest" });
  }

  box.addEventListener("input", show);
  box.addEventListener("keydown", function (event) {
    if (event.key === "ArrowDown") choose(1);
    else if (event.key === "ArrowUp") choose(-1);
    else if (event.key === "Enter" && list.children.length > 0)
      list.children[Math.max(chosen, 0)].querySelector("a").click();
    else if (event.key === "Escape") { box.value = ""; show(); box.blur(); }
    else return;
    event.preventDefault();
  });
  list.addEventListener("click", function () { box.value = ""; setTimeout(show, 0); });
  document.addEventListener("keydown", function (event) {
    if (event.key !== "/" || document.activeElement === box) return;
    event.preventDefault();
    box.focus();
  });

  const kept = localStorage.getItem("axon-theme");
  if (kept) root.dataset.theme = kept;
  document.getElementById("theme").addEventListener("click", function () {
    const dark = root.dataset.theme ? root.dataset.theme === "dark"
                                    : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    localStorage.setItem("axon-theme", root.dataset.theme);
  });
})();
