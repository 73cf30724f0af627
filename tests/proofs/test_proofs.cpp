// Thousands of small wrong changes to task programs and plans: each is refused by the proofs, or shown to do
// no harm.
//
// A change to a task program that is not refused is looked at for small sizes: every task and its waits by
// enumeration, and the results of random legal orders against the interpreter. One to a plan, too: the
// workers may go through it in legal orders of its program only, and those are drawn with its memory.
//
// CI looks at a share of the mutants of some programs. AXON_PROOF_MUTANTS=10000 looks at all examples, and
// then at random programs until there are so many; it prints how many of each kind were refused and did no
// harm.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "plan/support.h"
#include "plan/verify.h"
#include "plan_mutants.h"
#include "task/brute_force.h"
#include "task/mutants.h"
#include "task/simulate.h"
#include "task/support.h"
#include "task/touched.h"
#include "workers.h"

namespace axon {
namespace {

using plan::Variant;
using task::Example;
using task::Program;

// ---- what does no harm ----

/// The first order of the tasks in which the program, with its temporaries in such an arena, does not mean
/// its graph; "" when there is none among those that are drawn.
std::string wrong_result(const Example& example, const Program& program,
                         const std::vector<task::SimulateOptions::Placed>& arena) {
  task::SimulateOptions options;
  options.precision = graph::Precision::f64;
  options.arena = arena;
  for (const auto& binding : example.bindings) {
    const auto inputs = task::inputs_for(example.graph, binding, 3);
    const auto parameters = task::parameters_of(example.graph, binding);
    const auto expected = graph::interpret(example.graph, inputs, parameters, graph::Precision::f64);
    for (options.seed = 1; options.seed <= 6; ++options.seed) {
      const std::string wrong =
          task::difference(expected, task::simulate(program, inputs, parameters, options));
      if (!wrong.empty())
        return fmt::format("{}, order {}: {}", task::text_of(example.graph, binding), options.seed, wrong);
    }
  }
  return {};
}

/// What is wrong with a task program for small sizes, or "".
std::string harm(const Example& example, const Program& program) {
  for (const auto& binding : example.bindings)
    for (const uint64_t seed : {0, 1, 2}) {
      const task::Concrete grid(program, binding, seed);
      if (!grid.broken().empty()) return grid.broken();
      for (const std::string& wrong :
           {grid.unordered(), task::undeclared(program, grid), task::shared(program, grid)})
        if (!wrong.empty()) return wrong;
      for (const task::Finished& entry : program.certificate)
        if (const std::string wrong = grid.contradicts(entry); !wrong.empty()) return wrong;
    }
  return wrong_result(example, program, {});
}

/// What is wrong with a plan for small sizes, or "".
std::string harm(const Example& example, const Variant& variant) {
  if (const std::string wrong = plan::wrong_debugs(variant); !wrong.empty()) return wrong;
  for (const auto& binding : example.bindings) {
    if (const std::string wrong = plan::wrong_memory(variant, binding); !wrong.empty()) return wrong;
    for (const size_t workers : {1, 2, 3, 5})
      for (uint64_t seed = 0; seed < 3; ++seed)
        if (const std::string wrong = plan::wrong_run(variant, binding, workers, seed); !wrong.empty())
          return fmt::format("{}, {} workers: {}", task::text_of(example.graph, binding), workers, wrong);
  }
  std::vector<task::SimulateOptions::Placed> arena;
  for (const plan::Slot& slot : variant.slots) arena.push_back({slot.buffer, slot.above});
  return wrong_result(example, variant.program, arena);
}

bool is_proved(const Program& program) { return task::unproved(program).empty(); }

/// Of the plan alone: its program is proved.
bool is_proved(const Variant& variant) {
  const auto list = plan::verify(variant);
  return std::all_of(list.begin(), list.end(), [](const task::Obligation& o) { return o.proved; });
}

// ---- counting ----

class Tally {
 public:
  template <class Changed>
  void judge(const Example& example, const std::string& kind, const std::string& change,
             const Changed& changed) {
    Count& count = counts_[kind];
    ++count.made;
    ++total_;
    if (!is_proved(changed)) {
      ++count.refused;
      return;
    }
    const std::string wrong = harm(example, changed);
    if (wrong.empty()) {
      ++count.harmless;
      return;
    }
    ADD_FAILURE() << example.name << ": " << kind << ", " << change << " is proved, and wrong: " << wrong
                  << "\n"
                  << graph::print(example.graph) << text_of(changed);
  }

