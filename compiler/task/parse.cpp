// Reads back the text of print.cpp against the graph that it was printed for.
//
// Sizes have the names that Names gives them; the k-th loop of the text is the k-th loop of the graph, outer
// before inner; coordinates get fresh variables in the order of the text, which is what keeps
// print(parse(t)) == t. What is read is well formed enough to be printed, verified and simulated; whether it
// is right is verify's business.
#include <fmt/format.h>

#include <functional>

#include "layout/text.h"
#include "shape/reader.h"
#include "task/facts.h"
#include "task/names.h"
#include "task/task.h"

namespace axon::task {

namespace {

std::vector<graph::NodeId> loops_of(const graph::Graph& g) {
  std::vector<graph::NodeId> loops;
  const std::function<void(graph::RegionId)> walk = [&](graph::RegionId region) {
    for (graph::NodeId n : g.regions[region].nodes)
      if (g.nodes[n].op == graph::NodeOp::loop) {
        loops.push_back(n);
        walk(g.nodes[n].body);
      }
  };
  walk(g.root);
  return loops;
}

class Parser : shape::TextReader {
 public:
  Parser(const graph::Graph& g, const std::string& text)
      : shape::TextReader(text), g_(g), graph_loops_(loops_of(g)) {
    program_.graph = &g;
    const Names names(program_);
    for (const auto& size : g.sizes) declare(names(size.var), size.var);
  }

  std::optional<Program> run(std::string& error) {
    header();
    while (!at_end()) line();
    error = this->error();
    if (failed()) return std::nullopt;
    program_.facts = facts_of(g_, program_.guard);
    return std::move(program_);
  }

 private:
  // ---- lines ----

  void header() {
    expect("tasks");
    if (word() != g_.name) fail(fmt::format("these are not the tasks of `{}`", g_.name));
    if (accept("when")) program_.guard = facts();
    end_of_line();
  }

  void line() {
    if (accept("buffer"))
      buffer();
    else if (accept("loop"))
      loop();
    else if (accept("type"))
      type();
    else if (accept("event"))
      event();
    else if (accept("wait"))
      wait();
    else if (accept("known"))
      known();
    else if (accept("steps"))
      program_.steps = steps(0);
    else if (accept("place"))
      place();
    else if (program_.types.size() == 0)
      fail("a type is expected first");
    else if (accept("grid"))
      grid();
    else if (accept("read"))
      access(false);
    else if (accept("write"))
      access(true);
    else if (accept("work"))
      work();
    else
      fail("a line of a task program is expected");
    end_of_line();
  }

  void buffer() {
    using Kind = Buffer::Kind;
    if (id('b', any_number) != program_.buffers.size()) return fail("buffers are numbered in order");
    Buffer b;
    b.kind = accept("weight")     ? Kind::weight
             : accept("argument") ? Kind::argument
             : accept("state")    ? Kind::state
             : accept("result")   ? Kind::result
                                  : (expect("temporary"), Kind::temporary);
    const auto elem = base::elem_from_name(word());
    if (!elem) return fail("an element type is expected");
    b.elem = *elem;
    b.shape = dims("[", "]");
    b.name = quoted();
    if (b.kind == Kind::result) {
      expect("result");
      b.index = static_cast<uint32_t>(number());
      if (b.index >= g_.results.size()) fail("there is no such result");
    } else if (b.kind != Kind::temporary) {
      expect("input");
      b.index = static_cast<uint32_t>(number());
      if (b.index >= g_.inputs.size()) fail("there is no such input");
    }
    const bool is_placed = accept("placed");
    if (is_placed && next_is('"')) {
      b.placement.stated =
          layout::parse(quoted(), [this](std::string_view name) { return size_named(name); });
      if (!b.placement.stated) return fail("a layout is expected, such as `S[(m,n):(1,m)]`");
    } else if (is_placed) {
      const auto placement = take(layout::parse_placement);
      if (!placement || layout::why_ill_formed(*placement, b.shape.size()))
        return fail("the order of a tensor's digits is expected, such as `(1/32, 0, 1%32)`");
      b.placement = *placement;
    }
    program_.buffers.add(std::move(b));
  }

  void loop() {
    const uint32_t number = id('l', graph_loops_.size());
    if (failed() || number != program_.loops.size()) return fail("loops are numbered in order");
    const graph::NodeId node = graph_loops_[number];
    const graph::Axis& axis = g_.nodes[node].index;
    const Var index = declare(word(), axis.var);
    expect("<");
    if (g_.nodes[node].condition) {
      declare(word(), graph::steps_var(g_.nodes[node]));
      program_.loops.add({index, axis.extent, node});
    } else {
      program_.loops.add({index, dim(), node});
    }
  }

  void type() {
    if (id('t', any_number) != program_.types.size()) return fail("types are numbered in order");
    TaskType t;
    t.family = accept("elementwise") ? Family::elementwise
               : accept("contract")  ? Family::contract
               : accept("reduce")    ? Family::reduce
               : accept("scatter")   ? Family::scatter
               : accept("order")     ? Family::order
               : accept("prefix")    ? Family::prefix
                                     : (expect("online"), Family::online);
    t.node = {id('%', g_.nodes.size())};
    if (failed() || g_.nodes[t.node].op != graph::NodeOp::compute) return fail("a compute node is expected");
    t.name = quoted();
    expect("in");
    expect("(");
    list(")", [&] { t.loops.push_back({id('l', program_.loops.size())}); });
    program_.types.add(std::move(t));
  }

