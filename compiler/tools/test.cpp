// etcc test FILE|DIR ...: evaluates the examples of documentation and the `test` declarations of each file
// with the reference interpreter, and with --native also as compiled. Ends with `N passed, N failed`; exit 1
// when one failed.
//
// A file that does not check counts as one failure, with its errors. What is wrong with one example, be it a
// bug of ours, does not touch the others.
#include <fmt/format.h>

#include <map>

#include "base/bug.h"
#include "graph/from_core.h"
#include "source/render.h"
#include "target/machine.h"
#include "tools/common.h"
#include "tools/evaluate.h"
#include "tools/examples.h"
#include "tools/files.h"

namespace axon::tools {

namespace {

struct TestOptions {
  CommonOptions common;
  std::vector<std::string> paths;
  bool native = false;
};

/// One file: its examples, evaluated one by one.
class FileTest {
 public:
  FileTest(const TestOptions& o, Compilation& source)
      : o_(o), source_(source), file_(source.sources[source.file]) {}

  void run() {
    run_stage(source_);
    if (source_.diagnostics.has_errors()) return fail_file();
    examples_ = find_examples(*source_.syntax, file_);
    if (examples_.empty()) return;
    evaluated_ = evaluation(examples_);
    run_stage(*evaluated_);
    interpret_all();
    if (o_.native) compare_native();
    for (const Example& example : examples_) tell(example);
  }

  size_t passed = 0, failed = 0;

 private:
  static void run_stage(Compilation& c) { axon::run(c, "core"); }

  /// The file with the examples as entries.
  std::unique_ptr<Compilation> evaluation(std::vector<Example>& examples) const {
    std::string scope = with_examples(std::string(file_.text()), file_, examples);
    CompileOptions options = source_.options;
    if (options.levels.empty()) options.levels = {std::string(target::loaded_machine().name)};
    auto c = std::make_unique<Compilation>(std::move(options));
    // Both compilations know the file under its name, so that relative imports and messages are the same.
    c->file = c->sources.add(file_.name(), std::move(scope), c->diagnostics);
    c->sources.set_repetitions(c->file, repetitions(examples));
    return c;
  }

  /// The entries of the examples as graphs, and what they evaluate to.
  void interpret_all() {
    std::map<std::string, source::Diagnostics> errors;
    for (const source::Diagnostic& d : evaluated_->diagnostics.in_order_of_report())
      if (d.severity == source::Severity::error) {
        const bool here = d.primary.span.file == evaluated_->file;
        const Example* example = here ? example_at(examples_, d.primary.span.begin) : nullptr;
        errors[example ? example->entry : ""].report(d);
      }
    for (Example& example : examples_) {
      source::Diagnostics& found = errors[example.entry];
      const core::GlobalId entry =
          evaluated_->core ? evaluated_->core->find(example.entry) : core::GlobalId{};
      std::optional<graph::Graph> graph;
      Values values;
      try {
        if (!found.has_errors() && entry.valid())
          graph = graph::from_core(*evaluated_->core, entry, found, &evaluated_->sources);
        if (graph) values = interpret(*graph);
        if (!o_.native)  // else the compiled program prints them
          for (const std::string& line : values.shown) fmt::print(stderr, "{}\n", line);
      } catch (const base::InternalError& e) {
        problems_[example.entry] = fmt::format("  {}\n", e.what());
        continue;
      }
      if (!graph) {
        for (const source::Diagnostic& d : errors[""].in_order_of_report()) found.report(d);
        problems_[example.entry] = rendered(found, *evaluated_);
        continue;
      }
      if (const std::string problem = judge(example, values); !problem.empty())
        problems_[example.entry] = problem;
      meanings_.emplace(example.entry, std::move(values));
      graphs_.emplace(example.entry, std::move(*graph));
    }
  }

  /// "" or what is wrong with the values of an example.
  static std::string judge(const Example& example, const Values& values) {
    if (!values.error.empty()) return "  " + values.error + "\n";
    if (!example.expected.empty()) {
      const bool same =
          agrees(text_of(values, false), example.expected) || agrees(text_of(values, true), example.expected);
      return same ? "" : comparison(example.expected, text_of(values, values.tensors.size() > 1));
    }
    const bool is_bool = values.tensors.size() == 1 && values.tensors[0].elem == base::Elem::boolean;
    const bool holds = is_bool && values.tensors[0].shape.empty() && values.tensors[0].integers[0] != 0;
    return holds ? "" : comparison("true", text_of(values, values.tensors.size() > 1));
  }