  size_t total() const { return total_; }
  size_t kinds() const { return counts_.size(); }

  void print() const {
    fmt::print("{:<32} {:>6} {:>8} {:>9}\n", "kind", "made", "refused", "harmless");
    Count all;
    for (const auto& [kind, count] : counts_) {
      fmt::print("{:<32} {:>6} {:>8} {:>9}\n", kind, count.made, count.refused, count.harmless);
      all.made += count.made;
      all.refused += count.refused;
      all.harmless += count.harmless;
    }
    fmt::print("{:<32} {:>6} {:>8} {:>9}\n", "all", all.made, all.refused, all.harmless);
  }

 private:
  static std::string text_of(const Program& program) { return task::print(program); }
  /// The plan may have numbers that name nothing, and then has no text.
  static std::string text_of(const Variant& variant) { return task::print(variant.program); }

  struct Count {
    size_t made = 0, refused = 0, harmless = 0;
  };
  std::map<std::string, Count> counts_;
  size_t total_ = 0;
};

void try_tasks(Example& example, size_t per_kind, Tally& tally) {
  const Program program = task::program_of(example);
  ASSERT_TRUE(is_proved(program)) << example.name;
  std::set<std::string> seen = {task::print(program)};
  for (const auto& mutants : {task::mutants_of(program, per_kind), task::forged(program, per_kind)})
    for (const task::Mutant& mutant : mutants)
      if (seen.insert(task::print(mutant.program)).second)
        tally.judge(example, "tasks: " + mutant.kind, mutant.change, mutant.program);
}

/// Values to show: of the first task, the last one and the first loop.
void add_debugs(Example& example) {
  const Program program = task::program_of(example);
  const auto last = static_cast<uint32_t>(program.types.size()) - 1;
  std::set<graph::NodeId> nodes = {program.types[task::TaskTypeId{0}].node,
                                   program.types[task::TaskTypeId{last}].node};
  if (program.loops.size() > 0) nodes.insert(program.loops[task::LoopId{0}].node);
  for (const graph::NodeId node : nodes) example.graph.debugs.push_back({"shown", {node, 0}});
}

void try_plan(Example& example, plan::Schedule schedule, size_t per_kind, Tally& tally) {
  add_debugs(example);
  const Variant variant = plan::variant_of(example, schedule);
  ASSERT_TRUE(is_proved(variant)) << example.name;
  ASSERT_EQ(harm(example, variant), "") << example.name;
  for (const plan::Mutant& mutant : plan::mutants_of(variant, per_kind))
    tally.judge(example, "plan: " + mutant.kind, mutant.change, mutant.variant);
}

/// A data-dependent size that is computed before a loop and read inside of it.
task::ExamplePtr size_and_loop() {
  return task::make_example("size_and_loop", R"(graph "size_and_loop"
  size n = axis 0 of 0 where n
  size d = axis 1 of 0 where d
  size k = data at most n "the number of rows"
  fact 0 <= n
  fact 0 <= d
  fact 0 <= k
  fact k <= n
  input "x" argument f32[n, d]
  %0 = input 0
  %1 = compute "first" [j < d] {
    out f32[d] = 0.5
  }
  %2 = compute "count" [] {
    local $0 "positive" [] i64 = sum(i < n; select(0.0 < %0[i, d - 1], 1, 0))
    out i64[] = min($0[], {n})
  }
  %3 = compute "last" [i < k, j < d] {
    out f32[k, d] = %0[n - 1 - i, j] * 2.0
  }
  %4 = loop "rows" [l < k] (f32[d] = %1) {
    %5 = param
    %6 = compute "mix" [j < d] {
      out f32[d] = %5[d - 1 - j] * 0.5 + %3[l, j]
    }
    %7 = compute "total" [j < d] {
      out f32[d] = sum(i < k; %3[i, j])
    }
    %8 = compute "turned" [j < d] {
      out f32[d] = %6[d - 1 - j] + %7[j]
    }
    yield (%8)
  }
  data k %2
  result "" %4
)",
                            "tiling rows 2 columns 2 panel 1 points 2\n"
                            "sizes n=4 d=3\n"
                            "sizes n=2 d=5\n"
                            "sizes n=0 d=1\n");
}

/// Programs one after the other: some or all of the examples, one more, and then random ones without end.
task::ExamplePtr program_number(size_t n, bool all) {
  static const std::vector<std::string> few = {"attention", "data_size", "lost_chain", "while_loop"};
  static const std::vector<std::string> names = all ? task::example_names() : few;
  if (n < names.size()) return task::load_example(names[n]);
  return n == names.size() ? size_and_loop() : task::random_example(n - names.size());
}

TEST(Proofs, RefuseWhatIsWrong) {
  const char* const wanted = std::getenv("AXON_PROOF_MUTANTS");
  const size_t most = wanted ? std::strtoull(wanted, nullptr, 10) : 1000;
  const size_t per_kind = wanted ? std::max<size_t>(5, most / 2000) : 2;
  Tally tally;
  for (size_t n = 0; tally.total() < most && !HasFatalFailure(); ++n) {
    const auto example = program_number(n, wanted != nullptr);
    ASSERT_TRUE(example);
    SCOPED_TRACE(example->name);
    try_tasks(*example, per_kind, tally);
    const auto& schedule = plan::schedules[n % std::size(plan::schedules)];  // the tasks are the same in all
    try_plan(*example, schedule.schedule, per_kind, tally);
  }
  if (wanted) tally.print();
  EXPECT_GE(tally.kinds(), most < 1000 ? 50U : 82U);
}

// ---- what looks at plans notices what is wrong ----

/// Does a run of the plan go wrong, for some of the example's sizes?
bool is_noticed(const Example& example, const Variant& variant) {
  for (const auto& binding : example.bindings)
    for (const size_t workers : {1, 2, 3, 5, 8})
      for (uint64_t seed = 0; seed < 3; ++seed)
        if (!plan::wrong_run(variant, binding, workers, seed).empty()) return true;
  return false;
}

/// For how many mutants of a kind some run goes wrong. The others do no harm for these sizes and so many
/// workers.
TEST(Workers, NoticeWhatIsWrong) {
  struct Case {
    const char *example, *kind;
    size_t noticed;
  };
  const Case cases[] = {
      {"two_stage", "dropped wait", 1},
      {"two_stage", "dropped step", 2},
      {"two_stage", "event words", 2},
      {"carried_loop", "dropped wait", 3},
      {"carried_loop", "repeated step", 4},
      {"carried_loop", "swapped steps", 2},
      {"carried_loop", "shared event offset", 1},
      {"carried_loop", "iterations", 4},
      {"data_size", "moved need", 1},
      {"data_size", "dropped published value of a segment", 1},
      {"while_loop", "dropped published value of a segment", 2},
      {"while_loop", "iterations of an exit condition", 1},
      {"nested_while", "words of the workers", 11},
  };
  for (const Case& c : cases) {
    const auto example = task::load_example(c.example);
    ASSERT_TRUE(example);
    size_t noticed = 0;
    for (const plan::Mutant& mutant : plan::mutants_of(plan::variant_of(*example), 100))
      noticed += mutant.kind == c.kind && is_noticed(*example, mutant.variant) ? 1 : 0;
    EXPECT_EQ(noticed, c.noticed) << c.example << ", " << c.kind;
  }
}

}  // namespace
}  // namespace axon
