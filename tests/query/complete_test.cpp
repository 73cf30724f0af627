// Completion offers what may stand at a place: each name of the library is found again once it is deleted.
#include "query/complete.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "query/tokens.h"
#include "session/support.h"

namespace axon::query {
namespace {

struct Ranks {
  size_t all = 0, first = 0, ten = 0;
  void add(size_t rank) {
    ++all;
    first += rank == 0;
    ten += rank < 10;
  }
};

class Complete : public ::testing::Test {
 protected:
  /// The first names that are offered at `|` of a text, after the text without it was checked.
  std::string offered(const std::string& text, size_t count = 3) {
    const size_t at = text.find('|');
    std::string before = text;
    before.erase(at, 1);
    session_.documents().open(path, before);
    session_.check(path);
    std::string out;
    for (const Completion& c : complete(session_, path, static_cast<uint32_t>(at)).items)
      if (count-- > 0)
        out += c.name + " ";
      else
        break;
    return out;
  }
  bool offers(const std::string& text, const std::string& name) {
    return (" " + offered(text, 200)).find(" " + name + " ") != std::string::npos;
  }
  static constexpr const char* path = "/nowhere/a.axn";
  session::Session session_{session::library(), {}};
};

TEST_F(Complete, NothingWhereANameIsNew) {
  for (const char* text :
       {"fun f x = x -- so|\n", "fun f|\n", "fun f x|\n", "fun f x = let y|\n", "fun f x = for i|\n",
        "test \"ab|c\" = true\n", "fun f x = 1.|\n", "fun f x = fn y|\n"})
    EXPECT_EQ(offered(text), "") << text;
}

TEST_F(Complete, NamesInScope) {
  EXPECT_TRUE(offers("fun f (x : f32[n, d]) weight = let y = x in for i => |\n", "weight"));
  EXPECT_TRUE(offers("fun f (x : f32[n, d]) weight = let y = x in for i => |\n", "d"));
  EXPECT_TRUE(offers("fun f x = (let y = x in y) + |\n", "x"));
  EXPECT_FALSE(offers("fun f x = (let y = x in y) + |\n", "y"));
  EXPECT_TRUE(offers("fun f x = sum (k < 3) l => x[|\n", "k"));
  EXPECT_TRUE(offers("fun f x = reduce add 0.0 l => x[|\n", "l"));
  EXPECT_TRUE(offers("fun f x = soft|\n", "softmax"));
  EXPECT_FALSE(offers("fun one x = |\n", "one"));
  EXPECT_TRUE(offers("fun one x = x\nfun two x = o|\n", "one"));
}

TEST_F(Complete, ByWhatStandsBefore) {
  const std::string type = "type Layer[d] = {weight : f32[d], bias : f32[d]}\n";
  EXPECT_EQ(offered(type + "fun f (p : Layer[d]) = p.|\n", 2), "weight bias ");
  EXPECT_EQ(offered(type + "fun f (ps : Stack[l, Layer[d]]) = ps.bi|\n", 1), "bias ");
  EXPECT_EQ(offered(type + "fun f (p : L|\n", 1), "Layer ");
  EXPECT_EQ(offered("fun f (x : f32[batch, d]) (y : f32[b|\n", 1), "batch ");
  EXPECT_EQ(offered("import at|\n", 1), "attention ");
  EXPECT_TRUE(offers("import position as pos\nfun f x = pos.|\n", "rope_halves"));
  EXPECT_FALSE(offers("import position as pos\nfun f x = pos.|\n", "softmax"));
  EXPECT_EQ(offered("fun f x = rearrange x [rows, columns] => [col|\n", 1), "columns ");
}

/// Where the name is among what is offered in its place.
size_t rank_of(const Completions& found, const std::string& name) {
  for (size_t i = 0; i < found.items.size(); ++i)
    if (found.items[i].name == name) return i;
  return 1'000;
}

/// Deletes every `step`-th name of the library in turn. AXON_ALL_NAMES=1 takes all of them and tells those
/// that are not found.
TEST(CompleteLibrary, FindsDeletedNamesOfTheLibrary) {
  const bool all_names = std::getenv("AXON_ALL_NAMES") != nullptr;
  const size_t step = all_names ? 1 : 17;
  session::Session session(session::library(), {});
  std::map<Token::Type, Ranks> by_type;
  Ranks total;
  size_t number = 0;
  for (const std::string& path : session::programs({"stdlib"})) {
    const std::string text = session::read(path);
    session.documents().open(path, text);
    session.check(path);
    for (const Token& t : tokens(session, path)) {
      const std::string name(session.sources().text(t.span));
      if (t.declares || name[0] == '\'' || number++ % step != 0) continue;
      std::string without = text;
      without.erase(t.span.begin, t.span.size());
      session.documents().open(path, without);
      const size_t rank = rank_of(complete(session, path, t.span.begin), name);
      by_type[t.type].add(rank);
      total.add(rank);
      if (all_names && rank >= 10)
        fmt::print("{}: {} {} at {}\n", session.sources().describe(t.span), token_type_name(t.type), name,
                   rank);
      session.documents().open(path, text);
    }
    session.documents().close(path);
  }
  for (const auto& [type, r] : by_type)
    fmt::print("{:14} {:5} names, first {:3.0f} %, in ten {:3.0f} %\n", token_type_name(type), r.all,
               100.0 * static_cast<double>(r.first) / static_cast<double>(r.all),
               100.0 * static_cast<double>(r.ten) / static_cast<double>(r.all));
  fmt::print("all {} names, first {:.1f} %, in ten {:.1f} %\n", total.all,
             100.0 * static_cast<double>(total.first) / static_cast<double>(total.all),
             100.0 * static_cast<double>(total.ten) / static_cast<double>(total.all));
  EXPECT_GE(2 * total.first, total.all);
  EXPECT_GE(10 * total.ten, 9 * total.all);
}

}  // namespace
}  // namespace axon::query
