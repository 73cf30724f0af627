// Recovery: each file of recovery/ holds 2 to 5 independent errors, each marked `--! CODE` on its line or on
// the line after it. What is reported is what was planted, code by code and line by line: no error hides
// another, none brings another along. Files listed in known.txt are known to fail; one that starts to pass
// must leave the list.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "support.h"

namespace axon::source {
namespace {

const std::filesystem::path recovery_folder = std::filesystem::path(AXON_TEST_DIR) / "recovery";

using Places = std::multiset<std::pair<uint32_t, std::string>>;  // (line, code)

/// A line that is only a marker speaks of the line before it.
Places planted(const std::string& text) {
  static const std::regex code("E[0-9]{4}");
  Places places;
  uint32_t number = 0;
  for (const std::string& line : lines_of(text)) {
    ++number;
    const size_t at = line.find("--!");
    if (at == std::string::npos) continue;
    const bool alone = line.find_first_not_of(' ') == at;
    for (std::sregex_iterator i(line.begin() + static_cast<long>(at), line.end(), code), end; i != end; ++i)
      places.insert({number - (alone ? 1 : 0), i->str()});
  }
  return places;
}

Places reported(const std::string& text) {
  const Checked c = check(text);
  Places places;
  for (const Diagnostic& d : c.diagnostics->sorted()) {
    const bool here = d.primary.span.valid() && d.primary.span.file == c.file;
    places.insert(
        {here ? (*c.sources)[c.file].line_of(d.primary.span.begin) : 0, std::string(code_name(d.code))});
  }
  return places;
}

std::string shown(const Places& places) {
  std::string out;
  for (const auto& [line, code] : places) out += std::to_string(line) + ": " + code + "\n";
  return out;
}

std::set<std::string> known() {
  std::set<std::string> names;
  for (const std::string& line : lines_of(read(recovery_folder / "known.txt")))
    if (!line.empty() && line[0] != '#') names.insert(line.substr(0, line.find(' ')));
  return names;
}

class Recovery : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Recovery, ReportsWhatWasPlanted) {
  const std::string text = read(GetParam());
  const std::string expected = shown(planted(text)), actual = shown(reported(text));
  if (known().count(GetParam().stem().string()) != 0) {
    EXPECT_NE(expected, actual) << GetParam() << " passes now: take it out of known.txt";
  } else {
    EXPECT_EQ(expected, actual) << check(text, GetParam().filename()).human();
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Recovery, testing::ValuesIn(files_in(recovery_folder, ".axn")),
                         [](const auto& info) { return info.param.stem().string(); });

TEST(RecoveryCorpus, IsLargeAndSaysWhatItPlants) {
  const auto files = files_in(recovery_folder, ".axn");
  EXPECT_GE(files.size(), 60u);
  std::set<std::string> codes, names;
  for (const auto& file : files) {
    const Places places = planted(read(file));
    EXPECT_GE(places.size(), 2u) << file;
    EXPECT_LE(places.size(), 5u) << file;
    for (const auto& [line, code] : places) codes.insert(code);
    names.insert(file.stem());
  }
  EXPECT_GE(codes.size(), 35u);  // lexical, syntax, names, types, shapes, indices, where, entries
  for (const std::string& name : known()) EXPECT_EQ(names.count(name), 1u) << name;
}

}  // namespace
}  // namespace axon::source
