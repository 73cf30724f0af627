// See harness.h.
#include "harness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "session/try_edits.h"

namespace axon::core {

static Checked check(const std::string& name, const std::string& text, const Options& options,
                     std::vector<std::string> library = {}) {
  Checked c;
  library.emplace_back(AXON_SOURCE_DIR "/stdlib");
  c.loader = std::make_unique<LibraryLoader>(*c.sources, *c.diagnostics, library);
  const auto id = c.sources->add(name, text, *c.diagnostics);
  c.file = std::make_unique<syntax::File>(syntax::parse((*c.sources)[id], *c.diagnostics));
  c.program = elaborate(*c.file, *c.sources, std::ref(*c.loader), *c.diagnostics, options);
  session::try_edits(name, text, library, options, id, *c.diagnostics);
  return c;
}

Checked check_text(const std::string& text, const Options& options, const std::string& path) {
  return check(path, text, options);
}
Checked check_file(const std::string& path) {
  return check(std::filesystem::path(path).filename().string(), read(path), {});
}

Checked check_path(const std::string& path, const std::vector<std::string>& library) {
  return check(path, read(path), {}, library);
}

std::string Checked::type_of(const std::string& name) const {
  const GlobalId g = program.find(name);
  if (!g.valid()) return "no such declaration";
  Names names(program.types);
  return print(program.types, program.globals[g].scheme, names);
}

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<std::string> files_in(const std::string& folder, const std::string& extension) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == extension) out.push_back(entry.path().string());
  std::sort(out.begin(), out.end());
  return out;
}

void expect_golden(const std::string& path, const std::string& text) {
  if (std::getenv("AXON_BLESS")) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(text, read(path)) << "run with AXON_BLESS=1 to accept: " << path;
}

}  // namespace axon::core
