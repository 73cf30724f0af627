// See simulate.h. Sizes that the data decides, and how many iterations a loop with a condition has, come from
// the reference interpreter: the simulator draws orders of tasks, it does not decide which ones there are.
#include "task/simulate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>

#include "base/bug.h"
#include "graph/interpret_expr.h"
#include "task/trip_counts.h"

namespace axon::task {

using graph::Evaluator;
using graph::Number;
using graph::Outcome;
using graph::Tensor;
using graph::Value;

namespace {

/// One task: type, iteration of its loops, coordinates.
struct Instance {
  TaskTypeId type;
  std::vector<int64_t> iteration, coordinates;
  int64_t order = 0;  ///< number of the iteration among those of its type
  /// Of loops with a condition: the steps of the run that it stands in or behind, and of the next one.
  std::vector<int64_t> steps, next_steps;
};

constexpr int64_t any_last = INT64_MAX;  ///< an iteration that is the last one, whatever its number

struct Memory {
  std::vector<int64_t> shape;
  std::vector<Number> values;
  std::vector<bool> written;
  std::optional<size_t> offset(const std::vector<int64_t>& index) const {
    size_t at = 0;
    for (size_t a = 0; a < shape.size(); ++a) {
      if (index[a] < 0 || index[a] >= shape[a]) return std::nullopt;
      at = at * static_cast<size_t>(shape[a]) + static_cast<size_t>(index[a]);
    }
    return at;
  }
};

class Simulator {
 public:
  Simulator(const Program& p, const std::vector<Tensor>& inputs, const SimulateOptions& options)
      : p_(p), g_(*p.graph), inputs_(inputs), options_(options), random_(options.seed) {}

  Outcome run(const shape::Assignment& parameters) {
    std::string error;
    const auto solved = graph::solve_sizes(g_, inputs_, parameters, error);
    if (!solved) return failure(error);
    values_ = *solved;
    for (const Fact& f : p_.guard)
      if (!holds(f)) return failure("the sizes do not satisfy the guard of this variant");
    for (const auto& check : g_.checks)
      if (const std::string words = refused(check); !words.empty()) return failure(words);
    if (!conditional_.empty() || !graph::data_sizes(g_).empty()) {
      Outcome reference = graph::interpret(g_, inputs_, parameters, options_.precision);
      if (!reference.error.empty()) return reference;
      values_.insert(reference.data_values.begin(), reference.data_values.end());
      for (graph::NodeId loop : conditional_)
        runs_.push_back({reference.steps[graph::steps_var(g_.nodes[loop])], 0});
    }
    if (!prepare_memory()) return failure(error_);
    enumerate(p_.steps, {});
    run_tasks();
    return error_.empty() ? collect() : failure(error_);
  }

 private:
  static Outcome failure(std::string error) {
    Outcome o;
    o.error = std::move(error);
    return o;
  }

  int64_t number(const Dim& d) const {
    const auto v = d.evaluate(values_);
    if (!v) base::bug("task::simulate", "cannot evaluate " + d.str());
    return *v;
  }
  bool holds(const Fact& f) const { return shape::holds(f.relation, number(f.lhs), number(f.rhs)); }

  /// What the host says of a check before the launch; empty where it holds, or is not the host's.
  std::string refused(const graph::Check& check) const {
    if (check.fact) return holds(*check.fact) ? "" : check.message;
    const auto input = graph::input_checked_by_host(g_, check);
    if (!input) return "";
    const int64_t bound = number(check.bound);
    for (const int64_t v : inputs_[*input].integers)
      if (v < 0 || v >= bound) return graph::fill_sides(check.message + graph::index_words, v, bound - 1);
    return "";
  }

  // ---- memory ----

  bool prepare_memory() {
    for (const Buffer& buffer : p_.buffers) {
      Memory m;
      size_t count = 1;
      for (const Dim& d : buffer.shape) {
        m.shape.push_back(number(d));
        count *= static_cast<size_t>(std::max<int64_t>(m.shape.back(), 0));
      }
      m.values.resize(count);
      m.written.assign(count, false);
      const bool given = buffer.kind == Buffer::Kind::weight || buffer.kind == Buffer::Kind::argument ||
                         buffer.kind == Buffer::Kind::state;
      if (given) {
        const Tensor& t = inputs_[buffer.index];
        for (size_t i = 0; i < count; ++i) {
          if (base::is_float(t.elem))
            m.values[i].real = t.floats[i];
          else
            m.values[i].integer = t.integers[i];
          m.written[i] = true;
        }
      }
      memory_.push_back(std::move(m));
    }
    place_in_arena();
    return true;
  }

