// The compiler as a table: each stage turns one representation into the next, prints it, and verifies it.
//
// A Compilation owns every representation of one source file, from bytes to bundle. run() takes it through
// the stages up to the one asked for; a stage that reports errors is the last to run. The table
// (pipeline.cpp) is what --emit,
// --stop-after, --time-passes and the help text read.
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/elaborate.h"
#include "graph/graph.h"
#include "plan/plan.h"
#include "source/diagnostic.h"
#include "source/span.h"
#include "syntax/ast.h"
#include "task/placements.h"

namespace axon {

struct CompileOptions {
  core::Options core;                ///< -D
  std::vector<std::string> library;  ///< directories searched for imports, first hit wins
  std::vector<std::string> levels;   ///< instruction-set levels to build; empty: all
  std::string target;                ///< a GPU; empty: CPUs
  plan::Schedule schedule = plan::Schedule::events;
  std::vector<std::string> entries;  ///< only these; empty: all
  bool verify_tasks = true;          ///< prove the task graph's obligations before code is made
  bool trace = false;                ///< code that notes when which task runs (axon_call_trace)
};

/// One entry on its way from core to plan.
struct CompiledEntry {
  std::string name;
  graph::Graph graph;
  std::vector<task::Placement> placements;  ///< per graph input, agreed by all entries
  plan::Plan plan;
};

struct Compilation {
  explicit Compilation(CompileOptions o) : options(std::move(o)) {}
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  CompileOptions options;
  source::SourceManager sources;
  source::Diagnostics diagnostics;
  source::FileId file;
  std::unique_ptr<core::LibraryLoader> loader;
  std::optional<syntax::File> syntax;
  std::optional<core::Program> core;
  std::deque<CompiledEntry> entries;                        ///< a deque: plans point at their graphs
  task::ChosenPlacements placements;                        ///< of weights, for all entries
  std::map<std::string, std::vector<std::string>> objects;  ///< per level: ELF objects to link
  std::vector<shape::Dim> scratch_bytes;              ///< per variant, those of all entries: of a worker
  std::string bundle;                                 ///< the finished container
  std::vector<std::pair<std::string, double>> times;  ///< per stage that ran, in milliseconds
};

struct Stage {
  const char* name;  ///< --emit=name, --stop-after=name
  const char* why;   ///< one line
  void (*run)(Compilation&);
  std::string (*print)(Compilation&);  ///< null: nothing to print
};

/// What one entry may take of a stage behind the fused graph: more than the models of the tests take.
inline constexpr uint64_t steps_of_a_schedule = 80'000'000;

/// Takes one step of a stage for one entry; false, with an error, when that is more work than an entry may
/// take.
bool within_allowance(Compilation&, const CompiledEntry&, const std::function<void()>& step);

const std::vector<Stage>& stages();
const Stage* find_stage(const std::string& name);

/// Runs the stages in order up to and including `last`, from the first that has not run; false when errors
/// were reported.
bool run(Compilation&, const std::string& last);

/// The stage whose graphs say what entries take: nothing behind it changes that.
inline constexpr const char* stage_of_interface = "inplace";
/// A bundle without code of the entries (image/build.h), once that stage has run.
std::string interface_of(const Compilation&);

/// Paths of the weights that only entries take that are not compiled, each once. The stage `core` has run.
std::vector<std::string> other_weights(const Compilation&);

/// The stage of that name and those behind it run again, with the options as they are then.
void go_back_to(Compilation&, const std::string& stage);

}  // namespace axon
