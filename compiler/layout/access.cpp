// See access.h.
#include "layout/access.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "layout/fuse.h"

namespace axon::layout {

int64_t bank_passes(const WarpAccess& access) {
  const int64_t lanes_of_a_pass = std::max<int64_t>(1, line_bytes / std::max(access.width, word_bytes));
  std::map<int64_t, std::map<int64_t, std::set<int64_t>>> words;  // by pass and bank
  for (const auto& [lane, address] : access.addresses)
    for (int64_t byte = 0; byte < access.width; ++byte) {
      const int64_t word = (address + byte) / word_bytes;
      words[lane / lanes_of_a_pass][word % bank_count].insert(word);
    }
  int64_t passes = 0;
  for (const auto& [pass, banks] : words) {
    size_t most = 0;
    for (const auto& [bank, of_bank] : banks) most = std::max(most, of_bank.size());
    passes += static_cast<int64_t>(most);
  }
  return passes;
}

int64_t pieces_touched(const WarpAccess& access, int64_t piece_bytes) {
  std::set<int64_t> pieces;
  for (const auto& [lane, address] : access.addresses)
    for (int64_t byte = 0; byte < access.width; ++byte) pieces.insert((address + byte) / piece_bytes);
  return static_cast<int64_t>(pieces.size());
}

namespace {

/// What one lane moves in one instruction: addresses by lane of the vector.
using Vector = std::map<int64_t, int64_t>;
/// By lane.
using Instruction = std::map<int64_t, Vector>;

int64_t take(Point& point, const Axis& axis) {
  const auto found = point.find(axis);
  if (found == point.end()) return 0;
  const int64_t at = found->second;
  point.erase(found);
  return at;
}

/// The bytes that a vector is; 0 where it is not in one piece, in order and aligned.
int64_t width_of(const Vector& vector, int64_t element_bytes) {
  const auto [first, begin] = *vector.begin();
  const int64_t width = static_cast<int64_t>(vector.size()) * element_bytes;
  for (const auto& [element, address] : vector)
    if (address != begin + (element - first) * element_bytes) return 0;
  const bool whole = vector.rbegin()->first - first + 1 == static_cast<int64_t>(vector.size());
  return whole && begin % width == 0 ? width : 0;
}

Outcome<WarpAccess> one_access(const Instruction& lanes, int64_t element_bytes) {
  WarpAccess out;
  out.width = width_of(lanes.begin()->second, element_bytes);
  for (const auto& [lane, vector] : lanes) {
    if (out.width == 0 || width_of(vector, element_bytes) != out.width)
      return Refusal{fmt::format("the {} elements of lane {} do not lie in one piece, in order and aligned",
                                 vector.size(), lane)};
    out.addresses[lane] = vector.begin()->second;
  }
  return out;
}

}  // namespace

Outcome<std::vector<WarpAccess>> accesses(const Layout& threads, const Swizzled& memory,
                                          int64_t element_bytes) {
  Layout held = threads;
  if (const AxisSplit& rule = thread_splits().at(0); axes_of(held).count(rule.fused)) {
    const Outcome<Layout> cut = split(held, rule);
    if (!cut) return cut.refusal();
    held = *cut;
  }
  if (!memory.layout.replicas.empty()) return Refusal{"an element has several places in memory"};
  if (size(held) != size(memory.layout)) return Refusal{"the sizes of the two layouts differ"};
  const int64_t elements = size(held).constant().value();
  std::map<Point, Instruction> instructions;  // by what is left of a point: warp and register
  for (int64_t x = 0; x < elements; ++x) {
    Point place = *points(memory, x).begin();
    const int64_t address = take(place, "m") * element_bytes;
    for (Point point : points(held, x)) {
      const int64_t lane = take(point, "lane"), element = take(point, "v");
      instructions[point][lane][element] = address;
    }
  }
  std::vector<WarpAccess> out;
  for (const auto& [where, lanes] : instructions) {
    const Outcome<WarpAccess> one = one_access(lanes, element_bytes);
    if (!one) return one.refusal();
    out.push_back(*one);
  }
  return out;
}

}  // namespace axon::layout
