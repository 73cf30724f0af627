// The algebra of documents: groups, indentation, alignment, comments.
#include "format/document.h"

#include <gtest/gtest.h>

namespace axon::format {
namespace {

class Document : public ::testing::Test {
 protected:
  /// Words with a line between two, each in a group of its own when `packed`.
  Doc words(const std::vector<std::string>& all, bool packed = false) {
    std::vector<Doc> parts;
    for (const std::string& word : all) {
      std::vector<Doc> piece;
      if (!parts.empty()) piece.push_back(d.line());
      piece.push_back(d.text(word));
      parts.push_back(packed ? d.group(d.concat(piece)) : d.concat(piece));
    }
    return d.concat(parts);
  }
  Documents d;
};

TEST_F(Document, AGroupIsOnOneLineOrAllItsLinesBreak) {
  Doc doc = d.group(words({"aa", "bb", "cc"}));
  EXPECT_EQ(d.render(doc, 8), "aa bb cc\n");
  EXPECT_EQ(d.render(doc, 7), "aa\nbb\ncc\n");
}

TEST_F(Document, AGroupCountsWhatFollowsIt) {
  Doc doc = d.concat({d.group(words({"aa", "bb"})), d.text(";")});
  EXPECT_EQ(d.render(doc, 6), "aa bb;\n");
  EXPECT_EQ(d.render(doc, 5), "aa\nbb;\n");
}

TEST_F(Document, WordsArePackedWhenEachIsAGroup) {
  EXPECT_EQ(d.render(words({"aa", "bb", "cc", "dd"}, true), 5), "aa bb\ncc dd\n");
}

TEST_F(Document, OuterGroupsBreakFirst) {
  Doc inner = d.group(words({"bb", "cc"}));
  EXPECT_EQ(d.render(d.group(d.concat({d.text("aa"), d.line(), inner})), 6), "aa\nbb cc\n");
}

TEST_F(Document, NestAndAlign) {
  Doc nested = d.group(d.concat({d.text("f"), d.nest(2, d.concat({d.line(), words({"x", "y"})}))}));
  EXPECT_EQ(d.render(nested, 2), "f\n  x\n  y\n");
  Doc aligned = d.group(d.concat({d.text("f("), d.align(words({"x,", "y)"}))}));
  EXPECT_EQ(d.render(aligned, 4), "f(x,\n  y)\n");
}

TEST_F(Document, ACommentBehindGoesToTheEndOfTheLineBeforeTheBreak) {
  Doc doc = d.group(d.concat({d.text("a"), d.line(), d.comment_behind("-- c"), d.text("b")}));
  EXPECT_TRUE(d.is_broken(doc));
  EXPECT_EQ(d.render(doc, 80), "a  -- c\nb\n");
}

TEST_F(Document, ACommentOfItsOwnGetsALine) {
  Doc doc = d.nest(2, d.concat({d.text("a"), d.line(), d.comment_line("-- c"), d.text("b")}));
  EXPECT_EQ(d.render(doc, 80), "a\n  -- c\n  b\n");
}

TEST_F(Document, EmptyLinesDoNotAddUp) {
  Doc doc = d.concat({d.blank_line(), d.text("a"), d.hard_line(), d.blank_line(), d.hard_line(),
                      d.blank_line(), d.text("b"), d.hard_line()});
  EXPECT_EQ(d.render(doc, 80), "a\n\nb\n");
}

TEST_F(Document, WidthIsThatOfTheTerminal) {
  Doc doc = d.group(words({"形形", "bb"}));
  EXPECT_EQ(d.render(doc, 7), "形形 bb\n");
  EXPECT_EQ(d.render(doc, 6), "形形\nbb\n");
}

}  // namespace
}  // namespace axon::format
