// What was checked of a text is found in the text that stands there now.
#include "query/reading.h"

#include <gtest/gtest.h>

#include "session/support.h"

namespace axon::query {
namespace {

/// The stretch of `before` in `after`, as text; "-" where it was edited.
std::string later(const std::string& before, const std::string& after, uint32_t begin, uint32_t end) {
  const auto span = TextMap(before, after).later({source::FileId{0}, begin, end});
  return span ? after.substr(span->begin, span->end - span->begin) : "-";
}

TEST(TextMap, WordsThatStayAreFound) {
  EXPECT_EQ(later("fun f x = x + 1", "fun f x = x + 1", 4, 5), "f");
  EXPECT_EQ(later("fun f x = x + 1", "fun f a b x = x + 1", 10, 11), "x");
  EXPECT_EQ(later("fun f x = x + one", "fun f x = y + one + 2", 14, 17), "one");
  EXPECT_EQ(later("fun f x = x + one", "fun f x = y + one + 2", 10, 11), "-");
  EXPECT_EQ(later("fun f x = x + one", "fun f x = x + onex", 14, 17), "-");
  EXPECT_EQ(later("", "a", 0, 0), "-");
  EXPECT_EQ(later("λ = λ + β", "λ = 1 + β", 10, 12), "β");
}

TEST(TextMap, AndBack) {
  const TextMap map("fun f x = x + 1", "fun f a x = x + 2");
  EXPECT_EQ(map.earlier(12), 10u);
  EXPECT_EQ(map.earlier(17), std::nullopt);
}

class Readings : public ::testing::Test {
 protected:
  void set(const std::string& text) { session_.documents().open(path, text); }
  std::vector<Layer> layers(size_t declaration) { return readings(session_, path).at(declaration).layers; }
  static constexpr const char* path = "/nowhere/a.axn";
  session::Session session_{session::library(), {}};
};

TEST_F(Readings, AreOfTheLastCheckAndOfTheLastGoodText) {
  set("fun f x = x + 1.0\nfun g x = f x\n");
  EXPECT_TRUE(layers(0).empty());
  session_.check(path);
  ASSERT_EQ(layers(1).size(), 1u);
  set("\nfun f x = x + 1.0\nfun g x = 2.0 * f x\n");
  ASSERT_EQ(layers(1).size(), 1u);
  EXPECT_EQ(layers(1)[0].then(37), 12u) << "the x at the end of the text that was checked";
  set("fun f x = x + 1.0\nfun g x = h x\n");
  session_.check(path);
  ASSERT_EQ(layers(1).size(), 2u);
  EXPECT_FALSE(layers(1)[0].record().good);
  EXPECT_TRUE(layers(1)[1].record().good);
  EXPECT_EQ(layers(0).size(), 1u);
}

TEST_F(Readings, AreKeptWhereSeveralDeclarationsAreEditedAtOnce) {
  set("val gone = 1.0\nfun f x = x + 1.0\nfun g x = f x\n");
  session_.check(path);
  set("fun f x = x + 1.0\nfun g x = f x\n");  // leaves a part that nobody uses
  set("fun f x = x + 2.0\nfun g x = f x + 1.0\nfun h x = g x\n");
  EXPECT_EQ(layers(0).size(), 1u);
  EXPECT_EQ(layers(1).size(), 1u);
  set("fun new x = x\nfun f x = x + 3.0\nfun g x = f x + 2.0\n");
  EXPECT_EQ(layers(1).size(), 1u) << "another one has the place that it had";
  EXPECT_EQ(layers(2).size(), 1u);
}

}  // namespace
}  // namespace axon::query
