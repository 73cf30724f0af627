// to_source: written back, a piece has the brackets it needs, and reads as the same tree.
#include <gtest/gtest.h>
#include "parsed.h"

namespace axon::syntax {
namespace {

std::string type(const std::string& text) {
  Parsed parsed("val x : " + text);
  EXPECT_EQ(parsed.report(), "") << text;
  return to_source(parsed.file, as<SignatureDecl>(parsed.file.decls.at(0))->type);
}
std::string expr(const std::string& text) {
  Parsed parsed("val x = " + text);
  EXPECT_EQ(parsed.report(), "") << text;
  return to_source(parsed.file, as<ValueDecl>(parsed.file.decls.at(0))->body);
}

TEST(ToSource, TypesComeBackAsWritten) {
  for (const char* text :
       {"'t[..s, n] -> 't[..w] -> f32", "(f32[n] -> f32) -> (i64, bool) -> ()", "*Cache[n, 2] -> f32",
        "?k <= n, j < k. i64[k, j]", "?k. i64[k] -> i64", "{ x : f32[n], ..r }", "[..(a|b), m, _, ..]",
        "f32[2*n + 1, (n + 1)*m, n - (m - 1), n/2%3, max(1, cdiv(n, 16))]", "Stack[n, Layer[d, 'r]]",
        "nn.Layer[d]", "f32[n] @ S[8@m : 1] + 2@k", "(f32 -> f32) -> ?k. f32"})
    EXPECT_EQ(type(text), text);
}

TEST(ToSource, ExpressionsComeBackAsWritten) {
  for (const char* text : {"a + b * c",
                           "(a + b) * c",
                           "a - (b - c)",
                           "a - b - c",
                           "-a * b",
                           "-(a * b)",
                           "f (-x) y",
                           "f (g x) [1, 2] x[1]",
                           "a |> f |> g",
                           "(a < b) == c",
                           "let y = 1 in y + 1",
                           "(let y = 1 in y) + 1",
                           "let f (x : f32[n]) y : f32 = x in f",
                           "let (a, b) = p in a",
                           "if a then b else c + 1",
                           "for i (j < n) => sum k => a[i, k]",
                           "(sum k => a[k]) + 1",
                           "fn x (y : f32) => x",
                           "x[:, 1:, :2, ::2, ..p, .., i else 0]",
                           "a with [i] = b with f = c",
                           "a with [i] = (b |> f)",
                           "(x :> f32[n]) + 1",
                           "x :> f32[n]",
                           "{ a = 1, b = \"t\\n\" }",
                           "(a, b)",
                           "()",
                           "p.w.x",
                           "(f x).y",
                           "rearrange x [t, h * k] => [h, t, k]",
                           "true && (a || b)"})
    EXPECT_EQ(expr(text), text);
}

TEST(ToSource, WhatComesBackIsTheSameTree) {
  for (const char* text :
       {"f -x", "((a)) + (b * (c))", "a with [i] = b || c", "- -x", "x -1", "(f) x", "(a with f = 1) |> g"}) {
    std::string once = expr(text);
    EXPECT_EQ(Parsed("val x = " + once).tree(), Parsed(std::string("val x = ") + text).tree()) << once;
  }
}

}  // namespace
}  // namespace axon::syntax
