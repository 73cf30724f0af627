// See differences.h.
#include "source/differences.h"

#include <algorithm>

namespace axon::source {

namespace {

using Pieces = std::vector<std::string_view>;

/// The search of Myers: `reach[k]` is how far down the diagonal x - y = k one comes with d insertions and
/// deletions, for d = 0, 1, ...; the state before each d is kept, from which the way back is read.
class Search {
 public:
  Search(const Pieces& a, const Pieces& b) : a_(a), b_(b) {
    while (front_ < std::min(a.size(), b.size()) && a[front_] == b[front_]) ++front_;
    size_t back = 0;
    while (back < std::min(a.size(), b.size()) - front_ && a[a.size() - 1 - back] == b[b.size() - 1 - back])
      ++back;
    n_ = static_cast<long>(a.size() - front_ - back);
    m_ = static_cast<long>(b.size() - front_ - back);
  }

  std::vector<Change> run() {
    if (n_ == 0 && m_ == 0) return {};
    for (long d = 0; d <= most; ++d) {
      trace_.push_back(reach_);
      if (step(d)) return way_back();
    }
    return {{place(0), place(n_), place(0), place(m_)}};
  }

 private:
  static constexpr long most = 400;
  using Reach = std::vector<long>;

  static long& at(Reach& reach, long k) { return reach[static_cast<size_t>(k + most + 1)]; }
  size_t place(long i) const { return front_ + static_cast<size_t>(i); }
  static bool inserts(Reach& reach, long k, long d) {
    return k == -d || (k != d && at(reach, k - 1) < at(reach, k + 1));
  }

  /// Takes every diagonal one change further; whether one has come to the end.
  bool step(long d) {
    for (long k = -d; k <= d; k += 2) {
      long x = inserts(reach_, k, d) ? at(reach_, k + 1) : at(reach_, k - 1) + 1;
      while (x < n_ && x - k < m_ && x - k >= 0 && a_[place(x)] == b_[place(x - k)]) ++x;
      at(reach_, k) = x;
      if (x >= n_ && x - k >= m_) return true;
    }
    return false;
  }

  std::vector<Change> way_back() {
    std::vector<Change> out;
    long x = n_, y = m_;
    for (long d = static_cast<long>(trace_.size()) - 1; d > 0; --d) {
      Reach& before = trace_[static_cast<size_t>(d)];
      const long k = x - y;
      const bool inserted = inserts(before, k, d);
      const long from_k = inserted ? k + 1 : k - 1;
      const long from = at(before, from_k), to = inserted ? from : from + 1;
      const long from_y = from - from_k, to_y = inserted ? from_y + 1 : from_y;
      if (!out.empty() && out.back().first == place(to) && out.back().new_first == place(to_y)) {
        out.back().first = place(from);
        out.back().new_first = place(from_y);
      } else {
        out.push_back({place(from), place(to), place(from_y), place(to_y)});
      }
      x = from;
      y = from_y;
    }
    std::reverse(out.begin(), out.end());
    return out;
  }

  const Pieces &a_, &b_;
  size_t front_ = 0;
  long n_ = 0, m_ = 0;
  Reach reach_ = Reach(2 * most + 3, 0);
  std::vector<Reach> trace_;
};

}  // namespace

std::vector<Change> differences(const Pieces& before, const Pieces& after) {
  return Search(before, after).run();
}

}  // namespace axon::source
