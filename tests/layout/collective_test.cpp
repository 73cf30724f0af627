// Collectives between placements on a mesh: run on shards, and held against the placements by their
// definition.
#include "layout/collective.h"

#include <fmt/format.h>

#include "layout/shards.h"
#include "support.h"

namespace axon::layout {
namespace {

using Counts = std::map<Axis, int64_t>;

// ---- The definition: where an element is, with no more of layouts than digits and sums. ----

struct Spot {
  std::vector<int64_t> device;
  int64_t address = 0;
  friend auto operator<=>(const Spot&, const Spot&) = default;
};

/// All places of element x.
std::set<Spot> spots_of(const Layout& layout, int64_t x, const Counts& counts) {
  std::map<std::string, int64_t> first;
  for (const auto& [axis, amount] : layout.offset) first[axis.name] += value(amount);
  for (auto iter = layout.shards.rbegin(); iter != layout.shards.rend(); ++iter) {
    first[iter->axis.name] += x % value(iter->extent) * value(iter->stride);
    x /= value(iter->extent);
  }
  std::vector<std::map<std::string, int64_t>> all{first};
  for (const Iter& iter : layout.replicas) {
    const size_t before = all.size();
    for (int64_t digit = 1; digit < value(iter.extent); ++digit)
      for (size_t i = 0; i < before; ++i) {
        all.push_back(all[i]);
        all.back()[iter.axis.name] += digit * value(iter.stride);
      }
  }
  std::set<Spot> out;
  for (auto& place : all) {
    Spot spot;
    for (const auto& [axis, count] : counts) spot.device.push_back(place[axis.name]);
    spot.address = place["m"];
    out.insert(spot);
  }
  return out;
}

double element_value(int64_t x) { return static_cast<double>(3 * x + 1); }

/// What each device holds; of partial sums, parts that add up to the contents over the devices that share all
/// coordinates but those on the axes.
Shards shards_of(const Layout& layout, const Counts& counts, const std::set<Axis>& partial = {}) {
  Shards out;
  for (int64_t x = 0; x < size_of(layout); ++x)
    for (const Spot& spot : spots_of(layout, x, counts)) {
      bool first = true;
      size_t i = 0;
      int64_t seed = x;
      for (const auto& [axis, count] : counts) {
        if (partial.count(axis)) first &= spot.device[i] == 0, seed += 7 * spot.device[i];
        ++i;
      }
      // Of devices that are not the first, numbers that the first takes away again.
      double part = element_value(x);
      if (!partial.empty()) {
        int64_t others = 0;
        i = 0;
        std::vector<std::pair<size_t, int64_t>> axes;
        for (const auto& [axis, count] : counts) {
          if (partial.count(axis)) axes.emplace_back(i, count);
          ++i;
        }
        std::vector<std::vector<int64_t>> coordinates{{}};
        for (const auto& [at, count] : axes) {
          std::vector<std::vector<int64_t>> more;
          for (const auto& one : coordinates)
            for (int64_t c = 0; c < count; ++c) {
              more.push_back(one);
              more.back().push_back(c);
            }
          coordinates = more;
        }
        for (const auto& one : coordinates) {
          int64_t sum = x, any = 0;
          for (const int64_t c : one) sum += 7 * c, any += c;
          if (any > 0) others += sum;
        }
        part = first ? element_value(x) - static_cast<double>(others) : static_cast<double>(seed);
      }
      out[spot.device][spot.address] = part;
    }
  return out;
}

std::string steps_text(const Collective& c) {
  std::string out;
  for (const CollectiveStep& step : c.steps) out += (out.empty() ? "" : ", ") + print(c, step);
  return out;
}

struct Result {
  std::string steps;
  std::vector<int64_t> moved;
};

/// Runs it, and compares with what the definition says.
Result moved(const Layout& from, const Layout& to, const Counts& counts, const std::set<Axis>& partial = {}) {
  const Outcome<Collective> found = collective(from, to, counts, partial);
  if (!found) return {found.why(), {}};
  const MeshRun ran = run(*found, shards_of(from, counts, partial));
  EXPECT_EQ(ran.shards, shards_of(to, counts))
      << print(from) << " -> " << print(to) << ": " << steps_text(*found);
  return {steps_text(*found), ran.moved};
}

class Meshes {
 public:
  explicit Meshes(Counts counts) : counts_(std::move(counts)) {
    std::vector<Axes::MeshAxis> mesh;
    for (const auto& [axis, count] : counts_) mesh.push_back({axis.name, count});
    axes_.add_mesh("mesh", mesh);
  }
  Result moved(std::string_view from, std::string_view to, const std::set<Axis>& partial = {}) {
    return layout::moved(names_.layout(from, axes_), names_.layout(to, axes_), counts_, partial);
  }
  std::string steps(std::string_view from, std::string_view to, const std::set<Axis>& partial = {}) {
    return moved(from, to, partial).steps;
  }

