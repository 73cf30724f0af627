// etcc run FILE ENTRY NAME=VALUE ...: runs an entry of a program or of a bundle, and prints the results or
// writes them with -o.
//
// A program is compiled for this machine; its code is kept in the user's cache (code_cache.h), so that it is
// compiled once. All that can be said of the arguments is said before code is generated: the bundle of a
// program that is not compiled yet is one without code, and otherwise takes the same way (run_values.h,
// run_call.h).
//
// VALUE: a number, a list [[1, 2], [3, 4]], zeros[2, 3]; (v, w) for a tuple, {a = v, b = w} for a record;
// @FILE, an .npy, or an .npz or .safetensors file, whose tensors are named like the fields, for a whole
// structure and for weights; @FILE:TENSOR, the tensor of that name, or, for a structure, those whose names
// begin with it and a dot. NAME is a parameter, a part of one (state.h), or a size parameter.
#include <axon/axon.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>

#include "entry/report.h"
#include "host/container.h"
#include "host/limits.h"
#include "source/files.h"
#include "target/machine.h"
#include "tools/code_cache.h"
#include "tools/run_call.h"

namespace axon::tools {

namespace {

/// Options that say how a program is compiled; of a bundle they say nothing.
constexpr const char* compile_options[] = {"--define",   "--library", "--entry",
                                           "--schedule", "--level",   "--target"};

struct RunOptions {
  CommonOptions common;
  std::string entry, out, map;
  ArrayFile kind = ArrayFile::npz;  ///< of `out`
  std::vector<std::string> arguments;
  uint32_t workers = 0;
  bool no_cache = false;
  std::string compiling;  ///< one of compile_options that is given
};

/// NAME=VALUE each; nullopt, with a message on stderr, when one is not.
std::optional<Arguments> split_arguments(const std::vector<std::string>& texts) {
  Arguments arguments;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) {
      fmt::print(stderr, "etcc: {}: expected NAME=VALUE\n", text);
      return std::nullopt;
    }
    arguments.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return arguments;
}

/// False, with a message on stderr, when the name to write to says no kind of file.
bool chosen_kind(RunOptions& o) {
  std::string error;
  const auto kind = array_file(o.out, error);
  if (kind)
    o.kind = *kind;
  else
    fmt::print(stderr, "etcc: -o {}\n", error);
  return kind.has_value();
}

/// What FILE holds.
struct Given {
  std::string bytes;
  bool is_bundle = false;
  bool is_file = false;  ///< one that can be opened again
};

/// Of a program no more than shows that it is too large, of a bundle all. nullopt where it cannot be read.
std::optional<Given> read_given(const std::string& path) {
  const int file = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::optional<std::string> bytes, more;
  if (file >= 0) bytes = source::read_bytes(file);
  Given given;
  given.is_bundle = bytes && bytes->starts_with(host::bundle_magic);
  struct stat status {};
  given.is_file = file > STDIN_FILENO && ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  while (given.is_bundle && !given.is_file && bytes->size() <= host::limits::bundle_bytes) {
    more = source::read_bytes(file);
    if (!more || more->empty()) break;
    *bytes += *more;
  }
  if (file > STDIN_FILENO) ::close(file);
  if (!bytes) return std::nullopt;
  given.bytes = std::move(*bytes);
  return given;
}

/// One run: values are read once, for the check before the program is compiled and for the call.
class Run {
 public:
  Run(const RunOptions& o, const Arguments& arguments) : o_(o), arguments_(arguments), call_(o.workers) {}

  RunCall& call() { return call_; }
  /// Of the bundle that was opened, which maybe has no code. False where it has no such entry.
  bool prepare() {
    if (!call_.choose(o_.entry)) return false;
    if (!values_) read(call_.entry());
    call_.set(*values_, map_);
    return true;
  }
  /// The results as text, which is empty where they are written to a file.
  std::string run() {
    call_.run();
    std::string error, shown;
    const auto results = call_.results();
    if (!o_.out.empty() && !write_arrays(o_.out, o_.kind, results, error)) throw Problem{"E0701", error};
    for (const auto& [name, view] : results) shown += o_.out.empty() ? text_of_result(name, view) : "";
    return shown;
  }

