// What names stand for where it is easily confused, and that definition and references are one relation.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "../sanitized.h"
#include "query/mentions.h"
#include "query/workspace.h"
#include "session/support.h"

namespace axon::query {
namespace {

class Names : public ::testing::Test {
 protected:
  void set(const std::string& text) {
    text_ = text;
    session_.documents().open(path, text);
    session_.check(path);
  }
  std::optional<Mention> at(const std::string& word, size_t n) const {
    size_t offset = text_.find(word);
    while (n-- > 0) offset = text_.find(word, offset + 1);
    return mention_at(session_, path, static_cast<uint32_t>(offset));
  }
  /// "line:column" of all that has the meaning of the name at the n-th `word`; `!` where it is bound.
  std::string same_as(const std::string& word, size_t n = 0) const {
    const auto mention = at(word, n);
    if (!mention) return "none";
    std::string out;
    for (const Mention& m : mentions_of(session_, mention->meaning)) {
      const auto position = session_.sources()[m.span.file].position(m.span.begin);
      out += std::to_string(position.line) + ":" + std::to_string(position.column) + (m.binds ? "! " : " ");
    }
    return out;
  }
  static constexpr const char* path = "/nowhere/a.axn";
  session::Session session_{session::library(), {}};
  std::string text_;
};

TEST_F(Names, OfSizesInAValAndInItsFunction) {
  set("val f : f32[n, m] -> f32[m]\nfun f x = sum i => x[i]\nfun g (x : f32[n, m]) = f x\n");
  EXPECT_EQ(same_as("m]"), "1:16! 1:26 ");
  EXPECT_EQ(same_as("n, m]", 1), "3:16! ");
  EXPECT_EQ(same_as("f x", 1), "1:5! 2:5! 3:25 ");
  EXPECT_EQ(same_as("x ="), "2:7! 2:20 ");
}

TEST_F(Names, OfPatternsAndShadows) {
  set("fun f (a, (b, c)) = let a = a + b in let (b, c) = (c, b) in a + b * c\n"
      "fun g x = (fn x => x + x) (let x = x * x in x)\n");
  EXPECT_EQ(same_as("a, (b"), "1:8! 1:29 ");
  EXPECT_EQ(same_as("a = a"), "1:25! 1:61 ");
  EXPECT_EQ(same_as("b, c))"), "1:12! 1:33 1:55 ");
  EXPECT_EQ(same_as("b, c) ="), "1:43! 1:65 ");
  EXPECT_EQ(same_as("x = (fn"), "2:7! 2:36 2:40 ");
  EXPECT_EQ(same_as("x => x"), "2:15! 2:20 2:24 ");
  EXPECT_EQ(same_as("x = x * x"), "2:32! 2:45 ");
}

TEST_F(Names, OfFieldsOfOneNameInTwoTypes) {
  set("type A = {w : f32[3]}\ntype B = {w : f32[3], c : f32}\n"
      "fun f (p : A) = p.w\nfun g (p : B) = p.w * p.c\nfun h p = p.w + 1.0\n");
  EXPECT_EQ(same_as("w : f32[3]}"), "1:11! 3:19 ");
  EXPECT_EQ(same_as("w : f32[3],"), "2:11! 4:19 ");
  EXPECT_EQ(same_as("w + 1.0"), "5:13 ");
}

TEST_F(Names, OfFieldsThroughOpenRowsAndStacks) {
  set("type L[d] = {w : f32[d, d]}\nfun open p = p.w\nfun use (p : L[d]) = open p\n"
      "fun deep (layers : Stack[l, L[d]]) x = fold (fn s p => s @ p.w) x layers\n"
      "fun change (p : L[d]) = open (p with w = p.w + p.w)\n");
  EXPECT_EQ(same_as("w : f32"), "1:14! 2:16 4:62 5:38 5:44 5:50 ");
}

TEST_F(Names, BehindWideCharactersAndCrLf) {
  set("-- \xF0\x9D\x9B\xBC\r\nfun f x =\r\n  let y = x --\xF0\x9D\x9B\xBC\r\n  in y + x\r\n");
  EXPECT_EQ(same_as("y ="), "3:7! 4:6 ");
  EXPECT_EQ(same_as("x ="), "2:7! 3:11 4:10 ");
}

TEST_F(Names, InATextThatIsBroken) {
  set("fun f x = x + 1.0\nfun g y = f y\n");
  set("fun f x = x + 1.0\nfun g y = let in ) f y (\nfun h z = f z\n");
  EXPECT_EQ(same_as("f x"), "1:5! 2:20 3:11 ");
  EXPECT_EQ(same_as("z ="), "3:7! 3:13 ");
  set("");
  EXPECT_TRUE(mentions(session_, path).empty());
  set("fun");
  EXPECT_TRUE(mentions(session_, path).empty());
}

/// From each reference one comes to the same place, and that is among them.
TEST_F(Names, DefinitionAndReferencesAreOneRelation) {
  size_t count = 0;
  for (const std::string& file : sampled(session::programs({"stdlib", "examples"}))) {
    session_.documents().open(file, session::read(file));
    session_.check(file);
    const std::vector<Mention> all = mentions(session_, file);
    for (size_t i = 0; i < all.size(); i += 1 + all.size() / 6) {
      const auto place = definition(session_, all[i].meaning);
      ASSERT_TRUE(place) << session_.sources().describe(all[i].span);
      const std::vector<Mention> references = mentions_of(session_, all[i].meaning);
      const auto has = [&](source::Span span) {
        return std::any_of(references.begin(), references.end(),
                           [&](const Mention& m) { return m.span == span; });
      };
      EXPECT_TRUE(has(all[i].span)) << session_.sources().describe(all[i].span);
      const bool module = all[i].meaning.kind == Kind::module;  // it is defined by a file
      EXPECT_TRUE(module || has(*place)) << session_.sources().describe(all[i].span);
      count += references.size();
    }
    session_.documents().close(file);
  }
  EXPECT_GT(count, sampled_floor(500u));
}

TEST(Words, AreWhole) {
  EXPECT_TRUE(has_word("f", "f"));
  EXPECT_TRUE(has_word("a.f(x", "f"));
  EXPECT_TRUE(has_word("ff f", "f"));
  EXPECT_FALSE(has_word("ff f_ 1f", "f"));
  EXPECT_FALSE(has_word("", "f"));
}

}  // namespace
}  // namespace axon::query
