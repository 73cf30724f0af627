// The work of compiling is counted: programs of a few lines that unfold into much either take little, because
// what is shared is looked at once, or end in E0592. No clock is looked at; the steps are those of
// base/work.h.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/work.h"
#include "module/module.h"
#include "pipeline.h"
#include "source/render.h"
#include "target/machine.h"

namespace axon {
namespace {

std::string repeated(int times, const std::function<std::string(int)>& part) {
  std::string text;
  for (int i = 0; i < times; ++i) text += part(i);
  return text;
}

/// let x = .. in, so many times.
std::string lets(const std::string& head, int times, const std::function<std::string(int)>& next) {
  return "entry e " + head + " =\n" +
         repeated(times, [&](int i) { return "  let x = " + next(i) + " in\n"; }) + "  x\n";
}

std::string always(const std::string& text, int) { return text; }
std::string chain(const std::string& head, int times, const std::string& next) {
  return lets(head, times, [&](int i) { return always(next, i); });
}

/// Functions each of which applies the one before twice.
std::string tower(int height, const std::string& first) {
  return "fun f0 x = " + first + "\n" +
         repeated(height, [](int i) { return fmt::format("fun f{0} x = f{1} (f{1} x)\n", i + 1, i); }) +
         fmt::format("entry e (x : f32[n]) = f{} x\n", height);
}

struct Compiled {
  uint64_t steps = 0;
  std::vector<std::string> codes;
  std::string errors;
};

Compiled compiled(const std::string& program, const std::string& last = "proof") {
  CompileOptions options;
  options.library = {std::string(AXON_SOURCE_DIR) + "/stdlib"};
  Compilation c(std::move(options));
  c.file = c.sources.add("test.axn", program, c.diagnostics);
  const base::Allowance all(uint64_t{1} << 40);
  run(c, last);
  Compiled result{all.spent(), {}, source::render_human(c.diagnostics, c.sources, {})};
  for (const source::Diagnostic& d : c.diagnostics.sorted())
    result.codes.emplace_back(source::code_name(d.code));
  return result;
}

struct Family {
  std::string name;
  int size;  ///< and twice that
  std::function<std::string(int)> program;
};
void PrintTo(const Family& family, std::ostream* out) { *out << family.name; }

std::vector<Family> cheap() {
  const auto conditions = [](int n) {
    return lets("(x : f32[a]) (n : i64)", n,
                [](int i) { return fmt::format("if n > {} then x + 1.0 else x * 2.0", i); });
  };
  const auto choices = [](int n) {
    return lets("(x : f32)", n,
                [](int i) { return fmt::format("if x > {}.0 then x + 1.0 else x * 2.0", i); });
  };
  const auto gates = [](int n) {  // layers whose four gates are parts of one product
    return "fun cell p (h, c) x =\n  let n = dim h (-1) in let z = x @ p.w + h @ p.u + p.b in\n"
           "  let (i, f) = (sigmoid z[.., 0:n], sigmoid z[.., n:2*n]) in\n"
           "  let (g, o) = (tanh z[.., 2*n:3*n], sigmoid z[.., 3*n:4*n]) in\n"
           "  let c = f * c + i * g in let h = o * tanh c in ((h, c), h)\n"
           "fun layer x p = let z = for (i < dim x 1) (j < dim x 2) => 0.0 in let (s, y) = scan (cell p) (z, "
           "z) x in y\n"
           "entry e (x : f32[t, b, h])" +
           repeated(n,
                    [](int i) {
                      return fmt::format(" (p{} : {{w : f32[h, 4*h], u : f32[h, 4*h], b : f32[4*h]}})", i);
                    }) +
           " =\n" + repeated(n, [](int i) { return fmt::format("  let x = layer x p{} in\n", i); }) + "  x\n";
  };
  const auto of = [](const char* head, const char* next) {
    return [=](int n) { return chain(head, n, next); };
  };
  return {
      {"conditions", 15, conditions},
      {"choices_by_data", 30, choices},
      {"squares", 20, of("(x : f32[n])", "x * x + x")},
      {"sums_of_squares", 10, of("(x : f32[n])", "x * sum x + x")},
      {"products", 12, of("(x : f32[n, n])", "x @ x")},
      {"long_products", 60, of("(x : f32[n, n])", "x @ x")},
      {"gates", 2, gates},
      {"softmax", 12, of("(x : f32[n, m])", "softmax x")},
      {"neighbours", 6, of("(x : f32[n])", "for i => x[i - 1 else 0.0] + x[i] + x[i + 1 else 0.0]")},
      {"transposes", 15, of("(x : f32[n, n])", "transpose x + x")},
      {"gathers", 15, of("(i : i64[n]) (x : f32[n])", "x[i]")},
      {"loops_in_loops", 5,
       [](int n) {
         std::string step = "x + 1.0";
         for (int i = 0; i < n; ++i) step = fmt::format("iterate {} (fn x => {}) x", i + 2, step);
         return "entry e (x : f32[n]) = " + step + "\n";
       }},
      {"loops_of_loops", 7,
       [](int n) {
         return "fun f0 x = x + 1.0\n" +
                repeated(n, [](int i) { return fmt::format("fun f{} x = iterate 2 f{} x\n", i + 1, i); }) +
                fmt::format("entry e (x : f32[n]) = f{} x\n", n);
       }},
  };
}

class Cheap : public testing::TestWithParam<Family> {};

/// Twice as many lines are at most the eightfold work, and far from what one entry may take.
TEST_P(Cheap, GrowsSlowly) {
  const Compiled one = compiled(GetParam().program(GetParam().size)),
                 two = compiled(GetParam().program(2 * GetParam().size));
  EXPECT_EQ(one.codes, std::vector<std::string>{}) << one.errors;
  EXPECT_EQ(two.codes, std::vector<std::string>{}) << two.errors;
  EXPECT_LT(two.steps, 9 * one.steps + 100'000);
  EXPECT_LT(two.steps, 40'000'000U);
}

INSTANTIATE_TEST_SUITE_P(Programs, Cheap, testing::ValuesIn(cheap()),
                         [](const auto& info) { return info.param.name; });

std::vector<Family> too_large() {
  return {
      {"towers", 60, [](int n) { return tower(n, "x + 1.0"); }},
      {"towers_of_products", 60, [](int n) { return tower(n, "x * sum x"); }},
      {"towers_in_elements", 60,
       [](int n) {
         std::string text = tower(n, "x + 1.0");
         const size_t entry = text.find("entry");
         return text.substr(0, entry) + fmt::format("entry e (x : f32[n]) = for i => f{} x[i]\n", n);
       }},
  };
}

class TooLarge : public testing::TestWithParam<Family> {};

/// One error, which names a construct of the program and a way around.
TEST_P(TooLarge, IsAnError) {
  const Compiled result = compiled(GetParam().program(GetParam().size));
  EXPECT_EQ(result.codes, std::vector<std::string>{"E0592"}) << result.errors;
  EXPECT_LT(result.steps, 50'000'000U);
  EXPECT_NE(result.errors.find("entry `e` is too large to compile"), std::string::npos) << result.errors;
  EXPECT_NE(result.errors.find("iterate"), std::string::npos) << result.errors;
  EXPECT_NE(result.errors.find("test.axn:"), std::string::npos) << result.errors;
}

INSTANTIATE_TEST_SUITE_P(Programs, TooLarge, testing::ValuesIn(too_large()),
                         [](const auto& info) { return info.param.name; });

TEST(Lists, AreLimited) {
  const auto of = [](int items) {
    std::string text = "val table = [0.5";
    for (int i = 1; i < items; ++i) text += fmt::format(", {}.5", i);
    return compiled(text + "]\nentry e (i : i64[n]) = table[i]\n");
  };
  EXPECT_EQ(of(1024).errors, "");
  const Compiled longer = of(1025);
  EXPECT_EQ(longer.codes, std::vector<std::string>{"E0592"});
  EXPECT_NE(longer.errors.find("a list of 1025 elements is too long to compile"), std::string::npos)
      << longer.errors;
}

/// The length of the code before LLVM sees it.
size_t code_of(const std::string& program) {
  CompileOptions options;
  options.library = {std::string(AXON_SOURCE_DIR) + "/stdlib"};
  Compilation c(std::move(options));
  c.file = c.sources.add("test.axn", program, c.diagnostics);
  if (!run(c, "proof")) ADD_FAILURE() << source::render_human(c.diagnostics, c.sources, {});
  if (c.diagnostics.has_errors()) return 0;
  std::vector<const plan::Plan*> plans;
  for (const CompiledEntry& entry : c.entries) plans.push_back(&entry.plan);
  std::string error;
  const auto text = module::emit_llvm_text(plans, target::machines().front(), {}, false, error);
  EXPECT_TRUE(text) << error;
  return text ? text->size() : 0;
}

/// Elements that are read where they may be out of range are read in the branch that is taken: what both
/// branches need stands before them.
TEST(Code, OfChoicesAmongElementsGrowsWithTheirNumber) {
  const auto program = [](int n) {
    return "entry e (x : f32[n]) (i : i64[n]) = for k =>\n  let y = x[i[k] else 0.0] in\n" +
           repeated(n,
                    [](int c) {
                      return fmt::format(
                          "  let y = if y > {0}.0 then y + x[i[k] + {0} else 1.0] else y * x[i[k] - {0} else "
                          "2.0] in\n",
                          c);
                    }) +
           "  y\n";
  };
  EXPECT_LT(code_of(program(12)), 3 * code_of(program(6)));
}

TEST(Allowance, EndsTheStepThatHasNoRoom) {
  const base::Allowance three(3);
  base::work(2);
  EXPECT_THROW(base::work(2), base::TooMuchWork);
  base::work();
  EXPECT_EQ(three.spent(), 3u);
}

TEST(Allowance, InsideOfAnotherIsPartOfIt) {
  const base::Allowance outer(10);
  {
    const base::Allowance inner(100);
    base::work(4);
    EXPECT_THROW(base::work(7), base::TooMuchWork);
  }
  EXPECT_EQ(outer.spent(), 4u);
  {
    const base::Allowance inner(2);
    EXPECT_THROW(base::work(3), base::TooMuchWork);
  }
  base::work(6);
  EXPECT_THROW(base::work(), base::TooMuchWork);
}

}  // namespace
}  // namespace axon
