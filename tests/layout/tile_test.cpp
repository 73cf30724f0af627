// Direct sums, tiles, their inverses and views against the definition.
#include "layout/tile.h"

#include "layout/canonical.h"
#include "layout/evaluate.h"
#include "shape/floor.h"
#include "support.h"

namespace axon::layout {
namespace {

/// A random layout with a shape of its extents joined: what tiles can be made of.
Shaped random_tile(Random& random, size_t rank) {
  std::vector<std::vector<int64_t>> axes(rank);
  std::vector<int64_t> extents;
  Shaped out;
  for (size_t axis = 0; axis < rank; ++axis) {
    int64_t extent = 1;
    for (int64_t i = random.number(0, 2); i > 0; --i) {
      extents.push_back(random.number(1, 3));
      extent *= extents.back();
    }
    out.shape.push_back(extent);
  }
  out.layout = random.layout(extents);
  return out;
}

Plain sum(Plain a, const Plain& b, const Plain& scale = {1, 1, 1}) {
  for (size_t i = 0; i < a.size(); ++i) a[i] = a[i] * scale[i] + b[i];
  return a;
}

/// Each pair of indices into outer and inner, and the flat index of the whole.
template <class Visit>
void for_each_pair(const Shape& outer, const Shape& inner, const Visit& visit) {
  for (int64_t x = 0; x < value(product(outer)); ++x)
    for (int64_t y = 0; y < value(product(inner)); ++y) {
      int64_t whole = 0, below = 1, rest_x = x, rest_y = y;
      for (size_t i = outer.size(); i-- > 0;) {
        const int64_t a = value(outer[i]), b = value(inner[i]);
        whole += (rest_x % a * b + rest_y % b) * below;
        below *= a * b;
        rest_x /= a;
        rest_y /= b;
      }
      visit(x, y, whole);
    }
}

/// Is the whole where outer's points, scaled, plus inner's are?
void expect_sum(const Shaped& whole, const Shaped& outer, const Shaped& inner, const Plain& scale) {
  for_each_pair(outer.shape, inner.shape, [&](int64_t x, int64_t y, int64_t at) {
    PlainSet wanted;
    for (const Plain& a : plain_points(outer.layout, x))
      for (const Plain& b : plain_points(inner.layout, y)) wanted.insert(sum(a, b, scale));
    ASSERT_EQ(plain_points(whole.layout, at), wanted)
        << print(outer.layout) << " and " << print(inner.layout);
  });
}

Plain spans_of(const Layout& layout) {
  Plain low{}, high{};
  bool first = true;
  for (const PlainSet& set : all_points(layout))
    for (const Plain& at : set)
      for (size_t i = 0; i < at.size(); ++i) {
        low[i] = first ? at[i] : std::min(low[i], at[i]);
        high[i] = first ? at[i] : std::max(high[i], at[i]);
        if (i + 1 == at.size()) first = false;
      }
  Plain out{};
  for (size_t i = 0; i < out.size(); ++i) out[i] = high[i] - low[i] + 1;
  return out;
}

TEST(DirectSum, AddsPoints) {
  Random random(1);
  for (int round = 0; round < random_layouts; ++round) {
    const size_t rank = static_cast<size_t>(random.number(1, 2));
    const Shaped outer = random_tile(random, rank), inner = random_tile(random, rank);
    const Outcome<Shaped> whole = direct_sum(outer, inner);
    ASSERT_TRUE(whole) << whole.why();
    expect_sum(*whole, outer, inner, {1, 1, 1});
  }
}

TEST(DirectSum, InversesGiveTheOtherPart) {
  Random random(2);
  int with_replicas = 0, found_ones = 0;
  for (int round = 0; round < random_layouts; ++round) {
    const size_t rank = static_cast<size_t>(random.number(1, 2));
    const Shaped outer = random_tile(random, rank), inner = random_tile(random, rank);
    const Outcome<Shaped> whole = direct_sum(outer, inner);
    ASSERT_TRUE(whole) << whole.why();
    const Outcome<Shaped> first = outer_of_sum(*whole, inner), second = inner_of_sum(*whole, outer);
    const bool replicas = !outer.layout.replicas.empty() && !inner.layout.replicas.empty();
    with_replicas += replicas;
    for (const auto* part : {&first, &second}) {
      ASSERT_TRUE(*part || replicas) << part->why();
      found_ones += static_cast<bool>(*part);
    }
    // The parts may be others where replicas overlap; put together they are the whole.
    if (first) ASSERT_EQ(all_points(direct_sum(*first, inner)->layout), all_points(whole->layout));
    if (second) ASSERT_EQ(all_points(direct_sum(outer, *second)->layout), all_points(whole->layout));
  }
  EXPECT_GT(with_replicas, random_layouts / 100);
  EXPECT_GT(found_ones, 2 * random_layouts - with_replicas / 2);
}

TEST(Tile, AStepIsAsManyPlacesAsTheInnerTileSpans) {
  Random random(3);
  for (int round = 0; round < random_layouts; ++round) {
    const size_t rank = static_cast<size_t>(random.number(1, 2));
    const Shaped outer = random_tile(random, rank), inner = random_tile(random, rank);
    const Outcome<Shaped> whole = tile(outer, inner);
    ASSERT_TRUE(whole) << whole.why();
    expect_sum(*whole, outer, inner, spans_of(inner.layout));
  }
}

TEST(Tile, InversesGiveTheOtherPart) {
  Random random(4);
  int inverted = 0;
  for (int round = 0; round < random_layouts; ++round) {
    const size_t rank = static_cast<size_t>(random.number(1, 2));
    const Shaped outer = random_tile(random, rank), inner = random_tile(random, rank);
    const Outcome<Shaped> whole = tile(outer, inner);
    ASSERT_TRUE(whole) << whole.why();
    const Outcome<Shaped> first = outer_of_tile(*whole, inner), second = inner_of_tile(*whole, outer);
    ASSERT_TRUE(first) << first.why() << ": " << print(whole->layout) << " by " << print(inner.layout);
    ASSERT_TRUE(second) << second.why() << ": " << print(whole->layout) << " by " << print(outer.layout);
    ASSERT_EQ(same(first->layout, outer.layout), true) << print(first->layout) << " " << print(outer.layout);
    ASSERT_EQ(same(second->layout, inner.layout), true)
        << print(second->layout) << " " << print(inner.layout);
    inverted += !whole->layout.replicas.empty();
  }
  EXPECT_GT(inverted, random_layouts / 4);
}

/// Whatever an inverse gives of two layouts that have nothing to do with each other, it is one.
TEST(Tile, InversesNeverApproximate) {
  Random random(5);
  int tilings = 0;
  for (int round = 0; round < random_layouts; ++round) {
    const Shaped inner = random_tile(random, 1), outer = random_tile(random, 1);
    const int64_t extent = value(inner.shape[0]) * value(outer.shape[0]);
    Layout layout = random.layout(random.shape(extent));
    if (random.chance(70)) {
      layout.replicas = inner.layout.replicas;
      layout.shards = tile(outer, inner)->layout.shards;
      if (random.chance(50) && !layout.shards.empty())
        layout.shards.back().stride = layout.shards.back().stride + 1;
    }
    const Shaped whole{layout, {extent}};
    if (const auto found = outer_of_tile(whole, inner)) {
      ++tilings;
      expect_sum(whole, *found, inner, spans_of(inner.layout));
    }
    if (const auto found = inner_of_tile(whole, outer))
      expect_sum(whole, outer, *found, spans_of(found->layout));
  }
  EXPECT_GT(tilings, random_layouts / 10);
}

TEST(Tile, KnownValues) {
  const Shaped atom{layout_of("S[(8,8):(8,1)]"), {8, 8}};
  const Outcome<Shaped> whole = tile(atom, atom);
  EXPECT_EQ(print(whole->layout), "S[(8,8,8,8):(512,8,64,1)]");
  EXPECT_EQ(whole->shape, (Shape{64, 64}));
  EXPECT_EQ(print(outer_of_tile(*whole, atom)->layout), "S[(8,8):(8,1)]");
  EXPECT_EQ(print(inner_of_tile(*whole, atom)->layout), "S[(8,8):(8,1)]");
}

TEST(Tile, RefusalsSayWhichPartDiffers) {
  const Shaped whole{layout_of("S[(16,8):(8,1)]"), {16, 8}};
  const auto why = [&](std::string_view text, Shape shape) {
    return outer_of_tile(whole, {layout_of(text), std::move(shape)}).why();
  };
  EXPECT_EQ(why("S[(8,8):(1,8)]", {8, 8}), "its part is `S[64:1]`, and `S[(8,8):(1,8)]` is looked for");
  EXPECT_EQ(why("S[(5,8):(8,1)]", {5, 8}), "5 does not divide 16, the extent of axis 0");
  EXPECT_EQ(why("S[8:1]", {8}), "one tensor has 2 axes, the other 1");
  EXPECT_EQ(why("S[(8,4):(4,1)]", {8, 4}),
            "a step of 4 on `m` is no multiple of 32, what the inner tile spans");
  EXPECT_EQ(why("S[(8,8):(8,1)] + R[2:1@lane]", {8, 8}),
            "the replicas of `S[128:1]` are not made of those of `S[64:1] + R[2:1@lane]`");
}

TEST(Tile, NumbersThatLeave64BitsAreRefused) {
  const Shaped large{layout_of("S[2:4611686018427387904]"), {2}};
  EXPECT_EQ(tile(large, {layout_of("S[2:1]"), {2}}).why(), "coordinates of `m` leave 64 bits");
  EXPECT_EQ(direct_sum(large, large).why(), "coordinates of `m` leave 64 bits");
  EXPECT_EQ(unpack(large, 0, 4).why(), "coordinates of `m` leave 64 bits");
}

TEST(Tile, OfSizes) {
  Names names;
  const Shape shape = {names("n"), names("k")};
  const Outcome<Shaped> outer =
      outer_of_tile({names.layout("S[(n,k):(k,1)]"), shape}, {names.layout("S[16:1]"), {1, 16}});
  ASSERT_TRUE(outer) << outer.why();
  EXPECT_EQ(print(outer->layout), "S[(n,(k / 16)):((k / 16),1)]");
  EXPECT_EQ(text_of(outer.needs()), "k % 16 == 0");
  const Outcome<Shaped> panels =
      tile({names.layout("S[(k,cdiv(n,32)):(1,k)]"), {names("k"), names.dim("cdiv(n,32)")}},
           {layout_of("S[32:1]"), {1, 32}});
  EXPECT_EQ(print(panels->layout), "S[(k,cdiv(n, 32),32):(32,32*k,1)]");
}

/// By the definition: where each larger element of `count` along the axis lies; nullopt where one of them is
/// no run of elements that begins at a multiple of them.
std::optional<std::vector<PlainSet>> packed_points(const Shaped& tensor, size_t axis, int64_t count) {
  Shape large = tensor.shape, run(tensor.shape.size(), 1);
  large[axis] = value(tensor.shape[axis]) / count;
  run[axis] = count;
  std::vector<PlainSet> out(static_cast<size_t>(value(product(large))));
  bool is_packed = true;
  for_each_pair(large, run, [&](int64_t y, int64_t part, int64_t at) {
    PlainSet groups;
    for (const Plain& point : plain_points(tensor.layout, at)) {
      is_packed &= shape::floor_remainder(point[0], count) == part;
      groups.insert({shape::floor_quotient(point[0], count), point[1], point[2]});
    }
    PlainSet& known = out[static_cast<size_t>(y)];
    if (part == 0) known = groups;
    is_packed &= known == groups;
  });
  return is_packed ? std::optional(out) : std::nullopt;
}

TEST(Pack, CountsLargerElements) {
  Random random(6);
  int packed = 0, impossible = 0;
  for (int round = 0; round < random_layouts; ++round) {
    const Shaped tensor = random_tile(random, 2);
    const size_t axis = static_cast<size_t>(random.number(0, 1));
    const int64_t count = random.number(2, 3);
    const Outcome<Shaped> small = unpack(tensor, axis, count);
    ASSERT_TRUE(small) << small.why();
    Shape run(2, 1);
    run[axis] = count;
    for_each_pair(tensor.shape, run, [&](int64_t x, int64_t part, int64_t at) {
      PlainSet wanted;
      for (const Plain& point : plain_points(tensor.layout, x))
        wanted.insert(sum(point, {part, 0, 0}, {count, 1, 1}));
      ASSERT_EQ(plain_points(small->layout, at), wanted) << print(tensor.layout);
    });
    const Outcome<Shaped> again = pack(*small, axis, count);
    ASSERT_TRUE(again) << again.why();
    ASSERT_EQ(same(again->layout, tensor.layout), true) << print(tensor.layout);
    // Of the unpacked one with a stride or an offset that is another.
    Shaped other = *small;
    if (random.chance(50) && !other.layout.shards.empty()) {
      Iter& iter = other.layout.shards[static_cast<size_t>(
          random.number(0, static_cast<int64_t>(other.layout.shards.size()) - 1))];
      iter.stride = iter.stride + (random.chance(50) ? count : 1);
    } else if (random.chance(50)) {
      add_offset(other.layout, "m", random.number(1, 2 * count));
    }
    if (why_ill_formed(other.layout)) continue;
    const Outcome<Shaped> large = pack(other, axis, count);
    const auto wanted = packed_points(other, axis, count);
    ASSERT_EQ(static_cast<bool>(large), wanted.has_value())
        << print(other.layout) << " by " << count << ": " << (large ? print(large->layout) : large.why());
    if (large) ASSERT_EQ(all_points(large->layout), *wanted) << print(other.layout) << " by " << count;
    (large ? packed : impossible) += 1;
  }
  EXPECT_GT(packed, random_layouts / 4);
  EXPECT_GT(impossible, random_layouts / 10);
  EXPECT_EQ(print(pack({layout_of("S[4,16]"), {4, 16}}, 1, 8)->layout), "S[(4,2):(2,1)]");
  EXPECT_EQ(pack({layout_of("S[(4,16):(20,1)]"), {4, 16}}, 1, 8).why(),
            "a step of 20 on `m` is no multiple of 8, what the inner tile spans");
}

TEST(Broadcast, RepeatsElements) {
  Random random(7);
  for (int round = 0; round < random_layouts; ++round) {
    Shaped tensor = random_tile(random, 2);
    Shape shape = tensor.shape;
    for (Dim& extent : shape)
      if (extent.is(1)) extent = random.number(1, 3);
    if (random.chance(50)) shape.insert(shape.begin(), random.number(1, 3));
    const Outcome<Shaped> found = broadcast(tensor, shape);
    ASSERT_TRUE(found) << found.why();
    const int64_t columns = value(shape.back()), rows = value(shape[shape.size() - 2]);
    for (int64_t y = 0; y < value(product(shape)); ++y) {
      const int64_t row = tensor.shape[0].is(1) ? 0 : y / columns % rows;
      const int64_t column = tensor.shape[1].is(1) ? 0 : y % columns;
      ASSERT_EQ(plain_points(found->layout, y),
                plain_points(tensor.layout, row * value(tensor.shape[1]) + column))
          << print(tensor.layout);
    }
  }
  EXPECT_EQ(broadcast({layout_of("S[3:1]"), {3}}, {4}).why(),
            "axis 0 has the extent 3, which does not broadcast to 4");
}

}  // namespace
}  // namespace axon::layout
