// Completion offers what may stand at a place: each name of the library is found again once it is deleted.
#include "query/complete.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <sstream>

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
    session_.check_visible(path);
    std::string out;
    for (const Completion& c : complete(session_, path, static_cast<uint32_t>(at), counts_).items)
      if (count-- > 0)
        out += c.name + " ";
      else
        break;
    return out;
  }
  bool offers(const std::string& text, const std::string& name) {
    return (" " + offered(text, 200)).find(" " + name + " ") != std::string::npos;
  }
  static std::string sorted(const std::string& names) {
    std::istringstream in(names);
    std::set<std::string> all{std::istream_iterator<std::string>(in), {}};
    std::string out;
    for (const std::string& name : all) out += name + " ";
    return out;
  }
  static constexpr const char* path = "/nowhere/a.axn";
  session::Session session_{session::library(), {}};
  ContextCounts counts_;
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

TEST_F(Complete, LocalDefinitionsDoNotUseThemselves) {
  const std::string f = "fun f (x : f32[n]) r = ";
  for (const char* value : {"exp |", "| + 1.0", "1.0 + |", "|[0]", "v + |", "fn w => w + |"}) {
    const std::string text = f + "let g v = " + value + " in g x\n";
    for (const char* name : {"x", "v", "r"}) EXPECT_TRUE(offers(text, name)) << text << name;
    EXPECT_FALSE(offers(text, "g")) << text;
  }
  EXPECT_FALSE(offers(f + "let y = 1 |\n", "y"));
  EXPECT_FALSE(offers(f + "let (_, y) = scan g 0 |[::-1] in y\n", "y"));
  EXPECT_TRUE(offers(f + "let y = 1 let z = |\n", "y"));
  EXPECT_TRUE(offers(f + "let y = let z = 1 in z in |\n", "y"));
  EXPECT_TRUE(offers(f + "let y = let z = 1 let q = z + | in q in y\n", "z"));
  EXPECT_FALSE(offers(f + "let y = let z = 1 in z + | in y\n", "y"));
}

TEST_F(Complete, NamesAreSeenWhereTheyAreBoundAlone) {
  const std::string f = "fun f (x : f32[n]) = ";
  EXPECT_FALSE(offers(f + "let y = let z = 1 in z in |\n", "z"));
  EXPECT_FALSE(offers(f + "let g v = v in |\n", "v"));
  EXPECT_FALSE(offers(f + "let g = for i => x[i] let h = |\n", "i"));
  EXPECT_FALSE(offers(f + "(let z = x in z, |)\n", "z"));
  EXPECT_FALSE(offers(f + "if (let z = true in z) then |\n", "z"));
  EXPECT_FALSE(offers(f + "if let z = true in z then |\n", "z"));
  EXPECT_FALSE(offers(f + "if true then let z = x in z else |\n", "z"));
  EXPECT_TRUE(offers(f + "let z = x in if true then z else |\n", "z"));
  // the parameter of a function that is defined hides nothing behind it
  const std::string text = "fun f (x : f32[n]) r = let go r = r + x in iterate 3 go |\n";
  EXPECT_TRUE(offers(text, "r"));
}

TEST_F(Complete, LocalsAreNeverCutOff) {
  for (const char* place : {"|[i] b[j]", "a[i] |[j]"}) {
    const std::string text =
        std::string("entry dots (a : i8[m, k]) (b : i8[n, k]) = for i j => dot ") + place + "\n";
    for (const char* name : {"a", "b", "i", "j"})
      EXPECT_NE((" " + offered(text, 8)).find(std::string(" ") + name + " "), std::string::npos) << text;
  }
  EXPECT_TRUE(offers("fun f (c : bool) (x : f32[n, d]) = x @ |\n", "c"));  // what does not fit, too
  EXPECT_TRUE(offers("fun f (c : bool) (x : f32[n, d]) = x @ |\n", "d"));
}

