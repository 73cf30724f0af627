// Axes that are merged or split, of open sizes: an index of many digits takes little work, at every number of
// axes, in every order. Steps are counted (base/work.h), no clock is looked at.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/work.h"
#include "pipeline.h"
#include "source/render.h"

namespace axon {
namespace {

class Merged : public testing::TestWithParam<const char*> {};

TEST_P(Merged, TakeLittleWork) {
  CompileOptions options;
  options.library = {std::string(AXON_SOURCE_DIR) + "/stdlib"};
  Compilation c(std::move(options));
  c.file = c.sources.add("test.axn", std::string("entry e") + GetParam() + "\n", c.diagnostics);
  const base::Allowance all(uint64_t{1} << 40);
  EXPECT_TRUE(run(c, "proof")) << source::render_human(c.diagnostics, c.sources, {});
  EXPECT_LT(all.spent(), 2'000'000U);
}

INSTANTIATE_TEST_SUITE_P(
    Axes, Merged,
    testing::Values(
        " (x : f32[a, b, c]) = rearrange x [a, b, c] => [a*b*c]",
        " (x : f32[a, b, c, d]) = rearrange x [a, b, c, d] => [a*b*c*d]",
        " (x : f32[a, b, c, d, g, h]) = rearrange x [a, b, c, d, g, h] => [a*b*c*d*g*h]",
        " (x : f32[a, b, c, d, g, h, k]) = rearrange x [a, b, c, d, g, h, k] => [a*b*c*d*g*h*k]",
        " (x : f32[a, b, c, d, g, h, k, l]) = rearrange x [a, b, c, d, g, h, k, l] => [a*b*c*d*g*h*k*l]",
        " (x : f32[a, 3, c, 5, g, h]) = rearrange x [a, b, c, d, g, h] => [a*b*c*d*g*h]",
        " (x : f32[2, 3, 5, 7, 1, 0]) = rearrange x [a, b, c, d, g, h] => [a*b*c*d*g*h]",
        " (x : f32[a, b, c, d, g, h]) = rearrange x [a, b, c, d, g, h] => [h*c*a*g*b*d]",
        " (x : f32[a, b, c, d, g, h]) = rearrange x [a, b, c, d, g, h] => [a*b*c, d*g*h]",
        " (x : f32[a, b, c, d, g, h]) = rearrange x [a, b, c, d, g, h] => [h, c*a*g, b*d]",
        "[a, b, c, d, g, h] (x : f32[a*b*c*d*g*h]) = rearrange x [a*b*c*d*g*h] => [a, b, c, d, g, h]",
        "[a, b, c, d, g, h] (x : f32[a*b*c*d*g*h]) = rearrange x [a*b*c*d*g*h] => [h, g, d*c, b*a]",
        " (x : f32[a, b, c, d, g, h]) : f32[a, b, c, d, g, h] =\n"
        "  let y = rearrange x [a, b, c, d, g, h] => [a*b*c*d*g*h]\n"
        "  in rearrange (cumulative_sum y) [a*b*c*d*g*h] => [a, b, c, d, g, h]",
        " (x : f32[a, b, c, d, g, h]) = softmax (rearrange x [a, b, c, d, g, h] => [a, b*c*d*g*h])",
        " (x : f32[a, b, c, d, g, h]) (s : *f32[a*b*c*d*g*h]) =\n"
        "  s with [:] = s + rearrange x [a, b, c, d, g, h] => [a*b*c*d*g*h]",
        " (x : f32[t, a, b, c, d, g, h]) (w : f32[h, h]) =\n"
        "  let n = dim x 1 * dim x 2 * dim x 3 * dim x 4 * dim x 5 * dim x 6\n"
        "  in scan (fn s y => let z = s + rearrange (y @ w) [a, b, c, d, g, h] => [a*b*c*d*g*h] in (z, z))\n"
        "       (for (i < n) => 0.0) x"));

}  // namespace
}  // namespace axon
