// The page: what is shown (a tab, sizes, what is chosen), and the views of it.
//
// All state is in `state`; whoever changes it calls show(), which draws the tab anew. Tab, sizes and the machine are kept
// behind the `#` of the address.
const data = JSON.parse(document.getElementById("json").textContent);
const element = (id) => document.getElementById(id);

const state = {
  tab: "graph",
  sizes: new Map(Object.entries(data.variants.at(-1).first)),
  machine: { ...data.machine },
  chosen: undefined, // "node 3", "type 2", "wait 7", "core name"
  graph: "fused",
  open: new Set(),
  zoom: undefined, // of pictures; undefined: as much as fits
  chartZoom: 1,
  at: new Map(),
  anyway: undefined, // simulate, though there are so many tasks
  wrong: new Map(), // fields with numbers that do not fit, and what does
};
const tabs = { core: showCore, graph: showGraph, tasks: showTasks, plan: showPlan, cost: showCost };
const mostTasks = 150_000, mostTasksAtAll = 1_000_000; // without being asked; a page does not get through more

const variant = () => Schedule.chosen(data.variants, state.sizes);
const values = () => Schedule.withDataValues(variant(), state.sizes);
const hue = (type) => `hsl(${(type * 137.5 + 210) % 360} 52% ${matchMedia("(prefers-color-scheme: dark)").matches ? 58 : 52}%)`;
const nanoseconds = (work) => work / state.machine.operations;
const handoff = () => state.machine.handoff * state.machine.operations;

function choose(key, tab) {
  state.chosen = key;
  if (tab) state.tab = tab;
  show();
}

// ---- sizes ----

const isWhole = (given) => Number.isSafeInteger(given) && given >= 0;
const isPositive = (given) => Number.isFinite(given) && given > 0;
const isTime = (given) => Number.isFinite(given) && given >= 0;
const isWorkers = (given) => Number.isInteger(given) && given >= 1 && given <= 1024;

/// A field for a number. What does not fit is marked and said (`wants`), and changes nothing.
function numberField(name, value, { fits, wants, change, title, kind }) {
  const field = make("input", {
    type: "number", step: "any", value, "data-size": name,
    oninput: (event) => {
      const given = event.target.valueAsNumber, good = fits(given);
      event.target.classList.toggle("wrong", !good);
      if (good) state.wrong.delete(name);
      else state.wrong.set(name, wants);
      if (!good) return showBroken();
      change(given);
      show();
    },
  });
  return make("label", { title, class: kind ?? "" }, name, field);
}

function showSizes() {
  state.wrong.clear();
  const size = (name, value, title) =>
    numberField(name, value, { fits: isWhole, wants: "a whole number from 0 on", title, change: (given) => state.sizes.set(name, given) });
  const machine = (name, key, title, fits, wants, kind) =>
    numberField(name, state.machine[key], { fits, wants, title, kind, change: (given) => (state.machine[key] = given) });
  const dataValues = new Map(variant().data_values.map((one) => [one.name, one.value]));
  const sizes = data.sizes.map(({ name }) => size(name, state.sizes.get(name) ?? Expressions.value(dataValues.get(name) ?? null, values())));
  const steps = variant().data_values.filter(({ name }) => !data.sizes.some((one) => one.name === name))
    .map(({ name, value }) => size(name, value, "iterations, which the data decides"));
  element("sizes").replaceChildren(
    ...sizes, ...steps,
    machine("workers", "workers", "of the machine", isWorkers, "a whole number from 1 to 1024", "machine"),
    machine("ops/ns", "operations", "operations a nanosecond and worker", isPositive, "a number above 0"),
    machine("bytes/ns", "bytes", "bytes of memory a nanosecond, all workers together", isPositive, "a number above 0"),
    machine("handoff ns", "handoff", "until a worker sees what another has done", isTime, "a number from 0 on"),
  );
}

function showBroken() {
  const broken = data.facts.filter((fact) => {
    const known = Expressions.variables(fact[1]).size + Expressions.variables(fact[2]).size > 0;
    return known && !Expressions.compiledFact(fact)(values());
  });
  const said = [...state.wrong].map(([name, wants]) => `${name} is ${wants}; what is shown is of the number before.`);
  if (broken.length > 0) said.push(`The program refuses these sizes: ${broken.map((fact) => Expressions.factText(fact)).join(", ")} does not hold.`);
  element("broken").textContent = said.join(" ");
}

// ---- tabs ----