  /// The type that the lines below it describe; line() has seen that there is one.
  TaskType& current() { return program_.types[TaskTypeId{program_.types.size() - 1}]; }

  void grid() {
    Coordinate c;
    const std::string name = word();
    c.var = declare(name, shape::fresh_var(name));
    expect("<");
    c.extent = dim();
    expect("by");
    c.tile = number();
    expect("on");
    c.axis = static_cast<uint32_t>(number());
    if (c.axis >= g_.nodes[current().node].domain.size()) fail("there is no such axis");
    current().coordinates.push_back(c);
  }

  void access(bool write) {
    Access a;
    a.buffer = {id('b', program_.buffers.size())};
    a.write = write;
    expect("[");
    list("]", [&] {
      const Dim low = dim();
      expect(":");
      a.box.push_back({low, dim()});
    });
    if (failed() || a.box.size() != program_.buffers[a.buffer].shape.size())
      return fail("one interval per axis is expected");
    current().accesses.push_back(std::move(a));
  }

  void work() {
    current().work = dim();
    expect("of");
    current().total_work = dim();
  }

  void event() {
    Event e;
    e.name = word();
    if (!events_.emplace(e.name, program_.events.size()).second) fail("this event is declared twice");
    expect("of");
    e.producer = {id('t', program_.types.size())};
    expect("keep");
    expect("(");
    list(")", [&] { e.kept.push_back(static_cast<uint32_t>(number())); });
    for (uint32_t c : e.kept)
      if (failed() || c >= program_.types[e.producer].coordinates.size())
        return fail("there is no such coordinate");
    expect("shape");
    e.shape = dims("(", ")");
    if (e.shape.size() != e.kept.size()) fail("one extent per kept coordinate is expected");
    expect("count");
    e.count = dim();
    program_.events.add(std::move(e));
  }

  void wait() {
    Wait w;
    w.consumer = {id('t', program_.types.size())};
    expect("on");
    const auto event = events_.find(word());
    if (event == events_.end()) return fail("there is no such event");
    w.event = {event->second};
    expect("[");
    list("]", [&] {
      const Dim first = dim();
      expect(":");
      w.box.push_back({first, dim()});
    });
    expect("at");
    w.iteration = dims("(", ")");
    const Event& of = program_.events[w.event];
    if (w.box.size() != of.shape.size()) fail("one range per axis of the event is expected");
    if (w.iteration.size() != program_.types[of.producer].loops.size())
      return fail("one index per loop of the producer is expected");
    if (accept("if")) w.guard = facts();
    expect("for");
    w.why = accept("read")        ? Wait::Why::read_after_write
            : accept("overwrite") ? Wait::Why::write_after_read
            : accept("reuse")     ? Wait::Why::reuse
                                  : (expect("rewrite"), Wait::Why::write_after_write);
    expect("of");
    w.buffer = {id('b', program_.buffers.size())};
    program_.waits.push_back(std::move(w));
  }

  void known() {
    Finished f;
    f.consumer = {id('t', program_.types.size())};
    f.producer = {id('t', program_.types.size())};
    expect("[");
    list("]", [&] {
      if (accept("*")) return f.ranges.push_back(std::nullopt);
      const Dim first = dim();
      expect(":");
      f.ranges.push_back(Wait::Range{first, dim()});
    });
    expect("through");
    f.through = dims("(", ")");
    if (accept("if")) f.guard = facts();
    expect("by");
    expect("wait");
    f.wait = static_cast<uint32_t>(number());
    if (accept("after")) {
      expect("known");
      f.after = static_cast<uint32_t>(number());
    }
    if (failed()) return;
    const TaskType& producer = program_.types[f.producer];
    if (f.ranges.size() != producer.coordinates.size()) return fail("one range per coordinate is expected");
    if (f.through.size() > producer.loops.size()) return fail("the producer has fewer loops");
    if (f.wait >= program_.waits.size()) return fail("there is no such wait");
    if (f.after && *f.after >= program_.certificate.size())
      return fail("it can only be after an earlier one");
    program_.certificate.push_back(std::move(f));
  }

  std::vector<Step> steps(size_t depth) {
    std::vector<Step> out;
    while (next_is('t') || next_is('l')) {
      Step step;
      if (next_is('t')) {
        step.task = {id('t', program_.types.size())};
      } else {
        step.loop = {id('l', program_.loops.size())};
        if (depth > graph_loops_.size()) fail("nested deeper than the graph");
        expect("(");
        step.body = steps(depth + 1);
        expect(")");
      }
      out.push_back(std::move(step));
    }
    return out;
  }

  void place() {
    graph::Value v;
    v.node = {id('%', g_.nodes.size())};
    expect(".");
    v.output = static_cast<uint32_t>(number());
    if (failed() || v.output >= g_.nodes[v.node].types.size()) return fail("there is no such value");
    Place place{{id('b', program_.buffers.size())}, std::nullopt};
    if (accept("slot")) place.slot = dim();
    if (!program_.places.empty() && !(program_.places.back().first < v))
      fail("places are in the order of values");
    program_.places.emplace_back(v, std::move(place));
  }

  const graph::Graph& g_;
  const std::vector<graph::NodeId> graph_loops_;
  Program program_;
  std::map<std::string, uint32_t> events_;
};

}  // namespace

std::optional<Program> parse(const graph::Graph& g, const std::string& text, std::string& error) {
  return Parser(g, text).run(error);
}

}  // namespace axon::task
