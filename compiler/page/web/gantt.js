// The schedule as bars: a row for each worker, time to the right.
//
// In: a canvas's place, tasks as Schedule.simulate tells them, and how they are coloured and called. Out: nothing; the
// canvas shows what of the picture its frame has scrolled to.
const Gantt = (() => {
  const gutter = 46, top = 24;

  /// Tasks in the order in which they were simulated, in arrays of numbers.
  class Tasks {
    constructor() {
      this.type = [];
      this.number = [];
      this.worker = [];
      this.begin = [];
      this.end = [];
    }
    add(type, number, worker, begin, end) {
      this.type.push(type);
      this.number.push(number);
      this.worker.push(worker);
      this.begin.push(begin);
      this.end.push(end);
    }
  }

  /// A step between marks of the axis: 1, 2 or 5 times a power of ten, about `wanted`.
  function step(wanted) {
    const power = 10 ** Math.floor(Math.log10(wanted));
    return power * ([1, 2, 5].find((one) => one * power >= wanted) ?? 10);
  }

  class Chart {
    /// view: {tasks, workers, end, unit (nanoseconds of one of time), colour(type), time(units) as text, says(task) as text,
    /// chosen(), choose(type)}
    constructor(frame, view) {
      this.frame = frame;
      this.view = view;
      this.zoom = 1;
      this.row = Math.max(7, Math.min(26, Math.floor(400 / view.workers)));
      this.canvas = document.createElement("canvas");
      this.wide = document.createElement("div");
      this.wide.className = "wide";
      this.wide.append(this.canvas);
      this.tip = document.createElement("div");
      this.tip.className = "tip";
      frame.replaceChildren(this.wide, this.tip);
      frame.onscroll = () => this.draw();
      this.canvas.onmousemove = (event) => this.point(event);
      this.canvas.onmouseleave = () => (this.tip.style.display = "none");
      this.canvas.onclick = (event) => {
        const task = this.taskAt(event);
        if (task !== undefined) this.view.choose(this.view.tasks.type[task]);
      };
      this.draw();
    }

    setZoom(zoom) {
      this.zoom = zoom;
      this.draw();
    }

    draw() {
      const width = this.frame.clientWidth, height = top + this.row * this.view.workers + 8, scale = window.devicePixelRatio || 1;
      this.wide.style.width = `${(width - gutter) * this.zoom + gutter}px`;
      this.wide.style.height = `${height}px`;
      Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
      this.canvas.width = width * scale;
      this.canvas.height = height * scale;
      const context = this.canvas.getContext("2d"), style = getComputedStyle(this.frame);
      context.scale(scale, scale);
      this.perUnit = ((width - gutter) * this.zoom) / (this.view.end || 1);
      this.axis(context, style, width, height);
      this.bars(context, style, width);
    }

    x(time) {
      return gutter + time * this.perUnit - this.frame.scrollLeft;
    }

    axis(context, style, width, height) {
      context.font = "11px system-ui, sans-serif";
      context.fillStyle = style.getPropertyValue("--quiet");
      context.strokeStyle = style.getPropertyValue("--rule");
      const mark = step((110 / this.perUnit) * this.view.unit) / this.view.unit;
      for (let time = Math.floor(this.frame.scrollLeft / this.perUnit / mark) * mark; this.x(time) < width && time <= this.view.end; time += mark) {
        if (this.x(time) < gutter) continue;
        context.fillText(this.view.time(time), this.x(time) + 3, 12);
        context.beginPath();
        context.moveTo(this.x(time) + 0.5, 0);
        context.lineTo(this.x(time) + 0.5, height);
        context.stroke();
      }
    }

    bars(context, style, width) {
      const { tasks, workers, colour } = this.view, chosen = this.view.chosen();
      context.save();
      context.beginPath();
      context.rect(gutter, 0, width - gutter, top + this.row * workers);
      context.clip();
      for (let t = 0; t < tasks.type.length; ++t) {
        const from = this.x(tasks.begin[t]), to = this.x(tasks.end[t]);
        if (to < gutter || from > width) continue;
        context.globalAlpha = chosen === undefined || chosen === tasks.type[t] ? 1 : 0.25;
        context.fillStyle = colour(tasks.type[t]);
        // A gap between tasks where there is room for one.
        context.fillRect(from, top + tasks.worker[t] * this.row + 1, Math.max(to - from - (to - from > 4 ? 1 : 0), 0.6), this.row - 2);
      }
      context.restore();
      context.globalAlpha = 1;
      context.fillStyle = style.getPropertyValue("--quiet");
      const every = Math.ceil(13 / this.row);
      for (let w = 0; w < workers; w += every) context.fillText(`w${w}`, 6, top + w * this.row + this.row / 2 + 4);
    }

    taskAt(event) {
      const box = this.canvas.getBoundingClientRect(), y = event.clientY - box.top - top, worker = Math.floor(y / this.row);
      const time = (event.clientX - box.left - gutter + this.frame.scrollLeft) / this.perUnit, near = 1.5 / this.perUnit;
      const { tasks } = this.view;
      for (let t = 0; t < tasks.type.length; ++t)
        if (tasks.worker[t] === worker && tasks.begin[t] - near <= time && time <= tasks.end[t] + near) return t;
      return undefined;
    }

    point(event) {
      const task = this.taskAt(event);
      this.tip.style.display = task === undefined ? "none" : "block";
      if (task === undefined) return;
      const box = this.frame.getBoundingClientRect();
      this.tip.textContent = this.view.says(task);
      this.tip.style.left = `${Math.min(event.clientX - box.left + 12, box.width - 230) + this.frame.scrollLeft}px`;
      this.tip.style.top = `${event.clientY - box.top + 16}px`;
    }
  }

  return { Chart, Tasks };
})();
