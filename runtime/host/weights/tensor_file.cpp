// What all kinds of weight files share (tensor_file.h): look-up, access, dispatch by extension, parts of a
// tensor.
#include "host/weights/tensor_file.h"

#include <algorithm>
#include <cstring>

#include "host/weights/packed.h"

namespace axon::weights {
namespace {
constexpr uint64_t part_bytes = 1u << 20;  // a multiple of every element size
}

std::string foreign_type(std::string_view name) {
  constexpr size_t longest = 32;
  const bool is_plain =
      !name.empty() && name.size() <= longest &&
      std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 0x7f && c != '`'; });
  return is_plain ? std::string(name) : printable(name);
}

std::string type_name(const Tensor& tensor) {
  if (tensor.packing == Packing::unreadable) return tensor.packed_as;
  return std::string(tensor.packing == Packing::q8_0 ? "q8_0" : elem_name(tensor.dtype));
}

uint64_t read_bytes(const Tensor& tensor) {
  const auto bytes = byte_count(tensor.shape, tensor.dtype);
  return tensor.packing == Packing::unreadable || !bytes ? 0 : *bytes;
}

const Tensor* TensorTable::find(std::string_view name) const {
  const auto found =
      std::lower_bound(tensors.begin(), tensors.end(), name,
                       [](const Tensor& tensor, std::string_view key) { return tensor.name < key; });
  return found != tensors.end() && found->name == name ? &*found : nullptr;
}

Result<Bytes> TensorFile::view(const Tensor& tensor) const {
  const auto whole = files[tensor.file]->view();
  if (!whole) return whole.error();
  return *whole->sub(tensor.begin, tensor.end - tensor.begin);
}

Status TensorFile::read(const Tensor& tensor, uint64_t offset, void* out, uint64_t count) const {
  const auto end = checked_add(offset, count);
  if (tensor.packing == Packing::unreadable)
    return Error{code::dtype, text("tensor ", printable(tensor.name), " is ", tensor.packed_as,
                                   ", an element type that is not read")};
  if (!end || *end > read_bytes(tensor))
    return Error{code::range,
                 text("tensor ", printable(tensor.name), " ends before byte ", offset, " + ", count)};
  if (tensor.packing != Packing::none)
    return read_packed(*files[tensor.file], tensor, offset, static_cast<uint8_t*>(out), count);
  return files[tensor.file]->read(tensor.begin + offset, out, count);
}

Result<TensorFile> open_tensors(const std::string& path) {
  const std::string_view name = path;
  if (name.ends_with(".index.json")) return open_safetensors_index(path);
  using Reader = Result<TensorFile> (*)(std::shared_ptr<File>);
  const Reader reader = name.ends_with(".safetensors") ? read_safetensors
                        : name.ends_with(".npy")       ? read_npy
                        : name.ends_with(".npz")       ? read_npz
                        : name.ends_with(".gguf")      ? read_gguf
                                                       : nullptr;
  if (!reader)
    return Error{code::format, text(printable(path),
                                    " is not a kind of weight file known here "
                                    "(.safetensors, .safetensors.index.json, .npy, .npz, .gguf)")};
  auto file = File::open(path);
  if (!file) return file.error();
  return reader(*file);
}

OutTensor out_tensor(std::string name, Elem dtype, std::vector<uint64_t> shape, Bytes bytes) {
  return {std::move(name), dtype, std::move(shape),
          [bytes](uint64_t offset, uint8_t* out, uint64_t count) -> Status {
            const auto part = bytes.sub(offset, count);
            if (!part) return Error{code::shape, "a tensor to write has fewer bytes than its shape"};
            std::memcpy(out, part->data(), part->size());
            return std::nullopt;
          }};
}

Status prepare_for_writing(std::vector<OutTensor>& tensors) {
  std::sort(tensors.begin(), tensors.end(),
            [](const OutTensor& a, const OutTensor& b) { return a.name < b.name; });
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (i > 0 && tensors[i].name == tensors[i - 1].name)
      return Error{code::format, text("two tensors to write are named ", printable(tensors[i].name))};
    if (const auto size = byte_count(tensors[i].shape, tensors[i].dtype); !size) return size.error();
  }
  return std::nullopt;
}

Status for_each_part(const OutTensor& tensor, const std::function<Status(Bytes)>& sink) {
  const auto size = byte_count(tensor.shape, tensor.dtype);
  if (!size) return size.error();
  std::vector<uint8_t> part(std::min(*size, part_bytes));
  for (uint64_t offset = 0; offset < *size; offset += part_bytes) {
    const uint64_t count = std::min(part_bytes, *size - offset);
    if (auto error = tensor.fill(offset, part.data(), count)) return error;
    if (auto error = sink(Bytes(part.data(), count))) return error;
  }
  return std::nullopt;
}

}  // namespace axon::weights
