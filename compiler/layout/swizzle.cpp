// See swizzle.h.
#include "layout/swizzle.h"

#include <fmt/format.h>

#include <algorithm>

#include "layout/canonical.h"
#include "layout/group.h"
#include "layout/sums.h"

namespace axon::layout {

std::optional<std::string> why_ill_formed(const Swizzle& s) {
  constexpr int most = 62;
  if (s.base < 0 || s.bits < 0 || s.shift < s.bits || s.base > most || s.shift > most ||
      s.base + s.bits + s.shift > most)
    return fmt::format("({},{},{}) is no swizzle: (M, B, S) with 0 <= M, 0 <= B <= S and M + B + S <= {} is",
                       s.base, s.bits, s.shift, most);
  return std::nullopt;
}

int64_t swizzled(const Swizzle& s, int64_t address) {
  const int64_t mask = ((int64_t{1} << s.bits) - 1) << s.base;
  return address ^ ((address >> s.shift) & mask);
}

std::set<Point> points(const Swizzled& tile, int64_t x) {
  std::set<Point> out;
  for (Point point : points(tile.layout, x)) {
    if (const auto at = point.find("m"); at != point.end()) at->second = swizzled(tile.swizzle, at->second);
    out.insert(std::move(point));
  }
  return out;
}

Outcome<Layout> composed(const Swizzled& tile) {
  Layout out = canonical(tile.layout);
  if (tile.swizzle.bits == 0) return out;
  if (!on_axis(out, "m").replicas.empty()) return Refusal{"replicas in a swizzled memory"};
  const auto elements = size(out).constant();
  if (!elements || static_cast<size_t>(*elements) > most_sums || !is_constant(out))
    return Refusal{"a swizzle is composed with tiles of numbers"};
  const Evaluator evaluator(out);
  const auto& axes = evaluator.axes();
  const size_t memory = static_cast<size_t>(std::find(axes.begin(), axes.end(), Axis("m")) - axes.begin());
  if (memory == axes.size()) return out;
  const auto at = [&](int64_t x) {
    std::vector<int64_t> place = evaluator.base(x);
    place[memory] = swizzled(tile.swizzle, place[memory]);
    return place;
  };
  const auto shards = fit(*elements, axes, at);
  if (!shards) return Refusal{"the swizzle moves elements of the tile apart"};
  out.shards = *shards;
  out.offset["m"] = 0;
  add_offset(out, "m", at(0)[memory]);
  return out;
}

}  // namespace axon::layout
