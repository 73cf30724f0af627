// See join_axes.h.
#include "tile/from_task/join_axes.h"

#include <algorithm>
#include <map>

#include "task/facts.h"

namespace axon::tile {

using graph::Scalar;
using graph::ScalarId;

namespace {

/// d * by, where `by` is not negative: minima and maxima stay outermost.
Dim times(const Dim& d, const Dim& by) {
  if (d.terms().size() == 1 && d.terms()[0].coefficient == 1 && d.terms()[0].factors.size() == 1) {
    const shape::Atom& atom = d.terms()[0].factors[0];
    if (atom.kind() == shape::AtomKind::min) return shape::min(times(atom.lhs(), by), times(atom.rhs(), by));
    if (atom.kind() == shape::AtomKind::max) return shape::max(times(atom.lhs(), by), times(atom.rhs(), by));
  }
  return d * by;
}

/// Elements between neighbours along the axis, of row-major order.
Dim stride_of(const std::vector<Dim>& shape, size_t axis) {
  Dim out(1);
  for (size_t a = axis + 1; a < shape.size(); ++a) out = out * shape[a];
  return out;
}

class Joiner {
 public:
  Joiner(const task::Program& p, const task::TaskType& type, const graph::Graph& g, const RowForm& form,
         size_t count)
      : p_(p), type_(type), g_(g), node_(g.nodes[type.node]), form_(form) {
    const size_t rank = node_.domain.size();
    for (size_t a = rank - count; a < rank; ++a) form_.joined.push_back(static_cast<uint32_t>(a));
  }

  std::optional<RowForm> run() {
    if (form_.joined.back() != form_.along || !bound_inner() || !is_worth_it()) return std::nullopt;
    for (uint32_t o = 0; o < node_.outputs.size(); ++o)
      if (!add({type_.node, o}, node_.outputs[o].at)) return std::nullopt;
    for (const ScalarId output : form_.outputs)
      if (!add_loads(output)) return std::nullopt;
    if (!boxes_fit()) return std::nullopt;
    std::erase_if(form_.rows, [&](uint32_t a) { return is_joined(a); });
    return std::move(form_);
  }

 private:
  bool is_joined(uint32_t axis) const {
    return std::find(form_.joined.begin(), form_.joined.end(), axis) != form_.joined.end();
  }
  bool mentions(const Dim& d) const {
    return std::any_of(form_.joined.begin(), form_.joined.end(),
                       [&](uint32_t a) { return d.contains(node_.domain[a].var); });
  }

  /// A task has whole inner axes: where they are cut, the guard says that there is one tile.
  bool bound_inner() {
    for (const task::Coordinate& c : type_.coordinates) {
      if (!is_joined(c.axis) || c.axis == form_.joined.front()) continue;
      const Dim& extent = node_.domain[c.axis].extent;
      if (const auto constant = extent.constant(); constant && *constant > c.tile) return false;
      if (!extent.constant()) form_.guard.push_back(shape::at_most(extent, Dim(c.tile)));
      first_tile_[c.var] = Dim(0);
    }
    return true;
  }

  /// Rows of constant length that are whole vectors anyway have loops without edges.
  bool is_worth_it() const {
    constexpr int64_t vectors = 64;  // elements of the widest block
    const auto row = node_.domain[form_.joined.back()].extent.constant();
    return !row || *row % vectors != 0;
  }

  bool add_loads(ScalarId id) {
    const Scalar& s = g_.scalars[id];
    if (s.op == graph::Op::index) return !mentions(s.dim);
    if (s.op != graph::Op::load)
      return std::all_of(s.args.begin(), s.args.end(), [&](ScalarId arg) { return add_loads(arg); });
    std::vector<Dim> index;
    for (const ScalarId arg : s.args) {
      const auto dim = graph::affine_index(g_, arg);
      if (!dim) return false;
      index.push_back(*dim);
    }
    return add(s.target, index);
  }

  /// Do its last axes go through the joined ones, or does it mention none? All accesses of a tensor have to
  /// be alike.
  bool add(graph::Value v, const std::vector<Dim>& index) {
    const task::BufferId buffer = p_.place(v).buffer;
    const bool has = std::any_of(index.begin(), index.end(), [&](const Dim& d) { return mentions(d); });
    if (const auto [seen, fresh] = has_them_.emplace(buffer, has); !fresh && seen->second != has)
      return false;
    if (!has) return true;
    if (!p_.buffers[buffer].placement.is_row_major()) return false;
    const size_t count = last_axes(g_.type(v).shape, index, buffer);
    const auto [flat, fresh] = form_.flat.emplace(buffer, count);
    return count > 0 && flat->second == count;
  }

