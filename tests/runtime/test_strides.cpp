// Arguments, states and results with strides, through the C interface.
#include <gtest/gtest.h>

#include "host/strided.h"
#include "support.h"

namespace axon::test {
namespace {

class Strided : public ::testing::Test {
 protected:
  void SetUp() override {
    h.make_call("strided");
    for (size_t i = 0; i < 12; ++i) x[i] = static_cast<float>(i), s[i] = 100;
  }
  axon_status set(const char* path, float* data, std::vector<int64_t> shape, std::vector<int64_t> strides) {
    const axon_view view{data, AXON_F32, static_cast<int32_t>(shape.size()), shape.data()};
    return axon_call_set_strided(h.call, path, &view, strides.data(), h.error);
  }
  axon_status run(std::vector<int64_t> of_x, std::vector<int64_t> of_s) {
    EXPECT_EQ(set("x", x, {2, 3}, std::move(of_x)), AXON_OK) << h.text();
    EXPECT_EQ(set("s", s, {2, 3}, std::move(of_s)), AXON_OK) << h.text();
    return axon_call_run(h.call, h.error);
  }
  std::vector<int64_t> result_strides(size_t result) {
    std::vector<int64_t> out(2, -1);
    EXPECT_EQ(axon_call_result_strides(h.call, result, out.data(), h.error), AXON_OK) << h.text();
    return out;
  }
  void refused(const char* code, const char* text) {
    EXPECT_EQ(h.code(), code);
    EXPECT_EQ(h.text(), text);
  }
  Handles h;
  float x[12] = {}, s[12] = {};
};

TEST_F(Strided, MemoryIsUsedWhereItIs) {
  ASSERT_EQ(run({4, 1}, {1, 2}), AXON_OK) << h.text();
  int64_t ld = 0;
  ASSERT_EQ(axon_call_size(h.call, "ld", &ld, h.error), AXON_OK);
  EXPECT_EQ(ld, 4);
  axon_view result;
  ASSERT_EQ(axon_call_result(h.call, 0, &result, h.error), AXON_OK);
  EXPECT_EQ(result_strides(0), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(result_strides(1), (std::vector<int64_t>{1, 2}));
  ASSERT_EQ(set("s", s, {2, 3}, {9, 9}), AXON_OK);
  EXPECT_EQ(result_strides(1), (std::vector<int64_t>{1, 2})) << "those of the run";
  ASSERT_EQ(set("s", s, {2, 3}, {1, 2}), AXON_OK);
  const auto* out = static_cast<const float*>(result.data);
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 3; ++j) {
      EXPECT_EQ(out[i + 3 * j], static_cast<float>(100 + 4 * i + j));
      EXPECT_EQ(s[i + 2 * j], static_cast<float>(4 * i + j));
    }
  EXPECT_EQ(s[6], 100);
  float dense[6];
  ASSERT_EQ(axon_call_copy_result(h.call, 0, dense, h.error), AXON_OK);
  EXPECT_EQ(dense[5], 106);
  ASSERT_EQ(axon_call_run(h.call, h.error), AXON_OK);
  axon_call_statistics statistics;
  axon_call_get_statistics(h.call, &statistics, h.error);
  EXPECT_EQ(statistics.allocations, 0u);
}

TEST_F(Strided, WhatIsStatedCanBeAsked) {
  const axon_entry* entry = axon_bundle_find(h.bundle, "strided");
  const char* const* strides = nullptr;
  ASSERT_EQ(axon_entry_input_strides(entry, 0, &strides, h.error), AXON_OK);
  EXPECT_STREQ(strides[0], "ld");
  ASSERT_EQ(axon_entry_result_strides(entry, 0, &strides, h.error), AXON_OK);
  EXPECT_STREQ(strides[1], "m + 1");
  EXPECT_EQ(axon_entry_result_strides(entry, 2, &strides, h.error), AXON_MISUSE);
  ASSERT_EQ(axon_entry_input_strides(axon_bundle_find(h.bundle, "scale"), 0, &strides, h.error), AXON_OK);
  EXPECT_EQ(strides, nullptr);
}

TEST_F(Strided, MisfitsNameBothSides) {
  EXPECT_EQ(run({1, 2}, {1, 2}), AXON_BAD_ARGUMENT);
  refused("E0827",
          "the stride of axis 1 of `x` is 2, but must be 1: the given tensor has the strides [1, 2], and its "
          "layout states [ld, 1] = [1, 1]");
  EXPECT_EQ(run({3, 1}, {3, 1}), AXON_BAD_ARGUMENT);
  refused("E0827",
          "the stride of axis 0 of `s` is 3, but must be 1: the given tensor has the strides [3, 1], and its "
          "layout states [1, m] = [1, 2]");
  EXPECT_EQ(run({-3, 1}, {1, 2}), AXON_BAD_ARGUMENT);
  refused("E0827", "the stride of axis 0 of `x` is -3, which is not `ld`: no size is negative");
  EXPECT_EQ(set("x", x, {2, 3}, {INT64_MAX, 1}), AXON_BAD_ARGUMENT);
  refused("E0827", "the tensor for `x` has the impossible strides [9223372036854775807, 1]");
  EXPECT_EQ(s[0], 100) << "a refused run touches nothing";
  EXPECT_EQ(run({3, 1}, {1, 2}), AXON_OK) << h.text();
}

TEST_F(Strided, RowMajorIsAssumedWithoutStrides) {
  const int64_t shape[] = {2, 3};
  const axon_view view{x, AXON_F32, 2, shape};
  ASSERT_EQ(axon_call_set(h.call, "x", &view, h.error), AXON_OK);
  ASSERT_EQ(set("s", s, {2, 3}, {1, 2}), AXON_OK);
  ASSERT_EQ(axon_call_run(h.call, h.error), AXON_OK) << h.text();
  EXPECT_EQ(s[5], 5);
  const axon_view state{s, AXON_F32, 2, shape};
  ASSERT_EQ(axon_call_set(h.call, "s", &state, h.error), AXON_OK);
  EXPECT_EQ(axon_call_run(h.call, h.error), AXON_BAD_ARGUMENT);
  EXPECT_EQ(h.code(), "E0827");
}

TEST_F(Strided, OverlapsAreOfTheMemoryThatIsReached) {
  ASSERT_EQ(set("x", x, {2, 3}, {8, 1}), AXON_OK);
  ASSERT_EQ(set("s", x + 10, {1, 2}, {1, 1}), AXON_OK);  // another shape: found before the overlap
  EXPECT_EQ(axon_call_run(h.call, h.error), AXON_BAD_ARGUMENT);
  EXPECT_EQ(h.code(), "E0823");
  ASSERT_EQ(set("x", x, {1, 3}, {8, 1}), AXON_OK);
  ASSERT_EQ(set("s", x + 2, {1, 3}, {1, 1}), AXON_OK);
  EXPECT_EQ(axon_call_run(h.call, h.error), AXON_BAD_ARGUMENT);
  refused("E0826", "the memory of `s`, which is updated in place, overlaps that of `x`");
  ASSERT_EQ(set("s", x + 3, {1, 3}, {1, 1}), AXON_OK);
  EXPECT_EQ(axon_call_run(h.call, h.error), AXON_OK) << h.text();
}

TEST_F(Strided, CopiesAreBroughtToWhereTheyHaveToLie) {
  const int64_t shape[] = {2, 3}, columns[] = {1, 2};
  const axon_view of_x{x, AXON_F32, 2, shape}, of_s{s, AXON_F32, 2, shape};
  ASSERT_EQ(axon_call_set_copy(h.call, "x", &of_x, columns, h.error), AXON_OK) << h.text();
  ASSERT_EQ(axon_call_set_copy(h.call, "s", &of_s, nullptr, h.error), AXON_OK) << h.text();
  x[1] = 77;  // they were copied
  float dense[6];
  for (const float before : {100.0F, 1.0F}) {  // the state of the second run is what the first left
    ASSERT_EQ(axon_call_run(h.call, h.error), AXON_OK) << h.text();
    ASSERT_EQ(axon_call_copy_result(h.call, 0, dense, h.error), AXON_OK);
    EXPECT_EQ(dense[3], before == 100.0F ? 101 : 2);  // x[1, 0] is the second in memory
  }
  ASSERT_EQ(axon_call_copy_result(h.call, 1, dense, h.error), AXON_OK);
  EXPECT_EQ(dense[3], 1);
  EXPECT_EQ(s[0], 100);
}

TEST_F(Strided, WithoutALayoutStridesAreRowMajor) {
  Handles scale;
  scale.make_call("scale");
  const int64_t shape[] = {2, 4}, columns[] = {1, 2}, rows[] = {4, 1}, one[] = {1, 4}, any[] = {-9, 1};
  const axon_view view{x, AXON_F32, 2, shape}, row{x, AXON_F32, 2, one};
  EXPECT_EQ(axon_call_set_strided(scale.call, "x", &view, columns, scale.error), AXON_BAD_ARGUMENT);
  EXPECT_EQ(scale.text(),
            "the given tensor for `x` has the strides [1, 2], and one without a stated layout is row-major: "
            "[4, 1]");
  EXPECT_EQ(axon_call_set_strided(scale.call, "x", &view, rows, scale.error), AXON_OK);
  EXPECT_EQ(axon_call_set_strided(scale.call, "x", &row, any, scale.error), AXON_OK) << scale.text();
}

TEST(Strides, OfTheirOwnPlaces) {
  using V = std::vector<int64_t>;
  const auto injective = [](V shape, V strides) {
    return host::is_injective(shape.data(), strides.data(), shape.size());
  };
  EXPECT_TRUE(injective({2, 3}, {3, 1}));
  EXPECT_TRUE(injective({2, 3}, {3, 2}));  // 0 2 4 3 5 7
  EXPECT_FALSE(injective({3, 3}, {2, 1}));
  EXPECT_FALSE(injective({2}, {0}));
  EXPECT_TRUE(injective({1, 5}, {0, -1}));
  EXPECT_TRUE(injective({0, 5}, {0, 0}));
  EXPECT_FALSE(injective({1 << 11, 1 << 11}, {1, 1}));
  EXPECT_TRUE(injective({1 << 20, 1 << 20}, {1, 1 << 20}));
}

}  // namespace
}  // namespace axon::test
