// Boxes in boxes with lines between them, as SVG.
//
// In: items {id, parent, title, lines, kind, label, back}, in the order of the program, and edges {from, to, label, key}.
// Out: an SVG element. An item that others have as parent is drawn around them. What leads from inside of a box to
// another stands between the boxes themselves. Of a level with more items than can be looked at, neighbours are
// drawn as one box, which opens with a click; an edge against the order of the program is drawn beside the boxes.
const Picture = (() => {
  const most = 90; // items of one level
  const line = 16, padX = 10, padY = 7, inset = 14, head = 24, labelHeight = 16;
  const font = "13px system-ui, sans-serif", small = "11px system-ui, sans-serif";

  const measure = (() => {
    const context = document.createElement("canvas").getContext("2d");
    return (text, which) => {
      context.font = which;
      return context.measureText(text).width;
    };
  })();

  function svg(name, attributes, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  const shortened = (text, length = 44) => (text.length > length ? text.slice(0, length - 1) + "…" : text);

  /// Where a level is cut: before every so many of the label that comes most often, for that is how layers begin that
  /// are written one after the other; and where that leaves too many together, in between.
  function pieces(items) {
    const count = new Map();
    items.forEach((item) => count.set(item.repeats, (count.get(item.repeats) ?? 0) + 1));
    const [label, often] = [...count].reduce((best, one) => (one[1] > best[1] ? one : best));
    const every = Math.ceil(often / (most / 2)), longest = Math.ceil(items.length / (most / 3));
    const cut = [];
    let seen = 0;
    for (const item of items) {
      const begins = item.repeats === label && seen++ % every === 0;
      if (cut.length === 0 || begins || cut.at(-1).length >= longest) cut.push([]);
      cut.at(-1).push(item);
    }
    return cut;
  }

  /// The items with boxes for pieces of levels that have too many; `open` holds the ids of those that are opened.
  function grouped(items, open) {
    const levels = new Map();
    items.forEach((item) => levels.set(item.parent, [...(levels.get(item.parent) ?? []), item]));
    const out = [], inside = new Map();
    for (const level of levels.values()) {
      if (level.length <= most) {
        out.push(...level);
        continue;
      }
      pieces(level).forEach((piece, number) => {
        const id = `group ${piece[0].id}`;
        if (piece.length === 1 || open.has(id)) {
          out.push(...piece);
          return;
        }
        const titles = [...new Set(piece.map((item) => item.title))];
        out.push({
          id, parent: piece[0].parent, kind: "group", at: piece[0].at, title: `part ${number + 1}: ${piece.length} nodes`,
          lines: [shortened(titles.join(", "), 40)], opens: true,
        });
        piece.forEach((item) => inside.set(item.id, id));
      });
    }
    return { items: out, inside };
  }

  class Drawing {
    constructor(items, edges, options) {
      this.options = options;
      items.forEach((item, at) => (item.at = at));
      const { items: shown, inside } = grouped(items, options.open);
      this.items = new Map(shown.map((item) => [item.id, item]));
      this.children = new Map();
      shown.sort((a, b) => a.at - b.at).forEach((item) => this.children.set(item.parent, [...(this.children.get(item.parent) ?? []), item]));
      this.edges = new Map();
      const parents = new Map(items.map((item) => [item.id, item.parent]));
      edges.forEach((edge) => this.add(edge, (id) => this.way(id, inside, parents)));
    }

    /// From the outermost level to the item, or to the piece that it is in.
    way(id, inside, parents) {
      const way = [];
      for (let at = id; at !== null && at !== undefined; at = parents.get(at)) {
        if (inside.has(at)) way.length = 0; // what is in a piece is not drawn, nor what is in that
        way.unshift(inside.get(at) ?? at);
      }
      return way;
    }

    add(edge, wayTo) {
      const from = wayTo(edge.from), to = wayTo(edge.to);
      let depth = 0;
      while (depth < from.length && depth < to.length && from[depth] === to[depth]) ++depth;
      if (depth === from.length || depth === to.length) return; // one is in the other
      const level = depth === 0 ? null : from[depth - 1], key = `${from[depth]}>${to[depth]}`;
      const edges = this.edges.get(level) ?? new Map();
      this.edges.set(level, edges);
      const known = edges.get(key);
      if (known) {
        known.all.push(edge);
        if (edge.label && !known.labels.includes(edge.label)) known.labels.push(edge.label);
      } else {
        edges.set(key, { from: from[depth], to: to[depth], labels: edge.label ? [edge.label] : [], all: [edge] });
      }
    }

    /// A level as an element, with its size.
    level(parent) {
      const items = this.children.get(parent) ?? [], number = new Map(items.map((item, at) => [item.id, at]));
      const edges = [...(this.edges.get(parent)?.values() ?? [])];
      const forward = edges.filter((edge) => number.get(edge.from) < number.get(edge.to)), back = edges.filter((edge) => number.get(edge.from) >= number.get(edge.to));
      const boxes = items.map((item) => this.box(item, forward));
      const at = Layers.arrange(boxes, forward.map((edge) => [number.get(edge.from), number.get(edge.to)]));
      this.spread(items, forward, at.lines);
      const drawn = svg("g", {});
      forward.forEach((edge, e) => drawn.append(this.line(edge, at.lines[e])));
      boxes.forEach((box, b) => {
        box.element.setAttribute("transform", `translate(${at.places[b].x} ${at.places[b].y})`);
        drawn.append(box.element);
      });
      let right = at.width;
      back.forEach((edge) => {
        right += 18;
        drawn.append(this.aside(edge, at.places[number.get(edge.from)], at.places[number.get(edge.to)], right));
      });
      // Labels of what leads aside stand beside the boxes.
      if (back.length > 0) right += Math.max(...back.flatMap((edge) => edge.labels).map((text) => measure(text, small)), 0) + 6;
      return { element: drawn, width: right, height: at.height };
    }

    /// Lines reach a box side by side, in the order in which they come.
    spread(items, edges, lines) {
      const ends = (id, end) => edges.flatMap((edge, e) => (edge[end] === id ? [lines[e]] : []));
      for (const item of items) {
        const incoming = ends(item.id, "to").sort((a, b) => a.at(-3)[0] - b.at(-3)[0]), outgoing = ends(item.id, "from").sort((a, b) => a[2][0] - b[2][0]);
        const move = (points, by) => points.forEach((point) => (point[0] += by));
        incoming.forEach((points, k) => move(points.slice(-2), item.width * ((k + 1) / (incoming.length + 1) - 0.5)));
        outgoing.forEach((points, k) => move(points.slice(0, 2), item.width * ((k + 1) / (outgoing.length + 1) - 0.5) * 0.6));
      }
    }

    box(item, edges) {
      const inner = this.children.has(item.id) ? this.level(item.id) : undefined;
      const ways = edges.filter((edge) => edge.to === item.id).flatMap((edge) => edge.labels);
      const labels = ways.reduce((sum, text) => sum + measure(text, small) + 14, 0);
      const texts = [measure(item.title, font), ...item.lines.map((text) => measure(text, small))];
      const own = Math.max(...texts) + 2 * padX;
      item.width = Math.ceil(Math.max(own, labels, item.label ? measure(item.label, small) : 0, inner ? inner.width + 2 * inset : 0));
      const text = padY * 2 + line * (1 + item.lines.length);
      item.height = inner ? head + line * item.lines.length + inner.height + inset * 2 + labelHeight : text;
      return { width: item.width, height: item.height, below: item.label ? labelHeight : 0, element: this.drawBox(item, inner) };
    }

    drawBox(item, inner) {
      const chosen = this.options.chosen === item.id ? " chosen" : "";
      const element = svg("g", { class: `box ${item.kind}${inner ? " around" : ""}${chosen}`, tabindex: 0, role: "button", "data-id": item.id });
      element.append(svg("rect", { width: item.width, height: item.height, rx: 5 }));
      const middle = inner ? padX : item.width / 2, anchor = inner ? "start" : "middle";
      element.append(svg("text", { x: middle, y: padY + 12, "text-anchor": anchor, class: "title" }, item.title));
      item.lines.forEach((text, l) => element.append(svg("text", { x: middle, y: padY + 12 + line * (l + 1), "text-anchor": anchor, class: "more" }, text)));
      if (item.label) element.append(svg("text", { x: item.width / 2, y: item.height + 12, "text-anchor": "middle", class: "label" }, shortened(item.label)));
      if (inner) {
        inner.element.setAttribute("transform", `translate(${(item.width - inner.width) / 2} ${head + line * item.lines.length + inset})`);
        element.append(inner.element);
      }
      const choose = (event) => {
        event.stopPropagation();
        this.options.onChoose(item);
      };
      element.addEventListener("click", choose);
      element.addEventListener("keydown", (event) => event.key === "Enter" && choose(event));
      return element;
    }

    wire(edge, path, labelAt) {
      const chosen = edge.all.some((one) => one.key !== undefined && one.key === this.options.chosen) ? " chosen" : "";
      const element = svg("g", { class: `wire${chosen}` }, svg("path", { d: path, class: "near" }), svg("path", { d: path, class: "line", "marker-end": "url(#arrow)" }));
      if (edge.labels.length > 0) element.append(svg("text", { ...labelAt, class: "label" }, edge.labels.join(", ")));
      if (edge.all[0].key !== undefined)
        element.addEventListener("click", (event) => {
          event.stopPropagation();
          this.options.onEdge?.(edge.all);
        });
      return element;
    }

    line(edge, points) {
      let path = `M${points[0]}`;
      for (let p = 1; p < points.length; ++p) {
        const [x0, y0] = points[p - 1], [x1, y1] = points[p], half = (y1 - y0) / 2;
        if (p % 2 === 0) path += `C${x0},${y0 + half} ${x1},${y1 - half} ${x1},${y1}`;
        else if (y0 !== y1) path += `L${x1},${y1}`;
      }
      const [x, y] = points.at(-1);
      return this.wire(edge, path, { x: x + 4, y: y - 6, "text-anchor": "start" });
    }

    /// From a box back to one before it: at the right of all, and into its top.
    aside(edge, from, to, x) {
      const y0 = from.y + from.height / 2, x0 = from.x + from.width, x1 = to.x + to.width * 0.8, y1 = to.y, over = y1 - 11;
      const path = `M${x0},${y0}C${x},${y0} ${x},${y0} ${x},${y0 - 24}L${x},${over + 10}Q${x},${over} ${x - 10},${over}L${x1 + 10},${over}Q${x1},${over} ${x1},${y1}`;
      const made = this.wire(edge, path, { x: x + 3, y: (y0 + y1) / 2, "text-anchor": "start" });
      made.classList.add("back");
      return made;
    }
  }

  /// options: open (ids of opened pieces), chosen (an id or a key), onChoose(item), onEdge(edges).
  function draw(items, edges, options) {
    const drawing = new Drawing(items, edges, options), { element, width, height } = drawing.level(null);
    element.setAttribute("transform", "translate(10 10)");
    const arrow = svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto" }, svg("path", { d: "M0,0L8,4L0,8z" }));
    const size = { width: Math.ceil(width + 20), height: Math.ceil(height + 34) };
    return svg("svg", { ...size, viewBox: `0 0 ${size.width} ${size.height}` }, svg("defs", {}, arrow), element);
  }

  return { draw };
})();
