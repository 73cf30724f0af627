// What is said of one thing that was chosen: a node, a task type, what a task type waits for, a declaration.
//
// In: the page's JSON, the variant and the sizes that it is looked at for. Out: elements. Nothing here knows of tabs.

/// An element; properties that begin with `on` are listeners, children may be strings.
function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "class") element.className = value;
    else if (key in element && key !== "list") element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== null));
  return element;
}

/// Numbers as people read them.
const Show = {
  number(n) {
    if (!Number.isFinite(n)) return "?";
    if (Math.abs(n) < 1e6) return Math.round(n).toLocaleString("en");
    const unit = ["M", "G", "T", "P", "E"].findLastIndex((_, u) => Math.abs(n) >= 1e6 * 1000 ** u);
    return `${(n / (1e6 * 1000 ** unit)).toPrecision(4)} ${["M", "G", "T", "P", "E"][unit]}`;
  },
  bytes(n) {
    if (!Number.isFinite(n)) return "?";
    const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"], unit = Math.min(units.length - 1, n < 1024 ? 0 : Math.floor(Math.log2(n) / 10));
    return unit === 0 ? `${n} B` : `${(n / 1024 ** unit).toPrecision(3)} ${units[unit]}`;
  },
  time(ns) {
    if (!Number.isFinite(ns)) return "?";
    if (ns === 0) return "0";
    const [unit, name] = ns < 1e3 ? [1, "ns"] : ns < 1e6 ? [1e3, "µs"] : ns < 1e9 ? [1e6, "ms"] : [1e9, "s"];
    return `${Number((ns / unit).toPrecision(3))} ${name}`;
  },
  type: ({ elem, shape }) => (shape.length === 0 ? elem : `${elem}[${shape.map((one) => Expressions.text(one)).join(", ")}]`),
  /// The same for sizes that are known: 12 × 64.
  shape: ({ shape }, sizes) => shape.map((one) => Show.number(Expressions.value(one, sizes)).replaceAll(",", "")).join(" × "),
};