function showCore() {
  const declarations = data.core.map((one) =>
    make("section", {}, make("h3", {}, make("span", { class: "kind" }, `${one.kind} `), make("a", { onclick: () => choose(`core ${one.name}`), tabIndex: 0 }, one.name), " : " + one.type),
      make("details", { open: one.name === data.entry.name }, make("summary", {}, "typed program"), make("pre", {}, one.text))));
  return [make("div", { class: "core" }, ...declarations)];
}

/// A picture with its tools; what was scrolled to stays.
function pictured(items, edges, tools = []) {
  const zoom = (factor) => () => {
    state.zoom = (state.zoom ?? fitting) * factor;
    show();
  };
  const drawing = Picture.draw(items, edges, {
    open: state.open, chosen: state.chosen,
    onChoose: (item) => {
      if (item.opens) state.open.add(item.id);
      choose(item.opens ? state.chosen : item.id);
    },
    onEdge: (all) => choose(all[0].key),
  });
  const width = Number(drawing.getAttribute("width")), height = Number(drawing.getAttribute("height"));
  const fitting = Math.max(0.45, Math.min(1, (element("view").clientWidth - 40) / width)), factor = state.zoom ?? fitting;
  drawing.setAttribute("width", width * factor);
  drawing.setAttribute("height", height * factor);
  const closing = state.open.size > 0 ? make("button", { onclick: () => { state.open.clear(); show(); } }, "close parts") : undefined;
  return [make("div", { class: "tools" }, ...tools, make("button", { onclick: zoom(1 / 1.25), title: "smaller" }, "−"), make("button", { onclick: zoom(1.25), title: "larger" }, "+"),
    make("button", { onclick: () => { state.zoom = undefined; show(); } }, "fit"), closing), drawing];
}

/// Inputs that only the same boxes read, several of them, are one item: a Map from their numbers.
function inputsTogether(graph) {
  const byId = new Map(graph.nodes.map((node) => [node.id, node])), readers = new Map();
  const outermost = (node) => (node.loop === null ? node.id : outermost(byId.get(node.loop)));
  for (const node of graph.nodes)
    for (const use of node.uses) if (byId.get(use.node).op === "input") readers.set(use.node, (readers.get(use.node) ?? new Set()).add(outermost(node)));
  for (const result of graph.results) readers.get(result.node)?.add("result");
  const groups = new Map();
  readers.forEach((who, input) => groups.set(String([...who]), [...(groups.get(String([...who])) ?? []), input]));
  const together = new Map();
  for (const inputs of groups.values()) {
    if (inputs.length < 3) continue;
    const said = inputs.map((id) => `${byId.get(id).title} : ${Show.type(byId.get(id).types[0])}`), shown = said.length > 14 ? [...said.slice(0, 13), `and ${said.length - 13} more`] : said;
    const item = { id: `inputs ${inputs.join(" ")}`, parent: null, kind: "input", title: `${inputs.length} inputs`, lines: shown, repeats: "inputs" };
    inputs.forEach((id) => together.set(id, item));
  }
  return together;
}

function showGraph() {
  const graph = data[state.graph], sizes = values(), byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const label = (type) => `${Show.type(type)}${type.shape.length > 0 && type.shape.some((one) => typeof one !== "number") ? `  ${Show.shape(type, sizes)}` : ""}`;
  const together = inputsTogether(graph);
  const read = new Set(graph.nodes.flatMap((node) => node.uses.map((use) => use.node)).concat(graph.results.map((result) => result.node)));
  const items = graph.nodes.filter((node) => (node.op !== "input" || read.has(node.id)) && !together.has(node.id)).map((node) => ({
    id: `node ${node.id}`, parent: node.loop === null ? null : `node ${node.loop}`, kind: node.op,
    title: node.op === "loop" ? `${node.title} < ${Expressions.text(node.trips)}` : node.title,
    lines: node.op === "loop" ? [`${Show.number(Expressions.value(node.trips, sizes))} iterations`] : [],
    label: read.has(node.id) ? [...new Set(node.types.map(label))].slice(0, 2).join(" · ") : undefined,
    repeats: `${node.title} ${node.place?.line ?? ""}`,
  }));
  const edges = graph.nodes.flatMap((node) => node.uses.filter((use) => use.kind !== "next").map((use) => ({ from: together.get(use.node)?.id ?? `node ${use.node}`, to: `node ${node.id}` })));
  items.unshift(...new Set(together.values()));
  // Inputs stand before their first reader: so a part of a large program has its own weights in it.
  const first = new Map(), at = new Map(items.map((item, number) => [item.id, number]));
  edges.forEach(({ from, to }) => first.set(from, Math.min(first.get(from) ?? Infinity, at.get(to))));
  const place = (item) => (item.kind === "input" ? (first.get(item.id) ?? at.get(item.id)) - 0.5 : at.get(item.id));
  items.sort((a, b) => place(a) - place(b));
  graph.results.forEach((result, at) => {
    items.push({ id: `result ${at}`, parent: null, kind: "result", title: result.path || "result", lines: [], repeats: "result" });
    edges.push({ from: `node ${result.node}`, to: `result ${at}` });
  });
  const which = data.written === null ? [] : ["fused", "written"].map((name) =>
    make("label", {}, make("input", { type: "radio", name: "which", checked: state.graph === name, style: "width:auto", onchange: () => { state.graph = name; state.chosen = undefined; show(); } }), name === "fused" ? "fused" : "as written"));
  return pictured(items, edges, [...which, make("span", { class: "quiet" }, `${byId.size} nodes`)]);
}

