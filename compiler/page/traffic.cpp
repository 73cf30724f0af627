// See traffic.h. The bytes of a box are a product over its axes. Axes that depend on different coordinates
// are summed apart: where each axis depends on one coordinate alone, the tasks of a grid are never
// enumerated.
#include "page/traffic.h"

#include <algorithm>
#include <vector>

namespace axon::page {

namespace {

using shape::Dim;
using shape::Var;

/// Coordinates and loop indices that are looked at together, and the lengths of boxes that depend on them.
struct Group {
  std::vector<Var> vars;
  std::vector<Dim> lengths;
};

class Boxes {
 public:
  Boxes(const task::Program& p, const task::TaskType& type, const shape::Assignment& values)
      : values_(values) {
    for (task::LoopId loop : type.loops) add(p.loops[loop].index, p.loops[loop].extent);
    for (const task::Coordinate& c : type.coordinates) add(c.var, c.extent);
  }

  /// Elements of one access by all tasks.
  std::optional<double> elements(const task::Access& access) {
    std::vector<Group> groups;
    for (const auto& [var, extent] : extents_) join(groups, with(var, extent), {});
    for (const task::Interval& interval : access.box) {
      const Dim length = interval.high - interval.low;
      join(groups, length.vars(), {length});
    }
    double product = 1;
    for (const Group& group : groups) {
      const auto sum = sum_of(group, 0);
      if (!sum) return std::nullopt;
      product *= *sum;
    }
    return product;
  }

 private:
  static constexpr int64_t most_points = 1 << 20;  ///< of one type

  void add(Var var, const Dim& extent) { extents_.emplace_back(var, extent); }

  static std::vector<Var> with(Var var, const Dim& extent) {
    std::vector<Var> vars = extent.vars();
    vars.push_back(var);
    return vars;
  }

  bool is_index(Var var) const {
    return std::any_of(extents_.begin(), extents_.end(), [&](const auto& e) { return e.first == var; });
  }

  /// Unites the groups that have one of the variables.
  void join(std::vector<Group>& groups, const std::vector<Var>& vars, std::vector<Dim> lengths) const {
    Group all{{}, std::move(lengths)};
    for (Var var : vars)
      if (is_index(var)) all.vars.push_back(var);
    std::erase_if(groups, [&](const Group& group) {
      const bool met = std::any_of(all.vars.begin(), all.vars.end(), [&](Var var) {
        return std::find(group.vars.begin(), group.vars.end(), var) != group.vars.end();
      });
      if (!met) return false;
      for (Var var : group.vars)
        if (std::find(all.vars.begin(), all.vars.end(), var) == all.vars.end()) all.vars.push_back(var);
      all.lengths.insert(all.lengths.end(), group.lengths.begin(), group.lengths.end());
      return true;
    });
    groups.push_back(std::move(all));
  }

  /// Over all values of the group's variables from that number on, in the order of the loops around.
  std::optional<double> sum_of(const Group& group, size_t from) {
    while (from < extents_.size() &&
           std::find(group.vars.begin(), group.vars.end(), extents_[from].first) == group.vars.end())
      ++from;
    if (from == extents_.size()) return product_of(group.lengths);
    const auto& [var, extent] = extents_[from];
    const auto end = extent.evaluate(values_);
    if (!end) return std::nullopt;
    if (group.lengths.empty() && group.vars.size() == 1) return static_cast<double>(*end);
    double sum = 0;
    for (int64_t at = 0; at < *end; ++at) {
      if (++points_ > most_points) return std::nullopt;
      values_[var] = at;
      const auto part = sum_of(group, from + 1);
      if (!part) return std::nullopt;
      sum += *part;
    }
    values_.erase(var);
    return sum;
  }

  std::optional<double> product_of(const std::vector<Dim>& lengths) const {
    double product = 1;
    for (const Dim& length : lengths) {
      const auto value = length.evaluate(values_);
      if (!value) return std::nullopt;
      product *= static_cast<double>(std::max<int64_t>(*value, 0));
    }
    return product;
  }

  shape::Assignment values_;
  std::vector<std::pair<Var, Dim>> extents_;  ///< of the loops around, and of the grid
  int64_t points_ = 0;
};

}  // namespace

std::optional<double> box_bytes(const task::Program& p, task::TaskTypeId id,
                                const shape::Assignment& values) {
  const task::TaskType& type = p.types[id];
  Boxes boxes(p, type, values);
  double bytes = 0;
  for (const task::Access& access : type.accesses) {
    const auto elements = boxes.elements(access);
    if (!elements) return std::nullopt;
    bytes += *elements * static_cast<double>(base::elem_bytes(p.buffers[access.buffer].elem));
  }
  return bytes;
}

}  // namespace axon::page