 private:
  Counts counts_;
  Axes axes_;
  Names names_;
};

TEST(Collective, IsWhatTheLayoutsImply) {
  Meshes line({{"x", 4}});
  const std::string rows = "S[(4,8):(1@x,1)]", all = "S[32:1] + R[4:1@x]", one = "S[32:1]";
  EXPECT_EQ(line.steps(rows, rows), "");
  EXPECT_EQ(line.steps(rows, all), "all-gather on `x`");
  EXPECT_EQ(line.steps(all, rows), "slice on `x`");
  EXPECT_EQ(line.steps("S[(4,4,2):(1@x,2,1)]", "S[(4,4,2):(2,1@x,1)]"), "all-to-all on `x`");
  EXPECT_EQ(line.steps(rows, one), "gather on `x`");
  EXPECT_EQ(line.steps(one, rows), "scatter on `x`");
  EXPECT_EQ(line.steps(one, all), "broadcast on `x`");
  EXPECT_EQ(line.steps(one, one + " + 3@x"), "relocate on `x`");
  EXPECT_EQ(line.steps(all, one + " + 3@x"), "keep on `x`");
  EXPECT_EQ(line.steps(all, all, {"x"}), "all-reduce on `x`");
  EXPECT_EQ(line.steps(all, rows, {"x"}), "reduce-scatter on `x`");
  EXPECT_EQ(line.steps(all, one, {"x"}), "reduce on `x`");
  EXPECT_EQ(line.steps(rows, "S[(2,2,8):(2@x,8,1)] + R[2:1@x]"), "all-gather on 2 of `x`, 1 apart");
  EXPECT_EQ(line.steps(rows, "S[(4,8):(-1@x,1)] + 3@x"), "send");
  Meshes plane({{"x", 2}, {"y", 2}});
  EXPECT_EQ(plane.steps("S[(2,2,8):(1@x,1@y,1)]", "S[(2,2,8):(1@y,1@x,1)]"), "permute on `x` and `y`");
  EXPECT_EQ(plane.steps("S[(2,2,8):(1@x,8,1)] + R[2:1@y]", "S[(2,2,8):(8,1@y,1)] + R[2:1@x]"),
            "slice on `y`, all-gather on `x`");
  EXPECT_EQ(plane.steps("S[(2,16):(1@x,1)]", "S[(2,16):(1@y,1)]"), "move on `y`");
}

TEST(Collective, IsOfLayoutsOnTheMesh) {
  const Layout rows = row_major({4, 8}), on_x{{{4, 1, "x"}, {8, 1, {}}}, {}, {}};
  const auto why = [](const Layout& from, const Layout& to) {
    return collective(from, to, {{"x", 4}}).why();
  };
  Layout shifted = on_x;
  add_offset(shifted, "x", 1);
  EXPECT_EQ(why(rows, shifted), "S[(4,8):(1@x,1)] + 1@x: `x` goes to 4, and there are 4 of it");
  EXPECT_EQ(why(rows, row_major({4, 4})), "the sizes 32 and 16 differ");
  EXPECT_EQ(why(rows, {{{32, 0, {}}}, {}, {}}), "S[32:0]: two elements share a place");
  EXPECT_EQ(why(renamed(on_x, "x", "y"), rows), "S[(4,8):(1@y,1)]: no axis is called `y`");
}

TEST(Collective, CountsWhatMoves) {
  Meshes line({{"x", 4}});
  const std::string rows = "S[(4,8):(1@x,1)]", all = "S[32:1] + R[4:1@x]";
  const auto count = [&](std::string_view from, std::string_view to, const std::set<Axis>& partial = {}) {
    return line.moved(from, to, partial).moved;
  };
  using Moved = std::vector<int64_t>;
  EXPECT_EQ(count(rows, all), Moved{4 * 24});  // each gets the parts of three others
  EXPECT_EQ(count(all, rows), Moved{0});
  EXPECT_EQ(count("S[(4,4,2):(1@x,2,1)]", "S[(4,4,2):(2,1@x,1)]"), Moved{4 * 6});
  EXPECT_EQ(count(all, rows, {"x"}), Moved{4 * 3 * 8});
  Meshes plane({{"x", 2}, {"y", 2}});
  EXPECT_EQ(plane.moved("S[(2,16):(1@x,1)]", "S[(2,16):(1@y,1)]").moved, Moved{16});
  EXPECT_EQ(count(all, all, {"x"}), Moved{4 * 3 * 8 + 4 * 24});  // as a reduce-scatter and an all-gather
}

// ---- Random placements ----

/// A placement of so many elements on the mesh: digits of the tensor on digits of the axes, the others in
/// memory in any order with gaps, and of the digits of the axes that are left some with copies.
class RandomPlacement {
 public:
  RandomPlacement(Random& random, Counts counts) : random_(random), counts_(std::move(counts)) {}

