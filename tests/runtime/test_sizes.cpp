// Sizes from shapes, and what the messages say when they do not agree.
#include <gtest/gtest.h>

#include "host/manifest.h"
#include "host/sizes.h"
#include "support.h"

namespace axon::test {
namespace {

class Scale : public ::testing::Test {
 protected:
  void SetUp() override { h.make_call("scale"); }
  axon_status run(std::vector<int64_t> x, std::vector<int64_t> y) {
    const auto count = [](const std::vector<int64_t>& shape) {
      return static_cast<size_t>(shape[0] * shape[1]);
    };
    x_ = {x, std::vector<float>(count(x), 2)};
    y_ = {y, std::vector<float>(count(y), 1)};
    const axon_view x_view = x_.view(), y_view = y_.view();
    EXPECT_EQ(axon_call_set(h.call, "x", &x_view, h.error), AXON_OK) << h.text();
    EXPECT_EQ(axon_call_set(h.call, "y", &y_view, h.error), AXON_OK) << h.text();
    EXPECT_EQ(axon_call_set_float(h.call, "a", 3, h.error), AXON_OK) << h.text();
    return axon_call_run(h.call, h.error);
  }
  int64_t size(const char* name) {
    int64_t out = -1;
    EXPECT_EQ(axon_call_size(h.call, name, &out, h.error), AXON_OK) << h.text();
    return out;
  }
  Handles h;
  Array<float> x_, y_;
};

TEST_F(Scale, SizesAreSolvedAndResultsShaped) {
  ASSERT_EQ(run({5, 8}, {4, 5}), AXON_OK) << h.text();
  EXPECT_EQ(size("n"), 5);
  EXPECT_EQ(size("m"), 4);
  axon_view result;
  ASSERT_EQ(axon_call_result(h.call, 0, &result, h.error), AXON_OK);
  EXPECT_EQ(result.rank, 2);
  EXPECT_EQ(result.shape[0], 5);
  EXPECT_EQ(result.shape[1], 4);
  EXPECT_EQ(static_cast<float*>(result.data)[19], 6);
}

TEST_F(Scale, AnAxisThatIsNotTheEquation) {
  EXPECT_EQ(run({5, 7}, {4, 5}), AXON_BAD_ARGUMENT);
  EXPECT_EQ(h.text(), "axis 1 of `x` is 7, which is not `2*m`");
  EXPECT_EQ(h.code(), "E0823");
}

TEST_F(Scale, BothSidesOfADisagreementAreSaid) {
  EXPECT_EQ(run({5, 8}, {4, 6}), AXON_BAD_ARGUMENT);
  EXPECT_EQ(h.text(), "axis 1 of `y` is 6, but `n` is 5 (from axis 0 of `x`)");
  EXPECT_EQ(run({5, 8}, {3, 6}), AXON_BAD_ARGUMENT);
  EXPECT_EQ(h.text(),
            "axis 0 of `y` is 3, but `m` is 4 (from axis 1 of `x`)\naxis 1 of `y` is 6, but `n` is 5 (from "
            "axis 0 of `x`)");
  EXPECT_EQ(run({5, 8}, {4, 5}), AXON_OK) << h.text();  // a failed run leaves nothing behind
  EXPECT_EQ(run({6, 8}, {4, 5}), AXON_BAD_ARGUMENT);
  EXPECT_EQ(h.text(), "axis 1 of `y` is 5, but `n` is 6 (from axis 0 of `x`)");
}

TEST_F(Scale, FactsThatDoNotHold) {
  EXPECT_EQ(run({2, 202}, {101, 2}), AXON_BAD_ARGUMENT);
  EXPECT_EQ(h.text(),
            "`x` is too wide: `m <= 100` does not hold for 101 and 100 (m = 101 from axis 1 of `x`)");
  EXPECT_EQ(h.code(), "E0824");
}

TEST_F(Scale, VariantsByGuardAndBack) {
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(run({1, 8}, {4, 1}), AXON_OK) << h.text();
    axon_view result;
    ASSERT_EQ(axon_call_result(h.call, 0, &result, h.error), AXON_OK);
    EXPECT_EQ(static_cast<float*>(result.data)[3], 1002);
    axon_call_statistics statistics;
    ASSERT_EQ(axon_call_get_statistics(h.call, &statistics, h.error), AXON_OK);
    EXPECT_STREQ(statistics.variant, "scale_one");
    ASSERT_EQ(run({64, 200}, {100, 64}), AXON_OK) << h.text();
    ASSERT_EQ(axon_call_result(h.call, 0, &result, h.error), AXON_OK);
    EXPECT_EQ(static_cast<float*>(result.data)[6399], 6);
  }
}

TEST_F(Scale, EmptyTensorsAreOrdinary) {
  ASSERT_EQ(run({0, 8}, {4, 0}), AXON_OK) << h.text();
  ASSERT_EQ(run({3, 0}, {0, 3}), AXON_OK) << h.text();
  EXPECT_EQ(size("m"), 0);
}

TEST_F(Scale, ArgumentsOfTheWrongKind) {
  Array<int32_t> integers{{5, 8}, std::vector<int32_t>(40)};
  axon_view view = integers.view();
  EXPECT_EQ(axon_call_set(h.call, "x", &view, h.error), AXON_BAD_ARGUMENT);
  EXPECT_EQ(h.text(), "`x` is f32, the given tensor is i32");
  Array<float> flat{{40}, std::vector<float>(40)};
  view = flat.view();
  EXPECT_EQ(axon_call_set(h.call, "x", &view, h.error), AXON_BAD_ARGUMENT);
  EXPECT_EQ(h.text(), "`x` has 2 axes, the given tensor has 1");
  EXPECT_EQ(axon_call_set(h.call, "z", &view, h.error), AXON_MISUSE);
  EXPECT_EQ(h.text(), "`scale` has no input `z`");
  const int64_t impossible[] = {int64_t{1} << 40, int64_t{1} << 40}, negative[] = {-1, 4};
  view = {flat.values.data(), AXON_F32, 2, impossible};
  EXPECT_EQ(axon_call_set(h.call, "x", &view, h.error), AXON_BAD_ARGUMENT);
  view.shape = negative;
  EXPECT_EQ(axon_call_set(h.call, "x", &view, h.error), AXON_BAD_ARGUMENT);
  const int64_t small[] = {2, 2};
  view = {reinterpret_cast<char*>(flat.values.data()) + 1, AXON_F32, 2, small};
  EXPECT_EQ(axon_call_set(h.call, "x", &view, h.error), AXON_BAD_ARGUMENT);
  EXPECT_EQ(h.text(), "the tensor for `x` is not aligned to its elements of 4 bytes");
  view = {nullptr, AXON_F32, 2, small};
  EXPECT_EQ(axon_call_set(h.call, "x", &view, h.error), AXON_MISUSE);
  EXPECT_EQ(axon_call_run(h.call, h.error), AXON_BAD_ARGUMENT);
  EXPECT_EQ(h.text(), "`scale` has inputs that were not set: `x`, `a`, `y`");
}

/// Sizes from axes alone, without a bundle around them.
host::Entry entry_of(const std::string& sizes, const std::string& shape) {
  const std::string text = manifest_text(
      R"({"name":"e","inputs":[{"path":"x","kind":"argument","elem":"f32","shape":)" + shape +
      R"(}],"sizes":)" + sizes +
      R"(,"variants":[{"symbol":"s","guard":[],"event_words":"0","scratch":"0","iterations":"1",)"
      R"("work":"1","handoffs":"1"}]})");
  auto manifest = host::read_manifest(weights::Bytes(std::string_view(text)));
  EXPECT_TRUE(manifest) << manifest.failure().text;
  return manifest->entries[0];
}

TEST(Sizes, ExactDivisionOffsetsAndRoots) {
  const host::Entry entry = entry_of(R"([{"name":"n","from":"axis","input":0,"axis":0,"equation":"n + 3"},
      {"name":"k","from":"axis","input":0,"axis":1,"equation":"2*n*k - 1"},
      {"name":"r","from":"axis","input":0,"axis":2,"equation":"k*r*r + n","power":2}])",
                                     R"(["n + 3","2*n*k - 1","k*r*r + n"])");
  host::SizeTable sizes(entry);
  bool changed = false;
  EXPECT_TRUE(sizes.solve(0, 2, changed)) << "n would be negative";
  EXPECT_FALSE(sizes.solve(0, 5, changed));
  EXPECT_TRUE(changed);
  EXPECT_EQ(sizes[0], 2);
  EXPECT_FALSE(sizes.solve(0, 5, changed));
  EXPECT_FALSE(changed);
  EXPECT_TRUE(sizes.solve(1, 12, changed)) << "13 is not divisible by 4";
  EXPECT_FALSE(sizes.solve(1, 11, changed));
  EXPECT_EQ(sizes[1], 3);
  EXPECT_TRUE(sizes.solve(2, 3 * 24 + 2, changed)) << "24 is no square";
  EXPECT_FALSE(sizes.solve(2, 3 * 49 + 2, changed));
  EXPECT_EQ(sizes[2], 7);
  EXPECT_TRUE(sizes.solve(1, INT64_MIN, changed)) << "no overflow";
  sizes.set(0, 0);
  const auto failure = sizes.solve(1, -1, changed);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->text,
            "axis 1 of `x` is -1, which leaves `k` undetermined in `2*n*k - 1` (n = 0 from axis 0 of `x`)");
}

