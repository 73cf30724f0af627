// Depth bombs: whatever nests, however deep, is answered quickly, with E0201 and nothing else, and never with
// a crash.
#include <gtest/gtest.h>

#include <ctime>

#include "../sanitized.h"
#include "parsed.h"

namespace axon::syntax {
namespace {

using source::Code;

std::string repeat(std::string_view piece, int count) {
  std::string text;
  text.reserve(piece.size() * static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) text += piece;
  return text;
}

#if defined(NDEBUG) && !defined(AXON_UNDER_SANITIZER)
constexpr double seconds_allowed = 10;
#else
constexpr double seconds_allowed = 60;  // unoptimised, often under sanitizers
#endif

void expect_too_deep(const std::string& text) {
  const std::clock_t start = std::clock();  // the process's time, whatever else the machine does
  Parsed parsed(text + "\nval after = 1\n");
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, seconds_allowed);
  size_t deep = 0;
  for (const auto& d : parsed.diagnostics.sorted()) {
    EXPECT_TRUE(d.code == Code::E0201 || d.code == Code::E0002)
        << source::code_name(d.code) << " " << d.headline();
    deep += d.code == Code::E0201;
  }
  EXPECT_EQ(deep, 1u) << parsed.report().substr(0, 2000);
  ASSERT_FALSE(parsed.file.decls.empty());
  EXPECT_EQ(parsed.file.decls.back().name.text, "after");
  print(parsed.file);
}

constexpr int far = sampled(1'000'000), deep = sampled(100'000);

TEST(Depth, Brackets) {
  for (const char* bracket : {"(", "[", "{ a = ", "x[", "f ("})
    expect_too_deep("val x = " + repeat(bracket, far));
  expect_too_deep("val x = " + repeat("(", far) + "1" + repeat(")", far));
  expect_too_deep("val x = " + repeat("[", far) + "1" + repeat("]", far));
  expect_too_deep("val x : " + repeat("(", deep) + "f32" + repeat(")", deep));
  expect_too_deep("val x : " + repeat("Stack[n, ", deep) + "f32" + repeat("]", deep));
  expect_too_deep("fun f " + repeat("(", deep) + "x" + repeat(")", deep) + " = 1");
}

TEST(Depth, Prefixes) {
  expect_too_deep("val x = " + repeat("- ", far) + "1");
  expect_too_deep("val x = " + repeat("let y = ", deep) + "1" + repeat(" in y", deep));
  expect_too_deep("val x = " + repeat("let y = 1 in ", deep) + "y");
  expect_too_deep("val x = " + repeat("let y = 1 ", deep) + "in y");
  expect_too_deep("val x = " + repeat("if a then b else ", deep) + "c");
  expect_too_deep("val x = " + repeat("if ", deep) + "c");
  expect_too_deep("val x = " + repeat("for i => ", deep) + "i");
  expect_too_deep("val x = " + repeat("fn i => ", deep) + "i");
  expect_too_deep("val x = " + repeat("sum i => ", deep) + "i");
  expect_too_deep("val x : " + repeat("f32 -> ", deep) + "f32");
  expect_too_deep("val x : " + repeat("?k. ", deep) + "f32");
}

TEST(Depth, Chains) {
  expect_too_deep("val x = 1" + repeat(" + 1", far));
  expect_too_deep("val x = a" + repeat(".b", far));
  expect_too_deep("val x = a" + repeat("[0]", deep));
  expect_too_deep("val x = a" + repeat(" with b = 1", deep));
  expect_too_deep("val x = a" + repeat(" |> f", deep));
  expect_too_deep("val x : f32[n" + repeat(" + n", deep) + "]");
}

TEST(Depth, WhatPeopleWriteIsNotTooDeep) {
  EXPECT_EQ(Parsed("val x = " + repeat("(", 256) + "1" + repeat(")", 256)).report(), "");
  EXPECT_EQ(Parsed("val x = 1" + repeat(" + 1", 400)).report(), "");
  EXPECT_EQ(Parsed("val x = " + repeat("let y = 1\n", 400) + "in y").report(), "");
  EXPECT_EQ(Parsed("val x = f" + repeat("\nx", 100'000)).report(), "");
  EXPECT_EQ(Parsed("val x = [1" + repeat(",\n1", 100'000) + "]").report(), "");
  EXPECT_EQ(Parsed(repeat("fun f x = x + 1\n", 100'000)).report(), "");
}

}  // namespace
}  // namespace axon::syntax