 private:
  void read(const axon_entry* entry) {
    values_ = read_values(entry, arguments_);
    if (const std::string text = o_.out.empty() ? "" : unfit(o_.kind, results_of(entry)); !text.empty())
      throw Problem{"E0701", fmt::format("cannot write `{}`: {}", o_.out, text)};
    std::string error;
    const auto map = read_map(o_.map, error);
    if (!map) throw Problem{"E0701", error};
    map_ = *map;
  }
  static std::string text_of_result(const std::string& name, const axon_view& view) {
    std::string shape;
    for (int32_t a = 0; a < view.rank; ++a) shape += fmt::format("{}{}", a ? ", " : "", view.shape[a]);
    return fmt::format("{} : {}{} =\n{}\n", name, axon_elem_name(view.elem),
                       view.rank ? "[" + shape + "]" : "", format_array(view));
  }

  const RunOptions& o_;
  const Arguments& arguments_;
  std::optional<GivenValues> values_;
  std::string map_;
  RunCall call_;
};

/// The status that the step gives; what goes wrong is reported like what the compiler finds.
int reporting(source::Diagnostics& diagnostics, const std::function<void()>& step) {
  try {
    step();
    return ok;
  } catch (const Problem& problem) {
    diagnostics.report(diagnostic_of(problem));
    return problem.exit;
  }
}

int run_bundle(const RunOptions& o, const Arguments& arguments, const Given& given) {
  if (!o.compiling.empty()) {
    fmt::print(stderr, "etcc: {} is for programs that are compiled, and {} is a bundle\n", o.compiling,
               o.common.file);
    return usage;
  }
  source::Diagnostics diagnostics;
  std::string shown;
  const int status = reporting(diagnostics, [&] {
    Run run(o, arguments);
    if (given.is_file)
      run.call().open(o.common.file);
    else
      run.call().open_bytes(given.bytes);
    if (run.prepare())
      shown = run.run();
    else
      diagnostics.report(entry::no_such_entry(o.entry, run.call().entry_names()));
  });
  const int reported = report(diagnostics, {}, o.common);
  fmt::print("{}", shown);
  return status == ok ? reported : status;
}

int run_program(const RunOptions& o, const Arguments& arguments, std::optional<std::string> text) {
  int status = ok;
  const auto c = open(o.common, status, std::move(text));
  if (!c) return status;
  c->options.entries = {o.entry};
  if (c->options.levels.empty()) c->options.levels = {std::string(target::loaded_machine().name)};
  CodeCache cache(*c, o.common, !o.no_cache && !o.common.time_passes);
  std::string shown;
  status = reporting(c->diagnostics, [&] {
    Run run(o, arguments);
    const bool compiled = cache.compile(*c, [&] {
      run.call().open_bytes(interface_of(*c));
      run.prepare();
      run.call().check();
    });
    if (!compiled) return;
    run.call().open_bytes(c->bundle);
    run.prepare();
    shown = run.run();
  });
  const int reported = report(*c, o.common);
  fmt::print("{}", shown);
  return status == ok ? reported : status;
}

}  // namespace

Command add_run(CLI::App& app) {
  auto o = std::make_shared<RunOptions>();
  add_common(app, o->common);
  app.get_option("FILE")->description("the .axn file, a bundle, or - for stdin");
  o->common.prints = true;
  app.add_option("ENTRY", o->entry, "the entry to run")->required();
  app.add_option(
      "ARGUMENT", o->arguments,
      "NAME=VALUE: a number, [[1, 2], [3, 4]], zeros[2, 3], (v, w), {a = v, b = w}, @FILE (.npy, .npz, "
      ".safetensors), @FILE:TENSOR");
  app.add_option("-o", o->out, "write the results to this .npz, .safetensors or, for one, .npy");
  app.add_option("--map", o->map, "a binding map for weights, a file or its text: w <- name");
  app.add_option("--workers", o->workers, "worker threads; 0: as many as pay off");
  app.add_flag("--no-cache", o->no_cache, "compile anew, and do not keep the code");
  return [o, &app] {
    if (!o->out.empty() && !chosen_kind(*o)) return static_cast<int>(usage);
    const auto arguments = split_arguments(o->arguments);
    if (!arguments) return static_cast<int>(usage);
    for (const char* const option : compile_options)
      if (app.count(option) > 0) o->compiling = option;
    auto given = read_given(o->common.file);
    if (given && given->is_bundle) return run_bundle(*o, *arguments, *given);
    std::optional<std::string> text;
    if (given) text = std::move(given->bytes);
    return run_program(*o, *arguments, std::move(text));
  };
}

}  // namespace axon::tools
