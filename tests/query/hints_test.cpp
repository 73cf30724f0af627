// Every hint that can be written down leaves all types as they are once it is.
#include "query/hints.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "../sanitized.h"
#include "query/mentions.h"
#include "session/support.h"
#include "types_text.h"

namespace axon::query {
namespace {

using Edits = std::vector<source::Edit>;

/// The text with the edits, those that occur twice once.
std::string edited(std::string text, Edits edits) {
  std::stable_sort(edits.begin(), edits.end(),
                   [](const source::Edit& a, const source::Edit& b) { return a.span.begin < b.span.begin; });
  std::set<std::pair<uint32_t, std::string>> done;
  std::vector<source::Edit> once;
  for (source::Edit& e : edits)
    if (done.insert({e.span.begin, e.replacement}).second) once.push_back(e);
  for (auto e = once.rbegin(); e != once.rend(); ++e)
    text.replace(e->span.begin, e->span.size(), e->replacement);
  return text;
}

class Hints : public ::testing::Test {
 protected:
  std::vector<Hint> of(const std::string& text) {
    session_.documents().open(path, text);
    found_ = session_.check(path);
    return hints(session_, path, 0, UINT32_MAX);
  }
  std::string types() const { return normal(session_.types(path)); }
  /// The text with its hints in it.
  std::string shown(const std::string& text) {
    std::string out = text;
    std::vector<Hint> all = of(text);
    for (auto h = all.rbegin(); h != all.rend(); ++h) out.insert(h->at, "<" + h->label + ">");
    return out;
  }
  static constexpr const char* path = "/nowhere/a.axn";
  session::Session session_{session::library(), {}};
  source::Diagnostics found_;
};

TEST_F(Hints, SayWhatIsNotWritten) {
  EXPECT_EQ(shown("fun f x (w : f32[d, o]) = let y = x @ w in y + 1.0\n"),
            "fun f x< : f32[..a, m, d]> (w : f32[d, o])< : f32[..a, m, o]> = let y< : f32[..a, m, o]> = x @ "
            "w in y + "
            "1.0\n");
  EXPECT_EQ(shown("fun f (x : f32[n, d]) (b : f32[d]) : f32[n, d] = x + b\n"),
            "fun f (x : f32[n, d]) (b : f32[d]) : f32[n, d] = x + b< \u2192 [n, d]>\n");
  EXPECT_EQ(shown("fun f (x : f32[n, d]) = for i => sum k => x[i, k]\n"),
            "fun f (x : f32[n, d])< : f32[n]> = for i< < n> => sum k => x[i, k]\n");
}

TEST_F(Hints, OfEachNameOfAPattern) {
  EXPECT_EQ(
      shown("fun f (x : f32[n]) : f32[n] = let (a, (b, _)) = (x, (sum x, 1.0)) in a * b\n"),
      "fun f (x : f32[n]) : f32[n] = let (a< : f32[n]>, (b< : f32>, _)) = (x, (sum x, 1.0)) in a * b\n");
  EXPECT_EQ(
      shown("fun f (x : f32[n]) : f32[n] = let g y (k : f32) = x + y * k in g x 2.0\n"),
      "fun f (x : f32[n]) : f32[n] = let g y< : f32[..a]> (k : f32) = x + y * k< \u2192 [n]> in g x 2.0\n");
  EXPECT_EQ(shown("fun f (x : f32[n]) : f32 = fold (fn s e => s + e) 0.0 x\n"),
            "fun f (x : f32[n]) : f32 = fold (fn s< : f32> e< : f32> => s + e) 0.0 x\n");
}

TEST_F(Hints, OfABrokenTextAreThoseOfTheTextBefore) {
  const std::string text = "fun f (x : f32[n, d]) (w : f32[d, o]) = let y = x @ w in y + 1.0\n";
  of(text);
  EXPECT_NE(shown("fun f (x : f32[n, d]) (w : f32[d, o]) = let y = x @ w in y + z\n").find("y< : f32[n, o]>"),
            std::string::npos);
}

TEST_F(Hints, WrittenDownLeaveTypesAsTheyAre) {
  size_t edits = 0;  // all are made together, and every fifth by itself
  for (const std::string& file : sampled(session::programs({"stdlib", "examples", "tests/core/types"}))) {
    const std::string text = session::read(file);
    const std::vector<Hint> all = of(text);
    if (found_.has_errors()) continue;
    const std::string before = types();
    Edits together;
    for (const Hint& hint : all) {
      if (hint.edits.empty()) continue;
      ++edits;
      together.insert(together.end(), hint.edits.begin(), hint.edits.end());
      if (edits % 5 != 0) continue;
      const std::string now = edited(text, hint.edits);
      of(now);
      const uint32_t line = session_.sources()[hint.edits[0].span.file].line_of(hint.at);
      EXPECT_EQ(session::summary(found_, session_.sources()), "") << file << ":" << line << hint.label;
      EXPECT_EQ(types(), before) << file << ":" << line << hint.label;
      of(text);
    }
    of(edited(text, together));
    EXPECT_EQ(session::summary(found_, session_.sources()), "") << file;
    EXPECT_EQ(types(), before) << file << ": all together";
  }
  EXPECT_GT(edits, sampled_floor(200u));
}

}  // namespace
}  // namespace axon::query
