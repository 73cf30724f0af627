// See simulated_memory.h.
#include "task/simulated_memory.h"

#include <algorithm>

#include "base/bug.h"

namespace axon::task {

using graph::Number;
using graph::Tensor;

SimulatedMemory::SimulatedMemory(const Program& p, const std::vector<SimulateOptions::Placed>& arena,
                                 const std::vector<Tensor>& inputs, const shape::Assignment& sizes)
    : p_(p) {
  for (const Buffer& buffer : p.buffers) add(buffer, inputs, sizes);
  place(arena);
}

void SimulatedMemory::add(const Buffer& buffer, const std::vector<Tensor>& inputs,
                          const shape::Assignment& sizes) {
  Contents made;
  size_t count = 1;
  for (const Dim& d : buffer.shape) {
    const auto extent = d.evaluate(sizes);
    if (!extent) base::bug("task::SimulatedMemory", "cannot evaluate " + d.str());
    made.shape.push_back(*extent);
    count *= static_cast<size_t>(std::max<int64_t>(*extent, 0));
  }
  const bool is_given = buffer.kind == Buffer::Kind::weight || buffer.kind == Buffer::Kind::argument ||
                        buffer.kind == Buffer::Kind::state;
  made.values.resize(count);
  made.written.assign(count, is_given);
  for (size_t i = 0; is_given && i < count; ++i) {
    const Tensor& t = inputs[buffer.index];
    if (base::is_float(t.elem))
      made.values[i].real = t.floats[i];
    else
      made.values[i].integer = t.integers[i];
  }
  buffers_.push_back(std::move(made));
}

int64_t SimulatedMemory::width(BufferId id) const { return base::elem_bytes(p_.buffers[id].elem); }

void SimulatedMemory::place(const std::vector<SimulateOptions::Placed>& arena) {
  constexpr size_t alignment = 64;
  neighbours_.resize(buffers_.size());
  std::vector<size_t> begins, ends;
  for (const auto& [buffer, above] : arena) {
    size_t begin = 0;
    for (const uint32_t below : above) begin = std::max(begin, ends[below]);
    const size_t bytes = of(buffer).values.size() * static_cast<size_t>(width(buffer));
    const size_t end = begin + (bytes + alignment - 1) / alignment * alignment;
    for (size_t other = 0; other < begins.size(); ++other) {
      if (begin >= ends[other] || begins[other] >= end) continue;
      const BufferId id = arena[other].buffer;
      const auto distance = static_cast<int64_t>(begin) - static_cast<int64_t>(begins[other]);
      neighbours_[id.index].push_back({buffer, distance});
      neighbours_[buffer.index].push_back({id, -distance});
    }
    begins.push_back(begin);
    ends.push_back(end);
  }
}

std::optional<size_t> SimulatedMemory::offset(BufferId id, const std::vector<int64_t>& index) const {
  const auto& shape = of(id).shape;
  size_t at = 0;
  for (size_t a = 0; a < shape.size(); ++a) {
    if (index[a] < 0 || index[a] >= shape[a]) return std::nullopt;
    at = at * static_cast<size_t>(shape[a]) + static_cast<size_t>(index[a]);
  }
  return at;
}

void SimulatedMemory::store(BufferId id, size_t element, Number value) {
  of(id).values[element] = value;
  of(id).written[element] = true;
  for (const auto& [other, distance] : neighbours_[id.index]) {
    Contents& met = of(other);
    const int64_t each = width(other);
    const int64_t begin = static_cast<int64_t>(element) * width(id) - distance;  // as the other counts
    const int64_t end = std::min(begin + width(id), static_cast<int64_t>(met.written.size()) * each);
    for (int64_t e = std::max<int64_t>(begin, 0) / each; e * each < end; ++e)
      met.written[static_cast<size_t>(e)] = false;
  }
}

}  // namespace axon::task
