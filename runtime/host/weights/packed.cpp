// Reading blocks (packed.h), in parts of bounded size.
#include "host/weights/packed.h"

#include <algorithm>
#include <cstring>

namespace axon::weights {
namespace {

constexpr uint64_t part_blocks = 4096;

/// Elements [first, first + count) of one block.
void unpack_block(Packing packing, const uint8_t* block, uint64_t first, uint64_t count, uint8_t* out) {
  constexpr uint64_t scale_bytes = 2;
  if (packing == Packing::q8_0_values) {
    std::memcpy(out, block + scale_bytes + first, count);
    return;
  }
  if (packing == Packing::q8_0_scales) {
    std::memcpy(out, block, scale_bytes);
    return;
  }
  float scale = 0;
  convert(Elem::f16, block, Elem::f32, &scale, 1);
  for (uint64_t i = 0; i < count; ++i) {
    const float value = scale * static_cast<float>(static_cast<int8_t>(block[scale_bytes + first + i]));
    std::memcpy(out + i * sizeof value, &value, sizeof value);
  }
}

}  // namespace

Status read_packed(const File& file, const Tensor& tensor, uint64_t offset, uint8_t* out, uint64_t count) {
  const auto bytes = static_cast<uint64_t>(elem_bytes(tensor.dtype));
  const uint64_t in_block = tensor.packing == Packing::q8_0_scales ? 1 : q8_0_elements;
  uint64_t at = offset / bytes;
  const uint64_t end = at + count / bytes;
  std::vector<uint8_t> part;
  while (at < end) {
    const uint64_t first = at / in_block, last = (end - 1) / in_block;
    const uint64_t blocks = std::min(last - first + 1, part_blocks);
    part.resize(blocks * q8_0_bytes);
    if (auto error = file.read(tensor.begin + first * q8_0_bytes, part.data(), part.size())) return error;
    for (uint64_t block = first; block < first + blocks; ++block) {
      const uint64_t next = std::min(end, (block + 1) * in_block);
      unpack_block(tensor.packing, part.data() + (block - first) * q8_0_bytes, at - block * in_block,
                   next - at, out);
      out += (next - at) * bytes;
      at = next;
    }
  }
  return std::nullopt;
}

}  // namespace axon::weights
