// See places.h.
#include "tile/places.h"

#include <fmt/format.h>

#include <algorithm>

#include "layout/evaluate.h"

namespace axon::tile {

namespace {

/// What one step on the axis is worth: in threads, in lanes of a vector, or on `m`.
struct Worth {
  int64_t holder = 0, at = 0;
};
std::optional<Worth> worth(const layout::Axis& axis) {
  constexpr int64_t thread = most_vector_lanes, warp = most_lanes * thread;
  if (axis.name == "m") return Worth{0, 1};
  if (axis.name == "v") return Worth{1, 0};
  if (axis.name == "lane" || axis.name == "thread") return Worth{thread, 0};
  if (axis.name == "warp") return Worth{warp, 0};
  if (axis.name == "warpgroup") return Worth{4 * warp, 0};
  return std::nullopt;
}

}  // namespace

std::optional<std::string> why_no_place(const layout::Swizzled& swizzled) {
  for (const layout::Axis& axis : layout::axes_of(swizzled.layout))
    if (!worth(axis)) return fmt::format("a tile has no axis `{}`", axis.name);
  return std::nullopt;
}

Places::Places(const layout::Swizzled& swizzled) {
  const layout::Evaluator evaluator(swizzled.layout);
  const auto replicas = evaluator.replicas();
  elements_ = evaluator.size();
  copies_ = static_cast<int64_t>(replicas.size());
  std::vector<Worth> worths;
  for (const layout::Axis& axis : evaluator.axes()) worths.push_back(*worth(axis));
  points_.reserve(static_cast<size_t>(elements_ * copies_));
  for (int64_t x = 0; x < elements_; ++x) {
    const std::vector<int64_t> base = evaluator.base(x);
    for (const auto& replica : replicas) {
      Point point;
      for (size_t a = 0; a < base.size(); ++a) {
        point.holder += (base[a] + replica[a]) * worths[a].holder;
        point.at += (base[a] + replica[a]) * worths[a].at;
      }
      point.at = layout::swizzled(swizzled.swizzle, point.at);
      points_.push_back(point);
    }
    if (copies_ > 1) std::sort(points_.end() - copies_, points_.end());
  }
  for (const Point& point : points_) {
    span_ = std::max(span_, point.at + 1);
    vector_lanes_ = std::max(vector_lanes_, point.holder % most_vector_lanes + 1);
  }
}

std::optional<int64_t> Places::held(int64_t element, int64_t holder) const {
  const auto points = of(element);
  const auto found = std::lower_bound(points.begin(), points.end(), holder,
                                      [](const Point& p, int64_t h) { return p.holder < h; });
  if (found == points.end() || found->holder != holder) return std::nullopt;
  return found - points.begin();
}

bool Places::injective() const {
  std::vector<std::pair<Point, int64_t>> all;
  all.reserve(points_.size());
  for (int64_t x = 0; x < elements_; ++x)
    for (const Point& point : of(x)) all.emplace_back(point, x);
  if (!std::is_sorted(all.begin(), all.end())) std::sort(all.begin(), all.end());
  for (size_t i = 1; i < all.size(); ++i)
    if (all[i].first == all[i - 1].first && all[i].second != all[i - 1].second) return false;
  return true;
}

}  // namespace axon::tile
