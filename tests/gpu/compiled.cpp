// See compiled.h.
#include "compiled.h"

#include <utility>

#include "source/render.h"

namespace axon::testing {

std::optional<shape::Assignment> Compiled::sizes(const std::map<std::string, int64_t>& by_name) const {
  shape::Assignment values;
  for (const graph::Size& s : entry().graph.sizes) {
    const auto found = by_name.find(s.name);
    if (found == by_name.end()) return std::nullopt;
    values[s.var] = found->second;
  }
  return values;
}

Compiled compile(const std::string& file, const std::string& entry, const std::string& machine) {
  CompileOptions options;
  options.library = {AXON_SOURCE_DIR "/stdlib"};
  options.entries = {entry};
  options.target = machine;
  Compiled out{std::make_unique<Compilation>(std::move(options)), *target::find_machine(machine), {}, ""};
  Compilation& c = *out.compilation;
  const auto loaded = c.sources.load(file, c.diagnostics);
  if (loaded) c.file = *loaded;
  if (!loaded || !run(c, "proof")) {
    out.error = source::render_human(c.diagnostics, c.sources);
    return out;
  }
  out.code = module::emit_gpu({&c.entries.front().plan}, out.machine, {}, out.error);
  return out;
}

const Compiled& compiled_entry(const std::string& entry, const std::string& machine) {
  static std::map<std::pair<std::string, std::string>, Compiled> made;
  auto found = made.find({entry, machine});
  if (found == made.end())
    found =
        made.try_emplace({entry, machine}, compile(AXON_SOURCE_DIR "/tests/gpu/entries.axn", entry, machine))
            .first;
  return found->second;
}

}  // namespace axon::testing