  static constexpr size_t alignment = 64;

  struct Neighbour {
    BufferId buffer;
    int64_t distance;  ///< bytes from the start of this buffer to the start of the other
  };

  size_t bytes_of(BufferId id) const {
    return memory_[id.index].values.size() * static_cast<size_t>(base::elem_bytes(p_.buffers[id].elem));
  }

  void place_in_arena() {
    neighbours_.resize(memory_.size());
    std::vector<size_t> begins, ends;
    for (const auto& [buffer, above] : options_.arena) {
      size_t begin = 0;
      for (const uint32_t below : above) begin = std::max(begin, ends[below]);
      const size_t end = begin + (bytes_of(buffer) + alignment - 1) / alignment * alignment;
      for (size_t other = 0; other < begins.size(); ++other) {
        if (begin >= ends[other] || begins[other] >= end) continue;
        const BufferId id = options_.arena[other].buffer;
        const auto distance = static_cast<int64_t>(begin) - static_cast<int64_t>(begins[other]);
        neighbours_[id.index].push_back({buffer, distance});
        neighbours_[buffer.index].push_back({id, -distance});
      }
      begins.push_back(begin);
      ends.push_back(end);
    }
  }

  /// Writing bytes of one buffer destroys what others keep there.
  void poison_shared(BufferId id, size_t element) {
    const auto bytes = static_cast<int64_t>(base::elem_bytes(p_.buffers[id].elem));
    for (const auto& [other, distance] : neighbours_[id.index]) {
      Memory& m = memory_[other.index];
      const auto width = static_cast<int64_t>(base::elem_bytes(p_.buffers[other].elem));
      const int64_t begin = static_cast<int64_t>(element) * bytes - distance;  // as the other counts
      const int64_t end = std::min(begin + bytes, static_cast<int64_t>(m.written.size()) * width);
      for (int64_t e = std::max<int64_t>(begin, 0) / width; e * width < end; ++e)
        m.written[static_cast<size_t>(e)] = false;
    }
  }

  // ---- order ----

  void enumerate(const std::vector<Step>& steps, const std::vector<int64_t>& iteration) {
    for (const Step& step : steps) {
      if (step.task.valid()) {
        add_instances(step.task, iteration);
        continue;
      }
      const Loop& loop = p_.loops[step.loop];
      begin_run(loop);
      const int64_t extent = number(loop.extent);
      for (int64_t i = 0; i < extent; ++i) {
        values_[loop.index] = i;
        auto inner = iteration;
        inner.push_back(i);
        enumerate(step.body, inner);
      }
      values_.erase(loop.index);
    }
  }

  struct Runs {
    std::vector<int64_t> steps;
    size_t begun = 0;
  };

  void begin_run(const Loop& loop) {
    const auto at = std::find(conditional_.begin(), conditional_.end(), loop.node);
    if (at == conditional_.end()) return;
    Runs& runs = runs_[static_cast<size_t>(at - conditional_.begin())];
    values_[graph::steps_var(g_.nodes[loop.node])] = runs.steps.at(runs.begun++);
  }

  void add_instances(TaskTypeId id, const std::vector<int64_t>& iteration) {
    const TaskType& type = p_.types[id];
    std::vector<int64_t> extents;
    for (const auto& c : type.coordinates) extents.push_back(number(c.extent));
    std::vector<int64_t> at(extents.size(), 0);
    const auto order = static_cast<int64_t>(iterations_[id].size());
    iterations_[id].push_back(iteration);
    std::vector<int64_t> steps, next_steps;
    for (const Runs& runs : runs_) {
      steps.push_back(runs.begun > 0 ? runs.steps[runs.begun - 1] : 0);
      next_steps.push_back(runs.begun < runs.steps.size() ? runs.steps[runs.begun] : 0);
    }
    for (;;) {
      unblocked_.push_back(tasks_.size());
      tasks_.push_back({id, iteration, at, order, steps, next_steps});
      size_t a = at.size();
      while (a > 0 && ++at[a - 1] == extents[a - 1]) at[--a] = 0;
      if (a == 0) break;
    }
    auto& grid = done_[id];
    size_t tasks = 1;
    for (int64_t e : extents) tasks *= static_cast<size_t>(e);
    if (grid.size() < tasks) grid.resize(tasks, -1);
    blocked_[id].resize(grid.size());
    extents_[id] = extents;
  }

