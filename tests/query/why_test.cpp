// Derivations: of the places that the first line of a file names.
#include "query/why.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "../sanitized.h"
#include "session/support.h"

namespace axon::query {
namespace {

namespace fs = std::filesystem;

std::string place_text(const source::SourceManager& sources, source::Span span) {
  if (!span.valid()) return "";
  const source::Position at = sources[span.file].position(span.begin);
  return fmt::format("{}:{}", at.line, at.column);
}

/// The steps at each place of the first line.
std::string derivations(session::Session& session, const std::string& path, const source::Diagnostics& said) {
  const source::SourceFile& file = session.sources()[session.documents().find(path)->text().source];
  std::istringstream places{std::string(file.line(1).substr(3))};
  std::string out;
  for (std::string place; places >> place;) {
    const size_t colon = place.find(':');
    const uint32_t line = static_cast<uint32_t>(std::stoul(place)),
                   column = static_cast<uint32_t>(std::stoul(place.substr(colon + 1)));
    out += place + "\n";
    for (const Step& step : why(session, path, file.line_begin(line) + column - 1, said))
      out += fmt::format("    {:<6} {}{}\n", place_text(session.sources(), step.span),
                         std::string(step.depth * 2, ' '), step.text);
  }
  return out;
}

TEST(Why, OfFiles) {
  for (const auto& entry : fs::directory_iterator(fs::path(AXON_SOURCE_DIR) / "tests/query/why")) {
    if (entry.path().extension() != ".axn") continue;
    session::Session session(session::library(), {});
    const std::string path = entry.path();
    session.documents().open(path, session::read(path));
    const source::Diagnostics said = session.check(path);
    const std::string shown = derivations(session, path, said);
    fs::path golden = entry.path();
    golden.replace_extension(".txt");
    if (std::getenv("AXON_BLESS")) std::ofstream(golden, std::ios::binary) << shown;
    EXPECT_EQ(session::read(golden), shown) << "AXON_BLESS=1 accepts";
  }
}

/// Nothing goes wrong anywhere, and every step has one line.
TEST(Why, OfEveryPlace) {
  for (const std::string& path : sampled(session::programs({"examples"}))) {
    session::Session session(session::library(), {});
    session.documents().open(path, session::read(path));
    const source::Diagnostics said = session.check(path);
    const uint32_t size = session.sources()[session.documents().find(path)->text().source].size();
    for (uint32_t offset = 0; offset <= size; offset += 37)
      for (const Step& step : why(session, path, offset, said))
        EXPECT_EQ(step.text.find('\n'), std::string::npos) << step.text;
  }
}

}  // namespace
}  // namespace axon::query
