// One spelling for each layout: golden texts, print after parse, and what is said of wrong texts.
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "support.h"

namespace axon::layout {
namespace {

std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// A line of texts.layouts is a text; below it in texts.expected stands how it is printed, or what is wrong
/// with it and where. AXON_BLESS=1 rewrites the expected file.
TEST(Text, Golden) {
  const std::string folder = AXON_TEST_DIR;
  std::istringstream lines(content(folder + "/texts.layouts"));
  std::string actual;
  int count = 0;
  Axes axes;
  axes.add_mesh("grid", {{"x", 4}, {"y", 2}});
  for (std::string line; std::getline(lines, line); ++count) {
    Names names;
    ParseError error;
    const auto known = [&](std::string_view name) {
      return name.size() == 1 ? std::optional(names(name)) : std::nullopt;
    };
    const auto layout = parse_swizzled(line, known, axes, &error);
    actual += line + "\n";
    if (layout) {
      actual += "  " + print(*layout) + "\n";
      EXPECT_EQ(parse_swizzled(print(*layout), names.lookup(), axes), layout) << line;
    } else {
      actual += std::string(error.offset, ' ') + "^ " + error.message + "\n";
    }
  }
  EXPECT_GE(count, 40);
  if (std::getenv("AXON_BLESS")) std::ofstream(folder + "/texts.expected", std::ios::binary) << actual;
  EXPECT_EQ(content(folder + "/texts.expected"), actual);
}

TEST(Text, OnlyTilesAreSwizzled) {
  ParseError error;
  EXPECT_FALSE(parse("S[(8,64):(64,1)] ^ (3,3,3)", &error));
  EXPECT_EQ(error.message, "`+` or the end of the layout is expected");
  EXPECT_EQ(error.offset, 17u);
}

TEST(Text, PrintThenParseIsIdentity) {
  Random random(1);
  for (int round = 0; round < random_layouts; ++round) {
    const Layout layout = random.layout();
    ParseError error;
    ASSERT_EQ(parse(print(layout), &error), layout) << print(layout) << ": " << error.message;
  }
}

TEST(Text, PrefixesAreRefusedInPlace) {
  const std::string whole = "S[(8,n):(n*2,1@lane)] + R[2:4@warp] + 5@warp";
  Names names;
  ASSERT_TRUE(parse(whole, names.lookup()));
  const std::set<std::string> layouts = {"S[(8,n):(n*2,1@lane)]", "S[(8,n):(n*2,1@lane)] + R[2:4@warp]"};
  for (size_t length = 0; length < whole.size(); ++length) {
    std::string text = whole.substr(0, length);
    ParseError error;
    const bool read = parse(text, names.lookup(), {}, &error).has_value();
    if (!read) {
      EXPECT_LE(error.offset, length) << text;
      EXPECT_NE(error.message, "") << text;
    }
    while (!text.empty() && text.back() == ' ') text.pop_back();
    EXPECT_EQ(read, layouts.count(text) == 1) << text;
  }
}

}  // namespace
}  // namespace axon::layout
