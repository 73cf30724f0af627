// The canonical form and equality against sets of points.
#include "layout/canonical.h"

#include "layout/evaluate.h"
#include "layout/sums.h"
#include "support.h"

namespace axon::layout {
namespace {

std::string canonical_text(std::string_view text) { return print(canonical(layout_of(text))); }

TEST(Canonical, KnownForms) {
  EXPECT_EQ(canonical_text("S[(8,8,8,4,2):(512,64,8,2,1)]"), "S[4096:1]");
  EXPECT_EQ(canonical_text("S[(3,4,5,2):(20,5,1,60)]"), "S[(60,2):(1,60)]");
  EXPECT_EQ(canonical_text("S[(4,1,2):(2@lane,7@warp,1@lane)]"), "S[8:1@lane]");
  EXPECT_EQ(canonical_text("S[(4,2):(2@lane,1@warp)]"), "S[(4,2):(2@lane,1@warp)]");
  EXPECT_EQ(canonical_text("S[(2,4):(0@lane,0@warp)]"), "S[8:0]");
  EXPECT_EQ(canonical_text("S[1:5@lane]"), "S[]");
  EXPECT_EQ(canonical_text("S[2:1] + R[(2,3,1):(-4,4,9)] + 8@m"), "S[2:1] + R[4:4] + 4@m");
  EXPECT_EQ(canonical_text("S[2:1] + R[(2,2,2):(3,1,2)]"), "S[2:1] + R[7:1]");
  EXPECT_EQ(canonical_text("S[2:1] + R[(2,2):(1@lane,1@warp)]"), "S[2:1] + R[(2,2):(1@lane,1@warp)]");
}

TEST(Canonical, OfSizes) {
  Names names;
  EXPECT_EQ(print(canonical(names.layout("S[(n,k,8):(8*k,8,1)]"))), "S[8*n*k:1]");
  EXPECT_EQ(print(canonical(names.layout("S[(n,k):(k + 1,1)]"))), "S[(n,k):((k + 1),1)]");
}

TEST(Canonical, KeepsThePoints) {
  Random random(1);
  for (int round = 0; round < random_layouts; ++round) {
    const Layout layout = random.layout(), form = canonical(layout);
    ASSERT_EQ(all_points(form), all_points(layout)) << print(layout) << " became " << print(form);
    ASSERT_EQ(canonical(form), form) << print(layout);
    for (const Iter& iter : form.replicas) ASSERT_GT(value(iter.stride), 0) << print(layout);
  }
}

/// Another layout of the same size that is often the same: iters split, replicas written otherwise.
Layout rewritten(const Layout& layout, Random& random) {
  Layout out = layout;
  out.shards.clear();
  for (const Iter& iter : layout.shards) {
    if (value(iter.extent) % 2 == 0 && random.chance(50)) {
      out.shards.push_back({value(iter.extent) / 2, iter.stride * 2, iter.axis});
      out.shards.push_back({2, iter.stride, iter.axis});
    } else {
      out.shards.push_back(iter);
    }
  }
  if (random.chance(20) && !out.shards.empty()) out.shards.back().stride = random.number(-3, 3);
  if (random.chance(10)) std::reverse(out.shards.begin(), out.shards.end());
  std::reverse(out.replicas.begin(), out.replicas.end());
  for (Iter& iter : out.replicas)
    if (random.chance(50)) {
      add_offset(out, iter.axis, (iter.extent - 1) * iter.stride);
      iter.stride = -iter.stride;
    } else if (value(iter.extent) == 3) {
      iter.extent = 2;
      out.replicas.push_back(iter);
      break;
    }
  if (random.chance(10)) add_offset(out, "m", 1);
  return out;
}

TEST(Same, IsEqualityOfAllSets) {
  Random random(2);
  int equal = 0;
  for (int round = 0; round < random_layouts; ++round) {
    const Layout a = random.layout(), b = rewritten(a, random);
    const std::vector<PlainSet> left = all_points(a), right = all_points(b);
    equal += left == right;
    ASSERT_EQ(same(a, b), left == right) << print(a) << " and " << print(b);
    std::optional<int64_t> first;
    for (size_t x = left.size(); x-- > 0;)
      if (left[x] != right[x]) first = static_cast<int64_t>(x);
    ASSERT_EQ(first_difference(a, b), first) << print(a) << " and " << print(b);
  }
  EXPECT_GT(equal, random_layouts / 4);
  EXPECT_LT(equal, random_layouts - random_layouts / 10);
}

TEST(Same, ReplicasOfOneSetInSeveralFactors) {
  // {0, 1, 2, 3, 6, 7, 8, 9}: neither form merges further.
  const Layout a = layout_of("S[2:64] + R[(2,2,2):(1,2,6)]"), b = layout_of("S[2:64] + R[(4,2):(1,6)]");
  EXPECT_EQ(same(a, b), true);
  // {0, 2, 3, 4, 5, 6, 7, 9} and itself, by strides of which none is a multiple of another.
  const Layout c = layout_of("S[2:64] + R[(3,2):(2,3)]"), d = layout_of("S[2:64] + R[(2,2,2):(2,2,3)]");
  EXPECT_EQ(same(c, d), true);
  EXPECT_EQ(same(a, c), false);
  EXPECT_EQ(first_difference(a, c), 0);
}

TEST(Same, OfSizesUnderFacts) {
  Names names;
  const Layout flat = names.layout("S[n:1]"), cut = names.layout("S[(n/16,16):(16,1)]");
  EXPECT_EQ(same(flat, cut), std::nullopt);
  EXPECT_EQ(same(flat, cut, {shape::equal(names.dim("n % 16"), 0)}), true);
  const Layout by_k = names.layout("S[(n,k):(k,1)]"), by_s = names.layout("S[(n,k):(s,1)]");
  EXPECT_EQ(same(by_k, by_k), true);
  EXPECT_EQ(same(by_k, by_s, {shape::equal(names("s"), names("k"))}), true);
  EXPECT_EQ(same(by_k, by_s, {shape::less(names("k"), names("s")), shape::at_least(names("n"), 2)}), false);
  EXPECT_EQ(same(names.layout("S[n:1] + k@m"), names.layout("S[n:1]"), {shape::equal(names("k"), 0)}), true);
}

TEST(Sums, OfASetAreItersAgain) {
  Random random(3);
  int found = 0;
  for (int round = 0; round < random_layouts; ++round) {
    std::vector<Iter> iters;
    for (int64_t i = random.number(0, 3); i > 0; --i)
      iters.push_back({random.number(1, 4), random.number(1, 9), {}});
    const std::vector<int64_t> set = sums(iters).value();
    if (const auto again = as_iters(set, "m")) {
      ++found;
      ASSERT_EQ(sums(*again), set) << print({{}, *again, {}});
    } else {
      ASSERT_NE(injective({iters, {}, {}}), true) << print({{}, iters, {}});
    }
    for (const std::vector<int64_t>& part : {set, sums({{2, 3, {}}}).value()}) {
      std::vector<int64_t> wanted;
      for (const int64_t q : set)
        if (std::all_of(part.begin(), part.end(),
                        [&](int64_t p) { return std::count(set.begin(), set.end(), q + p) == 1; }))
          wanted.push_back(q);
      ASSERT_EQ(difference(set, part), wanted);
    }
  }
  EXPECT_GT(found, random_layouts - random_layouts / 100);
  EXPECT_FALSE(as_iters({0, 1, 3}, "m"));
  EXPECT_FALSE(sums({{1 << 21, 1, {}}}));
}

}  // namespace
}  // namespace axon::layout
