// See footprint.h.
#include "plan/footprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/work.h"

namespace axon::plan {

namespace {

using task::Program;

constexpr double typical_extent = 1024;
constexpr double most_typical = 4;  ///< times that: what an extent of several sizes may have, as sums do
constexpr int64_t small_extent = 2;
constexpr size_t most_small = 12;                 ///< sizes that are small each by itself and in pairs
constexpr int64_t least_live = int64_t{1} << 14;  ///< bytes: of less it does not matter how they are packed
constexpr int64_t most_bytes = int64_t{1} << 44;

/// Returns the sizes that the shapes of temporaries mention, in the order of the graph's.
std::vector<const graph::Size*> sizes_in(const Program& p, const std::vector<Life>& lives) {
  std::vector<const graph::Size*> sizes;
  for (const graph::Size& size : p.graph->sizes) {
    const auto mentions = [&](const Life& life) {
      const auto& shape = p.buffers[life.buffer].shape;
      return std::any_of(shape.begin(), shape.end(),
                         [&](const shape::Dim& extent) { return extent.contains(size.var); });
    };
    if (std::any_of(lives.begin(), lives.end(), mentions)) sizes.push_back(&size);
  }
  return sizes;
}

int64_t rounded_bytes(const task::Buffer& buffer, const shape::Assignment& sizes) {
  int64_t bytes = base::elem_bytes(buffer.elem);
  for (const shape::Dim& extent : buffer.shape) {
    base::work();
    const int64_t count =
        std::max<int64_t>(1, extent.evaluate(sizes).value_or(static_cast<int64_t>(typical_extent)));
    bytes = std::min(most_bytes / count, bytes) * count;
  }
  return (bytes + slot_alignment - 1) / slot_alignment * slot_alignment;
}

}  // namespace

/// An extent of an input that is a product, such as that of all heads together, has about the typical number
/// of elements as a whole: its factors share it out.
shape::Assignment typical_sizes(const Program& p) {
  std::map<shape::Var, double> sizes;
  for (const graph::Size& size : p.graph->sizes) sizes[size.var] = typical_extent;
  const auto assignment = [&] {
    shape::Assignment values;
    for (const auto& [var, value] : sizes)
      values[var] = std::max<int64_t>(1, static_cast<int64_t>(std::llround(value)));
    return values;
  };
  for (const graph::Input& input : p.graph->inputs)
    for (const shape::Dim& extent : input.type.shape) {
      const auto vars = extent.vars();
      if (vars.size() < 2) continue;
      for (size_t n = 0; n < vars.size(); ++n) {  // again where some have been shared out by another extent
        const auto value = extent.evaluate(assignment());
        if (!value || static_cast<double>(*value) <= most_typical * typical_extent) break;
        const double less =
            std::pow(typical_extent / static_cast<double>(*value), 1 / static_cast<double>(vars.size()));
        for (const shape::Var var : vars)
          if (const auto it = sizes.find(var); it != sizes.end())
            it->second = std::max(1.0, it->second * less);
      }
    }
  return assignment();
}

Bytes bytes_at(const Program& p, const std::vector<Life>& lives, const shape::Assignment& sizes) {
  Bytes list;
  std::map<uint32_t, int64_t> changes;  // by position: how many bytes more are live than before
  for (const Life& life : lives) {
    list.of.push_back(rounded_bytes(p.buffers[life.buffer], sizes));
    changes[life.first] += list.of.back();
    changes[life.last + 1] -= list.of.back();
  }
  int64_t live = 0;
  for (const auto& [position, change] : changes) list.live = std::max(list.live, live += change);
  return list;
}

std::vector<Bytes> typical_bytes(const Program& p, const std::vector<Life>& lives) {
  const shape::Assignment typical = typical_sizes(p);
  std::vector<Bytes> list{bytes_at(p, lives, typical)};
  const auto add = [&](const shape::Assignment& sizes) {
    Bytes bytes = bytes_at(p, lives, sizes);
    const bool is_new =
        std::none_of(list.begin(), list.end(), [&](const Bytes& b) { return b.of == bytes.of; });
    if (is_new && bytes.live >= least_live) list.push_back(std::move(bytes));
  };
  std::vector<shape::Var> vars;
  for (const graph::Size* size : sizes_in(p, lives)) vars.push_back(size->var);
  for (const size_t bit : {0U, 1U, 2U, 3U})
    for (const size_t smaller : {0U, 1U}) {
      shape::Assignment sizes = typical;
      for (size_t n = 0; n < vars.size(); ++n)
        if ((n >> bit) % 2 == smaller) sizes[vars[n]] = std::max<int64_t>(1, sizes[vars[n]] / 16);
      add(sizes);
    }
  const size_t count = std::min(vars.size(), most_small);
  for (size_t n = 0; n < count; ++n)
    for (size_t m = n; m < count; ++m) {
      shape::Assignment sizes = typical;
      for (const shape::Var var : {vars[n], vars[m]}) sizes[var] = std::min(sizes[var], small_extent);
      add(sizes);
    }
  return list;
}

Footprint footprint(const Variant& v, const shape::Assignment& sizes) {
  const Bytes bytes = bytes_at(v.program, lives_of(v.program), sizes);
  Footprint footprint{0, bytes.live};
  std::vector<int64_t> ends;
  for (const Slot& slot : v.slots) {
    int64_t begin = 0;
    for (const uint32_t below : slot.above) begin = std::max(begin, ends[below]);
    ends.push_back(begin + rounded_bytes(v.program.buffers[slot.buffer], sizes));
    footprint.arena = std::max(footprint.arena, ends.back());
  }
  return footprint;
}

std::string describe_footprint(const Variant& v) {
  shape::Assignment sizes = typical_sizes(v.program);
  for (const Fact& fact : v.program.guard) {  // of a variant for few elements
    const auto lhs = fact.lhs.evaluate(sizes), rhs = fact.rhs.evaluate(sizes);
    if (lhs && rhs && shape::holds(fact.relation, *lhs, *rhs)) continue;
    for (const shape::Dim& side : {fact.lhs, fact.rhs})
      for (const shape::Var var : side.vars()) sizes[var] = 1;
  }
  std::string where;
  for (const graph::Size* size : sizes_in(v.program, lives_of(v.program)))
    where += fmt::format("{}{} = {}", where.empty() ? ", with " : ", ", size->name, sizes.at(size->var));
  const auto [arena, live] = footprint(v, sizes);
  return fmt::format("temporaries take {} bytes, {:.2f} times the {} that are live at once{}", arena,
                     static_cast<double>(arena) / static_cast<double>(std::max<int64_t>(live, 1)), live,
                     where);
}

}  // namespace axon::plan