  /// How many they are; 0 where others go through a joined one, too, or these do not go through all of them.
  size_t last_axes(const std::vector<Dim>& shape, const std::vector<Dim>& index, task::BufferId buffer) {
    size_t a = index.size(), left = form_.joined.size();
    while (a-- > 0 && left > 0) {
      const Dim& extent = node_.domain[form_.joined[left - 1]].extent;
      const bool is_one = index[a] == Dim(node_.domain[form_.joined[left - 1]].var);
      if (is_one && left > 1 && shape[a] != extent) return 0;
      const std::vector<uint32_t> digits =
          is_one ? std::vector{form_.joined[left - 1]} : digits_of(node_, index[a], shape[a]);
      if (digits.empty() || digits.size() > left) return 0;
      if (!std::equal(digits.rbegin(), digits.rend(), form_.joined.rbegin() + (form_.joined.size() - left)))
        return 0;
      left -= digits.size();
      if (digits.size() > 1) form_.merged.insert(buffer);
    }
    const size_t first = a + 1;
    for (size_t other = 0; other < first; ++other)
      if (mentions(index[other])) return 0;
    return left == 0 ? index.size() - first : 0;
  }

  /// One box of each tensor that is read, and one that is written, with whole inner axes.
  bool boxes_fit() const {
    const size_t count = form_.joined.size();
    for (const auto& [buffer, joined] : form_.flat) {
      size_t reads = 0, writes = 0;
      for (const task::Access& access : type_.accesses) {
        if (access.buffer != buffer) continue;
        ++(access.write ? writes : reads);
        if (form_.merged.contains(buffer)) continue;
        const std::vector<Dim>& shape = p_.buffers[buffer].shape;
        for (size_t a = shape.size() - count + 1; a < shape.size(); ++a)
          if (!is_whole(access.box[a], shape[a])) return false;
      }
      if (reads > 1 || writes > 1) return false;
    }
    return true;
  }
  bool is_whole(const task::Interval& interval, const Dim& extent) const {
    const Dim low = interval.low.substitute(first_tile_), high = interval.high.substitute(first_tile_);
    const auto known = task::relevant(p_, task::both(p_.facts, form_.guard), {low, high, extent});
    return task::holds(p_, known, shape::equal(low, Dim(0))) &&
           task::holds(p_, known, shape::equal(high, extent));
  }

  const task::Program& p_;
  const task::TaskType& type_;
  const graph::Graph& g_;
  const graph::Node& node_;
  RowForm form_;
  shape::Substitution first_tile_;
  std::map<task::BufferId, bool> has_them_;  ///< the tensor, the joined axes
};

}  // namespace

std::vector<uint32_t> digits_of(const graph::Node& node, const Dim& index, const Dim& extent) {
  std::vector<std::pair<Dim, uint32_t>> open;  // by their steps
  Dim rest = index;
  for (uint32_t a = 0; a < node.domain.size(); ++a) {
    const Var v = node.domain[a].var;
    if (!rest.contains(v)) continue;
    const auto linear = rest.linear_in(v);
    if (!linear) return {};
    open.emplace_back(linear->first, a);
    rest = linear->second;
  }
  if (!rest.is(0) || open.size() < 2) return {};
  std::vector<uint32_t> digits;
  Dim step(1);
  while (!open.empty()) {
    const auto is_next = [&](const auto& digit) { return digit.first == step; };
    const auto next = std::find_if(open.begin(), open.end(), is_next);
    if (next == open.end()) return {};
    digits.insert(digits.begin(), next->second);
    step = step * node.domain[next->second].extent;
    open.erase(next);
  }
  return step == extent ? digits : std::vector<uint32_t>();
}

Interval part_of_task(const task::TaskType& type, const graph::Node& node, uint32_t axis) {
  const Dim& extent = node.domain[axis].extent;
  for (const task::Coordinate& c : type.coordinates)
    if (c.axis == axis) {
      const Dim first = Dim(c.tile) * Dim(c.var), end = first + Dim(c.tile);
      return {first, c.tile == 1 ? end : shape::min(extent, end)};
    }
  return {Dim(0), extent};
}

std::optional<RowForm> with_joined_axes(const task::Program& p, const task::TaskType& type,
                                        const graph::Graph& g, const RowForm& form) {
  if (!form.along || form.across || !form.reductions.empty()) return std::nullopt;
  for (size_t count = g.nodes[type.node].domain.size(); count > 1; --count)
    if (auto joined = Joiner(p, type, g, form, count).run()) return joined;
  return std::nullopt;
}

std::vector<Dim> joined_shape(std::vector<Dim> shape, size_t count) {
  const size_t first = shape.size() - count;
  shape[first] = shape[first] * stride_of(shape, first);
  shape.resize(first + 1);
  return shape;
}

std::vector<Dim> joined_index(std::vector<Dim> index, const std::vector<Dim>& shape, size_t count) {
  const size_t first = index.size() - count;
  Dim all;
  for (size_t a = first; a < index.size(); ++a) all = all + index[a] * stride_of(shape, a);
  index[first] = all;
  index.resize(first + 1);
  return index;
}

Box joined_box(Box box, const std::vector<Dim>& shape, size_t count) {
  const size_t first = box.size() - count;
  const Dim row = stride_of(shape, first);
  box[first] = {times(box[first].low, row), times(box[first].high, row)};
  box.resize(first + 1);
  return box;
}

Interval joined_interval(const Interval& of_rows, const Dim& row) {
  return {times(of_rows.low, row), times(of_rows.high, row)};
}

}  // namespace axon::tile
