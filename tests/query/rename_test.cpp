// A rename leaves all types as they are but for the name, or is refused.
#include "query/rename.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

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
  static constexpr const char* path = "/nowhere/a.axn";
  session::Session session_{session::library(), {}};
  std::string text_;
};

TEST_F(Rename, OfEachKindOfName) {
  set("type Layer[d] = {w : f32[d, d]}\n"
      "fun dense['t, n, d, ..s] (x : 't[..s, n, d]) (y : 't[d, d]) = let z = x in z @ y\n"
      "fun use (x : f32[n, d]) (p : Layer[d]) = for i => sum k => dense x p.w[i, k]\n"
      "fun with_w (p : Layer[d]) = p with w = p.w + p.w\n");
  EXPECT_NE(renamed("dense[", "layer").find("=> layer x p.w"), std::string::npos);
  EXPECT_NE(renamed("Layer[", "Block").find("(p : Block[d])) = for"), 0u);
  EXPECT_NE(renamed("w : f32", "weight").find("p with weight = p.weight + p.weight"), std::string::npos);
  EXPECT_NE(renamed("s, n, d]", "r").find("(x : 't[..r, n, d])"), std::string::npos);
  EXPECT_NE(renamed("z = x", "q").find("let q = x in q @ y"), std::string::npos);
  EXPECT_NE(renamed("i => sum", "row").find("for row => sum k => dense x p.w[row, k]"), std::string::npos);
  EXPECT_NE(renamed("d, d]) = let", "e").find("dense['t, n, e, ..s] (x : 't[..s, n, e]) (y : 't[e, e])"),
            std::string::npos);
}

TEST_F(Rename, IsRefusedWhereANameWouldMeanSomethingElse) {
  set("fun f (x : f32[n, m]) y = let z = x + 1.0 in z * y\nfun g x = f x x\nval one = 1.0\n");
  EXPECT_EQ(renamed("z = x", "y"), "`y` already means something else in line 1 of a.axn");
  EXPECT_EQ(renamed("n, m]", "m"), "`m` already means something else in line 1 of a.axn");
  EXPECT_EQ(renamed("f (x", "g").substr(0, 3), "`g`");
  EXPECT_EQ(renamed("z = x", "let"), "`let` is a word of the language");
  EXPECT_EQ(renamed("z = x", "a b"), "`a b` is no name: letters, digits and `_`, no digit first");
  EXPECT_EQ(renamed("n, m]", "f32"), "`f32` has a meaning in types");
  EXPECT_EQ(renamed("+ 1.0", "plus"), "`+` is an operator");
  EXPECT_EQ(renamed("= let", "plus"), "there is no name here");
  set("fun f x = softmax x\n");
  EXPECT_EQ(renamed("softmax", "soft"), "`softmax` belongs to the library");
}

/// All names of files, some of them renamed to a name that is free and to one that is not.
TEST_F(Rename, LeavesTypesAsTheyAre) {
  size_t count = 0, done_count = 0, refused = 0;
  for (const std::string& file : session::programs({"stdlib", "examples"})) {
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
      session_.documents().open(path, applied(text, free));
      EXPECT_FALSE(session_.check(path).has_errors()) << file << ": " << old;
      EXPECT_EQ(normal(session_.types(path)), normal(types)) << file << ": " << old;
      session_.documents().open(path, text);
      session_.check(path);
    }
  }
  EXPECT_GT(count, 100u);
  EXPECT_GT(refused, 20u);
}

}  // namespace
}  // namespace axon::query
