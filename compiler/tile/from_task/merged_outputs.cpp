// See values.h: outputs of which an axis goes through several axes of the domain. A task has a part of each
// of these, which is no interval of the merged axis: to the program the tensor has the axes themselves.
#include <algorithm>

#include "task/facts.h"
#include "tile/from_task/values.h"

namespace axon::tile {

namespace {

/// The axes of the domain whose indices are the digits of an index that goes through an axis of that extent,
/// the one with the longest step first. None where the index is something else, or of one axis.
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

}  // namespace

/// What a task has of an axis of the domain.
Interval ValueMaker::part_of(uint32_t axis) const {
  const Dim& extent = node_.domain[axis].extent;
  for (const task::Coordinate& c : type_.coordinates)
    if (c.axis == axis) {
      const Dim first = Dim(c.tile) * Dim(c.var), end = first + Dim(c.tile);
      return {first, c.tile == 1 ? end : shape::min(extent, end)};
    }
  return {Dim(0), extent};
}

/// nullopt where no axis of the output is merged, or its tensor is not the program's alone.
std::optional<Access> ValueMaker::unmerged(uint32_t output, const BlockPlace& place) {
  const graph::Value target{type_.node, output};
  const std::vector<Dim>& at = node_.outputs[output].at;
  const task::BufferId id = p_.place(target).buffer;
  const task::Buffer& buffer = p_.buffers[id];
  const std::vector<uint32_t> boxes = boxes_of(id, true);
  if (boxes.size() != 1 || !boxes_of(id, false).empty() || !form_.joined.empty()) return std::nullopt;
  if (!buffer.placement.is_row_major()) return std::nullopt;
  const std::vector<Dim> index = index_of(target, at, place);
  const size_t slots = index.size() - at.size();
  Access out;
  Tensor t;
  Box box;
  for (size_t a = 0; a < index.size(); ++a) {
    const auto digits =
        a < slots ? std::vector<uint32_t>() : digits_of(node_, at[a - slots], buffer.shape[a]);
    for (const uint32_t digit : digits) {
      const graph::Axis& axis = node_.domain[digit];
      out.at.push_back({std::nullopt, placed(Dim(axis.var), place)});
      t.shape.push_back(axis.extent);
      box.push_back(part_of(digit));
    }
    if (!digits.empty()) continue;
    const task::Interval& whole = type_.accesses[boxes.front()].box[a];
    out.at.push_back({std::nullopt, index[a]});
    t.shape.push_back(buffer.shape[a]);
    box.push_back({whole.low, whole.high});
  }
  if (t.shape.size() == index.size()) return std::nullopt;
  const auto [known, fresh] = tensors_.try_emplace(boxes.front());
  if (fresh) {
    t.name = name_for(buffer.name);
    t.elem = buffer.elem;
    t.multiples.assign(t.shape.size(), 1);
    t.align = base::elem_bytes(buffer.elem);
    t.place = layout::row_major(t.shape);
    t.writes = std::move(box);
    made_.buffers.push_back(id);
    known->second = out_.tensors.add(std::move(t));
  }
  out.tensor = known->second;
  return out;
}

Access ValueMaker::access_to_output(uint32_t output, const BlockPlace& place) {
  if (auto merged = unmerged(output, place)) return std::move(*merged);
  const graph::Value target{type_.node, output};
  const std::vector<Dim> index = index_of(target, node_.outputs[output].at, place);
  Access out;
  out.tensor = tensor_for(p_.place(target).buffer, index, place, true);
  for (const Dim& d : index) out.at.push_back({std::nullopt, d});
  return out;
}

}  // namespace axon::tile
