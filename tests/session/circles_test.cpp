// Orders of uses, with and without circles.
#include "session/circles.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace axon::session {
namespace {

using Numbers = std::vector<uint32_t>;

TEST(UseOrder, ComesAfterWhatIsUsed) {
  const UseOrder found = order_of_uses({{1, 2}, {3}, {3}, {}});
  EXPECT_TRUE(found.circular.empty());
  const auto place = [&](uint32_t i) { return std::find(found.order.begin(), found.order.end(), i); };
  EXPECT_LT(place(3), place(1));
  EXPECT_LT(place(3), place(2));
  EXPECT_LT(place(1), place(0));
  EXPECT_EQ(found.order.size(), 4u);
}

TEST(UseOrder, LeavesOutTheLowestOfACircle) {
  EXPECT_EQ(order_of_uses({{0}}).circular, Numbers{0});
  EXPECT_EQ(order_of_uses({{1}, {2}, {1}}).circular, Numbers{1});
  EXPECT_EQ(order_of_uses({{1}, {2}, {0}}).circular, Numbers{0});
  EXPECT_EQ(order_of_uses({{1, 2}, {0}, {0}}).circular, Numbers{0});
  EXPECT_EQ(order_of_uses({{1, 3}, {2, 0}, {1}, {}}).circular, (Numbers{0, 1}));
  EXPECT_EQ(order_of_uses({{1}, {0}, {3}, {2}}).circular, (Numbers{0, 2}));
}

TEST(UseOrder, OfALongChain) {
  std::vector<Numbers> uses(100'000);
  for (uint32_t i = 0; i + 1 < uses.size(); ++i) uses[i] = {i + 1};
  EXPECT_TRUE(order_of_uses(uses).circular.empty());
  uses.back() = {7};
  EXPECT_EQ(order_of_uses(uses).circular, Numbers{7});
}

}  // namespace
}  // namespace axon::session
