// Limits and oddities of the text side: each limit has its code, and nothing else is reported for it.
#include <gtest/gtest.h>

#include "parsed.h"
#include "syntax/tokens.h"

namespace axon::syntax {
namespace {

using source::Code;

/// The codes reported for a text, each once, in order of position.
std::vector<Code> codes(const std::string& text) {
  Parsed parsed(text);
  std::vector<Code> result;
  for (const auto& d : parsed.diagnostics.sorted()) result.push_back(d.code);
  return result;
}
using Codes = std::vector<Code>;

TEST(Limits, Names) {
  EXPECT_EQ(codes("fun " + std::string(255, 'a') + " = 1"), Codes{});
  EXPECT_EQ(codes("fun " + std::string(256, 'a') + " = 1"), Codes{Code::E0104});
}

TEST(Limits, Numbers) {
  EXPECT_EQ(codes("val x = " + std::string(64, '1')), Codes{});
  EXPECT_EQ(codes("val x = " + std::string(65, '1')), Codes{Code::E0105});
  EXPECT_EQ(codes("val x : f32[99999999999999999999]"), Codes{Code::E0320});
  EXPECT_EQ(codes("val x : f32[" + std::string(65, '9') + "]"), Codes{Code::E0105});
  EXPECT_EQ(codes("val x : f32[1.5]"), Codes{Code::E0214});
}

TEST(Limits, StringsAndLines) {
  EXPECT_EQ(codes("val x = \"" + std::string((1 << 20), 'a') + "\""), (Codes{Code::E0002, Code::E0106}));
  EXPECT_EQ(codes("val x = \"" + std::string(1000, 'a') + "\""), Codes{});
  EXPECT_EQ(codes("val x = 1 --" + std::string(1 << 16, ' ')), Codes{Code::E0002});
}

TEST(Limits, FileSize) {
  EXPECT_EQ(codes(std::string((16 << 20) + 1, '\n')), Codes{Code::E0001});
  EXPECT_EQ(codes(std::string(16 << 20, '\n')), Codes{});
}

TEST(Limits, Tokens) {
  std::string text = "val x = [";
  for (int i = 0; i < 2'100'000; ++i) text += "1,\n";
  EXPECT_EQ(codes(text + "1]"), Codes{Code::E0202});
}

TEST(Bytes, NulAndInvalidUtf8) {
  EXPECT_EQ(codes(std::string("val x = 1\0", 10)), Codes{Code::E0003});
  const Parsed bundle(std::string("AXONBNDL\0", 9));
  std::string notes;
  for (const auto& d : bundle.diagnostics.sorted())
    for (const auto& note : d.notes) notes += note.text;
  EXPECT_NE(notes.find("compiled program"), std::string::npos) << bundle.report();
  EXPECT_EQ(codes("-- \xff\xfe\nval x = 1"), Codes{Code::E0004});
  EXPECT_EQ(codes("-- overlong \xc0\xaf, surrogate \xed\xa0\x80\nval x = 1"), Codes{Code::E0004});
  EXPECT_EQ(codes("-- \xe2\x80\xae reversed\nval x = 1"), Codes{Code::E0110});
}

TEST(Bytes, MarkAndLineEnds) {
  EXPECT_EQ(codes("\xef\xbb\xbfval x = 1\r\n-- comment\r\nval y = 2\r\n"), Codes{});
  Parsed parsed("--| doc\r\nval x = 1\r\n");
  EXPECT_EQ(parsed.file.decls.at(0).doc, "doc");
}

TEST(Bytes, EveryByteAloneIsHandled) {
  for (int byte = 0; byte < 256; ++byte) {
    Parsed parsed("val x = 1 " + std::string(1, static_cast<char>(byte)) + "\nval y = 2\n");
    ASSERT_GE(parsed.file.decls.size(), 2u) << byte;
    EXPECT_EQ(parsed.file.decls.back().name.text, "y") << byte;
  }
}

TEST(Strings, Values) {
  EXPECT_EQ(string_value(R"("a\n\"\\\u{e9}\u{1f600}")"), "a\n\"\\\xc3\xa9\xf0\x9f\x98\x80");
  EXPECT_EQ(string_value(R"("kept \q")"), "kept \\q");
}

TEST(Comments, AreKeptWithTheirPlaces) {
  Parsed parsed("-- one\nval x = 1 -- two\n--| three\nval y = 2\n");
  const auto& comments = parsed.file.comments;
  ASSERT_EQ(comments.size(), 3u);
  EXPECT_EQ(parsed.sources.text(comments[1].span), "-- two");
  EXPECT_FALSE(comments[1].own_line);
  EXPECT_TRUE(comments[2].is_doc && comments[2].own_line);
  EXPECT_EQ(parsed.file.decls[1].doc, "three");
}

}  // namespace
}  // namespace axon::syntax
