#include "workers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <random>

#include "task/brute_force.h"

namespace axon::plan {

namespace {

using task::Concrete;
using task::Instance;

/// Per worker, how many of its actions are known to be over.
using Clock = std::vector<size_t>;

/// One thing that a worker does. `words` are positions in the event area.
struct Action {
  enum class Kind : uint8_t { wait, goes_on, run, notify } kind;
  std::vector<int64_t> words;
  int64_t value = 0;      ///< wait, goes_on: at least; notify: what is stored
  bool expected = false;  ///< goes_on: does the word hold more than the value?
  size_t instance = 0;    ///< run
};

/// What one worker does in one launch, in its order.
class Script {
 public:
  Script(const Variant& v, const Concrete& grid, const shape::Assignment& sizes, uint64_t seed,
         size_t workers, size_t worker, int64_t epoch)
      : v_(v),
        p_(v.program),
        grid_(grid),
        values_(sizes),
        seed_(seed),
        workers_(workers),
        worker_(worker),
        epoch_(epoch) {
    for (size_t i = 0; i < grid_.instances().size(); ++i) {
      const Instance& at = grid_.instances()[i];
      auto& iterations = iterations_[at.type];
      if (iterations.empty() || iterations.back() != at.iteration) iterations.push_back(at.iteration);
      number_.push_back(static_cast<int64_t>(iterations.size()) - 1);
    }
    walk(v_.steps);
  }

  std::vector<Action> take() { return std::move(actions_); }
  const std::string& wrong() const { return wrong_; }

 private:
  int64_t number(const Dim& d) {
    const auto value = d.evaluate(values_);
    if (!value) fail(d.str() + " is not known");
    return value.value_or(0);
  }
  void fail(std::string words) {
    if (wrong_.empty()) wrong_ = std::move(words);
  }

  int64_t word(uint32_t region, int64_t n) {
    if (region >= v_.event_offset.size()) return fail("words of nothing"), 0;
    return number(v_.event_offset[region]) + n;
  }
  void wait(int64_t at, int64_t value) { actions_.push_back({Action::Kind::wait, {at}, value}); }
  void notify(int64_t at, int64_t value) { actions_.push_back({Action::Kind::notify, {at}, value}); }

  /// The number of a task in its grid.
  int64_t number_in_grid(const Instance& at) const {
    int64_t n = 0;
    for (size_t c = 0; c < at.coordinates.size(); ++c) n = n * grid_.grid(at.type)[c] + at.coordinates[c];
    return n;
  }

  void walk(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      for (const uint32_t n : step.needs) {
        if (n >= v_.data_sizes.size()) return fail("a size that nobody publishes is needed");
        wait(word(v_.data_sizes[n].word, 0), epoch_ + 1);
      }
      if (step.segment)
        segment(*step.segment);
      else
        loop(step);
    }
  }

  // ---- loops ----

  /// Of all runs of a loop so far.
  struct Counts {
    int64_t steps = 0, runs = 0;
  };

  void loop(const Step& step) {
    const task::Loop& loop = p_.loops[step.loop];
    const graph::Node& node = p_.graph->nodes[loop.node];
    const ExitCondition* exit = nullptr;
    for (const ExitCondition& d : v_.exit_conditions)
      if (d.loop == step.loop) exit = &d;
    if (node.condition) {
      if (!exit) return fail("a loop has no exit condition");
      values_[graph::steps_var(node)] = next_steps(step.loop);
      ++begun_[step.loop];
    }
    const int64_t extent = number(loop.extent);
    for (int64_t i = 0; i < extent; ++i) {
      if (exit) goes_on(*exit, i, true);
      values_[loop.index] = i;
      iteration_.push_back(i);
      walk(step.body);
      iteration_.pop_back();
    }
    values_.erase(loop.index);
    if (!exit) return;
    goes_on(*exit, extent, false);
    if (!exit->left) return;
    Counts& counts = counts_[step.loop];
    counts.steps += extent;
    ++counts.runs;
    notify(word(*exit->left, static_cast<int64_t>(worker_)), epoch_ + counts.runs);
  }

  /// How many steps a loop's next run takes (task::Concrete).
  int64_t next_steps(task::LoopId loop) { return static_cast<int64_t>((begun_[loop] + seed_) % 3); }

  int64_t number_of(const ExitCondition& d, int64_t iteration) {
    const Counts& counts = counts_[d.loop];
    return d.left ? counts.steps + counts.runs + iteration : iteration;
  }
  int64_t stop_word(const ExitCondition& d, int64_t iteration) {
    return epoch_ + 2 * number_of(d, iteration) + 1;
  }

