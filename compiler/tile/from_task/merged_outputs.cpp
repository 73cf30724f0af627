// See tensors.h: tensors of which an axis goes through several axes of the domain, or the other way round. A
// task has a part of each of these axes, which is no interval of the merged axis, or no box of the split
// ones: to the program the tensor has the axes of the domain.
#include <algorithm>
#include <functional>
#include <map>

#include "tile/from_task/join_axes.h"
#include "tile/from_task/tensors.h"

namespace axon::tile {

/// A tensor with axes of its own: `t` says its shape, place and boxes.
TensorId TensorMaker::add_tensor(task::BufferId id, Tensor t) {
  t.name = name_for(p_.buffers[id].name);
  t.elem = p_.buffers[id].elem;
  t.multiples.assign(t.shape.size(), 1);
  t.align = base::elem_bytes(t.elem);
  made_.buffers.push_back(id);
  const std::optional<Box> reads = t.reads;
  const TensorId made = out_.tensors.add(std::move(t));
  if (reads) out_.waits.push_back({made, *reads});
  return made;
}

/// That of an access that writes.
TensorId TensorMaker::own_tensor(uint32_t access, Tensor t) {
  const auto known = tensors_.find(access);
  if (known != tensors_.end()) return known->second;
  return tensors_[access] = add_tensor(type_.accesses[access].buffer, std::move(t));
}

bool TensorMaker::is_of_sizes(const Dim& d) const {
  const std::vector<Var> vars = d.vars();
  return std::all_of(vars.begin(), vars.end(), [&](Var v) {
    return std::any_of(g_.sizes.begin(), g_.sizes.end(), [&](const graph::Size& s) { return s.var == v; }) ||
           std::any_of(type_.loops.begin(), type_.loops.end(),
                       [&](task::LoopId l) { return p_.loops[l].index == v; });
  });
}

/// nullopt where no axis of the output is merged, but for those that are one in the program, or its tensor is
/// not the program's alone.
std::optional<Access> TensorMaker::unmerged(uint32_t output, const BlockPlace& place) {
  const graph::Value target{type_.node, output};
  const std::vector<Dim>& at = node_.outputs[output].at;
  const task::BufferId id = p_.place(target).buffer;
  const task::Buffer& buffer = p_.buffers[id];
  const std::vector<uint32_t> boxes = boxes_of(id, true);
  if (boxes.size() != 1 || !boxes_of(id, false).empty() || !buffer.placement.is_row_major())
    return std::nullopt;
  const auto flat = form_.flat.find(id);
  const bool is_flat = flat != form_.flat.end();
  const std::vector<Dim> shape = is_flat ? joined_shape(buffer.shape, flat->second) : buffer.shape;
  const std::vector<Dim> index = index_of(target, at, place);
  const size_t slots = buffer.shape.size() - at.size(), end = index.size() - (is_flat ? 1 : 0);
  const Box whole = box_of(boxes.front());
  Access out;
  Tensor t;
  Box box;
  for (size_t a = 0; a < index.size(); ++a) {
    const bool is_own = a >= slots && a < end;
    const auto digits = is_own ? digits_of(node_, at[a - slots], shape[a]) : std::vector<uint32_t>();
    for (const uint32_t digit : digits) {
      const graph::Axis& axis = node_.domain[digit];
      out.at.push_back({std::nullopt, placed(Dim(axis.var), place)});
      t.shape.push_back(axis.extent);
      box.push_back(part_of_task(type_, node_, digit));
    }
    if (!digits.empty()) continue;
    out.at.push_back({std::nullopt, index[a]});
    t.shape.push_back(shape[a]);
    box.push_back(whole[a]);
  }
  if (t.shape.size() == index.size()) return std::nullopt;
  t.place = layout::row_major(t.shape);
  t.writes = std::move(box);
  out.tensor = own_tensor(boxes.front(), std::move(t));
  return out;
}

namespace {

/// An axis of the domain whose digits are indices of an output, each perhaps moved by what sizes say; or the
/// only one of which an index is a multiple.
struct SplitAxis {
  struct Digit {
    size_t at = 0;  ///< an axis of the output
    Dim extent, offset;
    Dim step = Dim(1);  ///< of its index
  };
  uint32_t axis = 0;
  std::vector<Digit> digits;  ///< the longest step first
};

/// The terms that mention the variable.
Dim part_with(const Dim& d, Var v) {
  Dim out;
  for (const shape::Term& term : d.terms())
    if (const Dim one = dim_of(term); one.contains(v)) out = out + one;
  return out;
}

/// r of `d % r`, where the index is that.
std::optional<Dim> radix_of(const Dim& index, const Dim& d) {
  const auto& terms = index.terms();
  if (terms.size() != 1 || terms.front().coefficient != 1 || terms.front().factors.size() != 1)
    return std::nullopt;
  const shape::Atom& atom = terms.front().factors.front();
  if (atom.kind() != shape::AtomKind::mod || atom.lhs() != d) return std::nullopt;
  return atom.rhs();
}

/// d / by, where that is a variable that all of it is a multiple of.
std::optional<Dim> quotient(const Dim& d, const Dim& by) {
  const auto var = by.as_var();
  const auto split = var ? d.linear_in(*var) : std::nullopt;
  return split && split->second.is(0) ? std::optional(split->first) : std::nullopt;
}

/// The digits of one axis, or nothing where its indices are none: the last one is what is left of it.
std::vector<SplitAxis::Digit> digits_of_axis(const graph::Axis& axis, std::vector<SplitAxis::Digit> open,
                                             const std::vector<Dim>& moved, const std::vector<Dim>& shape) {
  std::vector<SplitAxis::Digit> out;
  Dim rest(axis.var), extent(1);
  while (open.size() > 1) {
    const auto next = std::find_if(open.begin(), open.end(),
                                   [&](const auto& digit) { return radix_of(moved[digit.at], rest); });
    if (next == open.end()) return {};
    next->extent = *radix_of(moved[next->at], rest);
    extent = extent * next->extent;
    rest = floor_div(rest, next->extent);
    out.insert(out.begin(), *next);
    open.erase(next);
  }
  SplitAxis::Digit& first = open.front();
  std::optional<Dim> left = axis.extent;
  for (const SplitAxis::Digit& digit : out) left = left ? quotient(*left, digit.extent) : left;
  first.extent = left.value_or(shape[first.at] - first.offset);
  if (moved[first.at] != rest || first.extent * extent != axis.extent) return {};
  out.insert(out.begin(), first);
  return out;
}

/// `is_fixed`: is a dimension made of sizes alone? `may_leave`: an index of the output that may leave its
/// axis.
std::optional<SplitAxis> split_axis(const graph::Node& node, uint32_t a, const std::vector<Dim>& at,
                                    const std::vector<Dim>& shape,
                                    const std::function<bool(const Dim&)>& is_fixed,
                                    const std::vector<bool>& may_leave) {
  const graph::Axis& axis = node.domain[a];
  std::vector<SplitAxis::Digit> open;
  std::vector<Dim> moved = at;
  for (size_t i = 0; i < at.size(); ++i) {
    if (!at[i].contains(axis.var)) continue;
    moved[i] = part_with(at[i], axis.var);
    open.push_back({i, {}, at[i] - moved[i]});
    if (!is_fixed(open.back().offset)) return std::nullopt;
  }
  if (open.size() > 1) {
    auto digits = digits_of_axis(axis, std::move(open), moved, shape);
    return digits.empty() ? std::nullopt : std::optional(SplitAxis{a, std::move(digits)});
  }
  const auto linear = open.empty() ? std::nullopt : moved[open.front().at].linear_in(axis.var);
  const bool has_gaps = linear && !linear->first.is(1) && !linear->first.is(-1);
  if (!linear || !is_fixed(linear->first) || !(has_gaps || may_leave[open.front().at])) return std::nullopt;
  open.front().extent = axis.extent;
  open.front().step = linear->first;
  return SplitAxis{a, std::move(open)};
}

/// Behind the digits with longer steps: one with them where it lies in the last of them.
void add_digit(layout::Layout& place, const layout::Iter& digit, bool is_first) {
  layout::Iter* const before = is_first ? nullptr : &place.shards.back();
  if (before && before->stride == digit.stride * digit.extent) {
    before->extent = before->extent * digit.extent;
    before->stride = digit.stride;
  } else {
    place.shards.push_back(digit);
  }
}

}  // namespace

/// Which indices of an output are not shown to be on their axes: a check of the program may say so.
std::vector<bool> TensorMaker::may_leave_axes(const std::vector<Dim>& at,
                                              const std::vector<Dim>& shape) const {
  std::vector<Fact> ranges = around_;
  for (const graph::Axis& a : node_.domain) {
    ranges.push_back(shape::at_least(Dim(a.var), Dim(0)));
    ranges.push_back(shape::less(Dim(a.var), a.extent));
  }
  std::vector<bool> out;
  for (size_t i = 0; i < at.size(); ++i) {
    const auto is_it = [&](const graph::Axis& a) { return at[i] == Dim(a.var) && a.extent == shape[i]; };
    out.push_back(std::none_of(node_.domain.begin(), node_.domain.end(), is_it) &&
                  !is_on_axis(at[i], shape[i], ranges));
  }
  return out;
}

/// The same where an axis of the domain goes through several axes of the output, which need not be
/// neighbours, leaves gaps in one, or may leave it: that is one axis of the program's tensor, whose indices
/// lie where their digits say.
std::optional<Access> TensorMaker::unsplit(uint32_t output, const BlockPlace& place) {
  const graph::Value target{type_.node, output};
  const task::BufferId id = p_.place(target).buffer;
  const task::Buffer& buffer = p_.buffers[id];
  const std::vector<Dim>& at = node_.outputs[output].at;
  const size_t slots = buffer.shape.size() - at.size();
  const std::vector<Dim> shape(buffer.shape.begin() + static_cast<std::ptrdiff_t>(slots), buffer.shape.end());
  const std::vector<bool> may_leave = may_leave_axes(at, shape);
  std::map<size_t, SplitAxis> by_axis;  // of the output: that of the first digit
  std::map<size_t, SplitAxis::Digit> digits;
  for (uint32_t a = 0; a < node_.domain.size(); ++a)
    if (const auto split = split_axis(
            node_, a, at, shape, [&](const Dim& d) { return is_of_sizes(d); }, may_leave)) {
      by_axis.emplace(split->digits.front().at, *split);
      for (const SplitAxis::Digit& digit : split->digits) digits.emplace(digit.at, digit);
    }
  for (size_t i = 0; i < at.size(); ++i)
    if (may_leave[i] && is_of_sizes(at[i])) stores_in_range_.push_back(shape::less(at[i], shape[i]));
  for (const auto& [i, digit] : digits)
    if (const auto step = digit.step.constant(); may_leave[i] && step) {
      const Dim last = *step > 0 ? digit.offset + digit.step * (digit.extent - 1) : digit.offset;
      stores_in_range_.push_back(shape::less(last, shape[i]));
    }
  const std::vector<uint32_t> writes = boxes_of(id, true), reads = boxes_of(id, false);
  if (digits.empty() || writes.size() != 1 || !buffer.placement.is_row_major() || form_.flat.contains(id))
    return std::nullopt;
  const bool is_read = !reads.empty() && is_updated(id);
  const std::vector<Dim> index = index_of(target, at, place);
  const layout::Layout whole = layout::row_major(buffer.shape);
  const Box box = box_of(writes.front());
  Access out;
  Tensor t;
  Box part;
  Dim offset;
  for (size_t a = 0; a < index.size(); ++a) {
    const auto digit = a < slots ? digits.end() : digits.find(a - slots);
    if (digit == digits.end()) {
      out.at.push_back({std::nullopt, index[a]});
      t.shape.push_back(buffer.shape[a]);
      part.push_back(box[a]);
      t.place.shards.push_back(whole.shards[a]);
      continue;
    }
    offset = offset + digit->second.offset * whole.shards[a].stride;
    const auto split = by_axis.find(a - slots);
    if (split == by_axis.end()) continue;  // a digit that is not the first
    const graph::Axis& axis = node_.domain[split->second.axis];
    out.at.push_back({std::nullopt, placed(Dim(axis.var), place)});
    t.shape.push_back(axis.extent);
    part.push_back(part_of_task(type_, node_, split->second.axis));
    for (const SplitAxis::Digit& of : split->second.digits) {
      const layout::Iter& line = whole.shards[slots + of.at];
      add_digit(t.place, {of.extent, of.step * line.stride, line.axis}, of.at == a - slots);
    }
  }
  if (!offset.is(0)) t.place.offset[layout::Axis()] = offset;
  if (is_read) t.reads = part;
  t.writes = std::move(part);
  out.tensor = own_tensor(writes.front(), std::move(t));
  if (is_read) tensors_[reads.front()] = out.tensor;
  return out;
}

/// Where a load reads the element that the output of a split axis stores there.
std::optional<Access> TensorMaker::updated(const graph::Scalar& load, const BlockPlace& place) {
  for (uint32_t o = 0; o < node_.outputs.size(); ++o) {
    const task::Place &from = p_.place(load.target), &to = p_.place({type_.node, o});
    const std::vector<Dim>& at = node_.outputs[o].at;
    if (from.buffer != to.buffer || from.slot != to.slot || at.size() != load.args.size()) continue;
    const auto is_same = [&](ScalarId arg, const Dim& d) { return graph::affine_index(g_, arg) == d; };
    if (!std::equal(load.args.begin(), load.args.end(), at.begin(), is_same)) continue;
    return unsplit(o, place);
  }
  return std::nullopt;
}

/// A load along an axis that goes through several axes of the domain: its tensor has these.
std::optional<Access> TensorMaker::unmerged(const graph::Scalar& load, const BlockPlace& place) {
  const task::BufferId id = p_.place(load.target).buffer;
  const task::Buffer& buffer = p_.buffers[id];
  const std::vector<uint32_t> boxes = boxes_of(id, false);
  if (boxes.size() != 1 || !boxes_of(id, true).empty() || !buffer.placement.is_row_major() ||
      form_.flat.contains(id))
    return std::nullopt;
  const size_t slots = buffer.shape.size() - load.args.size();
  const Box whole = box_of(boxes.front());
  Access out;
  Tensor t;
  Box box;
  const auto add = [&](const Dim& at, const Dim& extent, const Interval& part) {
    out.at.push_back({std::nullopt, at});
    t.shape.push_back(extent);
    box.push_back(part);
  };
  if (slots > 0) add(*p_.place(load.target).slot, buffer.shape[0], whole[0]);
  for (size_t a = 0; a < load.args.size(); ++a) {
    const auto index = graph::affine_index(g_, load.args[a]);
    if (!index) return std::nullopt;
    const auto digits = digits_of(node_, *index, buffer.shape[slots + a]);
    for (const uint32_t digit : digits)
      add(placed(Dim(node_.domain[digit].var), place), node_.domain[digit].extent,
          part_of_task(type_, node_, digit));
    if (digits.empty()) add(placed(*index, place), buffer.shape[slots + a], whole[slots + a]);
  }
  if (t.shape.size() == buffer.shape.size()) return std::nullopt;
  t.place = layout::row_major(t.shape);
  t.reads = box;
  const auto known = unmerged_.find(boxes.front());
  if (known != unmerged_.end()) {
    out.tensor = known->second;
    if (out_.tensors[out.tensor].shape != t.shape) return std::nullopt;
    return out;
  }
  out.tensor = unmerged_[boxes.front()] = add_tensor(id, std::move(t));
  return out;
}

/// The tensor of a box, which begins where the box does on these axes.
TensorId TensorMaker::box_alone(uint32_t access, const std::vector<bool>& begins_there) {
  const auto known = boxes_alone_.find({access, begins_there});
  if (known != boxes_alone_.end()) return known->second;
  const task::BufferId id = type_.accesses[access].buffer;
  const std::vector<Dim>& shape = p_.buffers[id].shape;
  const layout::Layout whole = layout::row_major(shape);
  Tensor t;
  t.reads.emplace();
  Dim offset;
  const Box box = box_of(access);
  for (size_t a = 0; a < box.size(); ++a) {
    const Dim extent = begins_there[a] ? shape::max(box[a].high - box[a].low, Dim(0)) : shape[a];
    if (begins_there[a]) offset = offset + box[a].low * whole.shards[a].stride;
    t.shape.push_back(extent);
    t.reads->push_back(begins_there[a] ? Interval{Dim(0), extent} : box[a]);
    t.place.shards.push_back({extent, whole.shards[a].stride, whole.shards[a].axis});
  }
  if (!offset.is(0)) t.place.offset[layout::Axis()] = offset;
  return boxes_alone_[{access, begins_there}] = add_tensor(id, std::move(t));
}

Access TensorMaker::access_to_output(uint32_t output, const BlockPlace& place) {
  if (auto split = unsplit(output, place)) return std::move(*split);
  if (auto merged = unmerged(output, place)) return std::move(*merged);
  const graph::Value target{type_.node, output};
  const std::vector<Dim> index = index_of(target, node_.outputs[output].at, place);
  Access out;
  out.tensor = tensor_for(p_.place(target).buffer, index, place, true);
  for (const Dim& d : index) out.at.push_back({std::nullopt, d});
  return out;
}

}  // namespace axon::tile