function showTasks() {
  const now = variant(), counts = Schedule.counts(now, state.sizes);
  const items = [];
  // Types and loops in the order of the program.
  const walk = (steps, parent) => steps.forEach((step) => {
    if (step.body !== undefined) {
      const loop = now.loops[step.loop];
      items.push({ id: `loop ${step.loop}`, parent, kind: "loop", title: `for ${loop.index} < ${Expressions.text(loop.extent)}`, lines: [`${Show.number(Expressions.value(loop.extent, values()))} iterations`], repeats: "loop" });
      walk(step.body, `loop ${step.loop}`);
      return;
    }
    const type = now.types[step.type];
    const grid = type.coordinates.map((one) => Show.number(Expressions.value(one.extent, values()))).join(" × ");
    items.push({
      id: `type ${step.type}`, parent, kind: type.family, title: type.name, repeats: `${type.name.replace(/\.\d+$/, "")} ${type.place?.line ?? ""}`,
      lines: [`${type.family}, ${grid === "" ? "1" : grid} ${grid === "" || grid === "1" ? "task" : "tasks"}`],
    });
  });
  walk(now.steps, null);
  const edges = now.waits.map((wait, w) => ({ from: `type ${now.events[wait.event].producer}`, to: `type ${wait.consumer}`, label: Details.waitLabel(now, wait, state.sizes), key: `wait ${w}` }));
  const total = counts.reduce((sum, count) => sum + count, 0);
  return pictured(items, edges, [make("span", { class: "quiet" }, `${now.types.length} types, ${Show.number(total)} tasks, ${now.events.length} events; on lines: how many tasks one task waits for; dashed: of the iteration before`)]);
}

const figure = (name, said) => make("div", {}, make("span", { class: "quiet" }, name), make("b", {}, said));

function showPlan() {
  const now = variant(), { workers } = state.machine, total = Schedule.counts(now, state.sizes).reduce((sum, count) => sum + count, 0);
  if (!(total <= mostTasksAtAll)) return [make("p", {}, `For these sizes there are ${Show.number(total)} tasks: too many to simulate in a page. Smaller sizes show the same order.`)];
  if (total > mostTasks && state.anyway !== total)
    return [make("p", {}, `For these sizes there are ${Show.number(total)} tasks. `, make("button", { onclick: () => { state.anyway = total; show(); } }, "simulate them all the same"))];
  const tasks = new Gantt.Tasks(), busy = new Float64Array(workers);
  const { end } = Schedule.simulate(now, state.sizes, workers, handoff(), (...task) => {
    tasks.add(...task);
    busy[task[2]] += task[4] - task[3];
  });
  const work = busy.reduce((sum, one) => sum + one, 0), chosen = () => (state.chosen?.startsWith("type ") ? Number(state.chosen.slice(5)) : undefined);
  const frame = make("div", { class: "gantt" });
  const zoom = make("input", { type: "range", min: 0, max: 8, step: 0.25, value: Math.log2(state.chartZoom), style: "width:12em" });
  const legend = make("div", { class: "legend" }, ...now.types.map((type, t) => make("button", { onclick: () => choose(`type ${t}`), style: chosen() === t ? "font-weight:600" : "" }, make("i", { style: `background:${hue(t)}` }), type.name)));
  queueMicrotask(() => {
    const chart = new Gantt.Chart(frame, {
      tasks, workers, end, unit: nanoseconds(1), colour: hue, chosen, choose: (type) => choose(`type ${type}`),
      time: (units) => Show.time(nanoseconds(units)),
      says: (t) => `${now.types[tasks.type[t]].name}, task ${tasks.number[t]}\nworker ${tasks.worker[t]}\n${Show.time(nanoseconds(tasks.begin[t]))} .. ${Show.time(nanoseconds(tasks.end[t]))}`,
    });
    chart.setZoom(state.chartZoom);
    zoom.oninput = () => chart.setZoom((state.chartZoom = 2 ** zoom.value));
    state.chart = chart;
  });
  return [
    make("div", { class: "numbers" }, figure("makespan", Show.time(nanoseconds(end))), figure("all work shared evenly", Show.time(nanoseconds(work / workers))),
      figure("efficiency", end === 0 ? "?" : `${Math.round((100 * work) / workers / end)} %`), figure("tasks", Show.number(tasks.type.length))),
    make("p", { class: "quiet" }, "The model counts operations and handoffs; where bytes set the floor of the cost tab, memory takes longer than this."),
    make("div", { class: "tools" }, make("label", {}, "zoom", zoom)), frame, legend,
  ];
}

