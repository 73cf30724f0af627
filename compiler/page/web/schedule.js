// The makespan model of the compiler (plan/makespan.cpp), in the page.
//
// In: a variant of the page's JSON, sizes, a number of workers, what a handoff costs in units of work. Out: when each
// worker is done, and, if asked for, each task's place in time. Worker w of N takes the tasks [T*w/N, T*(w+1)/N), rounded
// up, of a segment, in order, the tiles of a folded coordinate from both ends in turn; a task begins when its worker is free and
// all that it waits for is done, a handoff later where another worker did it. Waits point to earlier tasks only, so one
// walk in program order knows every time it needs.
const Schedule = (() => {
  const { compiled, compiledFact } = Expressions;

  /// When tasks are done, as a worker sees them: the latest, the worker that ran it, and the latest of all others.
  class Arrivals {
    constructor(count) {
      this.latest = new Float64Array(count);
      this.others = new Float64Array(count).fill(-1);
      this.worker = new Int32Array(count).fill(-1);
    }
    add(at, time, worker) {
      if (this.worker[at] === worker || this.worker[at] < 0) {
        this.worker[at] = worker;
        this.latest[at] = Math.max(this.latest[at], time);
      } else if (time > this.latest[at]) {
        this.others[at] = Math.max(this.others[at], this.latest[at]);
        this.latest[at] = time;
        this.worker[at] = worker;
      } else {
        this.others[at] = Math.max(this.others[at], time);
      }
    }
    seenBy(at, worker, handoff) {
      if (this.worker[at] < 0) return 0;
      if (this.worker[at] !== worker) return this.latest[at] + handoff;
      return Math.max(this.latest[at], this.others[at] < 0 ? 0 : this.others[at] + handoff);
    }
  }

  /// An event in one iteration: an arrival for each element, and behind them one for all together.
  class Done {
    constructor(shape) {
      this.shape = shape;
      this.count = shape.reduce((product, extent) => product * extent, 1);
      this.arrivals = new Arrivals(this.count + 1);
    }
    notify(element, time, worker) {
      let at = 0;
      for (let a = 0; a < element.length; ++a) at = at * this.shape[a] + element[a];
      this.arrivals.add(at, time, worker);
      this.arrivals.add(this.count, time, worker);
    }
    /// When all elements of the box, whose ends are in it, are done.
    seenBy(box, worker, handoff) {
      if (box.every(([first, last], a) => first <= 0 && last >= this.shape[a] - 1)) return this.arrivals.seenBy(this.count, worker, handoff);
      let time = 0;
      const visit = (axis, at) => {
        if (axis === box.length) {
          time = Math.max(time, this.arrivals.seenBy(at, worker, handoff));
          return;
        }
        const first = Math.max(box[axis][0], 0), last = Math.min(box[axis][1], this.shape[axis] - 1);
        for (let i = first; i <= last; ++i) visit(axis + 1, at * this.shape[axis] + i);
      };
      visit(0, 0);
      return time;
    }
  }

  /// The formulas of a variant as functions, made once.
  function prepared(variant) {
    const all = (list) => list.map(compiled);
    return {
      types: variant.types.map((type) => ({
        names: type.coordinates.map((one) => one.name), extents: all(type.coordinates.map((one) => one.extent)), work: compiled(type.work),
        loops: type.loops,
      })),
      loops: variant.loops.map((loop) => ({ index: loop.index, extent: compiled(loop.extent) })),
      events: variant.events.map((event) => ({ kept: event.kept, shape: all(event.shape) })),
      eventsOf: variant.types.map((_, type) => variant.events.flatMap((event, e) => (event.producer === type ? [e] : []))),
      waits: variant.waits.map((wait) => ({
        event: wait.event, box: wait.box.map(all), iteration: all(wait.iteration), guard: wait.guard.map(compiledFact),
      })),
    };
  }

  /// Sizes, and what the model takes for data-dependent sizes and trip counts.
  function withDataValues(variant, sizes) {
    const values = new Map(sizes);
    for (const { name, value } of variant.data_values) if (!values.has(name)) values.set(name, Expressions.value(value, values));
    return values;
  }

  const chosen = (variants, sizes) =>
    variants.find((variant) => variant.guard.every((fact) => compiledFact(fact)(withDataValues(variant, sizes)))) ?? variants.at(-1);

  /// The tile of a folded coordinate at a position: the first, the last, the second, the last but one.
  const tileAt = (position, extent) => (position % 2 ? extent - 1 - (position - 1) / 2 : position / 2);

  class Simulation {
    constructor(variant, sizes, workers, handoff, seen) {
      this.code = prepared(variant);
      this.values = withDataValues(variant, sizes);
      this.handoff = handoff;
      this.free = new Float64Array(workers);
      this.done = new Map();
      this.seen = seen;
      this.tasks = 0;
    }

    number(formula) {
      const value = formula(this.values);
      if (Number.isNaN(value)) throw new RangeError("a number is too large, or a size has no value");
      return value;
    }

    walk(steps) {
      for (const step of steps) {
        if (step.body === undefined) {
          this.segment(step);
          continue;
        }
        const { index, extent } = this.code.loops[step.loop], trips = this.number(extent);
        for (let i = 0; i < trips; ++i) {
          this.values.set(index, i);
          this.walk(step.body);
        }
        this.values.delete(index);
      }
    }

    /// Behind the last task of a worker. In a line of no more tasks than workers, each worker takes one at most;
    /// else every other segment is shared from the other end.
    endOf(line, tasks, worker) {
      const workers = this.free.length;
      if (line && this.number(line.whole) <= workers)
        return Math.max(Math.min(worker + 1 - this.number(line.before), tasks), 0);
      const rounded = line && line.fromEnd ? Math.floor : Math.ceil;
      return rounded((tasks * (worker + 1)) / workers);
    }

    segment(segment) {
      const type = this.code.types[segment.type], workers = this.free.length;
      const extents = type.extents.map((extent) => this.number(extent));
      const tasks = extents.reduce((product, extent) => product * extent, 1);
      const producing = this.begin(segment.type), position = extents.map(() => 0), at = extents.map(() => 0);
      const line = segment.line && {
        before: compiled(segment.line.before), whole: compiled(segment.line.whole), fromEnd: segment.line.from_end,
      };
      for (let worker = 0, next = 0; worker < workers; ++worker) {
        const first = next, end = this.endOf(line, tasks, worker);
        for (; next < end; ++next) {
          position.forEach((p, i) => (at[i] = i === segment.folded ? tileAt(p, extents[i]) : p));
          at.forEach((c, i) => this.values.set(type.names[i], c));
          const work = this.number(type.work);
          let free = this.free[worker];
          if (!segment.barrier) { // a barrier after every segment takes the place of all waits
            if (next === first) free = this.after(segment.hoisted, worker, free);
            free = this.after(segment.waits, worker, free);
          }
          this.seen?.(segment.type, next, worker, free, free + work);
          this.free[worker] = free + work;
          for (const { kept, done } of producing) done.notify(kept.map((c) => at[c]), free + work, worker);
          for (let a = position.length - 1; a >= 0 && ++position[a] === extents[a]; --a) position[a] = 0;
        }
      }
      this.tasks += tasks;
      type.names.forEach((name) => this.values.delete(name));
      if (segment.barrier && workers > 1) this.free.fill(Math.max(...this.free) + this.handoff);
    }

    begin(producer) {
      const iteration = this.code.types[producer].loops.map((loop) => this.values.get(this.code.loops[loop].index));
      return this.code.eventsOf[producer].map((e) => {
        const { kept, shape } = this.code.events[e], key = `${e}:${iteration}`;
        if (!this.done.has(key)) this.done.set(key, new Done(shape.map((extent) => this.number(extent))));
        return { kept, done: this.done.get(key) };
      });
    }

    after(waits, worker, time) {
      for (const w of waits) {
        const wait = this.code.waits[w];
        if (!wait.guard.every((holds) => holds(this.values))) continue;
        const done = this.done.get(`${wait.event}:${wait.iteration.map((one) => this.number(one))}`);
        if (!done) continue;
        const box = wait.box.map(([first, last]) => [this.number(first), this.number(last)]);
        time = Math.max(time, done.seenBy(box, worker, this.handoff));
      }
      return time;
    }
  }

  /// {end, tasks, free}: when the last worker is done, how many tasks ran, when each worker is done. `seen` is called
  /// with (type, number, worker, begin, end) of each task.
  function simulate(variant, sizes, workers, handoff, seen) {
    const simulation = new Simulation(variant, sizes, workers, handoff, seen);
    simulation.walk(variant.steps);
    return { end: Math.max(...simulation.free), tasks: simulation.tasks, free: simulation.free };
  }

  /// How many tasks of each type there are in all iterations.
  function counts(variant, sizes) {
    const values = withDataValues(variant, sizes);
    return variant.types.map((type) =>
      type.coordinates.reduce((product, one) => product * Expressions.value(one.extent, values), Expressions.value(type.runs, values)));
  }

  return { simulate, counts, chosen, withDataValues };
})();
