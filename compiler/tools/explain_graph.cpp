// See explain_graph.h.
#include "tools/explain_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "page/page.h"
#include "page/planned.h"
#include "tools/files.h"

namespace axon::tools {

namespace {

std::vector<core::GlobalId> entries_of(const core::Program& program) {
  std::vector<core::GlobalId> entries;
  for (core::GlobalId id : program.own)
    if (program.globals[id].kind == core::Global::Kind::entry) entries.push_back(id);
  return entries;
}

/// The entry of that name, or the only one; invalid, with E0610, where that is none.
core::GlobalId chosen(const Compilation& c, const std::string& name, source::Diagnostics& diagnostics) {
  const auto entries = entries_of(*c.core);
  std::vector<std::string> names;
  for (core::GlobalId id : entries) {
    names.push_back(fmt::format("`{}`", c.core->globals[id].name));
    if (c.core->globals[id].name == name) return id;
  }
  if (name.empty() && entries.size() == 1) return entries[0];
  const std::string what = entries.empty() ? "the file has no entry to show"
                           : name.empty()  ? "the file has several entries, and none is named"
                                           : fmt::format("the file has no entry `{}`", name);
  auto error = source::error(source::Code::E0610, {}, what);
  if (entries.empty())
    error.help("declare what a host program calls with `entry NAME ... = ...`");
  else
    error.help(fmt::format("its entries are {}", fmt::join(names, ", ")));
  diagnostics.report(std::move(error));
  return {};
}

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
  const core::GlobalId entry = chosen(*c, o.entry, c->diagnostics);
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
