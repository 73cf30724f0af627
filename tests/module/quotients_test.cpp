// Offsets of lanes within one quotient are those of the lanes, wherever the conditions hold.
#include "module/tiles/quotients.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace axon::module::tiles {
namespace {

using shape::Dim;
using shape::Var;

class Quotients : public ::testing::Test {
 protected:
  const Var lane_ = shape::fresh_var("lane"), first_ = shape::fresh_var("first"), r_ = shape::fresh_var("r"),
            g_ = shape::fresh_var("g");
  const std::vector<int64_t> lanes_ = {0, 1, 2, 3};

  /// Compares both over small numbers. Returns how often the conditions held.
  int compare(const Dim& offset) {
    const auto found = within_quotients(offset, lane_, lanes_);
    if (!found) return -1;
    int held = 0;
    for (int64_t first = 0; first < 40; ++first)
      for (int64_t r = 1; r < 12; ++r) {
        const shape::Assignment at = {{first_, first}, {r_, r}, {g_, 3}};
        const auto holds = [&](const Dim& d) { return d.evaluate(at).value() >= 0; };
        if (!std::all_of(found->conditions.begin(), found->conditions.end(), holds)) continue;
        ++held;
        for (size_t l = 0; l < lanes_.size(); ++l)
          EXPECT_EQ(found->offsets[l].evaluate(at), offset.substitute({{lane_, Dim(lanes_[l])}}).evaluate(at))
              << first << " " << r << " " << l;
      }
    return held;
  }
};

TEST_F(Quotients, AreThoseOfTheFirstLane) {
  const Dim index = Dim(first_) + Dim(lane_), rows(r_);
  EXPECT_GT(compare(floor_div(index, rows) * Dim(100) + mod(index, rows)), 50);
  EXPECT_GT(
      compare(floor_div(floor_div(index, rows), Dim(g_)) * Dim(100) + mod(floor_div(index, rows), Dim(g_))),
      50);
  EXPECT_GT(compare(floor_div(mod(index, rows), Dim(2))), 50);
  EXPECT_GT(compare(mod(Dim(2) * index + Dim(1), rows) * rows), 20);
}

TEST_F(Quotients, OthersAreLeftAsTheyAre) {
  const Dim index = Dim(first_) + Dim(lane_);
  EXPECT_EQ(compare(index * Dim(r_)), -1);                               // none
  EXPECT_EQ(compare(floor_div(index, Dim(4))), -1);                      // not open
  EXPECT_EQ(compare(floor_div(Dim(first_) - Dim(lane_), Dim(r_))), -1);  // falls
  EXPECT_EQ(compare(floor_div(Dim(lane_) * Dim(lane_), Dim(r_))), -1);   // no constant step
  EXPECT_EQ(compare(floor_div(Dim(first_), Dim(lane_) + Dim(r_))), -1);  // by the lane
  EXPECT_EQ(compare(shape::min(mod(index, Dim(r_)), Dim(g_))), -1);      // inside of a minimum
}

}  // namespace
}  // namespace axon::module::tiles
