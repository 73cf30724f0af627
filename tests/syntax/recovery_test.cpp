// Recovery: as many reports as planted errors, at the planted places, and the healthy declarations around are
// intact.
#include <gtest/gtest.h>

#include "parsed.h"

namespace axon::syntax {
namespace {

struct Planted {
  const char* text;    // one declaration
  const char* report;  // its only report, without the place
};

// Every declaration here has exactly one error.
const Planted planted[] = {
    {"fun a x = x +", "error[E0210]: expected an expression, found the end of the declaration"},
    {"fun a x = x + * 2 + (1)", "error[E0210]: expected an expression, found `*`"},
    {"fun a x = (x + ) * (2 - 1)", "error[E0210]: expected an expression, found `)`"},
    {"fun a x = (x (y) + , (z) + 1) * 2", "error[E0210]: expected an expression, found `,`"},
    {"fun a x = f (x", "error[E0211]: `(` is not closed"},
    {"fun a x = (x with [1 +", "error[E0211]: `(` is not closed\nerror[E0211]: `[` is not closed"},
    {"fun a (x : i64, (y : i64) (z : i64) = x", "error[E0211]: `(` is not closed"},
    {"fun a x = f (x with [1])", "error[E0210]: expected `=`, found `)`"},
    {"fun a x = f (x with [1 +])", "error[E0210]: expected an expression, found `]`"},
    {"fun a x = f [x, (y]", "error[E0211]: `(` is not closed"},
    {"fun a x = f x)", "error[E0212]: `)` closes nothing"},
    {"fun a x = let y = in y", "error[E0210]: expected an expression, found `in`"},
    {"fun a x = let y 3 in y",
     "error[E0210]: expected a name or a pattern, `where`, `=` or `:`, found the number `3`"},
    {"fun a x = let y = 3", "error[E0210]: expected `in`, found the end of the declaration"},
    {"fun a x = (let y = 3 let = 4) + 1", "error[E0210]: expected a name or a pattern, found `=`"},
    {"fun a x = if x then 1", "error[E0210]: expected `else`, found the end of the declaration"},
    {"fun a x = for => 1", "error[E0210]: expected `..`, `(` or a name, found `=>`"},
    {"fun a (x : f32[n, ]) = x", "error[E0210]: expected a dimension or a type, found `]`"},
    {"fun a (x : ) = x", "error[E0210]: expected a type, found `)`"},
    {"fun a (x : f32[n) = x", "error[E0211]: `[` is not closed"},
    {"fun a x : = x", "error[E0210]: expected a type, found `=`"},
    {"fun = 3", "error[E0210]: expected a name, found `=`"},
    {"fun type x = 3", "error[E0219]: `type` is a reserved word and cannot be a name"},
    {"val a 3", "error[E0210]: expected `=` or `:`, found the number `3`"},
    {"type a = { x : f32 y : f32 }", "error[E0210]: expected `,` or `}`, found the name `y`"},
    {"import 3", "error[E0210]: expected a name or a string, found the number `3`"},
    {"mesh m = { x = , y = 2 }", "error[E0210]: expected an expression, found `,`"},
    {"val a = 1\n= 3", "error[E0210]: expected the next declaration, found `=`"},
    {"fun a x = x # 2", "error[E0101]: the character `#` has no meaning here"},
    {"fun a (x : f32[n, #]) = 2", "error[E0101]: the character `#` has no meaning here"},
    {"fun a x = x => x", "error[E0215]: the left side of `=>` is not a reduction or a rearrangement"},
    {"fun a x = \"open", "error[E0102]: the string is not closed"},
    {"val a : ?2 <= k. f32", "error[E0216]: the size after `?` has no name"},
    {"val a : [n, f32[m]]", "error[E0214]: a dimension was expected, found a type"},
    {"fun a (((x : f32)) : f32) = x", "error[E0210]: the parameter already has a type"},
};

std::string without_places(const std::string& reports) {
  std::string result;
  for (size_t at = 0; at < reports.size();) {
    size_t end = reports.find('\n', at);
    std::string line = reports.substr(at, end - at);
    result += line.substr(line.find(": ") + 2) + "\n";
    at = end + 1;
  }
  return result;
}

TEST(Recovery, OneErrorIsOneReport) {
  for (const Planted& p : planted) {
    Parsed parsed(std::string("fun before = 1\n") + p.text + "\nfun after = 2\n");
    EXPECT_EQ(without_places(parsed.report()), std::string(p.report) + "\n") << p.text;
    EXPECT_EQ(parsed.file.decls.front().name.text, "before") << p.text;
    EXPECT_EQ(parsed.file.decls.back().name.text, "after") << p.text;
    EXPECT_TRUE(as<FunDecl>(parsed.file.decls.back())) << p.text;
  }
}

TEST(Recovery, WhatOtherLanguagesWriteIsMetByAHelp) {
  const std::pair<const char*, const char*> written[] = {
      {"fun a x = x = 3", "`==` compares"},
      {"fun a x y = x < y <= 3", "comparisons do not chain: `a < b && b < c`"},
      {"fun a (x : f32[n]) where 3 < n < 5 = x", "comparisons do not chain: `a < b, b < c`"},
      {"val a : f32[n] -> f32[n] where 3 < n < 5", "comparisons do not chain: `a < b, b < c`"},
      {"val x : i64 = 3", "a type is stated before the declaration: `val x : i64`, then `val x = 3`"},
      {"fun a x i j = x[i - 1 else 0.0, j]", "`else` stands behind all indices: `x[i - 1, j else 0.0]`"},
      {"fun a x i = x[i, i else if i < 1 then x[0, 0] else 2.0, 0 : i]",
       "`else` stands behind all indices: `x[i - 1, j else 0.0]`"},
      {"import \"layers.axn\"", "a file is imported under a name: `import \"layers.axn\" as layers`"}};
  for (const auto& [text, help] : written) {
    Parsed parsed(std::string(text) + "\nfun after = 2\n");
    ASSERT_EQ(parsed.diagnostics.error_count(), 1u) << parsed.report();
    const auto& helps = parsed.diagnostics.in_order_of_report()[0].helps;
    ASSERT_EQ(helps.size(), 1u) << text;
    EXPECT_EQ(helps[0].text, help);
  }
}

TEST(Recovery, AllPlantedErrorsOfOneFileAreReported) {
  std::string text, expected;
  for (const Planted& p : planted) {
    text += std::string(p.text) + "\n";
    expected += std::string(p.report) + "\n";
  }
  Parsed parsed(text + "fun after = 1\n");
  EXPECT_EQ(without_places(parsed.report()), expected);
}

TEST(Recovery, SeveralErrorsInOneDeclaration) {
  Parsed parsed("fun a x = (1 + ) * (f x , * 2) * [3, /] * { a = 1, b }\nfun b = 1\n");
  EXPECT_EQ(parsed.diagnostics.error_count(), 4u) << parsed.report();
  EXPECT_TRUE(as<FunDecl>(parsed.file.decls.front()));
}

TEST(Recovery, TextBeforeTheFirstDeclaration) {
  Parsed parsed("what (is [this]) = 3\nfun after = 1\n");
  EXPECT_EQ(parsed.report(), "test.axn:1:1: error[E0210]: expected a declaration, found the name `what`\n");
  EXPECT_EQ(parsed.file.decls.back().name.text, "after");
}

TEST(Recovery, SignatureSurvivesABrokenBody) {
  Parsed parsed("fun f (x : f32[n]) : f32[n] = ) + ( \n");
  const FunDecl* fun = as<FunDecl>(parsed.file.decls.at(0));
  ASSERT_TRUE(fun);
  EXPECT_EQ(fun->params.size(), 1u);
  EXPECT_TRUE(fun->result.valid());
}

TEST(Recovery, StopsAfterAHundred) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "fun a = +\n";
  Parsed parsed(text);
  EXPECT_EQ(parsed.diagnostics.error_count(), 101u);
  EXPECT_EQ(parsed.diagnostics.in_order_of_report().back().code, source::Code::E0203);
}

TEST(Recovery, EmptyFiles) {
  for (const char* text : {"", "\n", "-- only a comment", "   "}) {
    Parsed parsed(text);
    EXPECT_EQ(parsed.report(), "") << text;
    EXPECT_TRUE(parsed.file.decls.empty());
  }
}

// Every prefix of a program, and the program with any one token taken out, ends in a tree and bounded
// reports.
TEST(Recovery, AnyTruncationGivesATree) {
  const std::string program =
      "--| Doc.\nfun f[n] (x : *'t[..s, n]) (y, _) : ?k <= n. i64[k] where n >= 1 =\n"
      "  let (a, b) = g x[1:2, .. else -1] in for ..p (i < n) => sum k => { u = [a, \"s\"], v = x with [0] = "
      "1.5 }\n"
      "type T[d] = { w : Stack[2, (f32[d], 'r)], ..r }\nimport a.b as c\nlayout l = S[8@m : 1] + 2@k\n";
  for (size_t cut = 0; cut <= program.size(); ++cut) {
    Parsed parsed(program.substr(0, cut));
    EXPECT_LE(parsed.diagnostics.error_count(), 6u) << program.substr(0, cut) << "\n" << parsed.report();
    print(parsed.file);
    Parsed spliced(program.substr(0, cut) + program.substr(std::min(cut + 3, program.size())));
    EXPECT_LE(spliced.diagnostics.error_count(), 6u) << spliced.report();
    print(spliced.file);
  }
}

}  // namespace
}  // namespace axon::syntax