/// Nanoseconds that so many operations and bytes take at least, and which of the two it is.
function floor(operations, bytes) {
  const computing = operations / (state.machine.operations * state.machine.workers), moving = bytes / state.machine.bytes;
  const by = Number.isNaN(computing + moving) ? "" : computing >= moving ? "operations" : "bytes";
  return { time: Math.max(computing, moving), by };
}

const perByte = ({ operations, bytes }) => (bytes > 0 && Number.isFinite(operations / bytes) ? (operations / bytes).toPrecision(3) : "");

function showCost() {
  const now = variant(), sizes = values(), counts = Schedule.counts(now, state.sizes);
  const rows = now.types.map((type, t) => {
    const operations = Expressions.value(type.operations, sizes), bytes = Expressions.value(type.bytes, sizes);
    return { t, type, operations, bytes, tasks: counts[t], ...floor(operations, bytes) };
  });
  const longest = Math.max(...rows.map((row) => row.time).filter(Number.isFinite), 0);
  const cell = (said, formula) => make("td", { title: formula === undefined ? "" : Expressions.text(formula) }, said);
  const least = { operations: Expressions.value(now.cost.operations, sizes), bytes: Expressions.value(now.cost.bytes, sizes) }, all = floor(least.operations, least.bytes);
  const heads = ["task type", "tasks", "operations", "bytes", "ops/byte", "floor", "set by"];
  return [
    make("p", { class: "quiet" }, `Bytes: what has to move at least when every type reads its operands from memory. Floor: the time that operations take on ${state.machine.workers} workers, or bytes in memory, whichever is longer.`),
    make("table", {},
      make("thead", {}, make("tr", {}, ...heads.map((one) => make("th", {}, one)))),
      make("tbody", {}, ...rows.map((row) => make("tr", { class: state.chosen === `type ${row.t}` ? "chosen" : "", onclick: () => choose(`type ${row.t}`) },
        make("td", {}, make("i", { style: `background:${hue(row.t)}` }), row.type.name), cell(Show.number(row.tasks)), cell(Show.number(row.operations), row.type.operations),
        cell(Show.bytes(row.bytes), row.type.bytes), cell(perByte(row)),
        make("td", {}, Show.time(row.time), make("span", { class: "bar", style: `width:${longest === 0 ? 0 : (70 * row.time) / longest}px` })), cell(row.by)))),
      make("tfoot", {}, make("tr", {}, make("td", { title: "what is kept between its tasks moves no bytes" }, "the entry"), cell(Show.number(counts.reduce((sum, one) => sum + one, 0))), cell(Show.number(least.operations), now.cost.operations),
        cell(Show.bytes(least.bytes), now.cost.bytes), cell(perByte(least)), cell(Show.time(all.time)), cell(all.by)))),
    make("p", {}, "operations = ", make("code", {}, Expressions.text(now.cost.operations))), make("p", {}, "bytes = ", make("code", {}, Expressions.text(now.cost.bytes))),
  ];
}

// ---- what is chosen, and where it is written ----

