// Reads back the text of print.cpp against the programs that the plan was made of.
//
// What the text says of a program is compared with it: a guard, the tasks of a segment, what a wait waits
// for. What is read is well formed enough to be printed and verified; whether it is right is verify's
// business.
#include <fmt/format.h>

#include <algorithm>

#include "plan/text.h"
#include "shape/reader.h"

namespace axon::plan {

namespace {

class Parser : shape::TextReader {
 public:
  Parser(const graph::Graph& g, std::vector<task::Program> programs, const std::string& text)
      : shape::TextReader(text), g_(g), programs_(std::move(programs)) {}

  std::optional<Plan> run(std::string& error) {
    Plan plan;
    plan.graph = &g_;
    expect("plan");
    if (const std::string name = word(); !failed() && name != g_.name)
      fail(fmt::format("this is not the plan of `{}`", g_.name));
    end_of_line();
    while (!at_end()) plan.variants.push_back(variant(plan.variants.size()));
    if (!failed() && plan.variants.size() != programs_.size())
      fail(fmt::format("{} variants are expected", programs_.size()));
    error = this->error();
    return failed() ? std::nullopt : std::optional(std::move(plan));
  }

 private:
  Variant variant(size_t number) {
    v_ = {};
    expect("variant");
    if (number >= programs_.size()) fail(fmt::format("{} variants are expected", programs_.size()));
    if (failed()) return {};
    v_.program = programs_[number];
    names_.emplace(v_.program);
    forget_names();
    for (const auto& [var, name] : names_->all()) declare(name, var);
    v_.symbol = word();
    compare((*names_)("when", p_.guard));
    end_of_line();
    while (accept("exit")) exit_condition();
    while (accept("size")) size();
    v_.steps = steps(1);
    while (accept("slot")) slot();
    while (accept("words")) words();
    v_.event_words = total("event words");
    v_.iterations = total("iterations");
    v_.work = total("work");
    v_.handoffs = total("handoffs");
    return std::move(v_);
  }

  /// What the program says stands here, too.
  void compare(const std::string& text) {
    const size_t begin = std::min(text.find_first_not_of(' '), text.size());
    if (begin < text.size() && !accept(text.substr(begin)))
      fail(fmt::format("the program says `{}` here", text.substr(begin)));
  }

  // ---- exit conditions and data-dependent sizes ----

  void exit_condition() {
    ExitCondition d;
    d.loop = {id('l', p_.loops.size())};
    expect("word");
    d.word = index(any_number, "word");
    expect("check");
    d.check = index(any_number, "check");
    expect("inner");
    d.inner = dim();
    if (accept("left")) d.left = index(any_number, "word");
    end_of_line();
    v_.exit_conditions.push_back(std::move(d));
  }

  void size() {
    const std::string name = word();
    const auto at =
        std::find_if(g_.sizes.begin(), g_.sizes.end(), [&](const graph::Size& s) { return s.name == name; });
    if (at == g_.sizes.end()) fail(fmt::format("there is no size `{}`", name));
    DataSize d;
    d.size = static_cast<uint32_t>(at - g_.sizes.begin());
    expect("word");
    d.word = index(any_number, "word");
    expect("check");
    d.check = index(any_number, "check");
    end_of_line();
    if (!failed()) v_.data_sizes.push_back(d);
  }

  uint32_t exit_condition_of(task::LoopId loop) {
    const auto at = std::find_if(v_.exit_conditions.begin(), v_.exit_conditions.end(),
                                 [&](const ExitCondition& d) { return d.loop == loop; });
    if (at == v_.exit_conditions.end()) fail(fmt::format("l{} has no exit condition", loop.index));
    return static_cast<uint32_t>(at - v_.exit_conditions.begin());
  }

  uint32_t data_size(const std::string& name) {
    const auto at = std::find_if(v_.data_sizes.begin(), v_.data_sizes.end(),
                                 [&](const DataSize& d) { return g_.sizes[d.size].name == name; });
    if (at == v_.data_sizes.end()) fail(fmt::format("`{}` is no data-dependent size", name));
    return static_cast<uint32_t>(at - v_.data_sizes.begin());
  }

  // ---- steps ----

  std::vector<Step> steps(size_t depth) {
    std::vector<Step> list;
    while (indentation() == 2 * depth) {
      Step step;
      while (accept("needs")) {
        step.needs.push_back(data_size(word()));
        end_of_line();
      }
      if (accept("segment"))
        step.segment = segment(depth);
      else if (accept("loop"))
        loop(step, depth);
      else if (step.needs.empty())
        break;
      else
        fail("a segment or a loop is expected");
      while (indentation() == 2 * depth && accept("debug")) step.debugs.push_back(debug());
      if (failed()) break;
      list.push_back(std::move(step));
    }
    return list;
  }