/// An integer that is no size may be anything, and facts about it are right beyond 64 bits.
TEST(Sizes, IntegersOfEitherSign) {
  const host::Entry entry =
      entry_of(R"([{"name":"n","from":"axis","input":0,"axis":0,"equation":"n"}])", R"(["n"])");
  EXPECT_FALSE(entry.sizes[0].integer);
  const auto read = [](const std::string& from) {
    const std::string text = manifest_text(
        R"({"name":"e","inputs":[{"path":"v","kind":"size","elem":"i64","shape":[]},)"
        R"({"path":"x","kind":"argument","elem":"f32","shape":["n"]}],"sizes":[{"name":"v",)" +
        from +
        R"(,"integer":true},{"name":"n","from":"axis","input":1,"axis":0,"equation":"n"}],)"
        R"("variants":[{"symbol":"s","guard":[],"event_words":"0","scratch":"0","iterations":"1",)"
        R"("work":"1","handoffs":"1"}]})");
    return host::read_manifest(weights::Bytes(std::string_view(text)));
  };
  const auto scalar = read(R"("from":"scalar","input":0)");
  ASSERT_TRUE(scalar);
  EXPECT_TRUE(scalar->entries[0].sizes[0].integer);
  EXPECT_FALSE(read(R"("from":"parameter")"));
}