  void goes_on(const ExitCondition& d, int64_t iteration, bool expected) {
    actions_.push_back({Action::Kind::goes_on, {word(d.word, 0)}, stop_word(d, iteration), expected});
  }

  // ---- segments ----

  /// As workers.h says, in its own words.
  size_t first_task(const Segment& segment, size_t tasks, size_t worker) {
    if (!segment.line || number(segment.line->whole) > static_cast<int64_t>(workers_))
      return segment.line && segment.line->from_end ? tasks * worker / workers_
                                                    : (tasks * worker + workers_ - 1) / workers_;
    const int64_t at = static_cast<int64_t>(worker) - number(segment.line->before);
    return at < 0 ? 0 : std::min(static_cast<size_t>(at), tasks);
  }

  void segment(const Segment& segment) {
    std::vector<size_t> tasks;
    for (const size_t i : grid_.of_type(segment.type))
      if (grid_.instances()[i].iteration == iteration_) tasks.push_back(i);
    if (segment.folded && !fold(*segment.folded, tasks))
      return fail("a coordinate that is not there is folded");
    const size_t first = first_task(segment, tasks.size(), worker_),
                 end = first_task(segment, tasks.size(), worker_ + 1);
    for (size_t n = first; n < end; ++n) {
      if (n == first) waits(segment.hoisted, tasks[n]);
      waits(segment.per_task, tasks[n]);
      actions_.push_back({Action::Kind::run, {}, 0, false, tasks[n]});
      for (const uint32_t d : segment.exit_conditions) publish(v_.exit_conditions[d], segment.type);
      for (const uint32_t n_size : segment.data_sizes)
        notify(word(v_.data_sizes[n_size].word, 0), epoch_ + 1);
      for (uint32_t e = 0; e < p_.events.size(); ++e)
        if (p_.events[task::EventId{e}].producer == segment.type)
          notify(word(e, number_in_grid(grid_.instances()[tasks[n]])), epoch_ + number_[tasks[n]] + 1);
    }
    if (segment.barrier_after) barrier(segment.type, tasks);
  }

  /// Puts the tasks into the order first, last, second, last but one of a coordinate.
  bool fold(size_t coordinate, std::vector<size_t>& tasks) {
    if (tasks.empty()) return true;
    const auto& grid = grid_.grid(grid_.instances()[tasks[0]].type);
    if (coordinate >= grid.size()) return false;
    size_t inner = 1;
    for (size_t c = coordinate + 1; c < grid.size(); ++c) inner *= static_cast<size_t>(grid[c]);
    const auto extent = static_cast<size_t>(grid[coordinate]);
    const std::vector<size_t> in_order = tasks;
    for (size_t n = 0; n < tasks.size(); ++n) {
      const size_t at = n / inner % extent;
      const size_t tile = at % 2 == 0 ? at / 2 : extent - (at + 1) / 2;
      tasks[n] = in_order[n - at * inner + tile * inner];
    }
    return true;
  }

  /// A word that has the number of a later iteration has had those of all before it.
  void waits(const std::vector<uint32_t>& list, size_t own) {
    for (const uint32_t w : list) {
      const task::Wait& wait = p_.waits[w];
      const auto once = loops_waited_once(p_, wait);
      if (std::any_of(once.begin(), once.end(),
                      [&](task::LoopId l) { return values_.at(p_.loops[l].index) != 0; }))
        continue;
      std::map<int64_t, int64_t> last;  // by word
      for (const size_t other : grid_.awaited(wait, grid_.instances()[own])) {
        int64_t& value = last[word(wait.event.index, number_in_grid(grid_.instances()[other]))];
        value = std::max(value, epoch_ + number_[other] + 1);
      }
      for (const auto& [at, value] : last) this->wait(at, value);
    }
  }

  void barrier(task::TaskTypeId type, const std::vector<size_t>& tasks) {
    for (uint32_t e = 0; e < p_.events.size(); ++e) {
      if (p_.events[task::EventId{e}].producer != type) continue;
      for (const size_t i : tasks)
        wait(word(e, number_in_grid(grid_.instances()[i])), epoch_ + number_[i] + 1);
      return;
    }
  }

