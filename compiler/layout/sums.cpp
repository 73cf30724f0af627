// See sums.h.
#include "layout/sums.h"

#include <algorithm>

#include "base/work.h"

namespace axon::layout {

std::optional<std::vector<int64_t>> sums(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  if (a.size() > most_sums / b.size()) return std::nullopt;
  base::work(a.size() * b.size());
  std::vector<int64_t> out;
  out.reserve(a.size() * b.size());
  for (const int64_t x : a)
    for (const int64_t y : b) out.push_back(x + y);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::optional<std::vector<int64_t>> sums(const std::vector<Iter>& iters) {
  std::vector<int64_t> out{0};
  for (const Iter& iter : iters) {
    const auto extent = iter.extent.constant(), stride = iter.stride.constant();
    if (!extent || !stride || static_cast<uint64_t>(*extent) > most_sums) return std::nullopt;
    std::vector<int64_t> multiples;
    for (int64_t digit = 0; digit < *extent; ++digit) multiples.push_back(digit * *stride);
    auto both = sums(out, multiples);
    if (!both) return std::nullopt;
    out = std::move(*both);
  }
  return out;
}

std::optional<std::vector<int64_t>> difference(const std::vector<int64_t>& set,
                                               const std::vector<int64_t>& part) {
  if (set.size() > most_sums / part.size()) return std::nullopt;
  std::vector<int64_t> out;
  base::work(set.size() * part.size());
  for (const int64_t q : set)
    if (std::all_of(part.begin(), part.end(),
                    [&](int64_t p) { return std::binary_search(set.begin(), set.end(), q + p); }))
      out.push_back(q);
  return out;
}

namespace {

/// Tries strides in rising order. What the ones so far do not reach has a least number, so the next stride is
/// at most that.
class Factors {
 public:
  Factors(const std::vector<int64_t>& set, const Axis& axis) : set_(set), axis_(axis) {}

  bool search(const std::vector<int64_t>& reached, int64_t last) {
    if (reached.size() == set_.size()) return true;
    const auto missing = std::mismatch(set_.begin(), set_.end(), reached.begin(), reached.end()).first;
    for (auto stride = missing; *stride >= last && *stride > 0; --stride)
      for (int64_t extent = longest(reached, *stride); extent > 1; --extent) {
        if (tries_ == 0) return false;
        --tries_;
        iters.push_back({extent, *stride, axis_});
        const auto more = sums(reached, *sums({iters.back()}));
        if (more->size() > reached.size() && search(*more, *stride)) return true;
        iters.pop_back();
      }
    return false;
  }

  std::vector<Iter> iters;

 private:
  /// The greatest extent with which everything stays in the set.
  int64_t longest(const std::vector<int64_t>& reached, int64_t stride) const {
    int64_t extent = 1;
    while (std::all_of(reached.begin(), reached.end(), [&](int64_t at) {
      return std::binary_search(set_.begin(), set_.end(), at + extent * stride);
    }))
      ++extent;
    return extent;
  }

  const std::vector<int64_t>& set_;
  const Axis& axis_;
  size_t tries_ = std::min<size_t>(1000, most_sums / set_.size());
};

}  // namespace

std::optional<std::vector<Iter>> as_iters(const std::vector<int64_t>& set, const Axis& axis) {
  Factors factors(set, axis);
  if (!factors.search({0}, 1)) return std::nullopt;
  return factors.iters;
}

}  // namespace axon::layout