  Layout of(std::vector<int64_t> extents, bool partial, std::set<Axis>& sums) {
    Layout out;
    std::vector<std::pair<Axis, std::pair<int64_t, int64_t>>> digits;  // weight and extent
    for (const auto& [axis, count] : counts_)
      for (int64_t weight = 1, rest = count; rest > 1;) {
        int64_t extent = random_.chance(60) ? rest : smallest(rest);
        digits.push_back({axis, {weight, extent}});
        weight *= extent;
        rest /= extent;
      }
    for (const int64_t extent : extents) out.shards.push_back({extent, 0, {}});
    for (const auto& [axis, digit] : digits) place(out, axis, digit.first, digit.second, partial, sums);
    lay_out_memory(out);
    return out;
  }

 private:
  static int64_t smallest(int64_t n) {
    for (int64_t d = 2; d < n; ++d)
      if (n % d == 0) return d;
    return n;
  }
  void place(Layout& out, const Axis& axis, int64_t weight, int64_t extent, bool partial,
             std::set<Axis>& sums) {
    std::vector<size_t> fits;
    for (size_t i = 0; i < out.shards.size(); ++i)
      if (out.shards[i].stride.is(0) && value(out.shards[i].extent) % extent == 0) fits.push_back(i);
    if (partial && !sums.count(axis) && weight == 1 && extent == counts_.at(axis) && random_.chance(50)) {
      sums.insert(axis);
      out.replicas.push_back({extent, weight, axis});
    } else if (!fits.empty() && random_.chance(60)) {
      const size_t i = fits[static_cast<size_t>(random_.number(0, static_cast<int64_t>(fits.size()) - 1))];
      const int64_t rest = value(out.shards[i].extent) / extent;
      const bool outer = random_.chance(50);
      out.shards[i] = {outer ? extent : rest, outer ? weight : 0, outer ? axis : Axis()};
      out.shards.insert(out.shards.begin() + static_cast<long>(i) + 1,
                        {outer ? rest : extent, outer ? 0 : weight, outer ? Axis() : axis});
    } else if (random_.chance(70)) {
      out.replicas.push_back({extent, weight, axis});
    } else {
      add_offset(out, axis, weight * random_.number(0, extent - 1));
    }
  }
  void lay_out_memory(Layout& out) {
    std::vector<size_t> order;
    for (size_t i = 0; i < out.shards.size(); ++i)
      if (out.shards[i].axis == Axis()) order.push_back(i);
    for (size_t i = order.size(); i-- > 1;)
      std::swap(order[i], order[static_cast<size_t>(random_.number(0, static_cast<int64_t>(i)))]);
    int64_t step = 1;
    for (const size_t i : order) {
      out.shards[i].stride = step;
      step = step * value(out.shards[i].extent) + (random_.chance(20) ? random_.number(1, 3) : 0);
    }
    if (random_.chance(15)) out.replicas.push_back({2, step + 1, {}});
    if (random_.chance(20)) add_offset(out, "m", random_.number(-4, 9));
  }