function showDetails() {
  const [kind, ...rest] = (state.chosen ?? "").split(" "), number = Number(rest[0]), now = variant(), graph = data[state.graph];
  const set = (name, value) => {
    state.at.set(name, value);
    showDetails();
  };
  let said = [make("p", { class: "quiet" }, "Choose a box, a line or a row to see more of it and where it is written.")], place = data.entry.place;
  if (kind === "node") {
    const node = graph.nodes.find((one) => one.id === number);
    if (node) [said, place] = [Details.node(graph, node, values(), choose), node.place];
  } else if (kind === "inputs") {
    said = rest.flatMap((id) => Details.node(graph, graph.nodes.find((one) => one.id === Number(id)), values(), choose));
  } else if (kind === "type" && now.types[number]) {
    [said, place] = [Details.type(now, number, state.sizes, choose), now.types[number].place];
  } else if (kind === "wait" && now.waits[number]) {
    [said, place] = [Details.wait(now, number, state.sizes, state.at, choose, set), now.types[now.waits[number].consumer].place];
  } else if (kind === "core") {
    const declaration = data.core.find((one) => one.name === rest.join(" "));
    [said, place] = [[make("h2", {}, `${declaration.name} : ${declaration.type}`)], declaration.place];
  }
  element("details").replaceChildren(...said.filter(Boolean));
  showSource(place);
}

function showSource(place) {
  const name = data.file.replace(/.*\//, ""), at = place ? `:${place.line}:${place.column}` : "";
  // What has no path, such as the input of a command, no editor can open.
  const editor = data.path === "" ? undefined : make("a", { href: `vscode://file${encodeURI(data.path)}${at}`, title: "opens the place in the editor" }, "editor");
  const lines = data.source.replace(/\n$/, "").split("\n").map((line, at) =>
    make("span", { "data-line": at + 1, class: place && place.line <= at + 1 && at + 1 <= place.end ? "here" : "" }, line === "" ? " " : line));
  element("source").replaceChildren(make("h2", {}, place ? `${name}, line ${place.line}` : name, editor), make("pre", {}, ...lines));
  const here = element("source").querySelector(".here"), frame = element("source");
  if (here && frame.scrollHeight > frame.clientHeight) frame.scrollTop = here.offsetTop - frame.offsetTop - frame.clientHeight / 3;
}

// ---- all of it ----

function show() {
  element("tabs").replaceChildren(...Object.keys(tabs).map((name) =>
    make("button", { role: "tab", "aria-selected": String(state.tab === name), "data-tab": name, onclick: () => { state.tab = name; show(); } }, name)));
  showBroken();
  const view = element("view"), [x, y] = view.dataset.tab === state.tab ? [view.scrollLeft, view.scrollTop] : [0, 0];
  try {
    view.replaceChildren(...tabs[state.tab]().filter(Boolean));
  } catch (problem) {
    if (!(problem instanceof RangeError)) throw problem;
    view.replaceChildren(make("p", {}, `Nothing can be drawn for these sizes: ${problem.message}.`));
  }
  view.dataset.tab = state.tab;
  view.scrollTo(x, y);
  showDetails();
  const kept = new URLSearchParams({ tab: state.tab });
  for (const [name, value] of Object.entries(state.machine)) kept.set(name, value);
  for (const [name, value] of state.sizes) kept.set(`size.${name}`, value);
  if (location.protocol !== "about:") history.replaceState(null, "", `#${kept}`);
}

function recall() {
  for (const [key, value] of new URLSearchParams(location.hash.slice(1))) {
    const number = Number(value), fits = Number.isSafeInteger(number) && number >= 0;
    if (key === "tab" && Object.hasOwn(tabs, value)) state.tab = value;
    else if (["operations", "bytes"].includes(key) && isPositive(number)) state.machine[key] = number;
    else if (key === "handoff" && isTime(number)) state.machine.handoff = number;
    else if (key === "workers" && isWorkers(number)) state.machine.workers = number;
    else if (key.startsWith("size.") && fits && data.sizes.some((size) => `size.${size.name}` === key)) state.sizes.set(key.slice(5), number);
  }
}

element("name").append(data.entry.name, make("small", {}, `  ${data.file.replace(/.*\//, "")}`));
element("type").textContent = data.entry.type;
recall();
showSizes();
show();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
addEventListener("resize", () => (state.tab === "plan" ? state.chart?.draw() : undefined));

/// For who asks the page from outside, as tests do.
window.axonPage = {
  data,
  makespan: (sizes, workers, handoff) => {
    const given = new Map(Object.entries(sizes));
    return Schedule.simulate(Schedule.chosen(data.variants, given), given, workers, handoff).end;
  },
  show: (sizes, tab) => {
    for (const [name, value] of Object.entries(sizes)) state.sizes.set(name, value);
    if (tab) state.tab = tab;
    showSizes();
    show();
  },
  choose,
};
