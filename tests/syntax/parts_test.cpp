// Parts of a text: reading them one by one gives what reading the text gives; for programs, for programs with
// lines left out, put in and exchanged, and for odd beginnings. A part stays as it is while others change.
#include "syntax/parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "../sanitized.h"
#include "parsed.h"

namespace axon::syntax {
namespace {

namespace fs = std::filesystem;
using source::Diagnostics;
using source::SourceManager;

std::string reports(const Diagnostics& diagnostics, const SourceManager& sources) {
  std::vector<std::pair<uint32_t, std::string>> all;
  for (const source::Diagnostic& d : diagnostics.in_order_of_report())
    all.emplace_back(
        sources.in_whole(d.primary.span).begin,
        fmt::format("{}: {}: {}\n", sources.describe(d.primary.span), code_name(d.code), d.headline()));
  std::sort(all.begin(), all.end());
  std::string out;
  for (const auto& [at, report] : all) out += report;
  return out;
}

/// The file without what is broken at its beginning: that may be one with what stands before it.
std::string named(File file) {
  std::erase_if(file.decls, [](const Decl& d) { return as<ErrorDecl>(d) && d.name.text.empty(); });
  return print(file);
}

std::string read_whole(const std::string& text) {
  const Parsed whole(text);
  return named(whole.file) + reports(whole.diagnostics, whole.sources);
}

std::string read_in_parts(const std::string& text) {
  SourceManager sources;
  Diagnostics diagnostics;
  const source::FileId whole = sources.add("test.axn", text, diagnostics);
  std::vector<uint32_t> starts = part_starts(sources[whole].text());
  starts.push_back(sources[whole].size());
  std::string out;
  for (size_t i = 0; i + 1 < starts.size(); ++i) {
    const source::FileId part = sources.add_part({whole, starts[i], starts[i + 1]});
    out += named(parse(sources[part], diagnostics));
  }
  return out + reports(diagnostics, sources);
}

std::vector<std::string> programs() {
  std::vector<std::string> out;
  for (const char* folder : {"stdlib", "examples", "tests/syntax/ast", "tests/core/errors"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(AXON_TEST_DIR) / "../.." / folder)) {
      if (entry.path().extension() != ".axn") continue;
      std::ostringstream text;
      text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
      out.push_back(text.str());
    }
  return out;
}

TEST(Parts, OfProgramsReadAsTheWhole) {
  const auto all = programs();
  ASSERT_GE(all.size(), 40u);
  for (const std::string& text : all) ASSERT_EQ(read_in_parts(text), read_whole(text)) << text;
}

TEST(Parts, OfChangedProgramsReadAsTheWhole) {
  const std::vector<std::string> odd = {"fun",
                                        "private",
                                        "  fun g x = x",
                                        "\tval k = (",
                                        ")",
                                        "--| of what?",
                                        "",
                                        "\r",
                                        "-- \"",
                                        "fun f = \"--",
                                        "val v = 1 private",
                                        "private -- of f",
                                        "private fun h (x = [",
                                        "entry e x = let y = {",
                                        "test \"t",
                                        "}"};
  std::mt19937 random(1);
  const auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  const auto all = programs();
  for (int round = 0; round < sampled(3000); ++round) {
    std::vector<std::string> lines;
    std::istringstream text(all[below(all.size())]);
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    if (lines.empty()) continue;
    const size_t first = below(lines.size()), count = std::min<size_t>(60, lines.size() - first);
    lines = {lines.begin() + static_cast<long>(first), lines.begin() + static_cast<long>(first + count)};
    for (size_t changes = below(4) + 1; changes != 0 && !lines.empty(); --changes) {
      const auto at = lines.begin() + static_cast<long>(below(lines.size()));
      switch (below(4)) {
        case 0:
          lines.erase(at);
          break;
        case 1:
          lines.insert(at, odd[below(odd.size())]);
          break;
        case 2:
          std::swap(*at, lines[below(lines.size())]);
          break;
        default:
          at->resize(below(at->size() + 1));
          break;
      }
    }
    std::string changed;
    for (const std::string& line : lines) changed += line + "\n";
    if (below(4) == 0 && !changed.empty()) changed.pop_back();
    ASSERT_EQ(read_in_parts(changed), read_whole(changed)) << changed;
  }
}

TEST(Parts, StayWhileOthersChange) {
  SourceManager sources;
  Diagnostics diagnostics;
  const source::FileId whole = sources.add("a.axn", "fun f x = x\n\n-- of g\nfun g y = y\n", diagnostics);
  ASSERT_EQ(part_starts(sources[whole].text()), (std::vector<uint32_t>{0, 12}));
  const source::FileId part = sources.add_part({whole, 12, sources[whole].size()});
  const File before = parse(sources[part], diagnostics);
  const source::Span name = before.decls[0].name.span;
  EXPECT_EQ(sources.describe(name), "a.axn:4:5");

  sources.replace(whole, "fun f x =\n  x + 1\n\n-- of g\nfun g y = y\n", diagnostics);
  const auto starts = part_starts(sources[whole].text());
  ASSERT_EQ(starts.size(), 2u);
  sources.place_part(part, {whole, starts[1], sources[whole].size()});
  EXPECT_EQ(sources.describe(name), "a.axn:5:5");
  EXPECT_EQ(sources.text(name), "g");
  EXPECT_EQ(sources.text(sources.in_whole(name)), "g");
}

}  // namespace
}  // namespace axon::syntax
