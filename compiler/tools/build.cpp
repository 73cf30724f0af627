// etcc build FILE -o OUT.axb: one bundle with every entry. --emit=STAGE prints a representation instead.
// --cache takes the code from the user's cache where it was made before, and keeps it there (code_cache.h).
#include <fmt/format.h>

#include "plan/footprint.h"
#include "target/machine.h"
#include "tools/code_cache.h"
#include "tools/common.h"
#include "tools/files.h"

namespace axon::tools {

Command add_build(CLI::App& app) {
  auto options = std::make_shared<CommonOptions>();
  auto out = std::make_shared<std::string>();
  auto emit = std::make_shared<std::string>();
  auto cached = std::make_shared<bool>(false);
  add_common(app, *options);
  app.add_option("-o", *out, "the bundle to write; the file's name with .axb when left out");
  app.add_flag("--cache", *cached,
               "take the code from the cache of `run` where it is there, else keep it there");
  std::vector<std::string> names;
  for (const Stage& stage : stages())
    if (stage.print) names.emplace_back(stage.name);
  app.add_option("--emit,--stop-after", *emit, "print this stage's result on stdout and stop")
      ->check(CLI::IsMember(names));
  return [options, out, emit, cached] {
    int status = ok;
    options->prints = !emit->empty();
    if (*emit == "ptx" && options->target == "cpu") options->target = target::gpus().back().name;
    const auto c = open(*options, status);
    if (!c) return status;
    if (!emit->empty()) {
      if (run(*c, *emit)) write_file(out->empty() ? "-" : *out, find_stage(*emit)->print(*c), c->diagnostics);
      return report(*c, *options);
    }
    CodeCache cache(*c, *options, *cached && !options->time_passes);
    if (!cache.compile(*c)) return report(*c, *options);
    std::string path = *out;
    if (path.empty()) {
      path = options->file == "-" ? "out" : options->file;
      if (path.ends_with(".axn")) path.resize(path.size() - 4);
      path += ".axb";
    }
    const bool written = write_file(path, c->bundle, c->diagnostics);
    status = report(*c, *options);
    if (!written || !options->verbose) return status;
    for (const CompiledEntry& entry : c->entries)
      for (const plan::Variant& variant : entry.plan.variants)
        fmt::print(stderr, "{}: {}\n", variant.symbol, plan::describe_footprint(variant));
    fmt::print(stderr, "wrote {}: {} bytes\n", path, c->bundle.size());
    return status;
  };
}

}  // namespace axon::tools
