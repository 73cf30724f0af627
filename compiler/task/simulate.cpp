// See simulate.h. Sizes that the data decides, and how many iterations a loop with a condition has, come from
// the reference interpreter: the simulator draws orders of tasks, it does not decide which ones there are.
#include "task/simulate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/bug.h"
#include "graph/interpret_expr.h"
#include "task/simulated_memory.h"
#include "task/simulated_order.h"
#include "task/trip_counts.h"

namespace axon::task {

using Instance = SimulatedTask;
using Requirement = SimulatedOrder::Requirement;
using graph::Evaluator;
using graph::Number;
using graph::Outcome;
using graph::Tensor;
using graph::Value;

namespace {

class Simulator {
 public:
  Simulator(const Program& p, const std::vector<Tensor>& inputs, const SimulateOptions& options)
      : p_(p), g_(*p.graph), inputs_(inputs), options_(options), order_(options.seed) {}

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
    memory_.emplace(p_, options_.arena, inputs_, values_);
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
    std::vector<int64_t> extents;
    for (const auto& c : p_.types[id].coordinates) extents.push_back(number(c.extent));
    Instance task{id, iteration, {}, 0, {}, {}};
    for (const Runs& runs : runs_) {
      task.steps.push_back(runs.begun > 0 ? runs.steps[runs.begun - 1] : 0);
      task.next_steps.push_back(runs.begun < runs.steps.size() ? runs.steps[runs.begun] : 0);
    }
    order_.add(task, extents);
  }

  void bind(const Instance& i) {
    const TaskType& type = p_.types[i.type];
    for (size_t l = 0; l < type.loops.size(); ++l) values_[p_.loops[type.loops[l]].index] = i.iteration[l];
    for (size_t c = 0; c < type.coordinates.size(); ++c) values_[type.coordinates[c].var] = i.coordinates[c];
    for (size_t r = 0; r < runs_.size(); ++r)
      values_[graph::steps_var(g_.nodes[conditional_[r]])] = i.steps[r];
  }

  void run_tasks() {
    const auto waiting = order_.run([&](const Instance& i) { return missing_of(i); },
                                    [&](const Instance& i) {
                                      if (error_.empty()) execute(i);
                                      return error_.empty();
                                    });
    if (error_.empty() && waiting.count > 0)
      error_ = fmt::format("deadlock: {} tasks wait forever, one of them {}", waiting.count,
                           describe(*waiting.one));
  }

  /// The first thing that other tasks have still to do; nothing: it is ready.
  std::optional<Requirement> missing_of(const Instance& i) {
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
    const auto* const extents = order_.extents(event.producer);
    if (!extents) return std::nullopt;  // its loop runs zero times
    std::vector<int64_t> iteration;
    for (size_t l = 0; l < wait.iteration.size(); ++l) {
      const bool last = data_trip_count(p_, producer.loops[l]) &&
                        wait.iteration[l] == p_.loops[producer.loops[l]].extent - Dim(1);
      iteration.push_back(last ? SimulatedOrder::any_last : number(wait.iteration[l]));
    }
    const int64_t wanted = order_.number_of(event.producer, iteration);
    std::vector<int64_t> low(producer.coordinates.size(), 0), high = *extents;
    for (int64_t& h : high) --h;
    for (size_t a = 0; a < event.kept.size(); ++a) {
      low[event.kept[a]] = number(wait.box[a].first);
      high[event.kept[a]] = number(wait.box[a].last);
    }
    std::optional<Requirement> missing;
    for_box(low, high, [&](const std::vector<int64_t>& at) {
      for (size_t c = 0; c < at.size(); ++c)
        if (at[c] < 0 || at[c] >= (*extents)[c]) return fail("a wait outside the event's shape"), true;
      const Requirement wants{event.producer, order_.cell(event.producer, at), wanted};
      if (!order_.has_finished(wants)) missing = wants;
      return !missing;
    });
    return missing;
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
    const std::string& name = p_.buffers[buffer].name;
    const auto offset = memory_->offset(buffer, at);
    if (!offset)
      return fail(fmt::format("{} reads {} outside its shape at [{}]", describe(i), name, list(at))),
             Number{};
    if (!memory_->is_written(buffer, *offset))
      return fail(fmt::format("{} reads {}[{}], which nothing has written", describe(i), name, list(at))),
             Number{};
    if (in_box && !declared(i, buffer, at, false))
      return fail(fmt::format("{} reads {}[{}] outside its declared box", describe(i), name, list(at))),
             Number{};
    return memory_->load(buffer, *offset);
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
    const std::string& name = p_.buffers[buffer].name;
    const auto offset = memory_->offset(buffer, at);
    if (!offset)
      return fail(fmt::format("{} writes {} outside its shape at [{}]", describe(i), name, list(at)));
    if (!declared(i, buffer, at, true))
      return fail(fmt::format("{} writes {}[{}] outside its declared box", describe(i), name, list(at)));
    memory_->store(buffer, *offset, value);
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
    Tensor t;
    t.elem = type.elem;
    size_t count = 1;
    for (const Dim& d : type.shape) {
      t.shape.push_back(number(d));
      count *= static_cast<size_t>(t.shape.back());
    }
    const size_t start = place && place->slot ? static_cast<size_t>(number(*place->slot)) * count : 0;
    for (size_t e = start; e < start + count; ++e) {
      if (!memory_->is_written(id, e))
        fail(fmt::format("result {} was not written at element {}", p_.buffers[id].name, e - start));
      if (base::is_float(type.elem))
        t.floats.push_back(memory_->load(id, e).real);
      else
        t.integers.push_back(memory_->load(id, e).integer);
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
  SimulatedOrder order_;
  shape::Assignment values_;
  std::optional<SimulatedMemory> memory_;  ///< once sizes are known
  std::vector<Runs> runs_;                 ///< of every loop with a condition
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