  /// The number of the last iteration up to the one wanted; -1: there is none. One that never comes has a
  /// number that is never reached.
  int64_t number_of(TaskTypeId id, const std::vector<int64_t>& wanted) const {
    const auto& all = iterations_.at(id);
    const auto next = std::upper_bound(all.begin(), all.end(), wanted);
    const bool never = next == all.end() && all.back() != wanted &&
                       std::find(wanted.begin(), wanted.end(), any_last) == wanted.end();
    return next - all.begin() - (never ? 0 : 1);
  }

  size_t grid_index(TaskTypeId type, const std::vector<int64_t>& coordinates) const {
    size_t n = 0;
    const auto& extents = extents_.at(type);
    for (size_t c = 0; c < coordinates.size(); ++c)
      n = n * static_cast<size_t>(extents[c]) + static_cast<size_t>(coordinates[c]);
    return n;
  }

  void bind(const Instance& i) {
    const TaskType& type = p_.types[i.type];
    for (size_t l = 0; l < type.loops.size(); ++l) values_[p_.loops[type.loops[l]].index] = i.iteration[l];
    for (size_t c = 0; c < type.coordinates.size(); ++c) values_[type.coordinates[c].var] = i.coordinates[c];
    for (size_t r = 0; r < runs_.size(); ++r)
      values_[graph::steps_var(g_.nodes[conditional_[r]])] = i.steps[r];
  }

  /// What a task waits for: that a cell of a grid has finished an iteration.
  struct Requirement {
    TaskTypeId type;
    size_t cell;
    int64_t order;
  };
  struct Blocked {
    size_t task;
    int64_t order;  ///< of the iteration that it waits for
  };

  /// Draws among the tasks that are not known to wait for another one. One that does wait is put aside with
  /// the first thing that it waits for, and drawn again after that: nothing finished becomes unfinished, so
  /// a ready task stays ready, and each is as likely as any other.
  void run_tasks() {
    size_t left = tasks_.size();
    while (!unblocked_.empty() && error_.empty()) {
      std::swap(unblocked_[std::uniform_int_distribution<size_t>(0, unblocked_.size() - 1)(random_)],
                unblocked_.back());
      const size_t task = unblocked_.back();
      unblocked_.pop_back();
      if (const auto missing = missing_of(tasks_[task])) {
        blocked_.at(missing->type)[missing->cell].push_back({task, missing->order});
        continue;
      }
      execute(tasks_[task]);
      finish(tasks_[task]);
      --left;
    }
    if (error_.empty() && left > 0)
      error_ =
          fmt::format("deadlock: {} tasks wait forever, one of them {}", left, describe(first_blocked()));
  }

  void finish(const Instance& i) {
    const size_t cell = grid_index(i.type, i.coordinates);
    done_[i.type][cell] = i.order;
    std::erase_if(blocked_.at(i.type)[cell], [&](const Blocked& b) {
      if (b.order > i.order) return false;
      unblocked_.push_back(b.task);
      return true;
    });
  }

  const Instance& first_blocked() const {
    for (const auto& [type, cells] : blocked_)
      for (const auto& tasks : cells)
        if (!tasks.empty()) return tasks_[tasks.front().task];
    base::bug("task::simulate", "no task is blocked");
  }

  /// The first thing that a task still waits for; nothing: it is ready.
  std::optional<Requirement> missing_of(const Instance& i) {
    const size_t own = grid_index(i.type, i.coordinates);
    if (done_.at(i.type)[own] != i.order - 1) return Requirement{i.type, own, i.order - 1};
    bind(i);
    for (const Wait& wait : p_.waits)
      if (wait.consumer == i.type)
        if (const auto missing = missing_of(wait)) return missing;
    return std::nullopt;
  }

