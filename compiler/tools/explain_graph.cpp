// See explain_graph.h.
#include "tools/explain_graph.h"

#include <fmt/format.h>

#include <filesystem>

#include "page/page.h"
#include "page/planned.h"
#include "tools/entries.h"
#include "tools/files.h"

namespace axon::tools {

namespace {

/// Of the file, for an editor; empty for stdin.
std::string path_of(const std::string& file) {
  if (file == "-") return "";
  std::error_code failed;
  const auto path = std::filesystem::absolute(file, failed);
  return failed ? "" : path.lexically_normal().string();
}

/// Where it is written: as asked, or beside the file.
std::string output_of(const GraphOptions& o, const std::string& entry, bool dot) {
  if (!o.out.empty()) return o.out;
  if (dot) return "-";
  std::string stem = o.common.file == "-" ? "out" : o.common.file;
  if (stem.ends_with(".axn")) stem.resize(stem.size() - 4);
  return fmt::format("{}.{}.html", stem, entry);
}

}  // namespace

int explain_graph(const GraphOptions& o) {
  CommonOptions common = o.common;
  common.prints = true;
  int status = ok;
  const auto c = open(common, status);
  if (!c) return status;
  if (!run(*c, "core")) return report(*c, common);
  const core::GlobalId entry = chosen_entry(*c, o.entry, "to show", c->diagnostics);
  const auto made = entry.valid()
                        ? page::planned(*c->core, entry, c->sources, c->diagnostics, c->options.schedule)
                        : nullptr;
  if (!made) return report(*c, common);
  const page::Subject subject{*c->core,   entry,          c->sources,          c->file,
                              made->plan, &made->written, path_of(common.file)};
  const bool dot = o.format == "dot" || o.out.ends_with(".dot");
  const std::string path = output_of(o, c->core->globals[entry].name, dot);
  const bool written = write_file(path, dot ? page::dot(subject) : page::html(subject), c->diagnostics);
  if (written && path != "-") fmt::print("{}\n", path);
  return report(*c, common);
}

}  // namespace axon::tools
