// Layouts from text, random layouts, and the meaning of a layout by its definition, for the tests of layout/.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "../sanitized.h"
#include "layout/outcome.h"
#include "layout/text.h"

namespace axon::layout {

constexpr int random_layouts = sampled(10000);

/// Names of sizes are variables of one scope.
class Names {
 public:
  Dim operator()(std::string_view name) {
    const auto found = names_.find(name);
    if (found != names_.end()) return found->second;
    return names_.emplace(name, shape::fresh_var(std::string(name))).first->second;
  }
  shape::Var var(std::string_view name) { return *(*this)(name).as_var(); }
  shape::NameLookup lookup() {
    return [this](std::string_view name) { return std::optional((*this)(name)); };
  }
  Layout layout(std::string_view text, const Axes& axes = {}) {
    ParseError error;
    const auto out = parse(text, lookup(), axes, &error);
    if (!out) ADD_FAILURE() << text << ": " << error.message << " at " << error.offset;
    return out.value_or(Layout());
  }
  Dim dim(std::string_view text) { return *shape::parse_dim(text, lookup()); }

 private:
  std::map<std::string, Dim, std::less<>> names_;
};

inline Layout layout_of(std::string_view text) { return Names().layout(text); }

inline std::string text_of(const Needs& facts) {
  std::string out;
  for (const shape::Fact& fact : facts) out += (out.empty() ? "" : "; ") + fact.str();
  return out;
}

// ---- The definition ----

/// A point of the axes that random layouts have: `m`, `v` and `lane`.
using Plain = std::array<int64_t, 3>;
using PlainSet = std::set<Plain>;

inline size_t plain_axis(const Axis& axis) { return axis.name == "m" ? 0 : axis.name == "v" ? 1 : 2; }
inline int64_t value(const Dim& dim) { return dim.constant().value(); }
inline int64_t size_of(const Layout& layout) { return value(size(layout)); }

inline Plain plain_place(const Layout& layout, int64_t x) {
  Plain at{};
  for (auto iter = layout.shards.rbegin(); iter != layout.shards.rend(); ++iter) {
    at[plain_axis(iter->axis)] += x % value(iter->extent) * value(iter->stride);
    x /= value(iter->extent);
  }
  for (const auto& [axis, amount] : layout.offset) at[plain_axis(axis)] += value(amount);
  return at;
}
inline PlainSet plain_points(const Layout& layout, int64_t x) {
  PlainSet all{plain_place(layout, x)};
  for (const Iter& iter : layout.replicas) {
    PlainSet more;
    for (Plain at : all)
      for (int64_t digit = 0; digit < value(iter.extent); ++digit) {
        more.insert(at);
        at[plain_axis(iter.axis)] += value(iter.stride);
      }
    all = more;
  }
  return all;
}
inline std::vector<PlainSet> all_points(const Layout& layout) {
  std::vector<PlainSet> out;
  for (int64_t x = 0; x < size_of(layout); ++x) out.push_back(plain_points(layout, x));
  return out;
}

// ---- Random layouts ----

class Random {
 public:
  explicit Random(uint64_t seed) : random_(seed) {}
  int64_t number(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  bool chance(int percent) { return number(0, 99) < percent; }

  /// A well-formed layout of these extents: negative strides, strides of 0, strides that go on where the next
  /// digit ends, replicas that overlap, offsets.
  Layout layout(const std::vector<int64_t>& extents) {
    for (;;) {
      Layout out;
      for (size_t i = extents.size(); i-- > 0;) {
        Iter iter{extents[i], 0, axis()};
        iter.stride = stride(iter.axis);
        if (!out.shards.empty() && chance(40))
          iter = {extents[i], out.shards.back().stride * out.shards.back().extent, out.shards.back().axis};
        out.shards.push_back(iter);
      }
      std::reverse(out.shards.begin(), out.shards.end());
      for (int64_t i = chance(60) ? 0 : number(1, 2); i > 0; --i) {
        const Axis on = axis();
        out.replicas.push_back({number(1, 3), stride(on), on});
      }
      if (chance(40)) add_offset(out, "m", number(-9, 9));
      add_offset(out, "lane", number(0, 9));
      if (!why_ill_formed(out)) return out;
    }
  }
  Layout layout() { return layout(extents()); }
  /// Of one to four digits, at most 64 elements.
  std::vector<int64_t> extents() {
    std::vector<int64_t> out;
    int64_t size = 1;
    for (int64_t i = number(0, 4); i > 0; --i) {
      const int64_t extent = number(1, 4);
      if (size * extent > 64) break;
      size *= extent;
      out.push_back(extent);
    }
    return out;
  }
  /// A shape of that size.
  std::vector<int64_t> shape(int64_t size) {
    std::vector<int64_t> out;
    while (size > 1) {
      std::vector<int64_t> divisors;
      for (int64_t d = 1; d <= size; ++d)
        if (size % d == 0) divisors.push_back(d);
      const int64_t extent =
          divisors[static_cast<size_t>(number(0, static_cast<int64_t>(divisors.size()) - 1))];
      out.push_back(extent);
      size /= extent;
    }
    return out;
  }

 private:
  Axis axis() {
    const int64_t kind = number(0, 5);
    return kind < 3 ? "m" : kind < 4 ? "v" : "lane";
  }
  int64_t stride(const Axis& axis) { return axis.name == "lane" ? number(-2, 3) : number(-6, 8); }
  std::mt19937_64 random_;
};

inline Shape shape_of(const std::vector<int64_t>& extents) { return {extents.begin(), extents.end()}; }

}  // namespace axon::layout