  std::optional<Requirement> missing_of(const Wait& wait) {
    for (const Fact& f : wait.guard)
      if (!holds(f)) return std::nullopt;
    const Event& event = p_.events[wait.event];
    const TaskType& producer = p_.types[event.producer];
    const auto extents = extents_.find(event.producer);
    if (extents == extents_.end()) return std::nullopt;  // its loop runs zero times
    std::vector<int64_t> iteration;
    for (size_t l = 0; l < wait.iteration.size(); ++l) {
      const bool last = data_trip_count(p_, producer.loops[l]) &&
                        wait.iteration[l] == p_.loops[producer.loops[l]].extent - Dim(1);
      iteration.push_back(last ? any_last : number(wait.iteration[l]));
    }
    const int64_t wanted = number_of(event.producer, iteration);
    std::vector<int64_t> low(producer.coordinates.size(), 0), high = extents->second;
    for (int64_t& h : high) --h;
    for (size_t a = 0; a < event.kept.size(); ++a) {
      low[event.kept[a]] = number(wait.box[a].first);
      high[event.kept[a]] = number(wait.box[a].last);
    }
    const auto& grid = done_.at(event.producer);
    std::optional<Requirement> missing;
    for_box(low, high, [&](const std::vector<int64_t>& at) {
      for (size_t c = 0; c < at.size(); ++c)
        if (at[c] < 0 || at[c] >= extents->second[c]) return fail("a wait outside the event's shape"), true;
      const size_t cell = grid_index(event.producer, at);
      if (grid[cell] < wanted) missing = Requirement{event.producer, cell, wanted};
      return !missing;
    });
    return missing;
  }

  /// True when `f` is true at every point of the inclusive box.
  static bool for_box(const std::vector<int64_t>& low, const std::vector<int64_t>& high,
                      const std::function<bool(const std::vector<int64_t>&)>& f) {
    for (size_t a = 0; a < low.size(); ++a)
      if (low[a] > high[a]) return true;
    std::vector<int64_t> at = low;
    for (;;) {
      if (!f(at)) return false;
      size_t a = at.size();
      while (a > 0 && ++at[a - 1] > high[a - 1]) {
        --a;
        at[a] = low[a];
      }
      if (a == 0) return true;
    }
  }

  // ---- one task ----

  class CallersMemory : public BodyMemory {
   public:
    CallersMemory(Simulator& of, const Instance& task) : of_(of), task_(task) {}
    Number read(BufferId buffer, const std::vector<int64_t>& index) override {
      // A program may load, and not use, what a task does not have; where no task writes, it is there.
      return of_.read_element(task_, buffer, index, of_.is_written(buffer));
    }
    void write(BufferId buffer, const std::vector<int64_t>& index, const Number& value) override {
      const graph::NodeId node = of_.p_.types[task_.type].node;
      for (uint32_t o = 0; o < of_.g_.nodes[node].outputs.size(); ++o)
        if (of_.p_.place({node, o}).buffer == buffer && !of_.agrees_with_steps(task_, {node, o}, value))
          return of_.fail(fmt::format("{} decides otherwise than the interpreter", of_.describe(task_)));
      of_.write_element(task_, buffer, index, value);
    }

   private:
    Simulator& of_;
    const Instance& task_;
  };

  void execute(const Instance& i) {
    bind(i);
    ++execution_;
    if (options_.body) {
      CallersMemory memory(*this, i);
      if (const auto ran = options_.body(i.type, values_, memory)) {
        if (!ran->empty()) fail(fmt::format("{}: {}", describe(i), *ran));
        return;
      }
    }
    evaluate(i);
  }

  void evaluate(const Instance& i) {
    const TaskType& type = p_.types[i.type];
    const graph::Node& node = g_.nodes[type.node];
    std::map<std::pair<uint32_t, std::vector<int64_t>>, Number> locals;
    Evaluator evaluator(g_, options_.precision, [&](Value v, const std::vector<int64_t>& index) {
      if (!v.is_local()) return read(i, v, index);
      const auto key = std::pair{v.output, index};
      if (const auto it = locals.find(key); it != locals.end()) return it->second;
      return locals[key] = evaluate_local(i, node, v.output, index, locals);
    });
    bind_all(evaluator);
    std::vector<int64_t> low, high;
    for (uint32_t a = 0; a < node.domain.size(); ++a) {
      low.push_back(0);
      high.push_back(number(node.domain[a].extent) - 1);
      for (size_t c = 0; c < type.coordinates.size(); ++c) {
        if (type.coordinates[c].axis != a) continue;
        low.back() = i.coordinates[c] * type.coordinates[c].tile;
        high.back() = std::min(high.back(), low.back() + type.coordinates[c].tile - 1);
      }
    }
    for_box(low, high, [&](const std::vector<int64_t>& at) {
      for (size_t a = 0; a < at.size(); ++a) {
        evaluator.bind(node.domain[a].var, at[a]);
        values_[node.domain[a].var] = at[a];
      }
      // All values before any store: an output may read the element that another one updates.
      std::vector<Number> values;
      for (const graph::Output& output : node.outputs) values.push_back(evaluator.evaluate(output.body));
      for (uint32_t o = 0; o < values.size() && error_.empty(); ++o) write(i, {type.node, o}, values[o]);
      if (!evaluator.error().empty()) fail(evaluator.error());
      return error_.empty();
    });
  }

