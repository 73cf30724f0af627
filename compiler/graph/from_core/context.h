// What the parts of an evaluation share: the graph under construction, and where evaluation stands.
//
// One Context exists per entry. Code that changes the position (enters a branch, a `for`, a loop or a call)
// restores it before it returns.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/core.h"
#include "graph/from_core/value.h"
#include "graph/graph.h"
#include "source/diagnostic.h"

namespace axon::graph {

/// Where evaluation stands, less the stack of calls: the names, and the `for`s, branches and loops around.
struct Place {
  EnvironmentPtr env;                // the names in scope
  std::vector<Axis> active;          // index variables of the enclosing `for`s, outermost first
  std::vector<Fact> guards;          // conditions that hold where an `if` has branched
  std::vector<ScalarId> conditions;  // the same as scalars, conditions over data included
  std::vector<RegionId> regions;     // the root, then the bodies of the enclosing loops
  std::vector<Axis> loops;           // the indices of the enclosing loops
  std::vector<Var> positions;        // of these, those that positions which a loop carries are made of
};

struct Context : Place {
  Context(const core::Program& of, source::Diagnostics& to, const source::SourceManager* texts)
      : program(of), diagnostics(to), sources(texts) {}

  const core::Program& program;
  Graph graph;
  source::Diagnostics& diagnostics;
  const source::SourceManager* sources;     // may be null: messages then quote nothing
  std::map<NodeId, Dim> most_of_arguments;  // of integers that are no sizes, by what the entry states of them
  bool failed = false;                      // an error was reported: every further result is meaningless

  std::set<uint32_t> unneeded_checks;  // of indices at which nothing is read, unless something is after all
  std::vector<source::Span> spans;     // the expressions being evaluated
  std::vector<core::GlobalId> calls;   // the functions being evaluated
  source::FileId file;                 // the entry's

  std::string source_text(source::Span span) const;
  /// The text in back-ticks, and where it stands, for messages of run-time checks: "`x[k]` (f.axn:3:12)"; of
  /// an expression of the library the user's that led there, of a long one the beginning. Empty when nothing
  /// is known.
  std::string quoted(source::Span span) const;
  /// The innermost expression of the entry's own file.
  source::Span span_here() const;
  /// The library function that the user's code called, or `otherwise` in the user's own code.
  std::string name_here(const std::string& otherwise) const;
  /// Makes evaluation stand at the root, with no names in scope, as for what no place can change: the value
  /// of a declaration. Returns the place that it left.
  Place leave_for_root();
  void return_to(Place place) { static_cast<Place&>(*this) = std::move(place); }
  /// Reports an error at the current expression, unless one was reported before.
  Val fail(source::Code code, const std::string& message);
};

/// Base of the classes that an evaluation consists of. It names the parts of the context that they read.
class Part {
 protected:
  explicit Part(Context& context)
      : context_(context),
        p(context.program),
        g(context.graph),
        failed_(context.failed),
        env_(context.env),
        active_(context.active),
        guards_(context.guards),
        conditions_(context.conditions),
        regions_(context.regions),
        loops_(context.loops) {}

  Context& context_;
  const core::Program& p;
  Graph& g;
  bool& failed_;
  EnvironmentPtr& env_;
  std::vector<Axis>& active_;
  std::vector<Fact>& guards_;
  std::vector<ScalarId>& conditions_;
  std::vector<RegionId>& regions_;
  std::vector<Axis>& loops_;

  std::string source_text(source::Span span) const { return context_.source_text(span); }
  std::string quoted(source::Span span) const { return context_.quoted(span); }
  source::Span span_here() const { return context_.span_here(); }
  std::string name_here(const std::string& otherwise) const { return context_.name_here(otherwise); }
  Val fail(source::Code code, const std::string& message) const { return context_.fail(code, message); }
  /// Reports that the compiler does not support what the program does here.
  Val unsupported(const std::string& what) const { return context_.fail(source::Code::E9001, what); }
};

}  // namespace axon::graph