TEST(Keep, ChecksOfValuesAndOverlaps) {
  Handles h;
  h.make_call("keep");
  Array<int32_t> cache{{4}, {1, 2, 3, 4}};
  const axon_view view = cache.view();
  ASSERT_EQ(axon_call_set(h.call, "cache", &view, h.error), AXON_OK);
  ASSERT_EQ(axon_call_set_int(h.call, "token", 7, h.error), AXON_OK);
  ASSERT_EQ(axon_call_set_int(h.call, "pos", 3, h.error), AXON_OK);
  ASSERT_EQ(axon_call_run(h.call, h.error), AXON_OK) << h.text();
  axon_view result;
  ASSERT_EQ(axon_call_result(h.call, 0, &result, h.error), AXON_OK);
  EXPECT_EQ(*static_cast<int64_t*>(result.data), 13);
  ASSERT_EQ(axon_call_result(h.call, 1, &result, h.error), AXON_OK);
  EXPECT_EQ(result.data, cache.values.data()) << "a state is updated in place";
  EXPECT_EQ(cache.values[3], 7);

  ASSERT_EQ(axon_call_set_int(h.call, "pos", 4, h.error), AXON_OK);
  EXPECT_EQ(axon_call_run(h.call, h.error), AXON_BAD_ARGUMENT);
  EXPECT_EQ(h.text(),
            "the cache is full: `pos + 1 <= s` does not hold for 5 and 4 (s = 4 from axis 0 of `cache`; pos "
            "= 4 as given)");
  EXPECT_EQ(axon_call_result(h.call, 0, &result, h.error), AXON_MISUSE);
  ASSERT_EQ(axon_call_set_int(h.call, "pos", (int64_t{1} << 48) + 1, h.error), AXON_OK);
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(axon_call_run(h.call, h.error), AXON_BAD_ARGUMENT);
    EXPECT_EQ(h.text(), "`pos` is 281474976710657 (as given), and a size is at most 281474976710656");
    EXPECT_EQ(h.code(), "E0824");
  }
  ASSERT_EQ(axon_call_set_int(h.call, "pos", 0, h.error), AXON_OK);
  for (const int64_t token : {int64_t{8}, int64_t{-1}}) {
    ASSERT_EQ(axon_call_set_int(h.call, "token", token, h.error), AXON_OK);
    EXPECT_EQ(axon_call_run(h.call, h.error), AXON_BAD_ARGUMENT);
    EXPECT_EQ(h.text(), "`token` is " + std::to_string(token) +
                            ", but must be at least 0 and less than 8 (`token` indexes a table)");
  }
  EXPECT_EQ(cache.values[0], 1) << "a refused run touches nothing";
  EXPECT_EQ(axon_call_set_int(h.call, "token", int64_t{1} << 31, h.error), AXON_BAD_ARGUMENT);
  EXPECT_EQ(h.text(), "`token` is i32, which cannot hold 2147483648");
  EXPECT_EQ(axon_call_set_float(h.call, "token", 1.5, h.error), AXON_BAD_ARGUMENT);
  EXPECT_EQ(axon_call_set_int(h.call, "cache", 1, h.error), AXON_MISUSE);
  const axon_view inside{&cache.values[1], AXON_I32, 0, nullptr};
  ASSERT_EQ(axon_call_set(h.call, "token", &inside, h.error), AXON_OK);
  EXPECT_EQ(axon_call_run(h.call, h.error), AXON_BAD_ARGUMENT);
  EXPECT_EQ(h.text(), "the memory of `cache`, which is updated in place, overlaps that of `token`");
}

TEST(Failing, ElementsAndChecksWithinTheProgram) {
  Handles h;
  h.make_call("failing");
  Array<int32_t> ids{{3}, {9, 4, 10}};
  axon_view view = ids.view();
  ASSERT_EQ(axon_call_set(h.call, "ids", &view, h.error), AXON_OK);
  EXPECT_EQ(axon_call_run(h.call, h.error), AXON_BAD_ARGUMENT);
  EXPECT_EQ(
      h.text(),
      "element [2] of `ids` is 10, but must be at least 0 and less than 10 (`ids` index a table of 10)");
  ids.values[2] = 0;
  EXPECT_EQ(axon_call_run(h.call, h.error), AXON_CHECK_FAILED);
  EXPECT_EQ(h.text(), "`ids` of the test are odd: the value is 9");
  EXPECT_EQ(axon_status_exit_code(AXON_CHECK_FAILED), 3);
  EXPECT_EQ(axon_status_exit_code(AXON_BAD_ARGUMENT), 1);
}

}  // namespace
}  // namespace axon::test