  void bind_all(Evaluator& evaluator) const {
    for (const auto& [var, value] : values_) evaluator.bind(var, value);
  }

  /// Locals are evaluated on demand, each in its own evaluator, so that an outer evaluation is not disturbed.
  Number evaluate_local(const Instance& i, const graph::Node& node, uint32_t local,
                        const std::vector<int64_t>& index,
                        std::map<std::pair<uint32_t, std::vector<int64_t>>, Number>& memo) {
    auto& evaluator = local_evaluators_[{i.type, local}];
    memo_ = &memo;
    current_ = &i;
    if (!evaluator)
      evaluator = std::make_unique<Evaluator>(g_, options_.precision, [this, &node](Value v, const auto& at) {
        if (!v.is_local()) return read(*current_, v, at);
        const auto key = std::pair{v.output, at};
        if (const auto it = memo_->find(key); it != memo_->end()) return it->second;
        auto& m = *memo_;
        return m[key] = evaluate_local(*current_, node, v.output, at, m);
      });
    auto& used_in = local_used_in_[{i.type, local}];
    if (used_in != execution_) {
      used_in = execution_;
      evaluator = nullptr;  // memory has changed since: nothing remembered may be used
      return evaluate_local(i, node, local, index, memo);
    }
    bind_all(*evaluator);
    for (size_t a = 0; a < index.size(); ++a) evaluator->bind(node.locals[local].domain[a].var, index[a]);
    const Number n = evaluator->evaluate(node.locals[local].body);
    if (!evaluator->error().empty()) fail(evaluator->error());
    return n;
  }

  Number read(const Instance& i, Value v, const std::vector<int64_t>& index) {
    const Place& place = p_.place(v);
    return read_element(i, place.buffer, with_slot(place, index));
  }

  bool is_written(BufferId buffer) const {
    return std::any_of(p_.types.begin(), p_.types.end(), [&](const TaskType& type) {
      return std::any_of(type.accesses.begin(), type.accesses.end(),
                         [&](const Access& a) { return a.write && a.buffer == buffer; });
    });
  }

  /// `in_box`: only what the task declares.
  Number read_element(const Instance& i, BufferId buffer, const std::vector<int64_t>& at,
                      bool in_box = true) {
    const Memory& m = memory_[buffer.index];
    const std::string& name = p_.buffers[buffer].name;
    const auto offset = m.offset(at);
    if (!offset)
      return fail(fmt::format("{} reads {} outside its shape at [{}]", describe(i), name, list(at))),
             Number{};
    if (!m.written[*offset])
      return fail(fmt::format("{} reads {}[{}], which nothing has written", describe(i), name, list(at))),
             Number{};
    if (in_box && !declared(i, buffer, at, false))
      return fail(fmt::format("{} reads {}[{}] outside its declared box", describe(i), name, list(at))),
             Number{};
    return m.values[*offset];
  }

  void write(const Instance& i, Value v, Number value) {
    const Place& place = p_.place(v);
    std::vector<int64_t> index;
    for (const Dim& d : g_.nodes[v.node].outputs[v.output].at) index.push_back(number(d));
    if (!agrees_with_steps(i, v, value))
      return fail(fmt::format("{} decides otherwise than the interpreter", describe(i)));
    write_element(i, place.buffer, with_slot(place, index), value);
  }

  void write_element(const Instance& i, BufferId buffer, const std::vector<int64_t>& at, Number value) {
    Memory& m = memory_[buffer.index];
    const std::string& name = p_.buffers[buffer].name;
    const auto offset = m.offset(at);
    if (!offset)
      return fail(fmt::format("{} writes {} outside its shape at [{}]", describe(i), name, list(at)));
    if (!declared(i, buffer, at, true))
      return fail(fmt::format("{} writes {}[{}] outside its declared box", describe(i), name, list(at)));
    m.values[*offset] = value;
    m.written[*offset] = true;
    poison_shared(buffer, *offset);
  }

  /// Does a condition hold for just the iterations that there are?
  bool agrees_with_steps(const Instance& i, Value v, Number value) const {
    for (size_t r = 0; r < conditional_.size(); ++r) {
      const graph::Node& loop = g_.nodes[conditional_[r]];
      const graph::Carried& condition = loop.carried[*loop.condition];
      const bool holds = value.integer != 0;
      if (v == condition.init && holds != (i.next_steps[r] > 0)) return false;
      if (v == condition.result && holds != (number(loop.index.var) + 1 < i.steps[r])) return false;
    }
    return true;
  }

