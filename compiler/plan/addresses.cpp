// See addresses.h.
#include "plan/addresses.h"

#include <algorithm>

#include "base/work.h"
#include "plan/side_by_side.h"

namespace axon::plan {

namespace {

/// How many task types shall stand between two temporaries that share memory by waits of their own. Each is
/// tried; a wait for tasks that ran longer before than the first of them is taken to cost nothing.
constexpr uint32_t gaps[] = {8, 6, 4, 3, 2, 1, 0};
/// An arena of this many times what is live at once is small enough: fewer waits are then worth more.
constexpr double small_enough = 1.12;
/// Where no arena is so small: this many times the least one.
constexpr double nearly_least = 1.03;
/// Waits that are tried to be avoided, one by one.
constexpr size_t most_tries = 32;

}  // namespace

Addresses::Addresses(const task::Program& p, const std::vector<Life>& lives, Reuse& reuse)
    : lives_(lives),
      spans_(spans_of_loops(p)),
      lines_(possible_lines(p)),
      bytes_(typical_bytes(p, lives)),
      near_(neighbours(reuse)) {
  std::vector<Packing> packings;
  for (const uint32_t gap : gaps) {
    packings.push_back(pack(bytes_, conflicts(gap)));
    const auto& cost = packings.back().cost;
    if (least_.empty()) least_ = cost;
    for (size_t s = 0; s < cost.size(); ++s) least_[s] = std::min(least_[s], cost[s]);
  }
  size_t chosen = packings.size() - 1;
  for (size_t n = packings.size(); n-- > 0;)
    if (is_small(packings[n]) &&
        (!is_small(packings[chosen]) || delay(packings[n]) <= delay(packings[chosen])))
      chosen = n;
  packing_ = std::move(packings[chosen]);
  avoid_waits(conflicts(gaps[chosen]));
}

bool Addresses::is_small(const Packing& packing) const {
  return std::equal(least_.begin(), least_.end(), packing.cost.begin(), [](double least, double own) {
    return own <= std::max(small_enough, nearly_least * least);
  });
}

bool Addresses::overlap(const Packing& packing, uint32_t a, uint32_t b) const {
  for (size_t s = 0; s < bytes_.size(); ++s) {
    const auto& begin = packing.begin[s];
    if (begin[a] < begin[b] + bytes_[s].of[b] && begin[b] < begin[a] + bytes_[s].of[a]) return true;
  }
  return false;
}

// ---- which two temporaries concern each other ----

/// Pairs of lives of which one begins soon after the other ends, in program order or from one iteration of a
/// loop to the next. All others are far apart.
std::set<std::pair<uint32_t, uint32_t>> Addresses::close_pairs() const {
  std::set<std::pair<uint32_t, uint32_t>> pairs;
  const auto count = static_cast<uint32_t>(lives_.size());
  for (uint32_t a = 0; a < count; ++a)
    for (uint32_t b = a + 1; b < count && lives_[b].first <= lives_[a].last + gaps[0]; ++b) {
      base::work();
      pairs.emplace(a, b);
    }
  std::map<task::LoopId, std::vector<uint32_t>> starts, ends;
  for (uint32_t a = 0; a < count; ++a)
    for (const task::LoopId loop : lives_[a].private_in) {
      if (lives_[a].first <= spans_.at(loop).first + gaps[0]) starts[loop].push_back(a);
      if (lives_[a].last + gaps[0] >= spans_.at(loop).last) ends[loop].push_back(a);
    }
  for (const auto& [loop, list] : starts)
    for (const uint32_t a : list)
      for (const uint32_t b : ends[loop])
        if (a < b) pairs.emplace(a, b);
  return pairs;
}

std::vector<Addresses::Near> Addresses::neighbours(Reuse& reuse) const {
  std::vector<Near> near;
  for (const auto& [a, b] : close_pairs()) {
    if (!reuse.is_behind(a, b) || are_in_one_line(a, b))
      near.push_back({a, b, true, {}});
    else if (auto list = handovers(a, b, reuse); !list.empty())
      near.push_back({a, b, false, std::move(list)});
  }
  return near;
}

/// Do segments that may run side by side end the one life and begin the other? Then both may be live at once,
/// and a wait between the two would keep the segments from that.
bool Addresses::are_in_one_line(uint32_t a, uint32_t b) const {
  return lines_.at(lives_[a].tasks.back()) == lines_.at(lives_[b].tasks.front());
}

/// What the waits of the program do not order yet, of a life and one behind it.
std::vector<Addresses::Handover> Addresses::handovers(uint32_t a, uint32_t b, Reuse& reuse) const {
  const Life &earlier = lives_[a], &later = lives_[b];
  std::vector<Handover> list;
  if (const Handover h{earlier.last, later.first, {}}; h.gap() < gaps[0] && !reuse.is_ordered(a, b))
    list.push_back(h);
  for (size_t level = 0; level < shared_loops(earlier, later); ++level) {
    const task::LoopId loop = earlier.private_in[level];
    const Span& body = spans_.at(loop);
    const Handover h{later.last, earlier.first + body.last - body.first + 1, loop};
    if (h.gap() < gaps[0] && !reuse.is_ordered_around(b, a, level)) list.push_back(h);
  }
  return list;
}

/// Apart are those that are live together, and those that would take a wait over fewer task types than `gap`.
Conflicts Addresses::conflicts(uint32_t gap) const {
  Conflicts conflicts(lives_.size());
  for (const Near& n : near_)
    if (n.is_together ||
        std::any_of(n.handovers.begin(), n.handovers.end(), [&](const Handover& h) { return h.gap() < gap; }))
      conflicts[n.b].push_back(n.a);
  return conflicts;
}

// ---- which waits addresses need ----

/// The waits that have to be added, about: a wait orders all that runs before the tasks that it waits for
/// against all that runs behind those that wait.
std::vector<Addresses::Handover> Addresses::needed(const Packing& packing) const {
  std::vector<Handover> list;
  for (const Near& n : near_)
    if (!n.is_together && overlap(packing, n.a, n.b))
      list.insert(list.end(), n.handovers.begin(), n.handovers.end());
  return without_implied(std::move(list));
}

/// Those inside of which no other one lies.
std::vector<Addresses::Handover> Addresses::without_implied(std::vector<Handover> list) const {
  const auto lies_in = [](const Handover& inner, const Handover& outer, uint32_t later) {
    return outer.from <= inner.from + later && inner.to + later <= outer.to;
  };
  std::sort(list.begin(), list.end(), [](const Handover& x, const Handover& y) {
    return std::tuple(x.gap(), x.around, x.from) < std::tuple(y.gap(), y.around, y.from);
  });
  std::vector<Handover> kept;
  for (const Handover& outer : list) {
    uint32_t length = 0;
    if (outer.around) length = spans_.at(*outer.around).last - spans_.at(*outer.around).first + 1;
    const bool is_implied = std::any_of(kept.begin(), kept.end(), [&](const Handover& inner) {
      base::work();
      if (inner.around && inner.around != outer.around) return false;
      return lies_in(inner, outer, 0) || (outer.around && !inner.around && lies_in(inner, outer, length));
    });
    if (!is_implied) kept.push_back(outer);
  }
  return kept;
}

/// How much the waits may delay tasks, in units of a wait for those that ran last.
double Addresses::delay(const Packing& packing) const {
  double sum = 0;
  for (const Handover& h : needed(packing)) sum += 1 / (1.0 + h.gap());
  return sum;
}

/// One wait after the other, those for tasks that ran last first of all: what needs it gets different
/// addresses, where the arena stays small and no worse waits are needed instead.
void Addresses::avoid_waits(Conflicts conflicts) {
  std::vector<Handover> tried;
  double least_delay = delay(packing_);
  while (tried.size() < most_tries) {
    const std::vector<Handover> list = needed(packing_);
    const auto next = std::find_if(list.begin(), list.end(), [&](const Handover& h) {
      return std::find(tried.begin(), tried.end(), h) == tried.end();
    });
    if (next == list.end()) return;
    tried.push_back(*next);
    Conflicts more = conflicts;
    for (const Near& n : near_)
      if (std::find(n.handovers.begin(), n.handovers.end(), *next) != n.handovers.end())
        more[n.b].push_back(n.a);
    Packing packing = pack(bytes_, more);
    if (!is_small(packing) || delay(packing) >= least_delay) continue;
    least_delay = delay(packing);
    packing_ = std::move(packing);
    conflicts = std::move(more);
  }
}

}  // namespace axon::plan
