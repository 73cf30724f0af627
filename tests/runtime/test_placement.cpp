// Packing against the definition: each element of a tensor once where its digits say, zeros elsewhere.
#include <gtest/gtest.h>

#include <random>

#include "host/limits.h"
#include "host/placement.h"

namespace axon {
namespace {

using host::Placement;
using host::why_bad;

/// The position of an index: its digits one after the other, each in the extent that it has.
uint64_t position_of(const Placement& p, const std::vector<uint64_t>& shape,
                     const std::vector<uint64_t>& index) {
  std::vector<uint64_t> below(shape.size(), 1);
  uint64_t position = 0, stride = 1;
  for (size_t i = p.digits.size(); i-- > 0;) {
    const auto [axis, stated] = p.digits[i];
    const uint64_t extent = stated > 0 ? stated : (shape[axis] + below[axis] - 1) / below[axis];
    position += index[axis] / below[axis] % extent * stride;
    stride *= extent;
    below[axis] *= extent;
  }
  return position;
}

void check_packing(const Placement& p, const std::vector<uint64_t>& shape, uint64_t element) {
  uint64_t count = 1;
  for (const uint64_t n : shape) count *= n;
  std::vector<uint8_t> in(count * element), out(host::placed_bytes(p, shape, element), 0),
      want(out.size(), 0);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint8_t>(1 + i % 255);
  for (uint64_t i = 0; i < count; ++i) {
    std::vector<uint64_t> index(shape.size());
    for (size_t a = shape.size(), rest = i; a-- > 0; rest /= shape[a]) index[a] = rest % shape[a];
    const uint64_t at = position_of(p, shape, index);
    ASSERT_LE((at + 1) * element, want.size());
    std::copy_n(in.data() + i * element, element, want.data() + at * element);
  }
  host::pack(p, shape, element, in.data(), out.data());
  EXPECT_EQ(out, want);
}

TEST(Placement, PacksWhereDigitsStand) {
  const std::vector<Placement> of_two{{{{0, 0}, {1, 0}}},
                                      {{{1, 0}, {0, 0}}},
                                      {{{1, 0}, {0, 0}, {1, 4}}},
                                      {{{1, 0}, {0, 0}, {0, 2}, {1, 4}}},
                                      {{{1, 0}, {0, 0}, {1, 2}, {0, 3}, {1, 2}}},
                                      {{{0, 0}, {1, 0}, {0, 5}, {1, 1}}}};
  for (const Placement& p : of_two) {
    ASSERT_EQ(why_bad(p, 2), nullptr);
    for (const uint64_t k : {0, 1, 2, 5, 6, 7})
      for (const uint64_t n : {0, 1, 3, 4, 5, 8, 9})
        for (const uint64_t element : {1, 2, 4, 8}) check_packing(p, {k, n}, element);
  }
  check_packing({{{0, 0}, {2, 0}, {1, 0}, {2, 4}}}, {2, 3, 6}, 4);
  check_packing({{{2, 0}, {0, 0}, {1, 0}, {0, 2}}}, {3, 2, 5}, 2);
}

TEST(Placement, OthersAreRefused) {
  EXPECT_EQ(why_bad({}, 3), nullptr);
  EXPECT_NE(why_bad({{{0, 0}}}, 2), nullptr);
  EXPECT_NE(why_bad({{{0, 0}, {0, 0}, {1, 0}}}, 2), nullptr);
  EXPECT_NE(why_bad({{{0, 4}, {0, 0}, {1, 0}}}, 2), nullptr);
  EXPECT_NE(why_bad({{{0, 0}, {1, 0}, {2, 0}}}, 2), nullptr);
  EXPECT_NE(why_bad({{{0, 0}, {0, 4096}, {0, 2}}}, 1), nullptr);
  Placement many{{{0, 0}}};
  many.digits.resize(1000, {0, 1});
  EXPECT_NE(why_bad(many, 1), nullptr);
}

TEST(Placement, WhatIsTooLargeIsSaid) {
  Placement p;
  for (uint32_t axis = 0; axis < 16; ++axis) p.digits.push_back({axis, 0});
  for (uint32_t axis = 0; axis < 16; ++axis) p.digits.push_back({axis, 4096});
  ASSERT_EQ(why_bad(p, 16), nullptr);
  EXPECT_GT(host::placed_bytes(p, std::vector<uint64_t>(16, 1), 4), host::limits::tensor_bytes);
}

}  // namespace
}  // namespace axon
