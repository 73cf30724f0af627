// Blocks of elements that share a factor, as in GGUF files: q8_0 is an f16 and 32 i8, each of which stands
// for their product. Blocks run along the last axis, whose extent is a multiple of 32.
//
// The product has at most 19 bits, so that it is exact in f32.
#pragma once
#include <cstdint>

#include "host/weights/tensor_file.h"

namespace axon::weights {

constexpr uint64_t q8_0_elements = 32, q8_0_bytes = 34;

/// `count` bytes from `offset` within the elements of a packed tensor, as TensorFile::read() promises. The
/// range is one of whole elements and within the tensor.
Status read_packed(const File&, const Tensor&, uint64_t offset, uint8_t* out, uint64_t count);

}  // namespace axon::weights
