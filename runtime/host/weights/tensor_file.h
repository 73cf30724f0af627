// Weight files of every kind as one thing: a table of tensors, sorted by name, over bytes that are in the
// files.
//
// In: .safetensors, .safetensors.index.json (shards), .npy, .npz, .gguf. Out: a TensorFile whose every range
// was checked against the size of its file before any pointer was formed: begin <= end <= file size and end -
// begin is what the shape takes as it is packed. Nothing later needs to check again. Writing is the other
// direction, with the same bytes for the same tensors: names sorted, no time stamps, and the file appears
// complete or not at all.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/weights/elements.h"
#include "host/weights/file.h"

namespace axon::weights {

/// How the elements of a tensor lie in its file.
enum class Packing : uint8_t {
  none,         ///< one behind the other
  q8_0,         ///< in blocks (packed.h), read as the f32 that they stand for
  q8_0_values,  ///< of the same blocks, the i8
  q8_0_scales,  ///< of the same blocks, the f16 by which the i8 of each are multiplied
  unreadable,   ///< of another type or in blocks of another kind, of which the name alone is known
};

struct Tensor {
  std::string name;
  Elem dtype = Elem::f32;  ///< of the elements as they are read
  std::vector<uint64_t> shape;
  uint64_t begin = 0, end = 0;  ///< bytes within files[file]
  uint32_t file = 0;
  Packing packing = Packing::none;
  std::string packed_as = {};  ///< what the type of an unreadable tensor is called
};
/// What a file calls a type that is not read, safe to print.
std::string foreign_type(std::string_view name);
/// The element type as messages name it: f32, or q8_0.
std::string type_name(const Tensor&);
/// How many bytes all of the tensor's elements have as they are read.
uint64_t read_bytes(const Tensor&);

struct TensorTable {
  std::vector<Tensor> tensors;                  ///< sorted by name, names unique
  std::map<std::string, std::string> metadata;  ///< of safetensors and gguf

  const Tensor* find(std::string_view name) const;
};

class TensorFile {
 public:
  TensorTable table;
  std::vector<std::shared_ptr<File>> files;

  /// A tensor's bytes without a copy, as they are in the file; alignment is whatever that gives. See file.h
  /// on truncation.
  Result<Bytes> view(const Tensor&) const;
  /// Copies `count` bytes from `offset` within the tensor's elements; of a packed tensor, whole elements.
  Status read(const Tensor&, uint64_t offset, void* out, uint64_t count) const;
};

/// Opens a file by its extension.
Result<TensorFile> open_tensors(const std::string& path);

Result<TensorFile> read_safetensors(std::shared_ptr<File>);
/// `path` names an index whose shards are files of the same folder.
Result<TensorFile> open_safetensors_index(const std::string& path);
/// The one tensor is named like the file, without folder and extension.
Result<TensorFile> read_npy(std::shared_ptr<File>);
/// Tensors are named like the members, without `.npy`. Compressed members are unpacked into memory.
Result<TensorFile> read_npz(std::shared_ptr<File>);
/// Of a tensor NAME in blocks of q8_0 there are NAME.values and NAME.scales, too. Numbers, strings and truth
/// values of the metadata are kept as text, arrays are not.
Result<TensorFile> read_gguf(std::shared_ptr<File>);

/// A tensor to write. `fill` produces any part of its bytes, so that nothing has to be in memory as a whole;
/// it may be called more than once for the same part, and parts start and end at whole elements.
struct OutTensor {
  std::string name;
  Elem dtype = Elem::f32;
  std::vector<uint64_t> shape;
  std::function<Status(uint64_t offset, uint8_t* out, uint64_t count)> fill;
};
/// One whose bytes are in memory and stay there until written.
OutTensor out_tensor(std::string name, Elem, std::vector<uint64_t> shape, Bytes);

Status write_safetensors(const std::string& path, std::vector<OutTensor>,
                         const std::map<std::string, std::string>& metadata = {});
Status write_npy(const std::string& path, const OutTensor&);
Status write_npz(const std::string& path, std::vector<OutTensor>);

/// Sorts by name and checks that names differ and shapes are within limits. Shared by the writers.
Status prepare_for_writing(std::vector<OutTensor>&);
/// Calls `sink` with all bytes of a tensor, in order, in parts of bounded size.
Status for_each_part(const OutTensor&, const std::function<Status(Bytes)>& sink);

}  // namespace axon::weights
