// Declarations that need more than the limits allow: one error each, in little time, and the others go on.
#include <gtest/gtest.h>

#include <functional>

#include "harness.h"

namespace axon::core {
namespace {

void expect_too_complex(const std::string& text) {
  const Checked c = check_text(text + "fun fine (x : f32[n]) = x + 1.0\n");
  EXPECT_NE(c.errors().find("E0590"), std::string::npos) << c.errors();
  EXPECT_EQ(c.diagnostics->error_count(), 1u) << c.errors();
  EXPECT_EQ(c.type_of("fine"), "f32[n] -> f32[n]");
}

std::string repeated(int times, const std::function<std::string(int)>& line) {
  std::string out;
  for (int i = 0; i < times; ++i) out += line(i);
  return out;
}

TEST(Limits, OfTheSizeOfATypeInLets) {
  for (const char* shape : {"(a, a)", "{l = a, r = a}"})
    expect_too_complex("fun f a =\n" +
                       repeated(60, [&](int) { return std::string("  let a = ") + shape + " in\n"; }) +
                       "  a\n");
}

TEST(Limits, OfTheSizeOfATypeInApplications) {
  const auto twice = [](int i) {
    return "fun f" + std::to_string(i + 1) + " x = f" + std::to_string(i) + " (f" + std::to_string(i) +
           " x)\n";
  };
  expect_too_complex("fun f0 x = (x, x)\n" + repeated(5, twice));
}

TEST(Limits, OfTheSizeOfAWrittenType) {
  const auto pair = [](int i) {
    return "type T" + std::to_string(i + 1) + " = (T" + std::to_string(i) + ", T" + std::to_string(i) + ")\n";
  };
  expect_too_complex("type T0 = (f32, f32)\n" + repeated(40, pair) + "fun f (x : T40) = x\n");
}

TEST(Limits, OfTheTermsOfASize) {
  expect_too_complex("fun f (x : f32[n]) (y : f32[m]) = let a = n + m + 1 in " +
                     repeated(5, [](int) { return std::string("let a = a * a + n in "); }) +
                     "for (i < a) => x[i else 0.0]\n");
}

// What a state is shared by is looked up through all calls and branches: in little time, and given up late.
TEST(Limits, OfWhatSharesAState) {
  const auto chain = [](const std::function<std::string(std::string, std::string)>& next) {
    return repeated(
        40, [&](int i) { return "let f" + next(std::to_string(i + 1), std::to_string(i)) + " in\n"; });
  };
  const auto nested =
      chain([](auto now, auto before) { return now + " v = f" + before + " (f" + before + " v)"; });
  const auto chosen =
      chain([](auto now, auto before) { return now + " = if c then f" + before + " else f" + before; });
  const std::string begin = "fun f (p : *f32[n]) c = ";
  const std::string last = "let y = f40 p in (p with [:] = p + 1.0, y + 1.0)\n";
  for (const std::string& text :
       {begin + "let f0 v = v in\n" + nested + last, begin + "let f0 v = v in\n" + chosen + last,
        begin + "let f0 = p in\n" + chosen + "(p with [:] = p + 1.0, f40 + 1.0)\n"})
    EXPECT_NE(check_text(text).errors().find("E0324"), std::string::npos) << check_text(text).errors();
}

TEST(Limits, AreFarFromOrdinaryPrograms) {
  const auto next = [](int i) {
    return "fun f" + std::to_string(i + 1) + " x = f" + std::to_string(i) + " x * 2.0\n";
  };
  EXPECT_EQ(check_text("fun f0 x = x\n" + repeated(1000, next)).errors(), "");
  EXPECT_EQ(
      check_text("fun f x = " + repeated(100, [](int) { return std::string("x @ "); }) + "x\n").errors(), "");
}

}  // namespace
}  // namespace axon::core
