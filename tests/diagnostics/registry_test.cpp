// The registry: codes are unique, in order inside their sections, and titled; every lexical and syntax code
// is reported for some text.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>

#include "source/diagnostic.h"
#include "support.h"
#include "syntax/parse.h"

namespace axon::source {
namespace {

TEST(Registry, NamesAreUniqueAndTitled) {
  std::set<std::string_view> names;
  for (Code code : all_codes()) {
    EXPECT_TRUE(names.insert(code_name(code)).second) << code_name(code);
    EXPECT_EQ(code_name(code).size(), 5u);
    EXPECT_FALSE(code_title(code).empty());
    EXPECT_NE(code_title(code).back(), '.');
    EXPECT_EQ(code_from_name(code_name(code)), code);
  }
  EXPECT_EQ(code_from_name("E0000"), std::nullopt);
}

TEST(Registry, EveryCodeOfTheTextSideIsReported) {
  std::string digits(65, '1'), letters(256, 'a'), text(1100000, 'a'), brackets(300, '('), errors,
      tokens = "val x = [";
  for (int i = 0; i < 200; ++i) errors += "fun = +\n";
  for (int i = 0; i < 2'000'001; ++i) tokens += "1,\n";
  const std::string programs[] = {std::string((16 << 20) + 1, ' '),
                                  "-- \xff",
                                  std::string("\0", 1),
                                  "-- \xe2\x80\xae",
                                  "val x = $",
                                  "val x = \"",
                                  "val x = \"\\q\"",
                                  "val " + letters + " = " + digits,
                                  "val x = \"" + text + "\"",
                                  "val x = 1a",
                                  "val x = " + brackets,
                                  tokens,
                                  errors,
                                  "fun",
                                  "val x = (",
                                  "val x = )",
                                  "val x : f32[1.5]",
                                  "val x = y => 1",
                                  "val x : ?1 <= 2. f32",
                                  "val x : Stack[n, (2, f32)]",
                                  "--| nothing",
                                  "fun let = 1"};
  std::set<Code> reported;
  for (const std::string& program : programs) {
    Diagnostics diagnostics;
    SourceManager sources;
    syntax::parse(sources[sources.add("test.axn", program, diagnostics)], diagnostics);
    for (const Diagnostic& d : diagnostics.in_order_of_report()) reported.insert(d.code);
  }
  Diagnostics diagnostics;
  SourceManager sources;
  EXPECT_EQ(sources.load("/does/not/exist.axn", diagnostics), std::nullopt);
  EXPECT_EQ(sources.load("/", diagnostics), std::nullopt);
  ASSERT_EQ(diagnostics.error_count(), 2u);
  reported.insert(diagnostics.in_order_of_report()[0].code);
  for (Code code : all_codes()) {
    bool of_the_text = code_name(code) < "E0300";
    EXPECT_TRUE(!of_the_text || reported.count(code)) << code_name(code) << " is never reported";
  }
}

/// Codes in quotes in a file of the runtime, which does not include the registry.
std::set<std::string> codes_in(const std::filesystem::path& file) {
  const std::string text = read(std::filesystem::path(AXON_SOURCE_DIR) / file);
  const std::regex quoted("\"(E[0-9]{4})\"");
  std::set<std::string> codes;
  for (std::sregex_iterator at(text.begin(), text.end(), quoted), end; at != end; ++at)
    codes.insert((*at)[1]);
  return codes;
}

TEST(Registry, HasTheCodesOfTheRuntime) {
  std::set<std::string> runtime = codes_in("runtime/host/error.h"), registered;
  runtime.merge(codes_in("runtime/host/weights/result.h"));
  for (Code code : all_codes())
    if (code_name(code).starts_with("E07") || code_name(code).starts_with("E08"))
      registered.emplace(code_name(code));
  EXPECT_EQ(registered, runtime);
}

}  // namespace
}  // namespace axon::source
