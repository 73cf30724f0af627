// See values.h: outputs of which an axis goes through several axes of the domain. A task has a part of each
// of these, which is no interval of the merged axis: to the program the tensor has the axes themselves.
#include "tile/from_task/join_axes.h"
#include "tile/from_task/values.h"

namespace axon::tile {

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