  void publish(const ExitCondition& d, task::TaskTypeId type) {
    const task::Loop& loop = p_.loops[d.loop];
    const graph::Node& node = p_.graph->nodes[loop.node];
    const bool first = p_.types[type].node == node.carried[*node.condition].init.node;
    const int64_t next = first ? 0 : values_.at(loop.index) + 1;
    const int64_t steps = first ? next_steps(d.loop) : values_.at(graph::steps_var(node));
    const int64_t each = std::max<int64_t>(d.left ? 2 : 1, number(d.inner));
    const bool starts = next < steps;
    if (starts && number_of(d, next) >= epoch_limit / each - (d.left ? 2 : 0))
      fail("a loop ends before its steps are done");
    if (first && d.left && counts_[d.loop].runs > 0)
      for (size_t w = 0; w < workers_; ++w)
        wait(word(*d.left, static_cast<int64_t>(w)), epoch_ + counts_[d.loop].runs);
    notify(word(d.word, 0), stop_word(d, next) + (starts ? 1 : 0));
  }

  const Variant& v_;
  const task::Program& p_;
  const Concrete& grid_;
  shape::Assignment values_;
  const uint64_t seed_;
  const size_t workers_, worker_;
  const int64_t epoch_;
  std::vector<int64_t> iteration_, number_;  ///< number_: per instance, of its iteration among its type's
  std::map<task::TaskTypeId, std::vector<std::vector<int64_t>>> iterations_;
  std::map<task::LoopId, uint64_t> begun_;
  std::map<task::LoopId, Counts> counts_;
  std::vector<Action> actions_;
  std::string wrong_;
};

/// One action of some worker at a time. Who knows of whom is kept in clocks: a worker that has waited for a
/// word knows all that the one knew who stored it.
class Interleaving {
 public:
  Interleaving(const Variant& v, const shape::Assignment& sizes, size_t workers, uint64_t seed)
      : v_(v),
        p_(v.program),
        sizes_(sizes),
        grid_(p_, sizes, seed),
        seed_(seed),
        workers_(workers),
        random_(seed) {
    for (const auto& size : p_.graph->sizes)
      if (size.from == graph::Size::From::data)
        sizes_.try_emplace(size.var, size.equation.evaluate(sizes_).value_or(3));
    for (const Instance& at : grid_.instances()) {
      needed_.emplace_back();
      for (const task::Wait& wait : p_.waits)
        if (wait.consumer == at.type)
          for (const size_t other : grid_.awaited(wait, at)) needed_.back().push_back(other);
      for (const size_t other : grid_.of_type(at.type))
        if (other + 1 < needed_.size() && grid_.instances()[other].coordinates == at.coordinates)
          needed_.back().push_back(other);
    }
  }

  std::string run() {
    const auto words = v_.event_words.evaluate(sizes_), iterations = v_.iterations.evaluate(sizes_);
    if (!words || !iterations) return "the words or the epochs are not known";
    words_.assign(static_cast<size_t>(std::max<int64_t>(*words, 0)), {});
    for (int64_t launch = 0; launch < 2 && wrong_.empty(); ++launch) this->launch(launch * *iterations);
    return wrong_;
  }

 private:
  struct Word {
    int64_t value = 0;
    Clock clock;
  };
  struct Worker {
    std::vector<Action> actions;
    size_t next = 0;
    Clock clock;
  };
  struct Ran {
    size_t worker = 0, time = 0;  ///< time 0: it has not run
  };

  void launch(int64_t epoch) {
    ran_.assign(grid_.instances().size(), {});
    for (Word& word : words_) word.clock.assign(workers_, 0);
    std::vector<Worker> workers;
    for (size_t w = 0; w < workers_; ++w) {
      Script script(v_, grid_, sizes_, seed_, workers_, w, epoch);
      if (wrong_.empty()) wrong_ = script.wrong();
      workers.push_back({script.take(), 0, Clock(workers_, 0)});
      for (const Action& action : workers.back().actions)
        for (const int64_t at : action.words)
          if (at < 0 || at >= static_cast<int64_t>(words_.size()))
            wrong_ = "a word outside of the event area";
    }
    std::vector<size_t> able(workers_);
    while (!able.empty() && wrong_.empty()) {
      able.clear();
      for (size_t w = 0; w < workers_; ++w)
        if (is_able(workers[w])) able.push_back(w);
      if (!able.empty()) step(workers, able[random_() % able.size()]);
    }
    for (size_t w = 0; w < workers_ && wrong_.empty(); ++w)
      if (workers[w].next < workers[w].actions.size()) wrong_ = fmt::format("worker {} waits forever", w);
    for (size_t i = 0; i < ran_.size() && wrong_.empty(); ++i)
      if (ran_[i].time == 0) wrong_ = describe(i) + " does not run";
  }

