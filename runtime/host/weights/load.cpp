// Filling one parameter from its tensors (binding.h): read, convert, transpose, stack.
//
// Everything is read with pread in parts of bounded size, so a file that is truncated meanwhile is an error.
#include <algorithm>
#include <cstring>

#include "host/weights/binding.h"

namespace axon::weights {
namespace {

constexpr uint64_t part_elements = 1u << 18;

/// Where element `index` of a row-major [.., rows, columns] tensor lies after the last two axes are
/// exchanged.
class Transposition {
 public:
  explicit Transposition(std::span<const uint64_t> shape)
      : rows_(shape[shape.size() - 2]), columns_(shape[shape.size() - 1]) {}

  /// Scatters elements [begin, begin + count) of the file's order.
  void scatter(const uint8_t* in, uint64_t begin, uint64_t count, uint64_t element_bytes,
               uint8_t* out) const {
    uint64_t column = begin % columns_, row = begin / columns_ % rows_;
    uint64_t matrix = begin / columns_ / rows_ * rows_ * columns_;
    for (uint64_t i = 0; i < count; ++i) {
      std::memcpy(out + (matrix + column * rows_ + row) * element_bytes, in + i * element_bytes,
                  element_bytes);
      if (++column < columns_) continue;
      column = 0;
      if (++row < rows_) continue;
      row = 0;
      matrix += rows_ * columns_;
    }
  }

 private:
  uint64_t rows_, columns_;
};

Status load_tensor(const TensorFile& file, const Source& source, const Tensor& tensor,
                   std::span<uint8_t> out) {
  const Elem from = source.file_dtype, to = source.field.dtype;
  const uint64_t from_bytes = elem_bytes(from), to_bytes = elem_bytes(to);
  if (!source.transposed && from == to) return file.read(tensor, 0, out.data(), out.size());
  const uint64_t count = out.size() / to_bytes;
  std::vector<uint8_t> raw(std::min(count, part_elements) * from_bytes);
  std::vector<uint8_t> converted(std::min(count, part_elements) * to_bytes);
  for (uint64_t at = 0; at < count; at += part_elements) {
    const uint64_t part = std::min(part_elements, count - at);
    if (auto error = file.read(tensor, at * from_bytes, raw.data(), part * from_bytes)) return error;
    uint8_t* const target = source.transposed ? converted.data() : out.data() + at * to_bytes;
    convert(from, raw.data(), to, target, part);
    if (source.transposed) Transposition(tensor.shape).scatter(target, at, part, to_bytes, out.data());
  }
  return std::nullopt;
}

}  // namespace

Status load(const TensorFile& file, const Source& source, std::span<uint8_t> out) {
  const auto size = byte_count(source.shape, source.field.dtype);
  if (!size) return size.error();
  if (out.size() != *size)
    return Error{code::shape, text("parameter ", printable(source.field.path), " has ", *size,
                                   " bytes, room is ", out.size())};
  const uint64_t each = *size / source.tensors.size();
  for (size_t i = 0; i < source.tensors.size(); ++i) {
    const Tensor& tensor = file.table.tensors[source.tensors[i]];
    if (auto error = load_tensor(file, source, tensor, out.subspan(i * each, each))) return error;
  }
  return std::nullopt;
}

}  // namespace axon::weights
