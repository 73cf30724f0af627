// Explain pages: every code has one, headed by its code and title; its bad example raises exactly that code,
// its good example is accepted. A page whose error needs a command shows one: test_etcc.py runs the blocks
// `sh bad` and `sh good`; for commands in a plain `sh` block coverage_test.cpp names who raises the code.
#include "source/explain.h"

#include <gtest/gtest.h>

#include "support.h"

namespace axon::source {
namespace {

/// The text of the blocks that begin with this line.
std::vector<std::string> blocks(std::string_view page, std::string_view kind) {
  std::vector<std::string> found;
  bool inside = false;
  const std::string opening = "```" + std::string(kind);
  for (const std::string& line : lines_of(page)) {
    if (!inside && line == opening) {
      inside = true;
      found.emplace_back();
    } else if (inside && line == "```") {
      inside = false;
    } else if (inside) {
      found.back() += line + "\n";
    }
  }
  EXPECT_FALSE(inside) << page;
  return found;
}

TEST(Explain, EveryCodeHasAPage) {
  for (Code code : all_codes()) {
    const std::string_view page = explanation(code);
    const std::string heading =
        "# " + std::string(code_name(code)) + ": " + std::string(code_title(code)) + "\n\n";
    EXPECT_TRUE(page.starts_with(heading)) << code_name(code) << "\n" << page.substr(0, 100);
    EXPECT_GT(page.size(), heading.size() + 100) << code_name(code) << " says too little";
    EXPECT_EQ(blocks(page, "axn bad").size() + blocks(page, "sh bad").size() + blocks(page, "sh").size(), 1u)
        << code_name(code);
    for (const std::string& line : lines_of(page)) EXPECT_LE(display_width(line), 130u) << line;
  }
  EXPECT_EQ(pages().size(), all_codes().size());
}

TEST(Explain, BadExamplesRaiseTheCode) {
  size_t examples = 0;
  for (const Page& page : pages())
    for (const std::string& bad : blocks(page.text, "axn bad")) {
      ++examples;
      const Checked c = check(bad, "bad.axn");
      EXPECT_EQ(c.codes(), std::set<std::string>{std::string(code_name(page.code))}) << bad << c.human();
    }
  EXPECT_GT(examples, 40u);
}

TEST(Explain, GoodExamplesPass) {
  for (const Page& page : pages())
    for (const std::string& good : blocks(page.text, "axn good")) {
      const Checked c = check(good, "good.axn");
      EXPECT_EQ(c.human(), "") << code_name(page.code) << "\n" << good;
    }
}

TEST(Explain, ListsAllCodes) {
  const std::string all = explain_all();
  for (Code code : all_codes())
    EXPECT_NE(all.find(std::string(code_name(code)) + "  " + std::string(code_title(code)) + "\n"),
              std::string::npos);
}

}  // namespace
}  // namespace axon::source