const Details = (() => {
  const { text, value, factText } = Expressions;

  /// `n*d` and what that is now.
  function formula(expression, sizes, show = Show.number) {
    const written = text(expression), now = show(value(expression, sizes));
    return /^-?\d+$/.test(written) ? now : `${now}  =  ${written}`;
  }

  const list = (pairs) => make("dl", {}, ...pairs.filter(([, said]) => said !== undefined && said !== "").flatMap(([what, said]) => [make("dt", {}, what), make("dd", {}, ...[said].flat())]));
  const link = (said, act) => make("a", { onclick: act, tabIndex: 0, role: "button" }, said);
  const between = (links) => links.flatMap((one, at) => (at > 0 ? [", ", one] : [one]));

  function node(graph, node, sizes, choose) {
    const byId = new Map(graph.nodes.map((one) => [one.id, one]));
    const named = (id) => link(`%${id} ${byId.get(id).title}`, () => choose(`node ${id}`));
    const readers = graph.nodes.filter((one) => one.uses.some((use) => use.node === node.id));
    return [
      make("h2", {}, `%${node.id}  ${node.title}`),
      list([
        ["gives", node.types.flatMap((type, at) => [...(at > 0 ? [make("br")] : []), `${Show.type(type)}   ${Show.shape(type, sizes)}`])],
        ["kind", node.kind ?? node.op],
        ["iterations", node.trips === undefined ? undefined : formula(node.trips, sizes)],
        ["reads", between([...new Set(node.uses.map((use) => use.node))].map(named))],
        ["read by", between(readers.map((one) => named(one.id)))],
        ["from", node.place ? undefined : node.op === "compute" ? "the library" : undefined],
      ]),
      make("pre", {}, undented(node.text)),
    ];
  }

  function undented(text) {
    const lines = text.trimEnd().split("\n"), depth = Math.min(...lines.map((one) => one.search(/\S|$/)));
    return lines.map((one) => one.slice(depth)).join("\n");
  }

  /// A box of intervals, as formulas.
  const boxText = (box) => (box.length === 0 ? "" : `[${box.map(([low, high]) => `${text(low)} : ${text(high)}`).join(", ")}]`);

  function type(variant, number, sizes, choose) {
    const type = variant.types[number], values = Schedule.withDataValues(variant, sizes);
    const tasks = Schedule.counts(variant, sizes)[number];
    const accesses = (write) => type.accesses.filter((one) => one.write === write).map((one) => make("p", {}, make("code", {}, variant.buffers[one.buffer].name + boxText(one.box))));
    const waits = variant.waits.map((wait, w) => [wait, w]).filter(([wait]) => wait.consumer === number);
    const waited = variant.waits.map((wait, w) => [wait, w]).filter(([wait]) => variant.events[wait.event].producer === number);
    return [
      make("h2", {}, type.name),
      list([
        ["family", type.family],
        ["node", type.node === null ? undefined : link(`%${type.node}`, () => choose(`node ${type.node}`, "graph"))],
        ["tasks", `${Show.number(tasks)} in ${Show.number(value(type.runs, values))} ${value(type.runs, values) === 1 ? "run" : "runs"}`],
        ...type.coordinates.map((one) => [one.name, `< ${formula(one.extent, values)}, ${Show.number(one.tile)} of axis ${one.axis} each`]),
        ["work of a task", formula(type.work, values)],
        ["waits for", between(waits.map(([wait, w]) => link(variant.types[variant.events[wait.event].producer].name, () => choose(`wait ${w}`))))],
        ["waited for by", between(waited.map(([wait, w]) => link(variant.types[wait.consumer].name, () => choose(`wait ${w}`))))],
      ]),
      make("p", { class: "quiet" }, "A task reads"), ...accesses(false),
      make("p", { class: "quiet" }, "and writes"), ...accesses(true),
    ];
  }

  /// The elements of an event that a task waits for, as cells: {shape, box}, both as numbers.
  function awaited(variant, wait, values) {
    const numbers = (all) => all.map((one) => value(one, values));
    return { shape: numbers(variant.events[wait.event].shape), box: wait.box.map(numbers) };
  }

  /// The consumer's coordinates in the middle of its grid, and its loops in the middle of their ranges.
  function inTheMiddle(variant, number, sizes) {
    const values = Schedule.withDataValues(variant, sizes), type = variant.types[number];
    for (const loop of type.loops) values.set(variant.loops[loop].index, Math.floor(value(variant.loops[loop].extent, values) / 2));
    for (const one of type.coordinates) values.set(one.name, Math.floor(value(one.extent, values) / 2));
    return values;
  }

  /// `3 of 12`: tasks that one in the middle waits for.
  function waitLabel(variant, wait, sizes) {
    const { shape, box } = awaited(variant, wait, inTheMiddle(variant, wait.consumer, sizes));
    const all = shape.reduce((product, extent) => product * extent, 1), count = value(variant.events[wait.event].count, Schedule.withDataValues(variant, sizes));
    const some = box.reduce((product, [first, last]) => product * Math.max(0, last - first + 1), 1);
    return some === all ? (all * count === 1 ? "1" : `all ${Show.number(all * count)}`) : `${Show.number(some * count)} of ${Show.number(all * count)}`;
  }

  /// Cells of at most two axes; those before are folded to one.
  function cells({ shape, box }, colour) {
    const [rows, columns] = shape.length >= 2 ? shape.slice(-2) : [1, shape[0] ?? 1], [row, column] = shape.length >= 2 ? box.slice(-2) : [[0, 0], box[0] ?? [0, 0]];
    const size = Math.max(2, Math.min(14, Math.floor(260 / columns), Math.floor(180 / rows)));
    if (columns > 400 || rows > 300) return undefined;
    const canvas = make("canvas", { width: columns * size + 1, height: rows * size + 1 }), context = canvas.getContext("2d");
    for (let r = 0; r < rows; ++r)
      for (let c = 0; c < columns; ++c) {
        const inside = row[0] <= r && r <= row[1] && column[0] <= c && c <= column[1];
        context.fillStyle = colour(inside);
        context.fillRect(c * size + 1, r * size + 1, size - 1, size - 1);
      }
    return canvas;
  }

  /// `at`: a Map of the consumer's coordinates and loop indices that were chosen.
  function wait(variant, number, sizes, at, choose, changed) {
    const wait = variant.waits[number], event = variant.events[wait.event], values = inTheMiddle(variant, wait.consumer, sizes);
    const consumer = variant.types[wait.consumer], producer = variant.types[event.producer];
    const choices = [...consumer.loops.map((loop) => ({ name: variant.loops[loop].index, extent: variant.loops[loop].extent })), ...consumer.coordinates];
    choices.forEach(({ name, extent }) => {
      if (at.has(name)) values.set(name, Math.max(0, Math.min(at.get(name), value(extent, values) - 1)));
    });
    const style = getComputedStyle(document.documentElement);
    const colour = (inside) => style.getPropertyValue(inside ? "--accent" : "--rule");
    const picture = cells(awaited(variant, wait, values), colour);
    return [
      make("h2", {}, link(consumer.name, () => choose(`type ${wait.consumer}`)), " waits for ", link(producer.name, () => choose(`type ${event.producer}`))),
      list([
        ["event", `${event.name}[${event.shape.map((one) => text(one)).join(", ")}], ${formula(event.count, values)} ${value(event.count, values) === 1 ? "task" : "tasks"} each`],
        ["elements", wait.box.length === 0 ? "the only one" : `[${wait.box.map(([first, last]) => (text(first) === text(last) ? text(first) : `${text(first)} .. ${text(last)}`)).join(", ")}]`],
        ["iteration", wait.iteration.length === 0 ? undefined : wait.iteration.map((one) => text(one)).join(", ")],
        ["only if", wait.guard.map(factText).join(" and ")],
        ["because it", `${wait.why} ${variant.buffers[wait.buffer].name}`],
        ["a task in the middle", waitLabel(variant, wait, sizes)],
      ]),
      make("div", { class: "tools" }, ...choices.filter(({ extent }) => value(extent, values) > 1).map(({ name, extent }) =>
        make("label", {}, name, make("input", { type: "range", min: 0, max: value(extent, values) - 1, value: values.get(name), oninput: (e) => changed(name, Number(e.target.value)) }), String(values.get(name))))),
      picture && event.shape.length > 0 ? make("div", { class: "cells" }, make("div", {}, make("span", { class: "quiet" }, `elements of ${event.name} that this task waits for`), picture)) : undefined,
    ];
  }

  return { node, type, wait, waitLabel, formula };
})();