TEST_F(Complete, WordsOfDeclarations) {
  for (const auto& [typed, word] : {std::pair{"ent", "entry "},
                                    {"fu", "fun "},
                                    {"ty", "type "},
                                    {"va", "val "},
                                    {"imp", "import "},
                                    {"priv", "private "}})
    for (const char* before : {"fun f x = x\n\n", "fun f x\n", "import conv\n"})
      EXPECT_EQ(offered(std::string(before) + typed + "|\n", 1), word) << before;
  EXPECT_TRUE(offers("fun f x = (x +\nent|\n", "entry"));
  EXPECT_FALSE(offers("fun f x = x + ent|\n", "entry"));
  EXPECT_EQ(offered("fun f (x : f32[n]) wh|\n"), "where ");
  EXPECT_EQ(offered("fun f (x : f32[n]) = let g (y : f32[n]) wh| = y in g x\n"), "where ");
  EXPECT_EQ(offered("fun wh|\n"), "");
  EXPECT_EQ(offered("fun f (x : f32[n]) = let g = fn wh|\n"), "");
  EXPECT_EQ(offered("import conv a|\n"), "as ");
  EXPECT_EQ(offered("import \"b.axn\" a|\n"), "as ");
}

TEST_F(Complete, SizesAreIntegers) {
  const std::string type = "type S = {a : f32}\n";
  for (const char* name : {"S", "f32", "bool"})
    EXPECT_TRUE(offers(type + "fun f (ss : Stack[n, |]) = ss\n", name)) << name;
  EXPECT_FALSE(offers(type + "fun f (ss : Stack[|, S]) = ss\n", "S"));
  EXPECT_FALSE(offers(type + "fun f (k : i64) (ss : Stack[n, |]) = ss\n", "k"));
  EXPECT_FALSE(offers("fun f (x : f32[|\n", "x"));
  EXPECT_FALSE(offers("fun f (x : i64[|\n", "x"));
  EXPECT_TRUE(offers("fun f (x : f32[|\n", "n"));
  const std::string text = "fun f (a : f32[n]) (k : i64) (t : i64[n]) q (x : f32[|]) = x\n";
  for (const char* name : {"n", "k", "q"}) EXPECT_TRUE(offers(text, name)) << name;
  for (const char* name : {"a", "t", "x"}) EXPECT_FALSE(offers(text, name)) << name;
  EXPECT_FALSE(offers("fun f (a : f32[n]) = let b = a + a in b :> f32[|]\n", "b"));
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

TEST_F(Complete, WhatFitsComesFirst) {
  const auto first = [&](const std::string& body) { return offered(body, 1); };
  EXPECT_EQ(first("fun f (y : f32[n]) (x : f32[m]) (k : bool[n]) : f32[n] = |\n"), "y ");
  EXPECT_EQ(first("fun f (k : bool[n]) (x : f32[m]) (y : f32[n]) : bool[n] = |\n"), "k ");
  EXPECT_EQ(first("fun f (w : f32[d, k]) (v : f32[n, n]) (x : f32[n, d]) = x @ |\n"), "w ");
  EXPECT_EQ(first("fun f (v : f32[d, k]) (w : f32[k, d]) (x : f32[n, d]) = | @ x\n").substr(0, 2) == "v ",
            false);
  EXPECT_EQ(offered("fun f (w : f32[d]) (m : bool[d]) (v : f32[n]) (x : f32[n, d]) = x + |\n", 2), "x w ");
  EXPECT_EQ(first("fun g (a : bool[n]) (b : f32[n]) = b\nfun f (m : bool[n]) (x : f32[n]) = g |\n"), "m ");
  EXPECT_EQ(first("fun f (c : bool) (x : f32[n]) (y : f32[n]) = if | then x else y\n"), "c ");
  EXPECT_EQ(first("fun f (i : i64) (x : f32[n]) (y : f32) = let z = y + 1.0 in for j => |\n").empty(), false);
}

TEST_F(Complete, FunctionsThatFitTheirArguments) {
  const std::string own =
      "fun both_a (x : f32[n]) (y : bool[n]) = x\nfun both_b (x : bool[n]) (y : f32[n]) = y\n"
      "fun both_c (x : f32[n]) = x\n";
  EXPECT_EQ(offered(own + "fun f (x : f32[n]) (m : bool[n]) = both| x m\n", 1), "both_a ");
  EXPECT_EQ(offered(own + "fun f (x : f32[n]) (m : bool[n]) = both| m x\n", 1), "both_b ");
  EXPECT_EQ(offered(own + "fun f (x : f32[n]) (m : bool[n]) : f32[n] = both|\n", 3), "both_a both_b both_c ");
}

TEST_F(Complete, FieldsByWhatIsExpected) {
  const std::string type = "type P = {a : bool, b : f32[3], c : f32[4]}\nfun take (p : P) = p.b\n";
  EXPECT_EQ(offered(type + "fun f (p : P) (x : f32[3]) = x + p.|\n", 1), "b ");
  EXPECT_EQ(offered(type + "fun f (p : P) (x : f32[3]) = if p.| then x else x\n", 1), "a ");
  EXPECT_EQ(sorted(offered(type + "fun f (p : P) = p with |\n", 9)), "a b c ");
  EXPECT_EQ(offered(type + "fun f (p : P) (x : f32[4]) = p with | = x\n", 1), "c ");
  EXPECT_EQ(sorted(offered(type + "fun f x = take {|}\n", 9)), "a b c ");
  EXPECT_EQ(sorted(offered(type + "fun f x = take {b = x, |\n", 9)), "a c ");
  EXPECT_EQ(sorted(offered(type + "fun f x = take {| = true, c = x}\n", 9)), "a b ");
  EXPECT_EQ(offered("fun g r = r.left + r.right\nfun f x = g {left = x, |}\n", 1), "right ");
  EXPECT_EQ(offered("fun f r = r.left + r.|\n", 1), "left ");
}

TEST_F(Complete, InBrokenText) {
  const std::string type = "type P = {a : bool, b : f32[3]}\n";
  EXPECT_EQ(sorted(offered(type + "fun f (p : P) = let y = p.|\n", 9)), "a b ");
  EXPECT_EQ(offered(type + "fun f (p : P) = (let y = if p.|\n", 1), "a ");
  EXPECT_EQ(offered(type + "fun f (p : P) (x : f32[3]) = sum (x + p.|\nfun g x = x\n", 1), "b ");
  EXPECT_EQ(sorted(offered(type + "fun f (p : P) = for i => fn q => p with |\n", 9)), "a b ");
  EXPECT_TRUE(offers("fun f (x : f32[n]) = let y = x[|\n", "n"));
  EXPECT_TRUE(offers("fun f (x : f32[n]) = )]} |\n", "x"));
}

TEST_F(Complete, ShowsTypes) {
  const auto type_of = [&](const std::string& text, const std::string& name) -> std::string {
    const size_t at = text.find('|');
    std::string before = text;
    before.erase(at, 1);
    session_.documents().open(path, before);
    session_.check(path);
    for (const Completion& c : complete(session_, path, static_cast<uint32_t>(at), counts_).items)
      if (c.name == name) return c.type;
    return "not offered";
  };
  EXPECT_EQ(type_of("fun f (x : f32[n, d]) = |\n", "x"), "f32[n, d]");
  EXPECT_EQ(type_of("fun f (x : f32[n, d]) = let y = x[0] in |\n", "y"), "f32[d]");
  EXPECT_EQ(type_of("fun f (x : f32[n, d]) = for i => x[|\n", "i"), "i64");
  EXPECT_EQ(type_of("fun f (x : f32[n, d]) = |\n", "n"), "i64");
  EXPECT_EQ(type_of("fun g (x : f32[n]) = sum x\nfun f x = |\n", "g"), "f32[n] -> f32");
  EXPECT_EQ(type_of("type P = {a : bool}\nfun f (p : P) = p.|\n", "a"), "bool");
}

TEST_F(Complete, WordsOfTypes) {
  EXPECT_EQ(offered("fun f (x : 'elem[n]) (y : '|\n", 1), "elem ");
  for (const char* name : {"num", "float", "int"})
    EXPECT_TRUE(offers("fun f (x : 't[n]) where 't : |\n", name)) << name;
  EXPECT_FALSE(offers("fun f (x : 't[n]) where 't : |\n", "f32"));
  EXPECT_EQ(offered("fun f (x : 't[n]) where 't : fl| = x\n", 1), "float ");
  EXPECT_EQ(offered("import recurrent as rnn\nfun f (p : rnn.|\n", 9), "Gru Lstm ");
  EXPECT_EQ(offered("layout tiled[n] = S[n]\nfun f (x : f32[8] @ |\n", 1), "tiled ");
  EXPECT_EQ(offered("mesh grid = {row = 4, column = 2}\nlayout l[n] = S[8@c|\n", 9), "column ");
  EXPECT_TRUE(offers("mesh grid = {row = 4, column = 2}\nlayout l[n] = S[8@|\n", "row"));
  EXPECT_EQ(offered("type P = {a : f32, |\n"), "");
  EXPECT_TRUE(offers("type P = {a : f32, b : |\n", "bool"));
}

TEST_F(Complete, Modules) {
  EXPECT_EQ(offered("import \"|\n", 9), "");
  EXPECT_EQ(offered("import prelude.red|\n", 1), "reduce ");
  EXPECT_TRUE(offers("fun f x = posi|\n", "position"));
  EXPECT_EQ(offered("fun f x = position.rope_h|\n", 1), "rope_halves ");
  EXPECT_EQ(offered("fun f position = position.rope_h|\n", 1), "");
}

/// Where the name is among what is offered in its place.
size_t rank_of(const Completions& found, const std::string& name) {
  for (size_t i = 0; i < found.items.size(); ++i)
    if (found.items[i].name == name) return i;
  return 1'000;
}

/// Of names of this kind each of so many is deleted: of fields, which are few, all.
size_t step_of(Token::Type type) {
  return type == Token::Type::field ? 1 : type == Token::Type::function ? 5 : 17;
}

/// Deletes names of the library in turn. AXON_ALL_NAMES=1 takes all of them and tells those that are not
/// found.
TEST(CompleteLibrary, FindsDeletedNamesOfTheLibrary) {
  const bool all_names = std::getenv("AXON_ALL_NAMES") != nullptr;
  session::Session session(session::library(), {});
  std::map<Token::Type, Ranks> by_type;
  std::map<Token::Type, size_t> numbers;
  Ranks total;
  ContextCounts counts;
  for (const std::string& path : session::programs({"stdlib"})) {
    const std::string text = session::read(path);
    session.documents().open(path, text);
    session.check(path);
    session.check_visible(path);
    for (const Token& t : tokens(session, path)) {
      const std::string name(session.sources().text(t.span));
      if (t.declares || name[0] == '\'') continue;
      if (numbers[t.type]++ % step_of(t.type) != 0 && !all_names) continue;
      std::string without = text;
      without.erase(t.span.begin, t.span.size());
      session.documents().open(path, without);
      const size_t rank = rank_of(complete(session, path, t.span.begin, counts), name);
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
  const auto at_least = [](const Ranks& r, size_t first, size_t ten) {  // of a hundred
    return 100 * r.first >= first * r.all && 100 * r.ten >= ten * r.all;
  };
  // Of a hundred names in the sample; which ones they are changes with the library, by 5 of a hundred.
  EXPECT_TRUE(at_least(by_type[Token::Type::function], 55, 85));
  EXPECT_TRUE(at_least(by_type[Token::Type::field], 90, 95));
  EXPECT_TRUE(at_least(by_type[Token::Type::parameter], 60, 95));
}

}  // namespace
}  // namespace axon::query
