// An XOR of address bits behind a layout, which spreads the columns of a tile over the banks of a memory.
//
// In: a layout of numbers and (M, B, S): B bits of the address `m` from bit M on are XORed with those S above
// them. Out: points. Invariant: S >= B, so the map is its own inverse and maps every aligned block of
// 2^(M + B + S) places onto itself.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "layout/evaluate.h"
#include "layout/layout.h"
#include "layout/outcome.h"

namespace axon::layout {

struct Swizzle {
  int base = 0, bits = 0, shift = 0;  ///< M, B, S; B = 0 changes nothing
  friend bool operator==(const Swizzle&, const Swizzle&) = default;
};
std::optional<std::string> why_ill_formed(const Swizzle&);
int64_t swizzled(const Swizzle&, int64_t address);
/// How many places a block has that is mapped onto itself.
inline int64_t period(const Swizzle& s) { return int64_t{1} << (s.base + s.bits + s.shift); }

/// First the layout, then the swizzle of its `m`.
struct Swizzled {
  Layout layout;
  Swizzle swizzle;
  friend bool operator==(const Swizzled&, const Swizzled&) = default;
};
std::set<Point> points(const Swizzled&, int64_t x);
/// One layout that has the same points: of a part of a tile in which no XOR shows, or shows as an offset.
/// Refused where no shards place the elements so, or where replicas lie on `m`.
Outcome<Layout> composed(const Swizzled&);

}  // namespace axon::layout