  std::vector<int64_t> with_slot(const Place& place, const std::vector<int64_t>& index) const {
    std::vector<int64_t> at;
    if (place.slot) at.push_back(number(*place.slot));
    at.insert(at.end(), index.begin(), index.end());
    return at;
  }

  bool declared(const Instance& i, BufferId buffer, const std::vector<int64_t>& at, bool write) const {
    for (const Access& access : p_.types[i.type].accesses) {
      if (access.buffer != buffer || access.write != write) continue;
      bool inside = true;
      for (size_t a = 0; a < at.size() && inside; ++a)
        inside = number(access.box[a].low) <= at[a] && at[a] < number(access.box[a].high);
      if (inside) return true;
    }
    return false;
  }

  // ---- results ----

  Tensor contents(BufferId id, const Place* place, const graph::TensorType& type) {
    const Memory& m = memory_[id.index];
    Tensor t;
    t.elem = type.elem;
    size_t count = 1;
    for (const Dim& d : type.shape) {
      t.shape.push_back(number(d));
      count *= static_cast<size_t>(t.shape.back());
    }
    const size_t start = place && place->slot ? static_cast<size_t>(number(*place->slot)) * count : 0;
    for (size_t e = start; e < start + count; ++e) {
      if (!m.written[e])
        fail(fmt::format("result {} was not written at element {}", p_.buffers[id].name, e - start));
      if (base::is_float(type.elem))
        t.floats.push_back(m.values[e].real);
      else
        t.integers.push_back(m.values[e].integer);
    }
    return t;
  }

  Outcome collect() {
    Outcome outcome;
    for (const auto& result : g_.results) {
      const Place& place = p_.place(result.value);
      outcome.results.push_back(contents(place.buffer, &place, g_.type(result.value)));
    }
    for (uint32_t b = 0; b < p_.buffers.size(); ++b) {
      const Buffer& buffer = p_.buffers[BufferId{b}];
      if (buffer.kind == Buffer::Kind::state)
        outcome.states.push_back(contents({b}, nullptr, g_.inputs[buffer.index].type));
    }
    if (!error_.empty()) return failure(error_);
    return outcome;
  }

  // ---- words ----

  void fail(std::string message) {
    if (error_.empty()) error_ = std::move(message);
  }
  static std::string list(const std::vector<int64_t>& v) { return fmt::format("{}", fmt::join(v, ", ")); }
  std::string describe(const Instance& i) const {
    return fmt::format("{}({}{}{})", p_.types[i.type].name, list(i.iteration),
                       i.iteration.empty() ? "" : "; ", list(i.coordinates));
  }

  const Program& p_;
  const graph::Graph& g_;
  const std::vector<Tensor>& inputs_;
  const SimulateOptions& options_;
  const std::vector<graph::NodeId> conditional_ = graph::conditional_loops(g_);
  std::mt19937_64 random_;
  shape::Assignment values_;
  std::vector<Memory> memory_;
  std::vector<std::vector<Neighbour>> neighbours_;  ///< by buffer: those whose memory meets its own
  std::vector<Instance> tasks_;
  std::vector<size_t> unblocked_;  ///< tasks that have not run and of which it is not known that they wait
  std::map<TaskTypeId, std::vector<std::vector<Blocked>>> blocked_;  ///< the others, by what they wait for
  std::map<TaskTypeId, std::vector<int64_t>>
      done_;  ///< per task of the grid: last finished iteration, -1 before
  std::map<TaskTypeId, std::vector<int64_t>> extents_;
  std::map<TaskTypeId, std::vector<std::vector<int64_t>>> iterations_;  ///< of every type, in order
  std::vector<Runs> runs_;                                              ///< of every loop with a condition
  std::map<std::pair<TaskTypeId, uint32_t>, std::unique_ptr<Evaluator>> local_evaluators_;
  std::map<std::pair<TaskTypeId, uint32_t>, uint64_t> local_used_in_;
  uint64_t execution_ = 0;  ///< how many tasks have run
  std::map<std::pair<uint32_t, std::vector<int64_t>>, Number>* memo_ = nullptr;
  const Instance* current_ = nullptr;
  std::string error_;
};

}  // namespace

Outcome simulate(const Program& p, const std::vector<Tensor>& inputs, const shape::Assignment& parameters,
                 const SimulateOptions& options) {
  return Simulator(p, inputs, options).run(parameters);
}

}  // namespace axon::task
