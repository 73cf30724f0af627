// A rename leaves all types as they are but for the name, or is refused.
#include "query/rename.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "../sanitized.h"
#include "query/tokens.h"
#include "session/support.h"
#include "types_text.h"

namespace axon::query {
namespace {

class Rename : public ::testing::Test {
 protected:
  void set(const std::string& text) {
    text_ = text;
    session_.documents().open(path, text);
    session_.check(path);
  }
  Renaming to(const std::string& word, const std::string& name) {
    return rename(session_, path, static_cast<uint32_t>(text_.find(word)), name);
  }
  /// The text with the name at the word renamed, or the refusal.
  std::string renamed(const std::string& word, const std::string& name) {
    const Renaming done = to(word, name);
    return done.refusal.empty() ? applied(text_, done) : done.refusal;
  }
  static std::string applied(std::string text, const Renaming& done) {
    for (auto edit = done.edits.rbegin(); edit != done.edits.rend(); ++edit)
      text.replace(edit->span.begin, edit->span.size(), edit->replacement);
    return text;
  }
  /// Where the first name stands that was edited, once it is: examples are edited, too, and hold none.
  uint32_t first_name(const Renaming& done) const {
    uint32_t shift = 0;
    for (const source::Edit& edit : done.edits) {
      if (mention_at(session_, path, edit.span.begin + shift)) return edit.span.begin + shift;
      shift += static_cast<uint32_t>(edit.replacement.size()) - edit.span.size();
    }
    return 0;
  }
  static constexpr const char* path = "/nowhere/a.axn";
  session::Session session_{session::library(), {}};
  std::string text_;
};

TEST_F(Rename, OfEachKindOfName) {
  set("type Layer[d] = {w : f32[d, d]}\n"
      "fun dense['t, n, d, ..s] (x : 't[..s, n, d]) (y : 't[d, d]) = let z = x in z @ y\n"
      "fun use (x : f32[n, d]) (p : Layer[d]) = for i => sum k => (dense x p.w)[i, k]\n"
      "fun with_w (p : Layer[d]) = p with w = p.w + p.w\n");
  EXPECT_NE(renamed("dense[", "layer").find("=> (layer x p.w)"), std::string::npos);
  EXPECT_NE(renamed("Layer[", "Block").find("(p : Block[d])) = for"), 0u);
  EXPECT_NE(renamed("w : f32", "weight").find("p with weight = p.weight + p.weight"), std::string::npos);
  EXPECT_NE(renamed("s, n, d]", "r").find("(x : 't[..r, n, d])"), std::string::npos);
  EXPECT_NE(renamed("z = x", "q").find("let q = x in q @ y"), std::string::npos);
  EXPECT_NE(renamed("i => sum", "row").find("for row => sum k => (dense x p.w)[row, k]"), std::string::npos);
  EXPECT_NE(renamed("d, d]) = let", "e").find("dense['t, n, e, ..s] (x : 't[..s, n, e]) (y : 't[e, e])"),
            std::string::npos);
}

TEST_F(Rename, IsRefusedWhereANameWouldMeanSomethingElse) {
  set("fun f (x : f32[n, m]) y = let z = x + 1.0 in z * y\nfun g x = f x x\nval one = 1.0\n");
  EXPECT_EQ(renamed("z = x", "y"), "`y` is already a local name in line 1 of a.axn");
  EXPECT_EQ(renamed("n, m]", "m"), "`m` is already a size in line 1 of a.axn");
  EXPECT_EQ(renamed("f (x", "g"), "`g` is already a function or value in line 2 of a.axn");
  EXPECT_EQ(renamed("z = x", "let"), "`let` is a word of the language");
  EXPECT_EQ(renamed("z = x", "a b"), "`a b` is no name: letters, digits and `_`, no digit first");
  EXPECT_EQ(renamed("n, m]", "f32"), "`f32` has a meaning in types");
  EXPECT_EQ(renamed("+ 1.0", "plus"), "`+` is an operator");
  EXPECT_EQ(renamed("= let", "plus"), "there is no name here");
  set("fun f x = softmax x\n");
  EXPECT_EQ(renamed("softmax", "soft"), "`softmax` belongs to the library");
}

TEST_F(Rename, OfExamplesInDocumentation) {
  set("type P = {dbl : f32}\n\n"
      "--| Not dbl here.\n--| >>> dbl (dbl 1) + (let dbl = 2 in dbl)\n--| dbl\n"
      "--| >>> {dbl = dbl 2}.dbl :> P\nfun dbl x = x + x\n");
  EXPECT_EQ(renamed("dbl x", "twice"),
            "type P = {dbl : f32}\n\n"
            "--| Not dbl here.\n--| >>> twice (twice 1) + (let dbl = 2 in dbl)\n--| dbl\n"
            "--| >>> {dbl = twice 2}.dbl :> P\nfun twice x = x + x\n");
  EXPECT_NE(renamed("P =", "Q").find("2}.dbl :> Q\n"), std::string::npos);
  set("--| >>> let y = 1 in dbl y\nfun dbl x = x + x\n");
  EXPECT_EQ(renamed("dbl x", "y"), "`y` is already a local name in line 1 of a.axn");
  set("--| >>> dbl (exp 1.0)\nfun dbl x = x + x\n");
  EXPECT_EQ(renamed("dbl x", "exp"), "`exp` already means something else in line 1 of a.axn");
}

TEST_F(Rename, OfFieldsAndImportsInExamples) {
  set("type P = {w : f32}\ntype Q = {w : f32}\n"
      "--| >>> get {w = 1.0} + ({w = 2.0} :> Q).w\n--| >>> (w\n--| >>> let p = {w = 3.0} in get p + p.w\n"
      "fun get (p : P) = p.w\n");
  EXPECT_EQ(
      renamed("w : f32}\ntype Q", "v"),
      "type P = {v : f32}\ntype Q = {w : f32}\n"
      "--| >>> get {v = 1.0} + ({w = 2.0} :> Q).w\n--| >>> (w\n--| >>> let p = {v = 3.0} in get p + p.v\n"
      "fun get (p : P) = p.v\n");
  session_.documents().open("/nowhere/c.axn", "type T = f32\nfun twice (x : T) = x + x\n");
  set("import \"c.axn\" as c\n--| >>> g 1.0 == c.twice (1.0 :> c.T)\n--| >>> let c = 1.0 in g c\nfun g x = "
      "c.twice x\n");
  EXPECT_EQ(renamed("c\n", "d"),
            "import \"c.axn\" as d\n--| >>> g 1.0 == d.twice (1.0 :> d.T)\n--| >>> let c = 1.0 in g c\n"
            "fun g x = d.twice x\n");
}

TEST_F(Rename, DoesNotDependOnWhichFileWasCheckedFirst) {
  const std::string other = "/nowhere/b.axn";
  for (const bool importer_first : {true, false}) {
    set("fun anyp p = p.xs\n");
    session_.documents().open(other, "import \"a.axn\" as b\nfun z = b.anyp {xs = 1}\n");
    session_.check(importer_first ? other : path);
    session_.check(importer_first ? path : other);
    EXPECT_EQ(renamed("p =", "foo"), "fun anyp foo = foo.xs\n");
    set("type Pt[n] = { xs : f32[n] }\n");
    session_.documents().open(other, "import \"a.axn\" as c\nfun f (p : c.Pt[k]) = p.xs\n");
    session_.check(importer_first ? other : path);
    session_.check(importer_first ? path : other);
    EXPECT_EQ(renamed("n] =", "foo"), "type Pt[foo] = { xs : f32[foo] }\n");
    session_.documents().close(other);
  }
}

TEST_F(Rename, OfExamplesInFilesThatImport) {
  const std::string other = "/nowhere/b.axn";
  session_.documents().open(other, "import \"a.axn\" as a\n--| >>> a.dbl 1 + dbl.dbl 2\nfun g x = a.dbl x\n");
  set("fun dbl x = x + x\n");
  session_.check(other);
  EXPECT_EQ(to("dbl", "twice").edits.size(), 3u);
}

TEST_F(Rename, ErrorsOfFilesThatCannotMeanItDoNotMatter) {
  session_.documents().open("/nowhere/b.axn", "fun f x = f (y x)\n");
  set("fun f x = x + 1.0\n");
  EXPECT_EQ(renamed("f x", "k"), "fun k x = x + 1.0\n");
  session_.documents().open("/nowhere/b.axn", "import \"a.axn\" as a\nfun g x = a.f (y x)\n");
  EXPECT_EQ(renamed("f x", "k"), "what `f` means is not known while there is an error in line 2 of b.axn");
}

TEST_F(Rename, IsRefusedWhereErrorsHideWhatANameMeans) {
  set("fun f x = x + 1.0\nfun g x = f (y x)\nfun h x = x\n");
  EXPECT_EQ(renamed("f x", "k"), "what `f` means is not known while there is an error in line 2 of a.axn");
  EXPECT_EQ(renamed("h x", "k"), "fun f x = x + 1.0\nfun g x = f (y x)\nfun k x = x\n");
  EXPECT_EQ(renamed("x + 1.0", "k").substr(0, 18), "fun f k = k + 1.0\n");
  set("fun f x = x + 1.0\nfun g x = f (x\n");
  EXPECT_EQ(renamed("f x", "k"), "what `f` means is not known while there is an error in line 2 of a.axn");
}

TEST_F(Rename, KeepsCrLfAndWideCharacters) {
  set("-- \xF0\x9D\x9B\xBC\xCE\xBB\r\nfun f x = x --\xCE\xBB\r\nfun g y = f y\r\n");
  EXPECT_EQ(renamed("f x", "longer"),
            "-- \xF0\x9D\x9B\xBC\xCE\xBB\r\nfun longer x = x --\xCE\xBB\r\nfun g y = longer y\r\n");
}

/// Two files where the first that is named imports the second, and the other way around.
TEST_F(Rename, ReachesWhoImportsTheFile) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / "rename";
  for (const auto& [importer, imported] : {std::pair{"a", "b"}, {"b", "a"}}) {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    const std::string user = folder / (importer + std::string(".axn"));
    const std::string used = folder / (imported + std::string(".axn"));
    const std::string text = "type P = {w : f32[3]}\nfun f (p : P) = p.w\nfun unused p = f p\n";
    std::ofstream(user) << "import \"" << imported << ".axn\" as m\nfun g (p : m.P) = m.f p + p.w\n";
    std::ofstream(used) << text;
    session::Session session(session::library(), {});
    session.documents().open(used, text);
    session.check(used);
    const auto edits = [&](const char* word, const std::string& name) {
      const Renaming done = rename(session, used, static_cast<uint32_t>(text.find(word)), name, {user});
      std::string out = done.refusal;
      for (const source::Edit& e : done.edits) {
        const source::SourceFile& file = session.sources()[e.span.file];
        const auto at = file.position(e.span.begin);
        out += fmt::format("{}:{}:{} ", file.name() == user ? "user" : "used", at.line, at.column);
      }
      return out;
    };
    const bool first = std::string(importer) == "a";
    const auto both = [&](const std::string& in_user, const std::string& in_used) {
      return first ? in_user + in_used : in_used + in_user;
    };
    EXPECT_EQ(edits("f (p", "h"), both("user:2:21 ", "used:2:5 used:3:16 "));
    EXPECT_EQ(edits("w :", "weight"), both("user:2:29 ", "used:1:11 used:2:19 "));
    EXPECT_EQ(edits("P =", "Params"), both("user:2:14 ", "used:1:6 used:2:12 "));
    EXPECT_EQ(edits("f (p", "unused"),
              "`unused` is already a function or value in line 3 of " + std::string(imported) + ".axn");
    std::ofstream(user) << "import \"" << imported << ".axn\" as m\nfun g p = m.f p + q\n";
    session.documents().reload();
    EXPECT_EQ(edits("f (p", "h"), "what `f` means is not known while there is an error in line 2 of " +
                                      std::string(importer) + ".axn");
  }
}

/// All names of files, some of them renamed to a name that is free and to one that is not.
TEST_F(Rename, LeavesTypesAsTheyAre) {
  size_t count = 0, done_count = 0, refused = 0;
  for (const std::string& file : sampled(session::programs({"stdlib", "examples"}))) {
    const std::string text = session::read(file);
    set(text);
    if (session_.check(path).has_errors()) continue;
    const std::string types = session_.types(path);
    const std::vector<Token> all = tokens(session_, path);
    for (size_t i = 0; i < all.size(); i += 1 + all.size() / 12) {
      const std::string old(session_.sources().text(all[i].span));
      if (all[i].library) continue;
      ++count;
      const Renaming free = rename(session_, path, all[i].span.begin, "renamed_1");
      if (free.refusal.find("library") != std::string::npos) continue;
      EXPECT_EQ(free.refusal, "") << file << ": " << session_.sources().describe(all[i].span) << " " << old;
      if (!free.refusal.empty()) continue;
      const std::string other(session_.sources().text(all[(i * 7 + 3) % all.size()].span));
      const Renaming taken = rename(session_, path, all[i].span.begin, other);
      (taken.refusal.empty() ? done_count : refused) += 1;
      if (taken.refusal.empty() && !taken.edits.empty()) {
        const std::string now = applied(text, taken);
        set(now);
        EXPECT_FALSE(session_.check(path).has_errors()) << file << ": " << old << " to " << other;
        const bool alias = taken.edits[0].replacement.find(" as ") != std::string::npos;
        const Renaming back = rename(session_, path, first_name(taken), old);
        EXPECT_TRUE(alias || applied(now, back) == text)
            << file << ": " << old << " to " << other << back.refusal;
      }
      session_.documents().open(path, applied(text, free));
      EXPECT_FALSE(session_.check(path).has_errors()) << file << ": " << old;
      EXPECT_EQ(normal(session_.types(path)), normal(types)) << file << ": " << old;
      session_.documents().open(path, text);
      session_.check(path);
    }
  }
  EXPECT_GT(count, sampled_floor(100u));
  EXPECT_GT(refused, sampled_floor(20u));
}

}  // namespace
}  // namespace axon::query