  Random& random_;
  Counts counts_;
};

Counts random_mesh(Random& random) {
  static const std::vector<Counts> all = {{{"x", 2}},           {{"x", 4}},
                                          {{"x", 8}},           {{"x", 2}, {"y", 2}},
                                          {{"x", 4}, {"y", 2}}, {{"x", 2}, {"y", 4}},
                                          {{"x", 6}},           {{"x", 3}, {"y", 2}},
                                          {{"x", 5}},           {{"x", 2}, {"y", 2}, {"z", 2}}};
  return all[static_cast<size_t>(random.number(0, static_cast<int64_t>(all.size()) - 1))];
}

TEST(Collective, GivesTheTargetShardsOfRandomPlacements) {
  constexpr int pairs = sampled(1000);
  std::map<std::string, int> kinds;
  int by_elements = 0;
  for (int n = 0; n < pairs; ++n) {
    Random random(static_cast<uint64_t>(n) + 1);
    const Counts counts = random_mesh(random);
    std::vector<int64_t> extents;
    for (int64_t i = random.number(1, 3), size = 1; i > 0 && size < 64; --i) {
      static const int64_t some[] = {1, 2, 3, 4, 5, 6, 8, 12, 16};
      extents.push_back(some[random.number(0, 8)]);
      size *= extents.back();
    }
    RandomPlacement placement(random, counts);
    std::set<Axis> sums, none;
    const Layout from = placement.of(extents, random.chance(25), sums),
                 to = placement.of(extents, false, none);
    SCOPED_TRACE(fmt::format("{}: {} -> {}", n, print(from), print(to)));
    const Outcome<Collective> found = collective(from, to, counts, sums);
    if (!found && !sums.empty()) continue;  // partial sums that are not along digits
    ASSERT_TRUE(found) << found.why();
    ASSERT_EQ(run(*found, shards_of(from, counts, sums)).shards, shards_of(to, counts)) << steps_text(*found);
    by_elements += !found->by_elements.empty();
    for (const CollectiveStep& step : found->steps) ++kinds[name(step.kind)];
  }
  std::string seen;
  for (const auto& [kind, count] : kinds) seen += fmt::format("{} {} ", count, kind);
  RecordProperty("steps", seen);
  RecordProperty("by_elements", by_elements);
  if (pairs < 1000) return;
  for (const char* kind : {"all-gather", "all-to-all", "all-reduce", "reduce-scatter", "reduce", "slice",
                           "keep", "scatter", "gather", "broadcast", "relocate", "move", "permute", "send"})
    EXPECT_GT(kinds[kind], 0) << kind << ": " << seen;
  EXPECT_LT(by_elements, pairs / 4) << seen;
}

/// Any layouts at all: strides that go back, coordinates with gaps, copies that overlap.
TEST(Collective, SendsWhatNoDigitsSay) {
  constexpr int pairs = sampled(1000);
  int sent = 0;
  for (int n = 0; n < pairs; ++n) {
    Random random(static_cast<uint64_t>(n) + 5000);
    const std::vector<int64_t> extents = random.extents();
    const auto as_mesh = [&] {
      Layout layout = random.layout(extents);
      for (auto* iters : {&layout.shards, &layout.replicas})
        for (Iter& iter : *iters)
          if (iter.axis != Axis("lane")) iter.axis = Axis();
      const Dim on_v = offset_on(layout, "v");
      layout.offset.erase(Axis("v"));
      add_offset(layout, "m", on_v);
      return renamed(layout, "lane", "x");
    };
    const Layout from = as_mesh(), to = as_mesh();
    const Counts counts{{"x", 64}};
    const Outcome<Collective> found = collective(from, to, counts);
    if (!found) continue;
    // Elements that share a place in the first have lost their contents; what was stored last is there.
    std::set<Spot> seen;
    bool shared = false;
    for (int64_t x = 0; x < size_of(from); ++x)
      for (const Spot& spot : spots_of(from, x, counts)) shared |= !seen.insert(spot).second;
    if (shared) continue;
    ASSERT_EQ(run(*found, shards_of(from, counts)).shards, shards_of(to, counts))
        << print(from) << " -> " << print(to) << ": " << steps_text(*found);
    sent += !found->by_elements.empty();
  }
  EXPECT_GT(sent, pairs / 50);
}

}  // namespace
}  // namespace axon::layout
