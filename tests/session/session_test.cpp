// A session answers as elaboration of the whole file does, and checks again only what has to be.
#include "session/session.h"

#include <gtest/gtest.h>

#include "../sanitized.h"
#include "core/print.h"
#include "support.h"
#include "syntax/parse.h"

namespace axon::session {
namespace {

std::string without_padding(const std::string& text) {
  std::string out;
  for (char c : text)
    if (c != ' ' && c != '\n') out += c;
  return out;
}

/// The types and reports of elaboration at once.
std::pair<std::string, std::string> at_once(const std::string& path) {
  source::SourceManager sources;
  source::Diagnostics found;
  core::LibraryLoader loader(sources, found, library());
  const auto id = sources.add(path, read(path), found);
  const syntax::File file = syntax::parse(sources[id], found);
  const core::Program program = core::elaborate(
      file, sources, [&](const std::string& m) { return loader(m); }, found);
  return {core::print_types(program), summary(found, sources)};
}

TEST(Session, ACircleOfImportsIsSaidInEachOfItsFiles) {
  Session session(library(), {});
  session.documents().open("a.axn", "import \"b.axn\" as b\nfun f x = b.g x\n");
  session.documents().open("b.axn", "import \"c.axn\" as c\nfun g x = c.h x\n");
  session.documents().open("c.axn", "import \"a.axn\" as a\nfun h x = a.f x\n");
  for (const char* path : {"a.axn", "b.axn", "c.axn"}) {
    const source::Diagnostics found = session.check(path);
    ASSERT_EQ(found.error_count(), 1u) << path;
    const source::Diagnostic& d = found.in_order_of_report()[0];
    EXPECT_EQ(d.code, source::Code::E0407);
    EXPECT_EQ(d.primary.span.file, session.documents().find(path)->text().source) << path;
  }
}

class Programs : public ::testing::TestWithParam<const char*> {};

TEST_P(Programs, AreCheckedAsAtOnce) {
  Session session(library(), {});
  for (const std::string& path : sampled(programs({GetParam()}))) {
    session.documents().open(path, read(path));
    const source::Diagnostics found = session.check(path);
    const auto [types, reports] = at_once(path);
    EXPECT_EQ(without_padding(session.types(path)), without_padding(types)) << path;
    EXPECT_EQ(summary(found, session.sources()), reports) << path;
    session.documents().close(path);
  }
}

INSTANTIATE_TEST_SUITE_P(Session, Programs,
                         ::testing::Values("stdlib", "examples", "tests/core", "tests/shapes",
                                           "tests/diagnostics", "tests/syntax/ast"));

class Edits : public ::testing::Test {
 protected:
  /// How many declarations are checked anew.
  size_t check(const std::string& text, const std::string& expected_codes = "") {
    session.documents().open("edited.axn", text);
    const source::Diagnostics found = session.check("edited.axn");
    std::string codes;
    for (const source::Diagnostic& d : found.sorted()) codes += std::string(code_name(d.code)) + " ";
    EXPECT_EQ(codes, expected_codes) << text;
    Session fresh(library(), {});
    fresh.documents().open("edited.axn", text);
    EXPECT_EQ(summary(found, session.sources()), summary(fresh.check("edited.axn"), fresh.sources())) << text;
    EXPECT_EQ(session.types("edited.axn"), fresh.types("edited.axn")) << text;
    return session.checked();
  }
  Session session{library(), {}};
};

const std::string rest =
    "fun g (x : f32[n]) = f x * 2.0\nfun h (x : f32[n]) = g x + 1.0\nfun k y = exp (sum y)\n";

TEST_F(Edits, OfABodyCheckOneDeclaration) {
  check("fun f x = x + 1.0\n" + rest);
  EXPECT_EQ(check("fun f x = x + 1.0\n" + rest), 0u);
  EXPECT_EQ(check("fun f x = x + 2.0\n" + rest), 1u);
  EXPECT_EQ(check("fun unused x = x\nfun f x = x + 2.0\n" + rest), 1u);
  EXPECT_EQ(check("fun f x = x + 2.0\n" + rest), 0u);
  EXPECT_EQ(check("fun f x = x + 2.0\n" + rest + "fun f x = x\n", "E0404 "), 0u);
}

TEST_F(Edits, OfATypeCheckItsUsers) {
  check("fun f x = x + 1.0\n" + rest);
  EXPECT_EQ(check("fun f (x : f32[n]) = x + 1.0\n" + rest), 2u);             // f and g; the type of g stays
  EXPECT_EQ(check("fun f (x : f32[n]) = sum x\n" + rest), 3u);               // and h
  EXPECT_EQ(check("fun f (x : f32[n, n]) = sum x\n" + rest, "E0303 "), 3u);  // g fails, and h is silent
  EXPECT_EQ(check("fun f x = x + 1.0\n" + rest), 3u);
}

TEST_F(Edits, OfWhatAReductionGivesCheckItsUsers) {
  const std::string type = "val scaled : f32[] -> f32[n] -> f32[]\n";
  const std::string user = "fun g (y : f32[n]) = scaled 2.0 k => y[k]\n";
  check(type + "fun scaled s x = s * sum x\n" + user);
  EXPECT_EQ(check(type + "fun scaled s x = sum x * s\n" + user), 1u);
  EXPECT_EQ(check(type + "fun scaled s = fn x => s * sum x\n" + user, "E0215 "), 2u);  // it has the same type
  EXPECT_EQ(check(type + "fun scaled s x = s * sum x\n" + user), 2u);
}

TEST_F(Edits, ThatGiveADeclarationOtherUsesCheckItAfterThem) {
  const std::string type = "val scaled : f32[] -> f32[n] -> f32[]\n";
  const std::string user = "fun g (y : f32[n]) = scaled c k => y[k]\n";
  check(type + "fun scaled s = fn x => s * sum x\n" + user + "val c = true\n",
        "E0303 E0307 ");  // a fold over c
  check(type + "fun scaled s x = s * sum x\n" + user + "val c = 2.0\n");

  const std::string sized = "fun g (x : f32[3]) = f[c] x\n";
  check("fun f['t] (x : 't[n]) = x\n" + sized + "val c = true\n", "E0318 ");
  check("fun f[n] (x : f32[n]) = x\n" + sized + "val c = 3\n");
}

TEST_F(Edits, OfNamesCheckWhatLooksThemUp) {
  check("fun a x = exp x\nfun b x = x\n");
  EXPECT_EQ(check("fun a x = exp x\nfun b x = x\nfun exp x = x\n"), 2u);  // it hides the library's
  EXPECT_EQ(check("fun a x = expp x\nfun b x = x\nfun exp x = x\n", "E0401 "), 1u);
  EXPECT_EQ(check("fun a x = expp x\nfun b x = x\nfun expp x = x\n"), 2u);
  EXPECT_EQ(check("type T = f32[3]\nfun a (x : T) = x\nfun b (x : f32[3]) = a x\n"), 3u);
  EXPECT_EQ(check("type T = f32[4]\nfun a (x : T) = x\nfun b (x : f32[3]) = a x\n", "E0303 "), 3u);
}

TEST_F(Edits, OfCirclesDoNotDependOnWhatWasBefore) {
  check("fun a x = b x\nfun b x = x\nfun c x = a x\n");
  check("fun a x = b x\nfun b x = a x\nfun c x = a x\n", "E0317 ");
  check("fun b x = a x\nfun a x = b x\nfun c x = a x\n", "E0317 ");
  check("fun b x = x\nfun a x = b x\nfun c x = a x\n");
  check("fun b x = b x\n", "E0317 ");
}

TEST_F(Edits, ThatBreakADeclarationLeaveTheOthersAlone) {
  check("fun f x = x + 1.0\n" + rest);
  check("fun f x = (x + 1.0\n" + rest, "E0211 ");
  check("fun f (x : = x + 1.0\n" + rest, "E0211 ");
  check("fun f x + 1.0\n" + rest, "E0210 ");
  check("entry f x (\n" + rest, "E0211 E0210 ");
  check("val f 2.0\n" + rest, "E0210 ");
  check("fun = 2\n" + rest, "E0210 E0401 ");
}

TEST_F(Edits, OfATypeThatCannotBeReadLeaveTheOthersAlone) {
  const std::string users = "fun g (p : T[3]) = p.w\nfun h (x : f32[2]) = x\n";
  check("type T[n] = { w : f32[n] }\n" + users);
  check("type T[n] { w : f32[n] }\n" + users, "E0210 ");
  check("type T[n] = { w : f32[ }\n" + users, "E0211 ");
}

TEST_F(Edits, LeaveUncheckedWhatReadsThem) {
  Documents& documents = session.documents();
  documents.open("part.axn", "fun twice x = x + x\n");
  documents.open("main.axn", "import part\nfun four x = part.twice (part.twice x)\n");
  EXPECT_FALSE(session.is_checked("main.axn"));
  session.check("main.axn");
  EXPECT_TRUE(session.is_checked("main.axn"));
  EXPECT_FALSE(session.is_checked("part.axn")) << "only what is used of it was";
  session.with_text("main.axn", "fun four x = x\n", [](const source::Diagnostics&) {});
  EXPECT_TRUE(session.is_checked("main.axn")) << "all is as before";
  documents.open("part.axn", "fun twice x = x * 2.0\n");
  EXPECT_FALSE(session.is_checked("main.axn"));
  session.check("main.axn");
  documents.open("main.axn", "import part\nfun four x = part.twice x\n");
  EXPECT_FALSE(session.is_checked("main.axn"));
  session.check("main.axn");
  documents.reload();
  EXPECT_FALSE(session.is_checked("main.axn")) << "another file may be there now";
  session.check("main.axn");
  documents.close("part.axn");
  EXPECT_FALSE(session.is_checked("main.axn"));
}

TEST_F(Edits, OfImportsReachTheirImporters) {
  session.documents().open("part.axn", "fun twice x = x + x\n");
  session.documents().open("main.axn", "import part\nfun four x = part.twice (part.twice x)\n");
  EXPECT_FALSE(session.check("main.axn").has_errors());
  session.documents().open("part.axn", "fun twise x = x + x\n");
  EXPECT_TRUE(session.check("main.axn").has_errors());
  session.documents().open("part.axn", "fun twice (x : f32[3]) = x + x\n");
  EXPECT_FALSE(session.check("main.axn").has_errors());
  EXPECT_EQ(session.types("main.axn"), "four : f32[3] -> f32[3]\n");
  session.documents().close("part.axn");
  EXPECT_TRUE(session.check("main.axn").has_errors());
}

TEST_F(Edits, OfNamesLeaveNothingBehind) {
  check("fun f x = x\n");
  const size_t records = session.records().size();
  for (int i = 0; i < sampled(100); ++i) check("fun name" + std::to_string(i) + " x = x\n");
  EXPECT_LE(session.records().size(), records + 40);
}

TEST_F(Edits, OfANameKeepItsLastGoodTypeForAWhile) {
  const std::string good = "fun name x = x\n";
  check(good);
  const core::DeclKey key = session.declarations("edited.axn")[0].key;
  check("fun nam x = x\n");
  check("fun name x = y\n", "E0401 ");
  EXPECT_NE(session.find(key)->record->last_good, nullptr);
}

TEST_F(Edits, OfFilesThatAreClosedLeaveNothingBehind) {
  check("fun f x = x\n");
  const size_t records = session.records().size();
  for (int i = 0; i < 50; ++i) {
    const std::string other = "other" + std::to_string(i) + ".axn";
    session.documents().open(other, "fun one x = x\nfun two x = one x\n");
    session.check(other);
    session.documents().close(other);
  }
  check("fun f x = x\n");
  EXPECT_LE(session.records().size(), records + 40);
}

/// Where a declaration is written is part of what it was checked from.
TEST(Session, AStatedTypeOrATwinComesAndGoes) {
  const std::string k = "fun k x = x\n", use = "test \"a\" = k 1.0 == 1.0\n", sum = "fun k x = sum x\n";
  const std::vector<std::string> texts = {k,
                                          "val k : f32 -> f32\n" + k,
                                          "val k : f32 -> i64\n" + k,
                                          "val k : f32 -> f32\n",
                                          "val k : f32 -> f32\nfun k x = true\n",
                                          k + use,
                                          "val k : i64 -> i64\n" + k + use,
                                          k + k + use,
                                          "fun k x = true\n" + k + use,
                                          k + "fun k x = true\n" + use,
                                          "type k = f32\n" + k + "fun l (x : k) = x\n",
                                          "type k = f32\ntype k = i64\n" + k + "fun l (x : k) = x\n",
                                          "type k = i64\ntype k = f32\n" + k + "fun l (x : k) = x\n",
                                          sum,
                                          "fun sum x = x\n" + sum,
                                          "val sum : f32 -> f32\nfun sum x = x\n" + sum};
  for (const std::string& before : sampled(texts))
    for (const std::string& after : texts) {
      Session edited(library(), {});
      edited.documents().open("a.axn", before);
      edited.check("a.axn");
      edited.documents().open("a.axn", after);
      Session fresh(library(), {});
      fresh.documents().open("a.axn", after);
      ASSERT_EQ(answer(edited, "a.axn"), answer(fresh, "a.axn")) << before << "then\n" << after;
    }
}

}  // namespace
}  // namespace axon::session
