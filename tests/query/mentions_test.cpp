// Each name leads to what it stands for, also while its text is edited.
#include "query/mentions.h"

#include <gtest/gtest.h>

#include <map>

#include "../sanitized.h"
#include "session/support.h"

namespace axon::query {
namespace {

class Mentions : public ::testing::Test {
 protected:
  void set(const std::string& text, bool check = true) {
    text_ = text;
    session_.documents().open(path, text);
    if (check) session_.check(path);
  }
  /// Line and column from 1 of all that has the meaning of the name at the n-th `word`.
  std::string same_as(const std::string& word, size_t n = 0) {
    size_t at = text_.find(word);
    while (n-- > 0) at = text_.find(word, at + 1);
    const auto mention = mention_at(session_, path, static_cast<uint32_t>(at));
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

TEST_F(Mentions, ValuesSizesBindersAndFields) {
  set("type Layer[d] = {w : f32[d, d], b : f32[d]}\n"
      "fun dense (x : f32[m, d]) (p : Layer[d]) : f32[m, d] = x @ p.w + p.b\n"
      "fun both (x : f32[m, k]) p = let w = dense x p in for i j => w[i, j] + w[i, 0]\n"
      "val one = {w = 1.0, b = [1.0]}\n");
  EXPECT_EQ(same_as("dense"), "2:5! 3:38 ");
  EXPECT_EQ(same_as("Layer"), "1:6! 2:32 ");
  EXPECT_EQ(same_as("m, d]"), "2:20! 2:48 ");
  EXPECT_EQ(same_as("w : f32"), "1:18! 2:62 ");
  EXPECT_EQ(same_as("w = dense"), "3:34! 3:62 3:72 ");
  EXPECT_EQ(same_as("i j"), "3:55! 3:64 3:74 ");
  EXPECT_EQ(same_as("w = 1.0"), "4:12! ");
  EXPECT_EQ(same_as("= x @"), "none");
}

TEST_F(Mentions, OfATextThatIsEdited) {
  set("fun f x = x + 1.0\nfun g y = f y * f y\n");
  set("fun f x = x + 1.0\nfun g y = f y * 2.0 * f y\n", false);
  EXPECT_EQ(same_as("f x"), "1:5! 2:11 2:23 ");
  set("fun f x = x + 1.0\nfun g y = f (y * f y\n");
  EXPECT_EQ(same_as("f x"), "1:5! 2:11 2:18 ");
  set("fun f x = x + 1.0\nfun g y = f y * f y\n");
  EXPECT_EQ(same_as("y"), "2:7! 2:13 2:19 ");
}

TEST_F(Mentions, ModulesAndTheirNames) {
  set("import position as r\nfun f x y = r.rope_halves x y y\n");
  EXPECT_EQ(same_as("r\n"), "1:8 1:20! 2:13 ");
}

TEST_F(Mentions, CoverTheLibraryWithoutOverlap) {
  for (const std::string& file : sampled(session::programs({"stdlib", "examples"}))) {
    session_.documents().open(file, session::read(file));
    session_.check(file);
    uint32_t end = 0;
    size_t number = 0;
    for (const Mention& m : mentions(session_, file)) {
      EXPECT_LE(end, m.span.begin) << file;
      end = m.span.end;
      if (number++ % 16 != 0) continue;
      EXPECT_EQ(mention_at(session_, file, m.span.begin)->meaning, m.meaning)
          << session_.sources().describe(m.span);
    }
    session_.documents().close(file);
  }
}

/// Other files that are open may say that fields of two types are one: it is where the type here declares it.
TEST(Definition, OfAFieldIsTheSameWhateverIsOpen) {
  const std::string text = "import \"a.axn\" as a\nfun g (p : a.P) = p.w\nfun h r = r.w + a.of r\n";
  const std::map<std::string, std::string> files = {
      {"/nowhere/a.axn", "type P = {w : f32[3], v : f32}\nfun of (p : P) = p.w\n"},
      {"/nowhere/b.axn", text},
      {"/nowhere/c.axn",
       "import \"b.axn\" as b\ntype Q = {v : f32, w : f32[3]}\nfun k (p : Q) = b.g p + p.w\n"}};
  for (const char* order : {"ab", "abc", "cab", "acb", "cba", "bca"}) {
    session::Session session(session::library(), {});
    for (const auto& [path, content] : files)
      if (std::string(order).find(path[9]) != std::string::npos) session.documents().open(path, content);
    for (const char* one = order; *one; ++one) session.check(std::string("/nowhere/") + *one + ".axn");
    for (const char* field : {"w\nfun", "w + a"}) {
      const auto mention = mention_at(session, "/nowhere/b.axn",
                                      static_cast<uint32_t>(text.find(std::string(".") + field)) + 1);
      ASSERT_TRUE(mention);
      const auto place = definition(session, *mention);
      ASSERT_TRUE(place);
      EXPECT_EQ(session.sources().describe(*place), "/nowhere/a.axn:1:11") << order << " " << field;
    }
  }
}

/// What a record literal says of a field is no declaration where a type declares it, in whatever file.
TEST(Definition, OfAFieldOfALiteralIsThatOfTheType) {
  session::Session session(session::library(), {});
  session.documents().open("/nowhere/z.axn", "type Pt[n] = {xs : f32[n]}\n");
  const std::string text =
      "import \"z.axn\" as c\ntype Q = {p : c.Pt[3]}\nfun f (q : Q) = q.p.xs\nfun g x = f {p = {xs = x}}\n";
  session.documents().open("/nowhere/a.axn", text);
  session.check("/nowhere/a.axn");
  for (const char* field : {"xs = x", "xs\nfun g"}) {
    const auto mention = mention_at(session, "/nowhere/a.axn", static_cast<uint32_t>(text.find(field)));
    ASSERT_TRUE(mention);
    EXPECT_EQ(session.sources().describe(definition(session, *mention).value()), "/nowhere/z.axn:1:15");
  }
}

}  // namespace
}  // namespace axon::query
