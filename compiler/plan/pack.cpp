// See pack.h.
#include "plan/pack.h"

#include <algorithm>
#include <numeric>

#include "base/work.h"

namespace axon::plan {

namespace {

constexpr size_t most_rounds = 8;  ///< of improvements

class Packer {
 public:
  Packer(const std::vector<Bytes>& bytes, const Conflicts& conflicts)
      : bytes_(bytes), neighbours_(conflicts.size()) {
    for (uint32_t b = 0; b < conflicts.size(); ++b)
      for (const uint32_t a : conflicts[b]) {
        neighbours_[a].push_back(b);
        neighbours_[b].push_back(a);
      }
  }

  Packing run() {
    std::vector<uint32_t> by_first(neighbours_.size());
    std::iota(by_first.begin(), by_first.end(), 0);
    for (size_t s = 0; s < bytes_.size(); ++s) {
      const Bytes& bytes = bytes_[s];
      std::vector<uint32_t> by_size = by_first;
      std::stable_sort(by_size.begin(), by_size.end(),
                       [&](uint32_t a, uint32_t b) { return bytes.of[a] > bytes.of[b]; });
      try_order(s, by_size);
    }
    try_order(0, by_first);
    for (size_t n = 0; n < most_rounds && improve(); ++n) continue;
    return std::move(best_);
  }

 private:
  /// Keeps the packing of this order at a choice of sizes if it is the best one.
  bool try_order(size_t choice, const std::vector<uint32_t>& order) {
    Packing packing;
    packing.offset = place(bytes_[choice].of, order);
    find_cost(packing);
    if (!best_.offset.empty() && sum(packing.cost) >= sum(best_.cost)) return false;
    best_ = std::move(packing);
    order_ = order;
    return true;
  }

  /// Places first what ends highest at the choice of sizes with the worst cost ("squeaky wheel" optimization,
  /// Joslin and Clements 1999). Returns whether that is better.
  bool improve() {
    const auto worst = std::max_element(best_.cost.begin(), best_.cost.end()) - best_.cost.begin();
    const auto& begin = best_.begin[worst];
    const auto end = [&](uint32_t b) { return begin[b] + bytes_[worst].of[b]; };
    const std::vector<uint32_t> order = order_;
    if (order.empty()) return false;
    const uint32_t highest = *std::max_element(order.begin(), order.end(),
                                               [&](uint32_t a, uint32_t b) { return end(a) < end(b); });
    std::vector<uint32_t> moved{highest};
    for (const uint32_t b : order)
      if (b != highest) moved.push_back(b);
    for (size_t s = 0; s < bytes_.size(); ++s)
      if (try_order(s, moved)) return true;
    return false;
  }

  static double sum(const std::vector<double>& cost) {
    return std::accumulate(cost.begin(), cost.end(), 0.0);
  }

  /// Returns the offsets: each is the lowest that the lives placed before it leave free.
  std::vector<int64_t> place(const std::vector<int64_t>& bytes, const std::vector<uint32_t>& order) const {
    std::vector<int64_t> offset(bytes.size(), -1);
    for (const uint32_t b : order) {
      std::vector<std::pair<int64_t, int64_t>> taken;
      for (const uint32_t a : neighbours_[b])
        if (offset[a] >= 0) taken.emplace_back(offset[a], offset[a] + bytes[a]);
      std::sort(taken.begin(), taken.end());
      base::work(1 + taken.size());
      int64_t at = 0;
      for (const auto& [begin, end] : taken) {
        if (at + bytes[b] <= begin) break;
        at = std::max(at, end);
      }
      offset[b] = at;
    }
    return offset;
  }

  /// Computes where lives begin, and the cost, at each choice of sizes.
  void find_cost(Packing& packing) const {
    const auto& offset = packing.offset;
    std::vector<uint32_t> order(offset.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return offset[a] < offset[b]; });
    for (const Bytes& bytes : bytes_) {
      std::vector<int64_t> begin(offset.size(), 0), end(offset.size(), 0);
      int64_t most = 0;
      for (const uint32_t b : order) {
        base::work(1 + neighbours_[b].size());
        for (const uint32_t a : neighbours_[b]) begin[b] = std::max(begin[b], end[a]);
        end[b] = begin[b] + bytes.of[b];
        most = std::max(most, end[b]);
      }
      packing.cost.push_back(static_cast<double>(most) /
                             static_cast<double>(std::max<int64_t>(bytes.live, 1)));
      packing.begin.push_back(std::move(begin));
    }
  }

  const std::vector<Bytes>& bytes_;
  Packing best_;                 ///< so far
  std::vector<uint32_t> order_;  ///< in which the best one was placed
  Conflicts neighbours_;         ///< in both directions
};

}  // namespace

Packing pack(const std::vector<Bytes>& bytes, const Conflicts& conflicts) {
  return Packer(bytes, conflicts).run();
}

}  // namespace axon::plan
