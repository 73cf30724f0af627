// What a phrase is, whether more of it has to follow, and where one ends and the next begins.
#include "repl/phrase.h"

#include <gtest/gtest.h>

namespace axon::repl {
namespace {

TEST(Phrase, Kinds) {
  EXPECT_EQ(kind_of(""), PhraseKind::empty);
  EXPECT_EQ(kind_of(" \t\r\n"), PhraseKind::empty);
  EXPECT_EQ(kind_of("-- nothing"), PhraseKind::empty);
  EXPECT_EQ(kind_of("  :type x"), PhraseKind::command);
  EXPECT_EQ(kind_of("?x"), PhraseKind::command);
  EXPECT_EQ(kind_of("fun f x = x"), PhraseKind::definitions);
  EXPECT_EQ(kind_of("--| é\nval f = 1"), PhraseKind::definitions);
  EXPECT_EQ(kind_of("funny"), PhraseKind::expression);
}

TEST(Phrase, IsUnfinished) {
  // Several `let`s have one `in`; one in the value of another has its own.
  for (const char* text :
       {"(1,", "fun f x =", "let x = 1", "1 +", "if true then 1", "[[1], ", "--| of what follows",
        "fun f (x : [n]) where n % 2 == 0", "f x |>", "let a = 1 let b = 2", "let a = let b = 1 in b",
        "fun f x = let a = x\n  let b = a", "let a = let b = 1 let c = 2 in b + c let d = 3", "val x", "x."})
    EXPECT_TRUE(is_unfinished(text)) << text;
  for (const char* text :
       {"let a = 1 let b = 2 in a + b", "(let a = 1\nlet b = 2\nin a + b)", "let a = let b = 1 in b in a",
        "fun f x = let a = x let b = a in a + b", "let a = let b = 1 let c = 2 in b + c let d = 3 in a + d",
        "let a = 1 let = 2", "1 + * 2 let a = 1", "fun f x = let a = x\nfun g x = x"})
    EXPECT_FALSE(is_unfinished(text)) << text;
  for (const char* text :
       {"", ":type (", "1", "let x = 1 in x", "if true then 1 else 2", ")(", "val x = 1", "é ["})
    EXPECT_EQ(is_unfinished(text), std::string(text) == "é [") << text;
}

TEST(Phrase, DefinitionMeantBy) {
  EXPECT_EQ(definition_meant_by("z = 1.0"), "val z = 1.0");
  EXPECT_EQ(definition_meant_by("f x y = x + y"), "fun f x y = x + y");
  EXPECT_EQ(definition_meant_by("let z = [1.0,\n 2.0]"), "val z = [1.0, ..");
  for (const char* other :
       {"", "=", "z", "z == 1.0", "f (x = 1)", "let z = 1.0 in z", "let (a, b) = (1, 2)", "let a = 1 let b"})
    EXPECT_EQ(definition_meant_by(other), "") << other;
}

TEST(Phrase, WhatIsEnclosedIsOnePhrase) {
  const std::string text = ":{\nfun g x = x\n\nfun h x = x\n:}";
  EXPECT_EQ(phrases_of(text + "\n\n  \n1"), (std::vector<std::string>{text, "1"}));
  EXPECT_EQ(inside_of(text), "fun g x = x\n\nfun h x = x\n");
  EXPECT_EQ(inside_of(":{\n:}"), "");
  EXPECT_EQ(inside_of(":{\n1"), "1");
  EXPECT_EQ(inside_of("1\n"), "1\n");
  for (const char* open : {":{", ":{\nfoo", ":{\n:type x\n\n", ":{ \nf\n :}"})
    EXPECT_TRUE(is_unfinished(open));
  for (const char* closed : {":{\n(\n:}", ":{\n:}\n", ":{ x"}) EXPECT_FALSE(is_unfinished(closed));
}

TEST(Phrase, ACommentAtTheEndOfALineStaysThere) {
  const auto items = items_of("val a = 1.0 -- one\n\nval b = 2.0 -- two\n");
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0].text, "val a = 1.0 -- one");
  EXPECT_EQ(items[1].text, "\nval b = 2.0 -- two\n");
  EXPECT_EQ(items[1].at, 19u);
}

TEST(Phrase, PhrasesOfACell) {
  using Phrases = std::vector<std::string>;
  EXPECT_EQ(phrases_of(""), Phrases());
  EXPECT_EQ(phrases_of("\n\n  \n-- a comment\n"), Phrases());
  EXPECT_EQ(phrases_of("1\n2"), (Phrases{"1", "2"}));
  EXPECT_EQ(phrases_of("f x\n  y\nz"), (Phrases{"f x\n  y", "z"}));
  EXPECT_EQ(phrases_of("fun f x =\n  x\n\nval y = 1\nf y"), (Phrases{"fun f x =\n  x\n\nval y = 1", "f y"}));
  EXPECT_EQ(phrases_of(":type 1\r\n2\r\n"), (Phrases{":type 1\r", "2\r"}));
  EXPECT_EQ(phrases_of("[1,\n2\n]\n:why"), (Phrases{"[1,\n2\n]", ":why"}));
  EXPECT_EQ(phrases_of("let x = 1\nin x\nx\n|> f"), (Phrases{"let x = 1\nin x", "x\n|> f"}));
  EXPECT_EQ(phrases_of("f (1,\n:type 2\n3)"), (Phrases{"f (1,", ":type 2", "3)"}));
  EXPECT_EQ(phrases_of("fun f x\n  :type\n= x\n: y"), (Phrases{"fun f x\n  :type\n= x", ": y"}));
  EXPECT_EQ(phrases_of("--| Doc.\nfun f x = x"), (Phrases{"--| Doc.\nfun f x = x"}));
}

TEST(Phrase, ItemsHaveTheirNamesAndAllOfTheText) {
  const std::string text = "--| One.\nval a : f32\nval a = 1.0\ntype T[n] = f32[n]\ntest \"t\" = true\n";
  std::string all;
  for (const Item& item : items_of(text)) all += (all.empty() ? "" : "\n") + item.text;
  EXPECT_EQ(all, text);
  const std::vector<Item> items = items_of(text);
  ASSERT_EQ(items.size(), 4u);
  EXPECT_TRUE(items[0].is_signature);
  EXPECT_TRUE(items[2].is_type);
  EXPECT_FALSE(items[0].same_as(items[1]));
  EXPECT_EQ(items[3].name, "test \"t\"");
  EXPECT_TRUE(items[3].same_as(items[3]));
}

TEST(Phrase, PlacesAreThoseOfNames) {
  EXPECT_EQ(places_of("it + x.it - fit(it)", "it"), (std::vector<size_t>{0, 16}));
  EXPECT_TRUE(places_of("\"it\" -- it", "it").empty());
}

}  // namespace
}  // namespace axon::repl
