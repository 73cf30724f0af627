// See common.h.
#include "tools/common.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "target/machine.h"

namespace axon::tools {

namespace fs = std::filesystem;

namespace {

void add_schedule(CLI::App& app, CommonOptions& o) {
  std::vector<std::string> names;
  std::string help;
  for (const plan::ScheduleRules& rules : plan::schedules) {
    names.emplace_back(rules.name);
    help += fmt::format("{}{}", help.empty() ? "" : ", or ", rules.help);
  }
  app.add_option("--schedule", o.schedule, help)->check(CLI::IsMember(names));
}

}  // namespace

/// What --level takes.
static std::vector<std::string> level_names() {
  std::vector<std::string> names{"all", "native"};
  for (const target::Machine& machine : target::machines()) names.emplace_back(machine.name);
  return names;
}

/// What --target takes.
static std::vector<std::string> target_names() {
  std::vector<std::string> names{"cpu"};
  for (const target::Machine& machine : target::gpus()) names.emplace_back(machine.name);
  return names;
}

void add_common(CLI::App& app, CommonOptions& o) {
  app.add_option("FILE", o.file, "the .axn file, or - for stdin")->required();
  add_compile(app, o);
  add_talk(app, o);
}

void add_compile(CLI::App& app, CommonOptions& o) {
  app.add_option("-D,--define", o.defines, "fix a size or an element type parameter: n=1024, t=bf16")
      ->allow_extra_args(false);
  add_library(app, o);
  app.add_option("--entry", o.entries, "only this entry (may be repeated)")->allow_extra_args(false);
  add_schedule(app, o);
  app.add_option(
         "--level", o.level,
         "instruction-set level to build for, `native`: that of this machine; without it all, in `run`, "
         "`test` and `bench` that of this machine")
      ->check(CLI::IsMember(level_names()))
      ->transform([](const std::string& name) {
        return name == "native" ? std::string(target::loaded_machine().name) : name;
      });
  app.add_option("--target", o.target, "what to build for: CPUs, or a GPU")
      ->check(CLI::IsMember(target_names()));
}

void add_library(CLI::App& app, CommonOptions& o) {
  app.add_option("--library", o.library,
                 "another directory to find library modules in, before the standard one")
      ->allow_extra_args(false);
}

void add_talk(CLI::App& app, CommonOptions& o) {
  app.add_option(
         "--error-format", o.error_format,
         "how errors are shown; json and sarif on stdout, or on stderr where the command itself prints there")
      ->check(CLI::IsMember({"human", "short", "json", "sarif"}));
  app.add_option("--max-errors", o.max_errors, "how many are shown, 0 for all");
  app.add_option("--deny", o.deny, "make this warning an error; `warnings` for all")->allow_extra_args(false);
  app.add_option("--color", o.color, "colours on stderr")->check(CLI::IsMember({"auto", "always", "never"}));
  const auto quiet = app.add_flag("-q,--quiet", o.quiet, "say less: warnings are not shown");
  app.add_flag("-v,--verbose", o.verbose, "say more: what was done")->excludes(quiet);
  app.add_flag("--time-passes", o.time_passes, "show on stderr how long each stage took");
}

/// The standard library: the directory that AXON_STDLIB names, else the one beside the executable, where
/// installations and build trees have it. An error of usage where there is none.
static std::string standard_library() {
  const char* const stated = std::getenv("AXON_STDLIB");
  std::error_code failed;
  const fs::path self = fs::read_symlink("/proc/self/exe", failed);
  const fs::path place = stated && *stated ? fs::path(stated) : self.parent_path() / "../share/axon/stdlib";
  const fs::path found = fs::canonical(place, failed);
  if (!failed && fs::exists(found / "prelude.axn", failed)) return found.string();
  throw CLI::ValidationError("AXON_STDLIB",
                             fmt::format("{} is not the standard library: it has no prelude.axn",
                                         place.lexically_normal().string()));
}

std::vector<std::string> library_directories(const CommonOptions& o) {
  std::vector<std::string> directories = o.library;
  directories.push_back(standard_library());
  return directories;
}

namespace {

/// name=value: an element type by name, or a size. Empty, or why it cannot be.
std::string parse_define(const std::string& text, core::Options& out) {
  const std::string expected = "expected NAME=SIZE or NAME=ELEMENT_TYPE";
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return expected;
  std::string name = text.substr(0, equals);
  const std::string value = text.substr(equals + 1);
  if (name.front() == '\'') name.erase(0, 1);
  if (out.sizes.count(name) || out.elems.count(name)) return fmt::format("`{}` is given twice", name);
  if (const auto elem = base::elem_from_name(value)) {
    out.elems[name] = *elem;
    return "";
  }
  int64_t number = 0;
  const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (failed != std::errc{} || end != value.data() + value.size() || number < 0) return expected;
  out.sizes[name] = number;
  return "";
}

bool use_color(const CommonOptions& o) {
  if (o.color != "auto") return o.color == "always";
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(STDERR_FILENO) && (!no_color || !*no_color);
}

/// --deny; false, with a message on stderr, when there is no such code.
bool deny(const CommonOptions& o, source::Diagnostics& diagnostics) {
  for (const std::string& name : o.deny) {
    const auto code = source::code_from_name(name);
    if (!code && name != "warnings") {
      fmt::print(stderr, "etcc: --deny {}: there is no such code; `etcc explain` lists all\n", name);
      return false;
    }
    diagnostics.deny(code);
  }
  return true;
}

}  // namespace

std::unique_ptr<Compilation> open(const CommonOptions& o, int& status, std::optional<std::string> text) {
  CompileOptions options;
  options.library = library_directories(o);
  options.entries = o.entries;
  options.core.root = o.root;
  options.schedule = *plan::schedule_named(o.schedule);
  if (o.target != "cpu") options.target = o.target;
  for (const target::Machine& level : target::machines())
    if (o.level == "all" || o.level == level.name) options.levels.emplace_back(level.name);
  for (const std::string& define : o.defines)
    if (const std::string problem = parse_define(define, options.core); !problem.empty()) {
      fmt::print(stderr, "etcc: -D {}: {}\n", define, problem);
      status = usage;
      return nullptr;
    }
  auto c = std::make_unique<Compilation>(std::move(options));
  if (!deny(o, c->diagnostics)) {
    status = usage;
    return nullptr;
  }
  const bool from_stdin = o.file == "-";
  const std::string name = from_stdin ? "<stdin>" : o.file;
  if (text) {
    c->file = c->sources.add(name, std::move(*text), c->diagnostics);
  } else if (const auto file = from_stdin ? c->sources.read(STDIN_FILENO, name, c->diagnostics)
                                          : c->sources.load(name, c->diagnostics)) {
    c->file = *file;
  } else {
    status = report(*c, o);
    return nullptr;
  }
  return c;
}

source::RenderOptions render_options(const CommonOptions& o) {
  source::RenderOptions render;
  render.color = use_color(o);
  render.max_errors = o.max_errors;
  return render;
}

int report(const source::Diagnostics& diagnostics, const source::SourceManager& sources,
           const CommonOptions& o) {
  std::FILE* const machine = o.prints ? stderr : stdout;
  if (o.error_format == "json") {
    fmt::print(machine, "{}\n", source::render_json(diagnostics, sources));
  } else if (o.error_format == "sarif") {
    fmt::print(machine, "{}", source::render_sarif(diagnostics, sources));
  } else if (diagnostics.has_errors() || (diagnostics.warning_count() != 0 && !o.quiet)) {
    const source::RenderOptions render = render_options(o);
    const std::string text = o.error_format == "short" ? source::render_short(diagnostics, sources, render)
                                                       : source::render_human(diagnostics, sources, render);
    fmt::print(stderr, "{}", text);
  }
  return diagnostics.has_errors() ? user_error : ok;
}

int report(const Compilation& c, const CommonOptions& o) {
  if (o.time_passes)
    for (const auto& [name, ms] : c.times) fmt::print(stderr, "{:>10.2f} ms  {}\n", ms, name);
  return report(c.diagnostics, c.sources, o);
}

int find(const std::vector<std::string>& paths, std::vector<SourcePath>& files, const CommonOptions& o) {
  source::Diagnostics diagnostics;
  find_sources(paths, files, diagnostics);
  return diagnostics.has_errors() ? report(diagnostics, {}, o) : ok;
}

CommonOptions options_for(const SourcePath& source, const CommonOptions& o) {
  CommonOptions one = o;
  one.file = source.file;
  one.root = source.directory;
  return one;
}

}  // namespace axon::tools
