// Definitions that are replaced, what depends on them, files, and that errors leave all as it was.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "repl/complete.h"
#include "support.h"

namespace axon::repl {
namespace {

using Names = std::vector<std::string>;

std::string source_of(Repl& repl) {
  std::string problem;
  return repl.definitions().source("", problem) + problem;
}

TEST(Definitions, WhatDependsOnAReplacedOneIsNamed) {
  Typing repl;
  repl.answer("fun f (x : f32[n]) = x\nfun g (x : f32[n]) = f x\nfun h (x : f32[n]) = g x\nval other = 1.0");
  const Answer broken = repl.answer("fun f (x : f32[2, n]) = x");
  EXPECT_EQ(broken.kind, Answer::Kind::definition);
  EXPECT_EQ(broken.broken, Names{"g"});
  EXPECT_NE(broken.text.find("`g` no longer checks"), std::string::npos);
  EXPECT_EQ(repl.definitions().broken_in("g [1.0]"), "g");
  EXPECT_EQ(repl.definitions().broken_in("other"), "");
  const Answer mended = repl.answer("fun f (x : f32[n]) = x * 2.0");
  EXPECT_TRUE(mended.broken.empty());
  EXPECT_NE(mended.text.find("`g` checks again"), std::string::npos);
}

TEST(Definitions, WhatUsesABrokenOneIsNoValue) {
  Typing repl;
  repl.answer("fun b x = x + 1.0\nfun u x = b x + 1.0\nfun v x = u x");
  repl.answer("2.0");
  repl.answer("fun b (x : {a : f32}) = x");
  for (const char* phrase : {"u 3.0", "v 3.0", "1.0 + v 3.0"}) {
    const Answer answer = repl.answer(phrase);
    EXPECT_TRUE(answer.failed()) << phrase;
    EXPECT_NE(answer.text.find("no longer checks"), std::string::npos) << answer.text;
  }
  EXPECT_EQ(repl.text(":browse"),
            "u : no longer checks\nv : uses what no longer checks\nb : {a : f32} -> {a : f32}\n");
  EXPECT_FALSE(repl.answer("it").failed());
}

TEST(Definitions, ATestOfTheSameTitleIsReplaced) {
  Typing repl;
  repl.answer("test \"t\" = true");
  EXPECT_FALSE(repl.answer("test \"t\" = not false").failed());
  EXPECT_FALSE(repl.answer("test \"u\" = true").failed());
  EXPECT_EQ(source_of(repl), "test \"t\" = not false\ntest \"u\" = true\n");
}

TEST(Definitions, TheNameOfTheLastValueIsTaken) {
  Typing repl;
  repl.answer("3.0");
  EXPECT_EQ(repl.text("fun it x = x"),
            "error: `it` is the name of the last value, which no definition takes\n");
  EXPECT_FALSE(repl.answer("it").failed());
}

TEST(Definitions, TheTypeOfANameIsThatOfItsDeclaration) {
  Typing repl;
  repl.answer("fun pairs (x : [n]) where n % 2 == 0 = for (i < n / 2) => x[2*i]");
  EXPECT_EQ(repl.text(":type pairs"), repl.text("?pairs"));
  EXPECT_EQ(repl.text(":type nonzero").substr(0, 10), "nonzero : ");
}

TEST(Definitions, TheLastValueIsNamedWithoutItsError) {
  Typing repl;
  repl.answer("fun f (x : f32[n]) = x");
  repl.answer("f [1.0, 2.0]");
  const Answer changed = repl.answer("fun f (x : bool) = x");
  EXPECT_EQ(changed.broken, Names{"it"});
  EXPECT_EQ(changed.text, "f : bool -> bool\n`it` no longer checks\n");
  EXPECT_EQ(repl.answer("fun f (x : f32[n]) = x").text, "f : f32[n] -> f32[n]\n`it` checks again\n");
}

TEST(Definitions, WhatUsesAValueThatBreaksIsNamedWithItsError) {
  Typing repl;
  repl.answer("fun f x = x + 1");
  repl.answer("f 1");
  repl.answer("it + 1");
  repl.answer("val v = it");
  repl.answer("2.0");
  repl.answer("it");
  const Answer changed = repl.answer("fun f (x : f32[2]) = x");
  EXPECT_EQ(changed.broken, Names{"v"}) << changed.text;
  EXPECT_NE(changed.text.find("`v` no longer checks\nerror[E03"), std::string::npos) << changed.text;
  EXPECT_NE(changed.text.find("--> it:1:3\n   |\n 1 | f 1\n   |   ^\n"), std::string::npos) << changed.text;
  EXPECT_NE(repl.answer("fun f x = x").text.find("`v` checks again"), std::string::npos);
}

TEST(Definitions, WhatClosesACircleIsRefused) {
  Typing repl;
  repl.answer("fun b x = x");
  repl.answer("fun a x = b x");
  const Answer refused = repl.answer("fun other x = x\nfun b x = a x");
  EXPECT_TRUE(refused.failed());
  EXPECT_EQ(refused.text.find("error[E0317]: `b` uses itself\n  --> repl:2:5"), 0u) << refused.text;
  EXPECT_EQ(source_of(repl), "fun b x = x\nfun a x = b x\n");
  EXPECT_TRUE(repl.definitions().broken_in("a").empty());
  repl.answer("type B[n] = f32[n]");
  repl.answer("type A[n] = B[n]");
  const Answer of_types = repl.answer("type B[n] = A[n]");
  EXPECT_EQ(of_types.text.find("error[E0317]: the type `B` contains itself\n  --> repl:1:6"), 0u)
      << of_types.text;
}

TEST(Definitions, AnErrorChangesNothing) {
  Typing repl;
  repl.answer("fun f (x : f32[n]) = x");
  for (const char* wrong :
       {"fun f x = nothing_of_this_name", "fun f (", "val f = 1.0 +", "fun f x = x\nfun f x = x"}) {
    EXPECT_TRUE(repl.answer(wrong).failed()) << wrong;
    EXPECT_EQ(repl.text(":type f"), "f : f32[n] -> f32[n]\n") << wrong;
  }
  EXPECT_EQ(source_of(repl), "fun f (x : f32[n]) = x\n");
}

TEST(Definitions, WhatWasRefusedIsNotListed) {
  Typing repl;
  repl.answer("fun a x = x\nfun user x = a x");
  EXPECT_TRUE(repl.answer("fun a x = nothing_of_this_name x").failed());
  EXPECT_EQ(repl.text(":browse"), "a    : 't -> 't\nuser : 't -> 't\n");
}

TEST(Definitions, AllThatIsDefinedIsListedOnce) {
  Typing repl;
  EXPECT_EQ(repl.text(":{\nval unit : f32\nval unit = 1.0\n:}"), "unit : f32\n");
  repl.answer("--| A vector.\ntype Vector[n] =\n  f32[n]");
  repl.answer("import conv  -- of images");
  EXPECT_EQ(repl.text(":browse"), "type Vector[n] =\n  f32[n]\nimport conv\nunit : f32\n");
}

TEST(Definitions, DocumentationHasTheTypeWhateverWasDefinedBefore) {
  Typing fresh;
  const std::string first = fresh.text(":doc softmax");
  EXPECT_EQ(first.find("softmax : "), 0u) << first;
  Typing used;
  used.answer("val x = softmax [1.0]");
  used.answer("fun transpose x = x");
  EXPECT_EQ(used.text("?softmax"), first);
  EXPECT_EQ(used.text("?transpose"), "transpose : 't -> 't\n");
  used.answer("--| Twice.\nfun twice x = x + x");
  EXPECT_EQ(used.text("?twice"), "twice : 't[..x] -> 't[..x]   where 't : num\nTwice.\n");
  used.answer("--| A pair.\ntype Pair[n] = (f32[n], f32[n])");
  EXPECT_EQ(used.text("?Pair"), "type Pair[n] = (f32[n], f32[n])\nA pair.\n");
  EXPECT_TRUE(used.answer("?a b").failed());
  EXPECT_TRUE(used.answer("?(").failed());
}

TEST(Definitions, ASavedFileHasTheValuesThatItNeeds) {
  Typing repl;
  repl.answer("1.0");
  repl.answer("val y = it");
  repl.answer("2.0");
  EXPECT_EQ(source_of(repl), "val it_1 = 1.0\nval y = it_1\n");
}

TEST(Definitions, AnErrorIsShownWhereItWasTyped) {
  Typing repl;
  const Answer answer = repl.answer("fun g x = x\n\nfun h x = x\nval k = nothing_of_this_name");
  EXPECT_NE(answer.text.find("repl:4:9"), std::string::npos) << answer.text;
}

TEST(Definitions, DocumentationOfSignsWordsAndModules) {
  Typing repl;
  EXPECT_EQ(repl.text(":doc @").substr(0, 4), "@ : ");
  EXPECT_EQ(repl.text(":doc +").substr(0, 4), "+ : ");
  EXPECT_EQ(repl.text(":doc f32").substr(0, 9), "type f32\n");
  EXPECT_EQ(repl.text(":doc let").substr(0, 15), "let x = a in e\n");
  EXPECT_EQ(repl.text(":doc conv").substr(0, 12), "module conv\n");
  EXPECT_EQ(repl.text(":doc conv.conv2d").substr(0, 14), "conv.conv2d : ");
  EXPECT_TRUE(repl.answer(":doc conv.nothing").failed());
  EXPECT_TRUE(repl.answer(":doc @@").failed());
}

class Files : public ::testing::Test {
 protected:
  Files() : folder_(std::filesystem::temp_directory_path() / ("axon_repl_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~Files() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& text) {
    const std::string path = (folder_ / "a.axn").string();
    std::ofstream(path) << text;
    return path;
  }
  std::filesystem::path folder_;
};

TEST_F(Files, LoadTakesAllOrNothing) {
  Typing repl;
  repl.answer("val own = true");
  const std::string path = write("val a = true\nfun f (x : f32[n]) = x\n");
  EXPECT_EQ(repl.text(":load " + path), "2 definitions of " + path + "\n");
  repl.answer("fun g (x : f32[n]) = f x");
  write("val b = 2.0\nval wrong = 1.0 + \"\"\n");
  const Answer refused = repl.answer(":reload");
  EXPECT_TRUE(refused.failed());
  EXPECT_NE(refused.text.find("a.axn:2:"), std::string::npos) << refused.text;
  EXPECT_EQ(repl.text(":browse"), "a   : bool\nf   : f32[n] -> f32[n]\nown : bool\ng   : f32[n] -> f32[n]\n");
  write("val b = 2.0\nfun f (x : bool) = x\n");
  const Answer loaded = repl.answer(":reload");
  EXPECT_EQ(loaded.broken, Names{"g"}) << loaded.text;
  EXPECT_TRUE(repl.answer("a").failed());
  EXPECT_TRUE(repl.answer(":load " + path + ".none").failed());
  write("");
  EXPECT_EQ(repl.text(":load " + path), "0 definitions of " + path + "\n");
}

TEST_F(Files, WhatIsSavedElsewhereImportsTheSameFiles) {
  std::filesystem::create_directories(folder_ / "in" / "sub");
  std::filesystem::create_directories(folder_ / "out");
  const std::string from = (folder_ / "in" / "b.axn").string(), to = (folder_ / "c.axn").string();
  std::ofstream(folder_ / "in" / "sub" / "a.axn") << "fun f x = x + 1.0\n";
  std::ofstream(from) << "import \"sub/a.axn\" as a  -- the other\n\nval y = a.f 1.0\n";
  Typing repl;
  EXPECT_FALSE(repl.answer(":load " + from).failed());
  const Answer refused = repl.answer(":save " + (folder_ / "out" / "c.axn").string());
  EXPECT_NE(refused.text.find("`a` lies outside of"), std::string::npos) << refused.text;
  EXPECT_FALSE(repl.answer(":save " + to).failed());
  std::stringstream saved;
  saved << std::ifstream(to).rdbuf();
  EXPECT_EQ(saved.str(), "import \"in/sub/a.axn\" as a  -- the other\n\nval y = a.f 1.0\n");
  Typing fresh;
  EXPECT_FALSE(fresh.answer(":load " + to).failed());
}

TEST_F(Files, AFileThatIsNoTextHasOneError) {
  Typing repl;
  const Answer answer = repl.answer(":load " + write("val a = 1.0\n\xff\xfe\n"));
  EXPECT_EQ(answer.found.size(), 1u) << answer.text;
  const Answer typed = repl.answer("\xff\xfe");
  EXPECT_EQ(typed.found.size(), 1u) << typed.text;
  EXPECT_NE(typed.text.find("repl:1:1"), std::string::npos) << typed.text;
}

TEST_F(Files, AnErrorIsShownInTheFileThatWasLoaded) {
  Typing repl;
  const std::string path = write("-- two\n-- lines\nfun f (x : f32[n]) = g x\nfun g x = x + 1.0\n");
  EXPECT_FALSE(repl.answer(":load " + path).failed());
  const Answer changed = repl.answer("fun g (x : bool) = x");
  EXPECT_NE(changed.text.find(path + ":3:"), std::string::npos) << changed.text;
  EXPECT_NE(repl.text(":type f").find(path + ":3:"), std::string::npos) << repl.text(":type f");
  EXPECT_NE(repl.text(":constraints f").find(path + ":3:"), std::string::npos);
}

TEST_F(Files, LinesMayEndInCarriageReturns) {
  Typing repl;
  EXPECT_FALSE(repl.answer(":load " + write("val a = 1.0\r\n\r\nfun f x = x\r\n")).failed());
  EXPECT_EQ(repl.text(":type f"), "f : 't -> 't\n");
}

Names completions(Repl& repl, const std::string& text, size_t expected_begin) {
  size_t begin = 0;
  Names all = complete(repl, text, begin);
  EXPECT_EQ(begin, expected_begin) << text;
  return all;
}

TEST_F(Files, Completion) {
  Typing repl;
  repl.answer("val layer = {weight = 1.0, width = 2.0, inner = {deep = 1.0}}");
  EXPECT_EQ(completions(repl, "1 + layer.w", 10), (Names{"weight", "width"}));
  EXPECT_EQ(completions(repl, "layer.inner.", 12), Names{"deep"});
  EXPECT_EQ(completions(repl, ":con", 1), Names{"constraints"});
  EXPECT_EQ(completions(repl, ":browse con", 8), Names{"conv"});
  EXPECT_EQ(completions(repl, ":set ty", 5), Names{"types"});
  EXPECT_EQ(completions(repl, ":set types o", 11), (Names{"off", "on"}));
  EXPECT_EQ(completions(repl, ":explain E031", 9).front(), "E0310");
  EXPECT_EQ(completions(repl, "layer |> transp", 9), Names{"transpose"});
  EXPECT_EQ(completions(repl, ":type layer.w", 12), (Names{"weight", "width"}));
  EXPECT_EQ(completions(repl, ":forget ", 8), Names{});
  EXPECT_EQ(completions(repl, ":why ", 5), Names{});
  EXPECT_EQ(completions(repl, "?transp", 1), Names{"transpose"});
  const std::string path = write("");
  EXPECT_EQ(completions(repl, ":load " + folder_.string() + "/", 7 + folder_.string().size()),
            Names{"a.axn"});
}

TEST(Completion, KnowsWhereAWordStands) {
  Typing repl;
  EXPECT_EQ(completions(repl, "let abc = 1 in abc", 15), Names{"abc"});
  EXPECT_EQ(completions(repl, "fun f (abc : f32[n]) = ab", 23), (Names{"abc", "abs"}));
  EXPECT_EQ(completions(repl, "fun f (x : bf", 11), Names{"bf16"});
  EXPECT_EQ(completions(repl, "import con", 7), Names{"conv"});
  EXPECT_EQ(completions(repl, "impor", 0), Names{"import"});
  EXPECT_EQ(completions(repl, "1 + impor", 4), Names{});
  EXPECT_EQ(completions(repl, "val first = 1\nlet abc = 1 in abc", 29), Names{"abc"});
  repl.answer("{first = 1.0}");
  EXPECT_EQ(completions(repl, "it.fir", 3), Names{"first"});
  EXPECT_EQ(completions(repl, "1.0 + it", 6), (Names{"it", "iterate"}));
  EXPECT_EQ(repl.text(":browse"), "nothing is defined\n");
}

TEST(Commands, ShortFormsAndMisuse) {
  Typing repl;
  EXPECT_EQ(repl.text(":ty 1"), repl.text(":type 1"));
  EXPECT_EQ(repl.text(":t 1"), repl.text(":type 1"));
  EXPECT_TRUE(repl.answer(":fa").text.starts_with("nothing"));
  EXPECT_TRUE(repl.answer(":so").failed());
  EXPECT_NE(repl.text(":s").find("expected `:shape"), std::string::npos);
  EXPECT_NE(repl.text(":re x").find("expected `:reload`"), std::string::npos);
  EXPECT_NE(repl.text(":lo").find("expected `:load"), std::string::npos);
  EXPECT_NE(repl.text(":xyz").find("no command"), std::string::npos);
  EXPECT_EQ(repl.answer(":").failed(), true);
  EXPECT_EQ(repl.answer(":quit").kind, Answer::Kind::quit);
}

}  // namespace
}  // namespace axon::repl
