// Programs whose layers are written out one after the other: the work of tasks, plan and proof grows as the
// number of layers does. Steps are counted (base/work.h), no clock is looked at.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/work.h"
#include "pipeline.h"
#include "source/render.h"

namespace axon {
namespace {

struct TestCompilation : Compilation {
  explicit TestCompilation(const std::string& program, CompileOptions options = {})
      : Compilation(with_library(std::move(options))) {
    file = sources.add("test.axn", program, diagnostics);
  }
  std::string errors() const { return source::render_human(diagnostics, sources, {}); }

 private:
  static CompileOptions with_library(CompileOptions options) {
    options.library = {std::string(AXON_SOURCE_DIR) + "/stdlib"};
    return options;
  }
};

/// The work from a fused graph to a proved plan.
uint64_t work_of(const std::string& program) {
  TestCompilation c(program);
  const bool fused = run(c, "inplace");
  const base::Allowance all(uint64_t{1} << 40);
  EXPECT_TRUE(fused && run(c, "proof")) << c.errors();
  return all.spent();
}

std::string for_each_layer(int times, const std::function<std::string(int)>& part) {
  std::string text;
  for (int i = 0; i < times; ++i) text += part(i);
  return text;
}

/// An entry with a parameter of its own for each layer; {} stands for the layer's number.
struct Layers {
  std::string name;
  int layers;  ///< and twice as many
  std::string head, parameter, layer;
  std::string first = {};  ///< before the layers
};
void PrintTo(const Layers& family, std::ostream* out) { *out << family.name; }

std::string written_out(const Layers& f, int layers) {
  const auto each = [&](const std::string& text) {
    return for_each_layer(layers, [&](int i) { return fmt::format(fmt::runtime(text), i); });
  };
  return f.head + each(f.parameter) + " =\n" + f.first + each("  let " + f.layer + "\n") + "  in x\n";
}

std::vector<Layers> programs() {
  const std::string weights = " (w{0} : f32[d, d])", image = "import conv\nentry e (x : f32[b, c, h, w])",
                    filters = " (w{0} : f32[c, c, 3, 3])", rows = "entry e (x : f32[m, d])";
  return {
      {"convolutions", 24, image, filters, "x = relu (conv.conv2d (1, 1) (1, 1) (1, 1) x w{0})"},
      {"convolutions_of_fixed_sizes", 48, "import conv\nentry e (x : f32[2, 16, 31, 31])",
       " (w{0} : f32[16, 16, 3, 3])", "x = relu (conv.conv2d (1, 1) (1, 1) (1, 1) x w{0})"},
      {"convolutions_that_shrink", 24, "import conv\nentry e (x : f32[b, c, h, 400])", filters,
       "x = conv.conv2d (1, 1) (1, 0) (1, 1) x w{0}"},
      {"residual_convolutions", 12, image, filters + " (v{0} : f32[c])",
       "x = x + relu (let y = conv.conv2d (1, 1) (1, 1) (1, 1) x w{0} in for b i u v => y[b, i, u, v] * "
       "v{0}[i])"},
      {"products", 48, rows, weights, "x = tanh (x @ w{0})"},
      {"residual_products", 24, rows, weights, "x = x + tanh (softmax (x @ w{0}))"},
      {"attention", 32, rows, weights, "q = x @ w{0}\n  let x = x + softmax (q @ transpose x) @ q"},
      {"one_mask_for_all", 40, "entry e (x : f32[m, d]) (a : f32[m, d])", weights,
       "x = softmax (x @ w{0} * mask)", "  let mask = softmax a\n"},
      {"loops", 6, "entry e (x : f32[m, d]) (ys : f32[t, m, d])", weights,
       "x = fold (fn x y => tanh (x @ w{0} + y)) x ys"},
      {"states", 24, rows, weights + " (s{0} : *f32[m, d])",
       "s{0} = s{0} with [0] = x[0]\n  let x = tanh (x @ w{0} + s{0})"},
  };
}

class Unrolled : public testing::TestWithParam<Layers> {};

TEST_P(Unrolled, WorkGrowsWithTheLayers) {
  const int layers = GetParam().layers;
  const uint64_t one = work_of(written_out(GetParam(), layers)),
                 two = work_of(written_out(GetParam(), 2 * layers));
  EXPECT_LT(static_cast<double>(two), 2.3 * static_cast<double>(one)) << one << " steps, then " << two;
  RecordProperty("steps", fmt::format("{}, then {}", one, two));
}

INSTANTIATE_TEST_SUITE_P(Programs, Unrolled, testing::ValuesIn(programs()),
                         [](const auto& info) { return info.param.name; });

/// How many modules there are to compile side by side.
size_t objects_of(const std::string& program) {
  CompileOptions options;
  options.levels = {"x86-64-v3"};
  TestCompilation c(program, std::move(options));
  EXPECT_TRUE(run(c, "object")) << c.errors();
  return c.objects["x86-64-v3"].size();
}

TEST(Unrolled, LongProgramsAreCompiledInParts) {
  const auto norms = [](int layers) {
    return "entry e (x : f32[m, d]) =\n" +
           for_each_layer(layers,
                          [](int i) {
                            return fmt::format(
                                "  let x = for i j => x[i, j] / (sum k => x[k, j] * x[k, j] + f32 {})\n", i);
                          }) +
           "  in x\n";
  };
  EXPECT_EQ(objects_of(norms(1)), 1U);
  EXPECT_GT(objects_of(norms(20)), 1U);
}

}  // namespace
}  // namespace axon
