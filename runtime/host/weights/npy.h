// The .npy header, shared by .npy files and the members of .npz archives.
#pragma once
#include <memory>
#include <string>

#include "host/weights/tensor_file.h"

namespace axon::weights {

/// Reads the header of an array that fills `size` bytes from `offset` of a file; begin and end are positions
/// in it.
Result<Tensor> read_npy_array(const File&, uint64_t offset, uint64_t size);

/// The header for a tensor, a multiple of 64 bytes.
Result<std::string> npy_header(const OutTensor&);

}  // namespace axon::weights
