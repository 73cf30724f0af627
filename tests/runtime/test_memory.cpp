// Memory of the runtime, and the memory of results that is kept for the next ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "host/memory.h"
#include "host/spare.h"

namespace axon::host {
namespace {

class Spare : public testing::Test {
 protected:
  void SetUp() override { drop_spares(); }
  void TearDown() override { drop_spares(); }
};

TEST_F(Spare, AResultGetsTheMemoryOfTheLast) {
  for (const uint64_t bytes : {uint64_t{100}, uint64_t{40'000}, huge_page, 3 * huge_page + 1}) {
    auto first = Memory::allocate_result(bytes);
    ASSERT_TRUE(first);
    ASSERT_GE(first->size(), bytes);
    uint8_t* const data = first->data();
    std::memset(data, 7, bytes);
    first.reset();
    const auto second = Memory::allocate_result(bytes - 10);
    ASSERT_TRUE(second);
    EXPECT_EQ(second->data(), data);
    const auto third = Memory::allocate_result(bytes);
    EXPECT_NE(third->data(), data) << "it is taken";
  }
}

TEST_F(Spare, OtherMemoryIsNeverWhatAResultHad) {
  Memory::allocate_result(100'000).reset();
  const auto other = Memory::allocate(100'000);
  ASSERT_TRUE(other);
  EXPECT_TRUE(std::all_of(other->data(), other->data() + 100'000, [](uint8_t byte) { return byte == 0; }));
  EXPECT_TRUE(drop_spares()) << "it is still there";
  EXPECT_FALSE(drop_spares());
  Memory::allocate(100'000).reset();
  EXPECT_FALSE(drop_spares()) << "and only that of results is kept";
}

TEST_F(Spare, WhatIsMuchLargerIsKeptForOthers) {
  Memory::allocate_result(1'000'000).reset();
  const auto little = Memory::allocate_result(4096);
  ASSERT_TRUE(little);
  EXPECT_EQ(little->size(), 4096u);
  EXPECT_TRUE(drop_spares());
}

TEST_F(Spare, NoMoreThanTheLimitIsKept) {
  ASSERT_GT(spare_limit(), 4 * huge_page);
  EXPECT_FALSE(keep_spare({nullptr, spare_limit() + 1}));
  const uint64_t half = spare_limit() / 2 / huge_page * huge_page;
  std::vector<Memory> all;
  for (int i = 0; i < 4; ++i) all.push_back(std::move(*Memory::allocate_result(half)));  // not touched
  all.clear();
  std::vector<Mapping> taken;
  for (Mapping one; (one = take_spare(half)).data;) taken.push_back(one);
  EXPECT_EQ(taken.size(), 2u);
  for (const Mapping one : taken) EXPECT_TRUE(keep_spare(one));
}

}  // namespace
}  // namespace axon::host
