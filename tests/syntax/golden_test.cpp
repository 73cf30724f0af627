// Golden files: every ast/*.axn is parsed and printed, every tokens/*.axn is lexed; tree or tokens, then the
// diagnostics in short form, are compared with the .expected file beside it. AXON_BLESS=1 rewrites the
// expected files.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "parsed.h"

namespace axon::syntax {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<fs::path> programs(const char* folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(fs::path(AXON_TEST_DIR) / folder))
    if (entry.path().extension() == ".axn") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

void compare(const fs::path& program, const std::string& actual) {
  fs::path expected = fs::path(program).replace_extension(".expected");
  if (std::getenv("AXON_BLESS")) std::ofstream(expected, std::ios::binary) << actual;
  EXPECT_EQ(read(expected), actual) << program;
}

TEST(Golden, Trees) {
  std::vector<fs::path> all = programs("ast");
  ASSERT_GE(all.size(), 5u);
  for (const fs::path& program : all) {
    Parsed parsed(read(program), program.filename().string());
    compare(program, parsed.tree() + parsed.report());
  }
}

TEST(Golden, Tokens) {
  std::vector<fs::path> all = programs("tokens");
  ASSERT_GE(all.size(), 2u);
  for (const fs::path& program : all) {
    source::Diagnostics diagnostics;
    source::SourceManager sources;
    source::FileId id = sources.add(program.filename().string(), read(program), diagnostics);
    std::string tokens = print_tokens(sources[id], diagnostics);
    compare(program, tokens + source::render_short(diagnostics, sources));
  }
}

// Programs without an error in them parse without one; those that have one are named for it.
TEST(Golden, OnlyBrokenProgramsHaveErrors) {
  for (const fs::path& program : programs("ast")) {
    Parsed parsed(read(program));
    bool broken = program.filename().string().starts_with("broken");
    EXPECT_EQ(parsed.diagnostics.has_errors(), broken) << program << "\n" << parsed.report();
  }
}

}  // namespace
}  // namespace axon::syntax
