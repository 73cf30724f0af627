// Weight files of every kind as one thing: a table of tensors, sorted by name, over bytes that are in the
// files.
//
// In: .safetensors, .safetensors.index.json (shards), .npy, .npz. Out: a TensorFile whose every range was
// checked against the size of its file before any pointer was formed: begin <= end <= file size and end -
// begin is the size of the shape. Nothing later needs to check again. Writing is the other direction, with
// the same bytes for the same tensors: names sorted, no time stamps, and the file appears complete or not at
// all.
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

struct Tensor {
  std::string name;
  Elem dtype = Elem::f32;
  std::vector<uint64_t> shape;
  uint64_t begin = 0, end = 0;  ///< bytes within files[file]
  uint32_t file = 0;
};

struct TensorTable {
  std::vector<Tensor> tensors;                  ///< sorted by name, names unique
  std::map<std::string, std::string> metadata;  ///< safetensors only

  const Tensor* find(std::string_view name) const;
};

class TensorFile {
 public:
  TensorTable table;
  std::vector<std::shared_ptr<File>> files;

  /// A tensor's bytes without a copy; alignment is whatever the file gives. See file.h on truncation.
  Result<Bytes> view(const Tensor&) const;
  /// Copies `count` bytes from `offset` within the tensor.
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
