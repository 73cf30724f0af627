// See semantics.h: lanes of a warp exchange values.
#include <fmt/format.h>

#include <algorithm>

#include "emulator/engine.h"
#include "emulator/semantics.h"

namespace axon::emulator {

namespace {

struct Source {
  uint32_t lane;
  bool other;  ///< false: the lane keeps its value
};

/// By the rules of `shfl.sync`: lanes are in segments, and `clamp` limits how far a lane may reach in its
/// own.
Source shuffle_source(Shuffle kind, uint32_t lane, uint32_t operand, uint32_t control) {
  const uint32_t segments = control >> 8 & 31, clamp = control & 31, by = operand & 31;
  const uint32_t most = (lane & segments) | (clamp & ~segments), least = lane & segments;
  int64_t from = 0;
  bool inside = false;
  switch (kind) {
    case Shuffle::up:
      from = static_cast<int64_t>(lane) - by;
      inside = from >= most;
      break;
    case Shuffle::down:
      from = lane + by;
      inside = from <= most;
      break;
    case Shuffle::bfly:
      from = lane ^ by;
      inside = from <= most;
      break;
    case Shuffle::idx:
      from = least | (by & ~segments);
      inside = from <= most;
      break;
  }
  return {inside ? static_cast<uint32_t>(from) : lane, inside};
}

void exchange(const Lanes& lanes) {
  std::array<uint64_t, 32> given{};
  std::array<Source, 32> sources{};
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if (lanes.threads[lane] == nullptr) continue;
    const uint64_t* values = lanes.values(lane);
    given[lane] = values[1];
    sources[lane] = shuffle_source(static_cast<Shuffle>(lanes.parameter), lane,
                                   static_cast<uint32_t>(values[2]), static_cast<uint32_t>(values[3]));
  }
  constexpr uint64_t undefined = 0xffffffff;  // not a number
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if (lanes.threads[lane] == nullptr) continue;
    const Source source = sources[lane];
    const bool known = lanes.threads[source.lane] != nullptr;
    lanes.values(lane)[0] = known ? given[source.lane] : undefined;
    lanes.values(lane)[1] = source.other ? 1 : 0;
    if (known || !lanes.engine.checks() || !lanes.engine.is_new(Kind::mask, lanes.site)) continue;
    lanes.engine.report(Kind::mask,
                        fmt::format("{} takes the value of lane {}, which is not in the mask {:#010x} ({})",
                                    lanes.engine.describe(*lanes.threads[lane]), source.lane, lanes.mask,
                                    lanes.engine.site(lanes.site).place));
  }
}

void count_votes(const Lanes& lanes) {
  uint32_t yes = 0;
  for (uint32_t lane = 0; lane < 32; ++lane)
    if (lanes.threads[lane] != nullptr && (lanes.values(lane)[1] & 1) != 0) yes |= 1U << lane;
  const auto result = [&]() -> uint32_t {
    switch (static_cast<Vote>(lanes.parameter)) {
      case Vote::any:
        return yes != 0;
      case Vote::all:
        return yes == lanes.mask;
      case Vote::uni:
        return yes == lanes.mask || yes == 0;
      case Vote::ballot:
        return yes;
    }
    return 0;
  };
  for (uint32_t lane = 0; lane < 32; ++lane)
    if (lanes.threads[lane] != nullptr) lanes.values(lane)[0] = result();
}

uint32_t reduce_two(Redux kind, uint32_t a, uint32_t b) {
  const auto x = static_cast<int32_t>(a), y = static_cast<int32_t>(b);
  switch (kind) {
    case Redux::add:
      return a + b;
    case Redux::min:
      return static_cast<uint32_t>(std::min(x, y));
    case Redux::max:
      return static_cast<uint32_t>(std::max(x, y));
    case Redux::umin:
      return std::min(a, b);
    case Redux::umax:
      return std::max(a, b);
    case Redux::bit_and:
      return a & b;
    case Redux::bit_or:
      return a | b;
    case Redux::bit_xor:
      return a ^ b;
  }
  return 0;
}

void reduce_all(const Lanes& lanes) {
  const auto first = static_cast<uint32_t>(__builtin_ctz(lanes.mask));
  auto all = static_cast<uint32_t>(lanes.values(first)[0]);
  for (uint32_t lane = first + 1; lane < 32; ++lane)
    if (lanes.threads[lane] != nullptr)
      all =
          reduce_two(static_cast<Redux>(lanes.parameter), all, static_cast<uint32_t>(lanes.values(lane)[0]));
  for (uint32_t lane = first; lane < 32; ++lane)
    if (lanes.threads[lane] != nullptr) lanes.values(lane)[0] = all;
}

void meet_lanes(const Call& call, uint64_t mask, Collectives::Finish finish) {
  call.engine.collectives().meet(call.self, static_cast<uint32_t>(mask), call.values, call.site,
                                 /*aligned=*/false, finish);
}

}  // namespace

void meet_warp(const Call& call) {
  meet_lanes(call, call.values[0], [](const Lanes& lanes) {
    if (lanes.engine.checks()) order_threads(lanes.threads);
  });
}
void shuffle(const Call& call) { meet_lanes(call, call.values[0], exchange); }
void vote(const Call& call) { meet_lanes(call, call.values[0], count_votes); }
void reduce_lanes(const Call& call) { meet_lanes(call, call.values[1], reduce_all); }

}  // namespace axon::emulator
