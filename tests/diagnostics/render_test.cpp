// Rendering goldens: each case builds diagnostics over a small text and is compared with render/<case>.txt.
// AXON_BLESS=1 rewrites the files.
#include "source/render.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "syntax/parse.h"

namespace axon::source {
namespace {

void compare(const std::string& name, const std::string& actual) {
  std::string path = std::string(AXON_TEST_DIR) + "/render/" + name + ".txt";
  if (std::getenv("AXON_BLESS")) std::ofstream(path, std::ios::binary) << actual;
  std::ostringstream expected;
  expected << std::ifstream(path, std::ios::binary).rdbuf();
  EXPECT_EQ(expected.str(), actual) << path;
}

/// A file and a way to point at the n-th occurrence of a piece of it.
struct Text {
  explicit Text(std::string text, std::string name = "examples/mlp.axn")
      : id(sources.add(std::move(name), std::move(text), diagnostics)) {}
  Span at(std::string_view piece, int occurrence = 1) const {
    size_t found = sources[id].text().find(piece);
    while (--occurrence > 0) found = sources[id].text().find(piece, found + 1);
    EXPECT_NE(found, std::string_view::npos) << piece;
    return {id, static_cast<uint32_t>(found), static_cast<uint32_t>(found + piece.size())};
  }
  Diagnostics diagnostics;
  SourceManager sources;
  FileId id;
};

const char* const mlp =
    "-- A layer.\n"
    "\n"
    "\n"
    "\n"
    "  fun layer (x : f32[b, d]) (w : f32[h, d]) : f32[b, h] =\n"
    "\n"
    "    x @ w\n";

Diagnostic mismatch(const Text& t) {
  Span right = t.at("@ w");
  right.begin = right.end - 1;
  return error(Code::E0210, t.at("@"), "inner dimensions of `@` differ")
      .label("needs  d = h")
      .also(t.at("f32[b, d]"), "`x` is [b, d]")
      .also(t.at("f32[h, d]"), "`w` is [h, d]")
      .known("nothing relates `d` and `h` (both free in the signature)")
      .fails_for("b = 1, d = 2, h = 1")
      .help("transpose the right operand", Edit{right, "transpose w", Applicability::safe});
}

TEST(Render, LabelsNotesAndEdit) {
  Text t(mlp);
  t.diagnostics.report(mismatch(t));
  compare("labels_notes_edit", render_human(t.diagnostics, t.sources));
  compare("color", render_human(t.diagnostics, t.sources, {.color = true}));
  compare("short", render_short(t.diagnostics, t.sources));
  compare("json", render_json(t.diagnostics, t.sources));
  compare("sarif", render_sarif(t.diagnostics, t.sources));
}

TEST(Render, SarifCountsCodePointsAndEscapesNames) {
  Text t("val x = \"\xe6\x97\xa5\" + bad\n", "a folder/\xe6\x97\xa5.axn");
  t.diagnostics.report(error(Code::E0210, t.at("bad"), "after a wide character"));
  t.diagnostics.report(error(Code::E0005, {}, "without a place"));
  const std::string log = render_sarif(t.diagnostics, t.sources);
  EXPECT_NE(log.find("\"startColumn\": 15"), std::string::npos) << log;
  EXPECT_NE(log.find("a%20folder/%E6%97%A5.axn"), std::string::npos) << log;
  EXPECT_NE(log.find("\"locations\": []"), std::string::npos) << log;
  EXPECT_EQ(log, render_sarif(t.diagnostics, t.sources));
}

TEST(Sink, DeniedWarningsAreErrors) {
  Text t("val a = 1\n");
  t.diagnostics.report(warning(Code::E0218, t.at("a")));
  EXPECT_FALSE(t.diagnostics.has_errors());
  t.diagnostics.deny(Code::E0218);
  t.diagnostics.report(warning(Code::E0110, t.at("val")));
  EXPECT_FALSE(t.diagnostics.has_errors());
  t.diagnostics.report(warning(Code::E0218, t.at("1")));
  EXPECT_EQ(t.diagnostics.error_count(), 1u);
  t.diagnostics.deny(std::nullopt);
  t.diagnostics.report(warning(Code::E0110, t.at("=")));
  EXPECT_EQ(t.diagnostics.error_count(), 2u);
}

TEST(Render, BodyIsWrapped) {
  Text t("val x = f y\n");
  t.diagnostics.report(
      warning(Code::E0218, t.at("f y"))
          .text("The two shapes are aligned from the right, and the axes that do not agree are marked below; "
                "an axis "
                "stretches only when it is the literal 1 in the type.\n\n  [b, d]\n  [h, d]\n   ^")
          .help("only an axis that is the literal 1 stretches"));
  compare("body", render_human(t.diagnostics, t.sources));
}

TEST(Render, ManyLabelsOnOneLine) {
  Text t("fun f alpha beta gamma = alpha beta gamma\n");
  t.diagnostics.report(error(Code::E0210, t.at("beta"), "three names")
                           .label("the middle")
                           .also(t.at("alpha"), "the first")
                           .also(t.at("gamma"), "the last")
                           .also(t.at("alpha beta gamma", 2), ""));
  compare("many_labels", render_human(t.diagnostics, t.sources));
}

TEST(Render, WideCharactersTabsAndLongLines) {
  Text t("val x = \"\xe6\x97\xa5\xe6\x9c\xac\" + \"e\xcc\x81\" + bad\n\tval y = worse\nval z = " +
         std::string(300, 'a') + " + here + " + std::string(300, 'b') + "\n");
  t.diagnostics.report(error(Code::E0210, t.at("bad"), "after wide characters"));
  t.diagnostics.report(error(Code::E0210, t.at("worse"), "after a tab"));
  t.diagnostics.report(error(Code::E0210, t.at("here"), "in a long line").label("this"));
  compare("columns", render_human(t.diagnostics, t.sources));
}

TEST(Render, SeveralFilesManyLinesAndNoPlace) {
  Text t("val a = [\n  1,\n  2]\n" + std::string(120, '\n') + "val b = a\n", "first.axn");
  FileId second = t.sources.add("second.axn", "val c = a\n", t.diagnostics);
  Span list{t.id, 8, 20};
  t.diagnostics.report(error(Code::E0210, t.at("a\n"), "used twice")
                           .also(list, "made here")
                           .also({second, 8, 9}, "and used here"));
  t.diagnostics.report(error(Code::E0005, {}, "the file `x.axn` cannot be read"));
  compare("files", render_human(t.diagnostics, t.sources));
}

TEST(Render, EndOfFileAndEdits) {
  Text t("val a = f x\nval b = 1");
  uint32_t end = t.sources[t.id].size();
  t.diagnostics.report(error(Code::E0210, {t.id, end, end}, "something is missing")
                           .help("add it", Edit{{t.id, end, end}, " + 2\nval c = 3", Applicability::maybe})
                           .help("or take it away", Edit{t.at("f x\nval b = "), "", Applicability::safe}));
  compare("end", render_human(t.diagnostics, t.sources));
}

TEST(Render, LimitsWhatIsShown) {
  std::string text;
  for (int i = 0; i < 30; ++i) text += "val x = $\n";
  Text t(text);
  syntax::parse(t.sources[t.id], t.diagnostics);
  std::string all = render_short(t.diagnostics, t.sources, {.max_errors = 0});
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 30);
  std::string some = render_short(t.diagnostics, t.sources);
  EXPECT_EQ(std::count(some.begin(), some.end(), '\n'), 21);
  EXPECT_TRUE(some.ends_with("... and 10 more\n"));
}

TEST(Render, SyntaxErrorsAsUsersSeeThem) {
  Text t("fun f x = x +\nfun g (x : f32[n,, m]) = let y = 2 y\nfun h x = y => x\nfun let = 2\nfun k = f (1\n",
         "user.axn");
  syntax::parse(t.sources[t.id], t.diagnostics);
  compare("syntax", render_human(t.diagnostics, t.sources));
}

TEST(Sink, SortsAndDropsRepetitions) {
  Text t("val a = 1\nval b = 2\n");
  for (int i = 0; i < 3; ++i) t.diagnostics.report(error(Code::E0210, t.at("b"), "second"));
  t.diagnostics.report(error(Code::E0210, t.at("a", 2), "first"));
  EXPECT_EQ(t.diagnostics.sorted().size(), 2u);
  EXPECT_EQ(t.diagnostics.sorted()[0].message, "first");
  for (size_t i = 0; i < limits::diagnostics_kept; ++i) t.diagnostics.report(warning(Code::E0218, t.at("a")));
  EXPECT_EQ(t.diagnostics.error_count(), 4u);
  EXPECT_EQ(t.diagnostics.dropped(), 4u);
}

}  // namespace
}  // namespace axon::source
