// See support.h.
#include "support.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "graph/from_core.h"
#include "session/try_edits.h"

namespace axon::source {

std::set<std::string> Checked::codes() const {
  std::set<std::string> all;
  for (const Diagnostic& d : diagnostics->in_order_of_report()) all.emplace(code_name(d.code));
  return all;
}

namespace {

std::vector<std::string> library() { return {AXON_SOURCE_DIR "/stdlib"}; }

void run(Checked& c) {
  c.syntax = std::make_unique<syntax::File>(syntax::parse((*c.sources)[c.file], *c.diagnostics));
  c.program = core::elaborate(*c.syntax, *c.sources, std::ref(*c.loader), *c.diagnostics, {});
  const SourceFile& file = (*c.sources)[c.file];
  session::try_edits(file.name(), std::string(file.text()), library(), {}, c.file, *c.diagnostics);
  if (c.diagnostics->has_errors()) return;
  for (core::GlobalId id : c.program.own)
    if (c.program.globals[id].kind == core::Global::Kind::entry)
      graph::from_core(c.program, id, *c.diagnostics, c.sources.get());
}

Checked started() {
  Checked c;
  c.loader = std::make_unique<core::LibraryLoader>(*c.sources, *c.diagnostics, library());
  return c;
}

}  // namespace

Checked check(std::string text, const std::string& name) {
  Checked c = started();
  c.file = c.sources->add(name, std::move(text), *c.diagnostics);
  run(c);
  return c;
}

Checked check_file(const std::string& path) {
  Checked c = started();
  if (const auto file = c.sources->load(path, *c.diagnostics)) {
    c.file = *file;
    run(c);
  }
  return c;
}

std::string read(const std::filesystem::path& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder,
                                            const std::string& extension) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == extension) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string edited(const std::string& text, const Edit& edit) {
  return text.substr(0, edit.span.begin) + edit.replacement + text.substr(edit.span.end);
}

}  // namespace axon::source