  static std::string comparison(const std::string& expected, const std::string& found) {
    const auto indented = [](const std::string& text) {
      std::string out;
      for (char c : text) out += c == '\n' ? std::string("\n            ") : std::string(1, c);
      return out;
    };
    return fmt::format("  expected: {}\n  found:    {}\n", indented(expected), indented(found));
  }

  // ---- the compiled program

  /// All examples that have a meaning, be it an error, in one bundle; when it cannot be made, each in its
  /// own, to see whose fault it is.
  void compare_native() {
    std::vector<Example> all;
    for (const Example& example : examples_) {
      const auto meaning = meanings_.find(example.entry);
      const bool gave_up =
          meaning != meanings_.end() && !meaning->second.error.empty() && meaning->second.code.empty();
      if (meaning != meanings_.end() && !gave_up) all.push_back(example);
    }
    if (all.empty() || compare_native(all) || all.size() == 1) return;
    for (const Example& example : all) compare_native({example});
  }

  bool compare_native(std::vector<Example> examples) {
    const auto c = evaluation(examples);
    for (const Example& example : examples) c->options.entries.push_back(example.entry);
    std::string bug;
    try {
      axon::run(*c, "bundle");
    } catch (const base::InternalError& e) {
      bug = "  " + std::string(e.what()) + "\n";
    }
    if (!bug.empty() || c->diagnostics.has_errors()) {
      if (examples.size() == 1)
        problems_[examples[0].entry] += "  compiled:\n" + bug + rendered(c->diagnostics, *c);
      return false;
    }
    const Native native(c->bundle);
    for (const Example& example : examples) {
      const Values& meaning = meanings_.at(example.entry);
      const Values values = native.run(graphs_.at(example.entry));
      const std::string problem = difference(values, meaning);
      if (problem.empty()) continue;
      const bool both = values.error.empty() && meaning.error.empty();
      problems_[example.entry] +=
          fmt::format("  compiled: {}\n{}", problem,
                      both ? comparison(text_of(meaning, false), text_of(values, false)) : "");
    }
    return true;
  }

  // ---- telling

  std::string rendered(const source::Diagnostics& diagnostics, const Compilation& c) const {
    source::Diagnostics shown;
    for (const source::Diagnostic& d : diagnostics.in_order_of_report())
      shown.report(shown_at_first(d, c.sources));
    return source::render_human(shown, c.sources, render_options(o_.common));
  }

  void fail_file() {
    ++failed;
    fmt::print("FAILED {}\n", file_.name());
    std::fflush(stdout);
    report(source_, o_.common);
  }

  void tell(const Example& example) {
    const auto problem = problems_.find(example.entry);
    const bool good = problem == problems_.end();
    ++(good ? passed : failed);
    if (good && !o_.common.verbose) return;
    const source::Position at = file_.position(example.span.begin);
    const std::string what = example.title.empty() ? std::string(source_.sources.text(example.span))
                                                   : fmt::format("test \"{}\"", example.title);
    fmt::print("{} {}:{}: {}\n", good ? "passed" : "FAILED", file_.name(), at.line, what);
    if (!good) fmt::print("{}", problem->second);
  }

  const TestOptions& o_;
  Compilation& source_;
  const source::SourceFile& file_;
  std::vector<Example> examples_;
  std::unique_ptr<Compilation> evaluated_;
  std::map<std::string, graph::Graph> graphs_;
  std::map<std::string, Values> meanings_;
  std::map<std::string, std::string> problems_;
};

}  // namespace

Command add_test(CLI::App& app) {
  auto o = std::make_shared<TestOptions>();
  app.add_option("FILE", o->paths, ".axn files, directories of them, or - for stdin")->required();
  app.add_flag("--native", o->native, "also compile the examples, and compare");
  add_library(app, o->common);
  add_talk(app, o->common);
  o->common.prints = true;
  return [o] {
    std::vector<SourcePath> files;
    size_t passed = 0, failed = find(o->paths, files, o->common) == ok ? 0 : 1;
    for (const SourcePath& source : files) {
      int status = ok;
      const auto c = open(options_for(source, o->common), status);
      if (!c) {
        ++failed;
        continue;
      }
      FileTest test(*o, *c);
      test.run();
      passed += test.passed;
      failed += test.failed;
    }
    fmt::print("{} passed, {} failed\n", passed, failed);
    return failed == 0 ? ok : user_error;
  };
}

}  // namespace axon::tools
