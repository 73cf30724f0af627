// See launch_image.h.
#include "launch_image.h"

#include <algorithm>

#include "harness.h"

namespace axon::testing {

namespace {

int64_t value(const shape::Dim& d, const shape::Assignment& sizes) { return d.evaluate(sizes).value(); }

uint64_t bytes_of(const task::Buffer& buffer, const shape::Assignment& sizes) {
  std::vector<shape::Dim> shape;
  for (const shape::Dim& d : buffer.shape) shape.emplace_back(value(d, sizes));
  return static_cast<uint64_t>(layout::elements_of(buffer.placement, shape).constant().value()) *
         static_cast<uint64_t>(base::elem_bytes(buffer.elem));
}

const char* prefix_of(task::Buffer::Kind kind) {
  return kind == task::Buffer::Kind::result  ? "result "
         : kind == task::Buffer::Kind::state ? "state "
                                             : "input ";
}

LaunchImage::Result place_of(const task::Program& p, graph::Value value_of_graph,
                             const shape::Assignment& sizes, const LaunchImage& image) {
  const task::Place place = p.place(value_of_graph);
  const task::Buffer& buffer = p.buffers[place.buffer];
  LaunchImage::Result out{image.buffers[place.buffer.index], buffer.elem, {}};
  for (const shape::Dim& d : buffer.shape) out.shape.push_back(value(d, sizes));
  if (!place.slot) return out;
  out.shape.erase(out.shape.begin());
  int64_t skipped = value(*place.slot, sizes) * base::elem_bytes(buffer.elem);
  for (const int64_t extent : out.shape) skipped *= extent;
  out.at.offset += static_cast<uint64_t>(skipped);
  return out;
}

}  // namespace

LaunchImage make_image(const plan::Variant& variant, const shape::Dim& scratch_bytes,
                       const shape::Assignment& sizes, const std::vector<graph::Tensor>& inputs) {
  const task::Program& p = variant.program;
  LaunchImage image;
  image.kernel = variant.symbol;
  for (const graph::Size& s : p.graph->sizes) image.sizes.push_back(sizes.at(s.var));
  image.buffers.resize(p.buffers.size());
  for (uint32_t n = 0; n < p.buffers.size(); ++n) {
    const task::Buffer& buffer = p.buffers[task::BufferId{n}];
    if (buffer.kind == task::Buffer::Kind::temporary) continue;
    const bool is_result = buffer.kind == task::Buffer::Kind::result;
    ImageBuffer memory{prefix_of(buffer.kind) + buffer.name,
                       std::vector<uint8_t>(bytes_of(buffer, sizes), 0xff),
                       is_result || buffer.kind == task::Buffer::Kind::state};
    const auto bytes = static_cast<size_t>(base::elem_bytes(buffer.elem));
    const bool is_given = !is_result && buffer.index < inputs.size();
    for (size_t i = 0; is_given && i < static_cast<size_t>(inputs[buffer.index].count()); ++i)
      write_element(memory.bytes.data() + i * bytes, buffer.elem, inputs[buffer.index], i);
    image.buffers[n] = {image.memory.size(), 0};
    image.memory.push_back(std::move(memory));
  }
  std::vector<uint64_t> ends;
  for (const auto& slot : variant.slots) {
    uint64_t begin = 0;
    for (const uint32_t below : slot.above) begin = std::max(begin, ends[below]);
    image.buffers[slot.buffer.index] = {image.memory.size(), begin};
    ends.push_back(begin + (static_cast<uint64_t>(value(slot.bytes, sizes)) + 63) / 64 * 64);
  }
  const uint64_t arena = ends.empty() ? 0 : *std::max_element(ends.begin(), ends.end());
  image.memory.push_back({"temporaries", std::vector<uint8_t>(arena, 0xff), true});
  for (const shape::Dim& d : variant.event_offset) image.event_offset.push_back(value(d, sizes));
  image.event_words = static_cast<uint64_t>(value(variant.event_words, sizes));
  image.epochs = static_cast<uint32_t>(value(variant.iterations, sizes)) + 1;
  image.shared_bytes = static_cast<uint64_t>(value(scratch_bytes, sizes));
  for (const auto& result : p.graph->results)
    image.results.push_back(place_of(p, result.value, sizes, image));
  return image;
}

std::vector<graph::Tensor> results_of(const LaunchImage& image) {
  std::vector<graph::Tensor> out;
  for (const LaunchImage::Result& result : image.results) {
    graph::Tensor t;
    t.elem = result.elem;
    t.shape = result.shape;
    const auto bytes = static_cast<uint64_t>(base::elem_bytes(result.elem));
    const uint8_t* start = image.memory[result.at.memory].bytes.data() + result.at.offset;
    for (uint64_t i = 0; i < static_cast<uint64_t>(t.count()); ++i)
      read_element(start + i * bytes, result.elem, t);
    out.push_back(std::move(t));
  }
  return out;
}

}  // namespace axon::testing
