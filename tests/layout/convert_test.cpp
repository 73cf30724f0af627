// What moves between two layouts: by table for tiles and meshes, and against who holds what.
#include "layout/convert.h"

#include "layout/atoms.h"
#include "layout/evaluate.h"
#include "support.h"

namespace axon::layout {
namespace {

std::string moves(const Layout& from, const Layout& to, const std::set<Axis>& partial = {}) {
  const Outcome<Conversion> found = conversion(from, to, partial);
  if (!found) return found.why();
  std::string out;
  for (const auto& [axis, movement] : found->axes)
    if (movement != Movement::same) out += (out.empty() ? "" : ", ") + axis.name + ": " + name(movement);
  return out;
}
std::string moves(std::string_view from, std::string_view to, const std::set<Axis>& partial = {}) {
  Names names;
  return moves(names.layout(from), names.layout(to), partial);
}

TEST(Conversion, WithinADevice) {
  EXPECT_EQ(moves("S[(32,4):(1@lane,1)]", "S[(32,4):(1@lane,1)]"), "");
  EXPECT_EQ(moves("S[(32,2,2):(1@lane,1,2)]", "S[(32,4):(1@lane,1)]"), "m: within-thread");
  EXPECT_EQ(moves("S[(32,2,2):(1@lane,1,1@v)]", "S[(32,4):(1@lane,1)]"),
            "m: within-thread, v: within-thread");
  EXPECT_EQ(moves("S[(32,4):(1@lane,1)]", "S[(4,32):(1,1@lane)]"), "lane: shuffle, m: within-thread");
  EXPECT_EQ(moves("S[(4,32):(1@warp,1@lane)]", "S[(32,4):(1@lane,1@warp)]"), "lane: shuffle, warp: shared");
  EXPECT_EQ(moves("S[(4,32):(1@block,1@thread)]", "S[(32,4):(1@thread,1@block)]"),
            "block: global, lane: shuffle");
  EXPECT_EQ(moves("S[32:1@lane] + R[4:1@warp]", "S[32:1@lane] + 2@warp"), "warp: local");
  EXPECT_EQ(moves("S[32:1@lane] + 2@warp", "S[32:1@lane] + R[4:1@warp]"), "warp: shared");
  EXPECT_EQ(
      conversion(layout_of("S[(4,32):(1@warp,1@lane)]"), layout_of("S[(32,4):(1@lane,1)]"))->in_device(),
      Movement::shared);
  EXPECT_EQ(
      moves(find_atom("mma.m16n8k16.acc")->operand.layout, find_atom("mma.m16n8k8.acc")->operand.layout), "");
  EXPECT_EQ(moves(find_atom("mma.m16n8k16.acc")->operand.layout, find_atom("mma.m16n8k8.a")->operand.layout),
            "m: within-thread, v: within-thread");
}

TEST(Conversion, TheChainOfThreadsIsOne) {
  EXPECT_EQ(moves("S[256:1@thread]", "S[(8,32):(1@warp,1@lane)]"), "");
  EXPECT_EQ(moves("S[256:1@thread]", "S[(2,4,32):(1@warpgroup,1@warp,1@lane)]"), "");
  EXPECT_EQ(moves("S[(2,4,32):(1@warpgroup,1@warp,1@lane)]", "S[(8,32):(1@warp,-1@lane)] + 31@lane"),
            "lane: shuffle");
  EXPECT_EQ(moves("S[48:1@thread]", "S[(2,24):(1@warp,1@lane)]"), "thread: shared");
}

TEST(Conversion, BetweenDevices) {
  const std::string rows = "S[(8,n):(1@gpu,1)]";
  EXPECT_EQ(moves(rows, rows), "");
  EXPECT_EQ(moves(rows, "S[(8,n):(n,1)] + R[8:1@gpu]"), "gpu: all-gather, m: within-thread");
  EXPECT_EQ(moves("S[(8,n):(n,1)] + R[8:1@gpu]", rows), "gpu: local, m: within-thread");
  EXPECT_EQ(moves("S[(8,8):(1@gpu,1)]", "S[(8,8):(1,1@gpu)]"), "gpu: all-to-all, m: within-thread");
  EXPECT_EQ(moves(rows, "S[(8,n):(n,1)]"), "gpu: gather, m: within-thread");
  EXPECT_EQ(moves("S[(8,n):(n,1)]", rows), "gpu: scatter, m: within-thread");
  EXPECT_EQ(moves("S[n:1]", "S[n:1] + R[8:1@gpu]"), "gpu: broadcast");
  EXPECT_EQ(moves("S[n:1]", "S[n:1] + 3@gpu"), "gpu: permute");
  EXPECT_EQ(moves(rows, "S[(8,n):(-1@gpu,1)] + 7@gpu"), "gpu: permute");
  EXPECT_EQ(moves(rows, "S[(2,4,n):(4@gpu,n,1)] + R[4:1@gpu]"), "gpu: all-gather, m: within-thread");
  EXPECT_EQ(moves("S[n:1] + R[8:1@gpu]", "S[n:1] + R[8:1@gpu]", {"gpu"}), "gpu: all-reduce");
  EXPECT_EQ(moves("S[(8,n):(n,1)] + R[8:1@gpu]", rows, {"gpu"}), "gpu: reduce-scatter, m: within-thread");
  EXPECT_EQ(moves("S[n:1] + R[8:1@gpu]", "S[n:1]", {"gpu"}), "gpu: reduce");
  EXPECT_EQ(moves("S[n:1]", "S[k:1]"), "the sizes n and k differ");
}

TEST(Conversion, OfSizesUnderFacts) {
  Names names;
  const Layout rows = names.layout("S[(n,k):(k,1)]"), columns = names.layout("S[(n,k):(1,n)]");
  EXPECT_EQ(conversion(rows, columns).why(), "what moves on `m` is not decided");  // n or k may be 1
  const std::vector<shape::Fact> facts = {shape::at_least(names("n"), 2), shape::at_least(names("k"), 2)};
  EXPECT_EQ(conversion(rows, columns, {}, facts)->axes.at("m"), Movement::within_thread);
  EXPECT_EQ(conversion(rows, names.layout("S[(n,k):(s,1)]"), {}, {shape::equal(names("s"), names("k"))})
                ->axes.at("m"),
            Movement::same);
}

/// Who holds which elements, on one axis.
struct Held {
  std::vector<std::set<int64_t>> coordinates;  ///< of each element
  explicit Held(const Layout& layout, size_t axis) {
    for (const PlainSet& set : all_points(layout)) {
      std::set<int64_t> on;
      for (const Plain& at : set) on.insert(at[axis]);
      coordinates.push_back(on);
    }
  }
  /// Does each element with one coordinate here have one there?
  bool decides(const Held& other) const {
    std::map<int64_t, int64_t> to;
    for (size_t x = 0; x < coordinates.size(); ++x) {
      const int64_t there = *other.coordinates[x].begin();
      if (to.try_emplace(*coordinates[x].begin(), there).first->second != there) return false;
    }
    return true;
  }
  bool holds(const Held& other) const {
    for (size_t x = 0; x < coordinates.size(); ++x)
      if (!std::includes(coordinates[x].begin(), coordinates[x].end(), other.coordinates[x].begin(),
                         other.coordinates[x].end()))
        return false;
    return true;
  }
  bool parted() const { return std::set(coordinates.begin(), coordinates.end()).size() > 1; }
};

Movement collective(const Held& from, const Held& to) {
  const bool copied = to.coordinates[0].size() > 1;
  if (!from.decides(to)) return from.parted() ? Movement::all_to_all : Movement::scatter;
  if (!to.decides(from)) return copied ? Movement::all_gather : Movement::gather;
  return copied ? Movement::broadcast : Movement::permute;
}

/// Do the digits that count on lanes have different coordinates?
bool apart(const Layout& layout) {
  Layout lanes;
  for (const Iter& iter : layout.shards)
    if (iter.axis == "lane" && !iter.stride.is(0)) lanes.shards.push_back(iter);
  return *injective(lanes);
}

TEST(Conversion, IsWhoHasToGetWhat) {
  Random random(1);
  std::map<Movement, int> seen;
  Axes axes;
  axes.add_mesh("line", {{"x", {}}});
  for (int round = 0; round < random_layouts; ++round) {
    const std::vector<int64_t> extents = random.extents();
    const Layout from = random.layout(extents);
    const int64_t total = size_of(from);
    Layout to = random.layout(random.chance(50) ? extents : random.shape(total));
    if (random.chance(30)) to.shards = from.shards;
    const bool devices = random.chance(50);
    const Layout a = devices ? renamed(from, "lane", "x") : from, b = devices ? renamed(to, "lane", "x") : to;
    const Outcome<Conversion> found = conversion(a, b, {}, {}, axes);
    ASSERT_TRUE(found) << found.why();
    for (const auto& [axis, movement] : found->axes) {
      const size_t index = plain_axis(axis);
      const Held before(from, index), after(to, index);
      Movement wanted = axis.name == "lane" ? Movement::shuffle : Movement::within_thread;
      if (before.holds(after)) {
        wanted = after.holds(before) ? Movement::same : Movement::local;
      } else if (axis.name == "x") {
        // Where a coordinate is of several digits, what the digits decide and what coordinates do differ.
        if (!apart(from) || !apart(to)) continue;
        wanted = collective(before, after);
      }
      ++seen[movement];
      ASSERT_EQ(movement, wanted) << print(from) << " to " << print(to) << " on " << axis.name << ": "
                                  << name(movement) << ", wanted " << name(wanted);
    }
  }
  for (const Movement movement :
       {Movement::same, Movement::local, Movement::within_thread, Movement::shuffle, Movement::permute,
        Movement::broadcast, Movement::scatter, Movement::gather, Movement::all_gather, Movement::all_to_all})
    EXPECT_GT(seen[movement], 0) << name(movement);
}

}  // namespace
}  // namespace axon::layout
