// See values.h: outputs of which an axis goes through several axes of the domain, or the other way round. A
// task has a part of each of these axes, which is no interval of the merged axis, or no box of the split
// ones: to the program the tensor has the axes of the domain.
#include <algorithm>

#include "tile/from_task/join_axes.h"
#include "tile/from_task/values.h"

namespace axon::tile {

/// The program's tensor of an access that writes, which has axes of its own: `t` says its shape, place and
/// box.
TensorId ValueMaker::written(uint32_t access, Tensor t) {
  const auto [known, fresh] = tensors_.try_emplace(access);
  if (!fresh) return known->second;
  const task::BufferId id = type_.accesses[access].buffer;
  t.name = name_for(p_.buffers[id].name);
  t.elem = p_.buffers[id].elem;
  t.multiples.assign(t.shape.size(), 1);
  t.align = base::elem_bytes(t.elem);
  made_.buffers.push_back(id);
  return known->second = out_.tensors.add(std::move(t));
}

/// nullopt where no axis of the output is merged, but for those that are one in the program, or its tensor is
/// not the program's alone.
std::optional<Access> ValueMaker::unmerged(uint32_t output, const BlockPlace& place) {
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
  out.tensor = written(boxes.front(), std::move(t));
  return out;
}

namespace {

/// An axis of the domain whose digits are indices of an output: `axes` of it, the longest step first.
struct SplitAxis {
  uint32_t axis = 0;
  std::vector<size_t> axes;
};

std::optional<SplitAxis> split_axis(const graph::Node& node, const std::vector<Dim>& at,
                                    const std::vector<Dim>& shape) {
  for (uint32_t a = 0; a < node.domain.size(); ++a) {
    const graph::Axis& axis = node.domain[a];
    std::vector<size_t> open;
    for (size_t i = 0; i < at.size(); ++i)
      if (at[i].contains(axis.var)) open.push_back(i);
    if (open.size() < 2) continue;
    SplitAxis out{a, {}};
    Dim rest(axis.var), extent(1);
    while (!open.empty()) {
      const auto next = std::find_if(open.begin(), open.end(), [&](size_t i) {
        return at[i] == (open.size() == 1 ? rest : mod(rest, shape[i]));
      });
      if (next == open.end()) break;
      out.axes.insert(out.axes.begin(), *next);
      rest = floor_div(rest, shape[*next]);
      extent = extent * shape[*next];
      open.erase(next);
    }
    if (open.empty() && extent == axis.extent) return out;
  }
  return std::nullopt;
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

/// The same where an axis of the domain goes through several axes of the output, which need not be
/// neighbours: that is one axis of the program's tensor, whose indices lie where their digits say.
std::optional<Access> ValueMaker::unsplit(uint32_t output, const BlockPlace& place) {
  const graph::Value target{type_.node, output};
  const task::BufferId id = p_.place(target).buffer;
  const task::Buffer& buffer = p_.buffers[id];
  const std::vector<Dim>& at = node_.outputs[output].at;
  const std::vector<uint32_t> boxes = boxes_of(id, true);
  const size_t slots = buffer.shape.size() - at.size();
  const auto split = split_axis(node_, at, {buffer.shape.begin() + slots, buffer.shape.end()});
  if (!split || boxes.size() != 1 || !boxes_of(id, false).empty() || !buffer.placement.is_row_major() ||
      form_.flat.contains(id))
    return std::nullopt;
  const std::vector<Dim> index = index_of(target, at, place);
  const layout::Layout whole = layout::row_major(buffer.shape);
  const Box box = box_of(boxes.front());
  Access out;
  Tensor t;
  Box writes;
  for (size_t a = 0; a < index.size(); ++a) {
    const auto digit =
        a < slots ? split->axes.end() : std::find(split->axes.begin(), split->axes.end(), a - slots);
    if (digit == split->axes.end()) {
      out.at.push_back({std::nullopt, index[a]});
      t.shape.push_back(buffer.shape[a]);
      writes.push_back(box[a]);
      t.place.shards.push_back(whole.shards[a]);
    } else if (digit == split->axes.begin()) {
      const graph::Axis& axis = node_.domain[split->axis];
      out.at.push_back({std::nullopt, placed(Dim(axis.var), place)});
      t.shape.push_back(axis.extent);
      writes.push_back(part_of_task(type_, node_, split->axis));
      for (const size_t of : split->axes)
        add_digit(t.place, whole.shards[slots + of], of == split->axes.front());
    }
  }
  t.writes = std::move(writes);
  out.tensor = written(boxes.front(), std::move(t));
  return out;
}

Access ValueMaker::access_to_output(uint32_t output, const BlockPlace& place) {
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
