// etcc tiles verify|run|emit|print FILE: a tile program from its text alone. `verify` prints its obligations,
// one line each, with who proved it; `run` runs all its tasks on small numbers and prints the tensors that
// they write; `emit` prints the code of one task: of LLVM, with `--asm` that of the machine.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <random>

#include "module/tiles/emit_program.h"
#include "tile/interpret.h"
#include "tools/arguments.h"
#include "tools/common.h"

namespace axon::tools {

namespace {

struct TilesOptions {
  std::string what, file;
  std::vector<std::string> sizes;
  uint64_t seed = 0;
  std::string level;
  bool assembly = false;
};

int failed(const std::string& why) {
  fmt::print(stderr, "etcc tiles: {}\n", why);
  return user_error;
}

int verify_tiles(const tile::Program& p) {
  size_t proved = 0;
  const auto list = tile::verify(p);
  for (const tile::Obligation& o : list) {
    proved += o.proved;
    fmt::print("{} {} ({})\n", o.proved ? "proved" : "FAILED", o.what, o.by);
  }
  fmt::print("{}: {} of {} obligations proved, for all sizes\n", p.name, proved, list.size());
  return proved == list.size() ? ok : user_error;
}

/// Multiples of 1/8, and of integers those that index a few rows.
tile::TensorData drawn(const tile::Tensor& t, const shape::Assignment& sizes, std::mt19937_64& random) {
  tile::TensorData out;
  int64_t count = 1;
  for (const shape::Dim& extent : t.shape) {
    out.shape.push_back(extent.evaluate(sizes).value_or(0));
    count *= std::clamp<int64_t>(out.shape.back(), 0, 1 << 24);
    count = std::min<int64_t>(count, 1 << 24);
  }
  for (int64_t i = 0; i < count; ++i) {
    const auto n = static_cast<int64_t>(random() % 33);
    out.values.push_back(base::is_float(t.elem) ? tile::Number{static_cast<double>(n - 16) / 8, 0}
                                                : tile::Number{0, n % 4});
  }
  return out;
}

int run_tiles(const tile::Program& p, const TilesOptions& options) {
  std::map<std::string, int64_t> sizes;
  std::vector<std::string> others;
  if (!sort_words(options.sizes, others, sizes)) return usage;
  if (!others.empty()) {
    fmt::print(stderr, "etcc: `{}` is no size\n", others.front());
    return usage;
  }
  shape::Assignment values;
  for (shape::Var v : p.sizes)
    if (const auto found = sizes.find(shape::var_name(v)); found != sizes.end()) values[v] = found->second;
  std::mt19937_64 random(options.seed);
  std::map<std::string, tile::TensorData> given;
  for (const tile::Tensor& t : p.tensors)
    if (t.reads) given[t.name] = drawn(t, values, random);
  const tile::RunResult run = tile::interpret(p, sizes, given, {.seed = options.seed});
  if (!run.error.empty()) return failed(run.error);
  uint32_t number = 0;
  for (const tile::Tensor& t : p.tensors) {
    const tile::TensorData& data = run.tensors[number++];
    if (!t.writes) continue;
    std::vector<std::string> elements;
    for (size_t i = 0; i < data.values.size(); ++i)
      elements.push_back(!data.defined[i]         ? "?"
                         : base::is_float(t.elem) ? fmt::format("{:.6g}", data.values[i].real)
                                                  : fmt::format("{}", data.values[i].integer));
    fmt::print("{} {}[{}] = {}\n", t.name, base::elem_name(t.elem), fmt::join(data.shape, ", "),
               fmt::join(elements, " "));
  }
  return ok;
}

/// For the level that is asked for, else for the program's machine, else for the processor at hand.
int emit_tiles(const tile::Program& p, const TilesOptions& options) {
  auto machine = target::find_machine(options.level.empty() ? p.machine.name : options.level);
  if (!machine && !options.level.empty()) return failed("there is no level `" + options.level + "`");
  if (!machine) machine = target::native_machine();
  if (const auto why = module::why_not_emitted(p)) return failed(*why);
  std::string error;
  const auto form = options.assembly ? module::TaskForm::assembly : module::TaskForm::llvm;
  const auto text = module::emit_task(p, *machine, form, error);
  if (!text) return failed(error);
  fmt::print("{}", *text);
  return ok;
}

}  // namespace

Command add_tiles(CLI::App& app) {
  auto options = std::make_shared<TilesOptions>();
  app.add_option("what", options->what, "verify, run, emit or print")
      ->required()
      ->check(CLI::IsMember({"verify", "run", "emit", "print"}));
  app.add_option("file", options->file, "the text of a tile program, - for the standard input")->required();
  app.add_option("sizes", options->sizes, "of a run: name=number");
  app.add_option("--seed", options->seed, "of a run: draws the tensors and the order of tasks");
  app.add_option("--level", options->level, "of emitted code: x86-64-v2, x86-64-v3 or x86-64-v4");
  app.add_flag("--asm", options->assembly, "emit assembly, not LLVM text");
  return [options] {
    source::SourceManager sources;
    source::Diagnostics diagnostics;
    const bool from_stdin = options->file == "-";
    const auto file = from_stdin ? sources.read(STDIN_FILENO, "<stdin>", diagnostics)
                                 : sources.load(options->file, diagnostics);
    if (!file) return report(diagnostics, sources, {});
    std::string error;
    const auto p = tile::parse(std::string(sources[*file].text()), error);
    if (!p) return failed(options->file + ": " + error);
    if (options->what == "verify") return verify_tiles(*p);
    if (options->what == "run") return run_tiles(*p, *options);
    if (options->what == "emit") return emit_tiles(*p, *options);
    fmt::print("{}", tile::print(*p));
    return static_cast<int>(ok);
  };
}

}  // namespace axon::tools
