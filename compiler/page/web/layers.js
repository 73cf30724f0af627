// A layered picture of a graph without circles: where boxes stand, and how lines run between them.
//
// In: boxes {width, height, below: room for a label}, edges [from, to] of their numbers. Out: x and y of each box (its upper left corner), the
// points of each edge, and the size of the whole. A box stands below all that lead to it; an edge that passes other
// layers has a point in each, which takes part in the order. Layers are ordered by the mean of their neighbours, and
// placed as near to it as their widths let them.
const Layers = (() => {
  const gapX = 22, gapY = 46, sweeps = 6;

  /// The layer of each box: one more than the last of those before it; boxes that nothing leads to stand as low as they can.
  function ranks(count, edges) {
    const before = Array.from({ length: count }, () => []), behind = Array.from({ length: count }, () => []);
    edges.forEach(([from, to]) => {
      behind[from].push(to);
      before[to].push(from);
    });
    const rank = new Array(count).fill(0), open = before.map((list) => list.length);
    const ready = open.flatMap((n, at) => (n === 0 ? [at] : [])), order = [];
    while (ready.length > 0) {
      const at = ready.shift();
      order.push(at);
      for (const next of behind[at]) {
        rank[next] = Math.max(rank[next], rank[at] + 1);
        if (--open[next] === 0) ready.push(next);
      }
    }
    for (const at of order) if (before[at].length === 0 && behind[at].length > 0) rank[at] = Math.min(...behind[at].map((next) => rank[next])) - 1;
    return rank;
  }

  /// Boxes and the points of long edges, by layer; `up` and `down` are their neighbours.
  function layered(boxes, edges, rank) {
    const items = boxes.map((box, at) => ({ width: box.width, height: box.height, below: box.below, rank: rank[at], up: [], down: [], x: 0 }));
    const chains = edges.map(([from, to]) => {
      const chain = [items[from]];
      for (let r = rank[from] + 1; r < rank[to]; ++r) {
        const point = { width: 6, height: 0, below: 0, rank: r, up: [], down: [], x: 0 };
        items.push(point);
        chain.push(point);
      }
      chain.push(items[to]);
      for (let i = 0; i + 1 < chain.length; ++i) {
        chain[i].down.push(chain[i + 1]);
        chain[i + 1].up.push(chain[i]);
      }
      return chain;
    });
    const layers = [];
    items.forEach((item) => (layers[item.rank] ??= []).push(item));
    return { items, chains, layers };
  }

  const mean = (list, of) => list.reduce((sum, one) => sum + of(one), 0) / list.length;
  const middle = (item) => item.x + item.width / 2;

  function order(layers) {
    const number = () => layers.forEach((layer) => layer.forEach((item, at) => (item.at = at / Math.max(1, layer.length - 1))));
    number();
    for (let s = 0; s < sweeps; ++s) {
      const down = s % 2 === 0;
      for (const layer of down ? layers : [...layers].reverse()) {
        const key = (item) => {
          const near = down ? item.up : item.down;
          return near.length > 0 ? mean(near, (one) => one.at) : item.at;
        };
        layer.forEach((item) => (item.key = key(item)));
        layer.sort((a, b) => a.key - b.key);
        layer.forEach((item, at) => (item.at = at / Math.max(1, layer.length - 1)));
      }
    }
  }

  /// Puts a layer's items in their order as near to where they want to be as there is room: neighbours that would
  /// overlap are joined to a block, which stands at the mean of their wishes.
  function settle(layer, wish) {
    const blocks = [];
    for (const item of layer) {
      let block = { items: [item], width: item.width, want: wish(item) - item.width / 2 };
      for (let last = blocks.at(-1); last && last.want + last.width + gapX > block.want; last = blocks.at(-1)) {
        blocks.pop();
        const n = last.items.length, m = block.items.length, shift = last.width + gapX;
        block = { items: [...last.items, ...block.items], width: shift + block.width, want: (last.want * n + (block.want - shift) * m) / (n + m) };
      }
      blocks.push(block);
    }
    for (const block of blocks) {
      let x = block.want;
      for (const item of block.items) {
        item.x = x;
        x += item.width + gapX;
      }
    }
  }

  function place(layers) {
    for (const layer of layers) {
      let x = 0;
      for (const item of layer) {
        item.x = x;
        x += item.width + gapX;
      }
    }
    for (let s = 0; s < sweeps + 1; ++s) {
      const down = s % 2 === 0;
      for (const layer of down ? layers : [...layers].reverse())
        settle(layer, (item) => {
          const near = down ? item.up : item.down;
          return near.length > 0 ? mean(near, middle) : middle(item);
        });
    }
  }

  function arrange(boxes, edges) {
    if (boxes.length === 0) return { places: [], lines: [], width: 0, height: 0 };
    const rank = ranks(boxes.length, edges), lowest = Math.min(...rank);
    const { items, chains, layers } = layered(boxes, edges, rank.map((r) => r - lowest));
    order(layers);
    place(layers);
    let y = 0;
    for (const layer of layers) {
      const height = Math.max(...layer.map((item) => item.height));
      layer.forEach((item) => {
        item.y = y + (height - item.height) / 2;
        item.top = y;
        item.bottom = y + height;
      });
      y += height + gapY;
    }
    const left = Math.min(...items.map((item) => item.x));
    items.forEach((item) => (item.x -= left));
    // Straight inside of a layer, so that lines pass beside higher boxes, and bent between layers.
    const lines = chains.map((chain) => {
      const points = [];
      chain.forEach((item, at) => {
        const first = at === 0, last = at + 1 === chain.length, x = middle(item);
        points.push([x, first ? item.y + item.height + item.below : item.top]);
        points.push([x, last ? item.y : Math.max(item.bottom, item.y + item.height + item.below)]);
      });
      return points;
    });
    return {
      places: items.slice(0, boxes.length), lines,
      width: Math.max(...items.map((item) => item.x + item.width)), height: y - gapY,
    };
  }

  return { arrange };
})();
