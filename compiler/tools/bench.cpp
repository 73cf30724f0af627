// etcc bench FILE [ENTRY] NAME=SIZE ..: what an entry takes for arguments of these sizes (sized_bundle.h), as
// a whole and by type of task, beside the least that it has to take on this machine.
//
// FILE is a program, or a bundle, whose program stands beside it. It is compiled for one level twice, without
// tracing for the time of launches, and with it for how they spend it. With --trace one launch is written as
// a timeline.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "target/machine.h"
#include "tools/arguments.h"
#include "tools/bench_report.h"
#include "tools/common.h"
#include "tools/entries.h"

namespace axon::tools {

namespace {

struct BenchOptions {
  CommonOptions common;
  std::vector<std::string> rest;  ///< the entry, and NAME=SIZE
  std::string trace;
  uint32_t workers = 0;
  double seconds = 1;
  bool json = false;
};

bool is_bundle(const std::string& path) {
  constexpr std::string_view magic = "AXONBNDL";
  std::string begin(magic.size(), ' ');
  std::ifstream file(path, std::ios::binary);
  return file.read(begin.data(), static_cast<std::streamsize>(begin.size())) && begin == magic;
}

/// The program that a bundle was made from, beside it.
std::string source_of(const std::string& path) {
  SizedBundle bundle({});
  bundle.open(path);
  const std::string name = axon_bundle_source(bundle.bundle());
  const auto source = std::filesystem::path(path).parent_path() / name;
  std::error_code ignored;
  if (!name.empty() && std::filesystem::is_regular_file(source, ignored)) return source.string();
  throw Problem{
      "E0801",
      fmt::format("`{}` was made from `{}`, which is not beside it: what its tasks do is found in its "
                  "program alone",
                  path, name)};
}

/// Compiles the entry twice and measures it.
void measure(const BenchOptions& o, Compilation& c, SizedBundle& bundle, Benchmark& out) {
  if (!run(c, "bundle")) return;
  bundle.open_bytes(c.bundle);
  bundle.check_sizes({out.entry});
  bundle.bind();
  measure_plain(bundle, out.entry, o.workers, o.seconds, out.measured);
  c.options.trace = true;
  go_back_to(c, "object");
  if (!run(c, "bundle")) return;
  bundle.open_bytes(c.bundle);
  bundle.bind();
  for (const plan::Variant& variant : c.entries.front().plan.variants) {
    if (variant.symbol != out.measured.variant) continue;
    measure_traced(bundle, out.entry, type_names(variant), o.seconds, out.measured);
    add_figures(variant, out);
    if (!o.trace.empty() && !write_file(o.trace, chrome_trace(variant, out), c.diagnostics)) return;
    fmt::print("{}", o.json ? benchmark_json(out) : benchmark_table(out));
  }
}

int bench(BenchOptions& o) {
  std::vector<std::string> entries = o.common.entries;
  Sizes sizes;
  if (!sort_words(o.rest, entries, sizes)) return usage;
  if (entries.size() > 1) {
    fmt::print(stderr, "etcc: `{}`: one entry is measured at a time\n", entries[1]);
    return usage;
  }
  if (o.common.level == "all") {
    fmt::print(stderr, "etcc: --level all: one level is measured at a time\n");
    return usage;
  }
  if (o.trace == "-") {
    fmt::print(stderr, "etcc: --trace -: what is measured goes to stdout\n");
    return usage;
  }
  int status = ok;
  source::Diagnostics early;
  try {
    if (is_bundle(o.common.file)) o.common.file = source_of(o.common.file);
  } catch (const Problem& problem) {
    early.report(diagnostic_of(problem));
    return report(early, {}, o.common);
  }
  if (o.common.level.empty()) o.common.level = target::loaded_machine().name;
  const auto c = open(o.common, status);
  if (!c) return status;
  if (!run(*c, "core")) return report(*c, o.common);
  const core::GlobalId entry =
      chosen_entry(*c, entries.empty() ? "" : entries[0], "to measure", c->diagnostics);
  if (!entry.valid()) return report(*c, o.common);
  Benchmark out;
  out.file = o.common.file;
  out.entry = c->core->globals[entry].name;
  out.level = o.common.level;
  c->options.entries = {out.entry};
  SizedBundle bundle(std::move(sizes));
  try {
    measure(o, *c, bundle, out);
  } catch (const Problem& problem) {
    c->diagnostics.report(diagnostic_of(problem));
  }
  return report(*c, o.common);
}

}  // namespace

Command add_bench(CLI::App& app) {
  auto o = std::make_shared<BenchOptions>();
  add_common(app, o->common);
  o->common.prints = true;
  app.add_option("ARGUMENT", o->rest, "the entry (none: the only one), and the sizes of its arguments, n=12");
  app.add_option("--workers", o->workers, "worker threads; 0: as many as pay off");
  app.add_option("--seconds", o->seconds, "for launches without tracing, and for traced ones")
      ->check(CLI::Range(0.0, 60.0));
  app.add_flag("--json", o->json, "print what was measured as JSON");
  app.add_option("--trace", o->trace,
                 "write a launch as a timeline to this file, for chrome://tracing or Perfetto");
  return [o] { return bench(*o); };
}

}  // namespace axon::tools
