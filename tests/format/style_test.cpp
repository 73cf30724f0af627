// The style itself: every style/*.axn is formatted and compared with the .expected file beside it.
// AXON_BLESS=1 rewrites the expected files.
#include <gtest/gtest.h>

#include <cstdlib>

#include "support.h"

namespace axon::format {
namespace {

TEST(Style, IsAsExpected) {
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(AXON_TEST_DIR) / "style")) {
    if (entry.path().extension() != ".axn") continue;
    ++count;
    const std::string formatted = Text(read(entry.path())).formatted();
    const fs::path expected = fs::path(entry.path()).replace_extension(".expected");
    if (std::getenv("AXON_BLESS")) std::ofstream(expected, std::ios::binary) << formatted;
    EXPECT_EQ(formatted, read(expected)) << entry.path();
  }
  EXPECT_GE(count, 4u);
}

/// One expression, formatted: what follows `val x = `.
std::string expr(const std::string& text) {
  std::string formatted = Text("val x = " + text).formatted();
  return formatted.size() < 9 ? "" : formatted.substr(8, formatted.size() - 9);
}
std::string type(const std::string& text) {
  std::string formatted = Text("val x : " + text).formatted();
  return formatted.size() < 9 ? "" : formatted.substr(8, formatted.size() - 9);
}

TEST(Style, TypesThatStay) {
  for (const char* text :
       {"'t[..s, n] -> 't[..w] -> f32", "(f32[n] -> f32) -> (i64, bool) -> ()", "*Cache[n, 2] -> f32",
        "?k <= n, j < k. i64[k, j]", "?k. i64[k] -> i64", "{ x : f32[n], ..r }", "[..(a|b), m, _, ..]",
        "f32[2*n + 1, (n + 1)*m, n - (m - 1), n / 2 % 3, n / 2 * 3, max(1, cdiv(n, 16))]",
        "Stack[n, Layer[d, 'r]]", "nn.Layer[d]", "f32[n] @ S[8@m : 1] + 2@k", "(f32 -> f32) -> ?k. f32",
        "*'t[n] @ l -> *'t[n] @ l -> f32"})
    EXPECT_EQ(type(text), text);
}

TEST(Style, ExpressionsThatStay) {
  for (const char* text : {"a + b * c",
                           "(a + b) * c",
                           "a - (b - c)",
                           "a - b - c",
                           "-a * b",
                           "-(a * b)",
                           "- -a",
                           "f (-x) y",
                           "f (g x) [1, 2] x[1]",
                           "a |> f |> g",
                           "(a < b) == c",
                           "2*i + 1",
                           "2 * f x",
                           "2*(i / 2)",
                           "2.0 * x",
                           "(a * b) @ c",
                           "if a then b else c + 1",
                           "for i (j < n) ..p => sum k => a[i, k]",
                           "(sum k => a[k]) + 1",
                           "1.0 + sum k => a[k]",
                           "fn x (y : f32) => x",
                           "x[:, 1:, :2, ::2, ..p, .., i else 0]",
                           "x[3::-1, :4:2, n - 1 : : -1]",
                           "x[i : i + n, n - 1 :, -1:]",
                           "a with [i] = b with f = c",
                           "a with [i] = (b |> f)",
                           "a with [i] = rearrange b [n] => [n]",
                           "(x :> f32[n]) + 1",
                           "x :> *f32[n]",
                           "{ a = 1, b = \"t\\n\" }",
                           "{}",
                           "(a, b)",
                           "()",
                           "p.w.x",
                           "(f x).y",
                           "(f x)[1]",
                           "rearrange x [t, h*k] => [h, t, k]",
                           "true && (a || b)",
                           "f (fn x => x) y",
                           "0x1f + 1_000"})
    EXPECT_EQ(expr(text), text);
}

TEST(Style, ParenthesesThatGroupNothingGo) {
  EXPECT_EQ(expr("((a))"), "a");
  EXPECT_EQ(expr("(a + b)"), "a + b");
  EXPECT_EQ(expr("f (x) ([1])"), "f x [1]");
  EXPECT_EQ(expr("((a + b)) * (c)"), "(a + b) * c");
  EXPECT_EQ(expr("[(a + b), (c)]"), "[a + b, c]");
  EXPECT_EQ(type("('t[(n)]) -> (f32)"), "'t[n] -> f32");
}

TEST(Style, AnArgumentWithASignGetsParentheses) {
  EXPECT_EQ(expr("f -x -1"), "f (-x) (-1)");
  EXPECT_EQ(expr("x -1"), "x (-1)");
  EXPECT_EQ(expr("x - 1"), "x - 1");
  EXPECT_EQ(expr("x-1"), "x - 1");
}

}  // namespace
}  // namespace axon::format