  bool is_able(const Worker& worker) const {
    if (worker.next == worker.actions.size()) return false;
    const Action& action = worker.actions[worker.next];
    if (action.kind != Action::Kind::wait && action.kind != Action::Kind::goes_on) return true;
    return word(action).value >= action.value;
  }

  const Word& word(const Action& action) const { return words_[static_cast<size_t>(action.words[0])]; }

  void step(std::vector<Worker>& workers, size_t w) {
    Worker& worker = workers[w];
    const Action& action = worker.actions[worker.next++];
    worker.clock[w] = worker.next;
    switch (action.kind) {
      case Action::Kind::run:
        return execute(worker, w, action.instance);
      case Action::Kind::notify: {
        Word& stored = words_[static_cast<size_t>(action.words[0])];
        if (stored.value > action.value) wrong_ = "a word becomes smaller";
        stored = {action.value, worker.clock};
        return;
      }
      case Action::Kind::goes_on:
        if ((word(action).value != action.value) != action.expected)
          wrong_ = "a loop goes on, or ends, too early";
        [[fallthrough]];
      case Action::Kind::wait:
        for (size_t n = 0; n < workers_; ++n)
          worker.clock[n] = std::max(worker.clock[n], word(action).clock[n]);
    }
  }

  void execute(const Worker& worker, size_t w, size_t i) {
    if (ran_[i].time != 0) wrong_ = describe(i) + " runs twice";
    ran_[i] = {w, worker.next};
    for (const size_t other : needed_[i])
      if (ran_[other].time == 0 || ran_[other].time > worker.clock[ran_[other].worker])
        wrong_ = fmt::format("{} does not know that {} is done", describe(i), describe(other));
  }

  std::string describe(size_t i) const {
    const Instance& at = grid_.instances()[i];
    return fmt::format("{}({}; {})", p_.types[at.type].name, fmt::join(at.iteration, ", "),
                       fmt::join(at.coordinates, ", "));
  }

  const Variant& v_;
  const task::Program& p_;
  shape::Assignment sizes_;
  const Concrete grid_;
  const uint64_t seed_;
  const size_t workers_;
  std::mt19937_64 random_;
  std::vector<std::vector<size_t>> needed_;  ///< per task: those that are to be done before it begins
  std::vector<Word> words_;
  std::vector<Ran> ran_;
  std::string wrong_;
};

}  // namespace

std::string wrong_run(const Variant& v, const shape::Assignment& sizes, size_t workers, uint64_t seed) {
  return Interleaving(v, sizes, workers, seed).run();
}

namespace {

/// Counts where each value is shown; a step that shows what it does not compute is wrong.
std::string count_debugs(const task::Program& p, const std::vector<Step>& steps, std::vector<int>& shown) {
  for (const Step& step : steps) {
    const graph::NodeId computed = step.segment ? p.types[step.segment->type].node : p.loops[step.loop].node;
    for (const uint32_t n : step.debugs) {
      if (n >= shown.size() || p.graph->debugs[n].value.node != computed) return "a value is shown elsewhere";
      ++shown[n];
    }
    if (const std::string wrong = count_debugs(p, step.body, shown); !wrong.empty()) return wrong;
  }
  return {};
}

}  // namespace

std::string wrong_debugs(const Variant& v) {
  std::vector<int> shown(v.program.graph->debugs.size());
  const std::string wrong = count_debugs(v.program, v.steps, shown);
  if (!wrong.empty()) return wrong;
  return std::all_of(shown.begin(), shown.end(), [](int n) { return n == 1; }) ? ""
                                                                               : "a value is not shown once";
}

std::string wrong_memory(const Variant& v, const shape::Assignment& sizes) {
  const task::Program& p = v.program;
  shape::Assignment values = sizes;
  for (const auto& size : p.graph->sizes)
    if (size.from == graph::Size::From::data)
      values.try_emplace(size.var, size.equation.evaluate(values).value_or(3));
  for (uint32_t b = 0; b < p.buffers.size(); ++b) {
    const task::Buffer& buffer = p.buffers[task::BufferId{b}];
    int64_t bytes = base::elem_bytes(buffer.elem);
    for (const Dim& extent : buffer.shape) bytes *= extent.evaluate(values).value();
    size_t slots = 0;
    for (const Slot& slot : v.slots) {
      if (slot.buffer != task::BufferId{b}) continue;
      ++slots;
      if (slot.bytes.evaluate(values).value_or(-1) < bytes) return buffer.name + " does not fit";
    }
    if (slots != (buffer.kind == task::Buffer::Kind::temporary ? 1U : 0U))
      return fmt::format("{} has {} slots", buffer.name, slots);
  }
  return {};
}

}  // namespace axon::plan