  void loop(Step& step, size_t depth) {
    const std::string name = word();
    const auto at = std::find_if(p_.loops.begin(), p_.loops.end(),
                                 [&](const task::Loop& l) { return (*names_)(l.index) == name; });
    if (at == p_.loops.end()) return fail(fmt::format("there is no loop over `{}`", name));
    step.loop = {static_cast<uint32_t>(at - p_.loops.begin())};
    expect("<");
    compare((*names_)(at->extent));
    end_of_line();
    if (depth > p_.loops.size()) return fail("nested deeper than the program");
    step.body = steps(depth + 1);
  }

  Segment segment(size_t depth) {
    Segment s;
    const std::string name = word();
    const auto at = std::find_if(p_.types.begin(), p_.types.end(),
                                 [&](const task::TaskType& t) { return t.name == name; });
    if (at == p_.types.end()) return fail(fmt::format("there are no tasks `{}`", name)), s;
    s.type = {static_cast<uint32_t>(at - p_.types.begin())};
    expect("tasks");
    compare((*names_)(tasks_of(*at)));
    end_of_line();
    while (!failed() && indentation() == 2 * (depth + 1)) {
      if (accept("first"))
        s.hoisted.push_back(wait());
      else if (accept("each"))
        s.per_task.push_back(wait());
      else if (accept("barrier"))
        s.barrier_after = true;
      else if (accept("line"))
        s.line = line();
      else if (accept("fold"))
        s.folded = coordinate(*at);
      else if (accept("publishes"))
        publishes(s);
      else
        fail("what a segment waits for or publishes is expected");
      end_of_line();
    }
    return s;
  }

  /// The position of the coordinate with that name.
  uint32_t coordinate(const task::TaskType& type) {
    const Dim named = dim();
    for (uint32_t c = 0; c < type.coordinates.size(); ++c)
      if (named == Dim(type.coordinates[c].var)) return c;
    fail(fmt::format("`{}` has no such coordinate", type.name));
    return 0;
  }

  Line line() {
    Line line;
    line.before = dim();
    expect("of");
    line.whole = dim();
    line.from_end = accept("from end");
    return line;
  }

  uint32_t wait() {
    expect("wait");
    const uint32_t number = index(p_.waits.size(), "wait");
    if (!failed()) compare(text_of(p_, *names_, p_.waits[number]));
    return number;
  }

  void publishes(Segment& s) {
    if (accept("exit"))
      s.exit_conditions.push_back(exit_condition_of({id('l', p_.loops.size())}));
    else if (expect("size"); !failed())
      s.data_sizes.push_back(data_size(word()));
  }

  uint32_t debug() {
    const uint32_t number = index(g_.debugs.size(), "debug");
    if (!failed()) compare("\"" + g_.debugs[number].name + "\"");
    end_of_line();
    return number;
  }

  // ---- memory and totals ----

  void slot() {
    if (number() != static_cast<int64_t>(v_.slots.size())) fail("slots are numbered in order");
    Slot s;
    expect("of");
    s.buffer = buffer();
    expect("bytes");
    s.bytes = dim();
    if (accept("above")) s.above.push_back(index(any_number, "slot"));
    while (accept(",")) s.above.push_back(index(any_number, "slot"));
    end_of_line();
    v_.slots.push_back(std::move(s));
  }

  /// A temporary, or what else has the name.
  task::BufferId buffer() {
    const std::string name = word();
    std::optional<task::BufferId> found;
    for (uint32_t b = 0; b < p_.buffers.size(); ++b) {
      const task::Buffer& buffer = p_.buffers[task::BufferId{b}];
      if (buffer.name == name && (!found || buffer.kind == task::Buffer::Kind::temporary))
        found = task::BufferId{b};
    }
    if (!found) fail(fmt::format("there is no buffer `{}`", name));
    return found.value_or(task::BufferId{0});
  }

  void words() {
    if (number() != static_cast<int64_t>(v_.event_offset.size())) fail("words are numbered in order");
    expect("from");
    v_.event_offset.push_back(dim());
    end_of_line();
  }

  Dim total(std::string_view what) {
    expect(what);
    const Dim value = dim();
    end_of_line();
    return value;
  }

  uint32_t index(size_t limit, const char* what) {
    const int64_t value = number();
    if (!failed() && value >= static_cast<int64_t>(limit))
      fail(fmt::format("there is no {} {}", what, value));
    return static_cast<uint32_t>(value);
  }

  const graph::Graph& g_;
  const std::vector<task::Program> programs_;
  Variant v_;  ///< being read
  const task::Program& p_ = v_.program;
  std::optional<task::Names> names_;  ///< of its program
};

}  // namespace

std::optional<Plan> parse(const graph::Graph& g, std::vector<task::Program> programs, const std::string& text,
                          std::string& error) {
  return Parser(g, std::move(programs), text).run(error);
}

}  // namespace axon::plan
