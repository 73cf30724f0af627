// Writes .gguf files for tests, good ones and wrong ones, from the public description of the format.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support.h"

namespace axon::weights {

inline std::string gguf_text(const std::string& text) { return little<uint64_t>(text.size()) + text; }

class Gguf {
 public:
  uint32_t version = 3, alignment = 32;
  std::optional<uint64_t> tensor_count, key_count;  ///< instead of the true ones

  Gguf& key(const std::string& name, uint32_t type, const std::string& value) {
    keys_ += gguf_text(name) + little(type) + value;
    ++written_keys_;
    return *this;
  }
  /// The shape with the fastest axis first, as it stands in the file.
  Gguf& tensor(const std::string& name, const std::vector<uint64_t>& shape, uint32_t type,
               const std::string& data, std::optional<uint64_t> offset = std::nullopt) {
    tensors_.push_back({name, shape, type, data, offset});
    return *this;
  }
  std::string bytes() const {
    std::string head = "GGUF" + little(version) + little<uint64_t>(tensor_count.value_or(tensors_.size())) +
                       little<uint64_t>(key_count.value_or(written_keys_)) + keys_;
    std::string data;
    for (const Entry& tensor : tensors_) {
      data.resize(rounded(data.size()));
      head += gguf_text(tensor.name) + little(static_cast<uint32_t>(tensor.shape.size()));
      for (const uint64_t extent : tensor.shape) head += little(extent);
      head += little(tensor.type) + little<uint64_t>(tensor.offset.value_or(data.size()));
      data += tensor.data;
    }
    if (!data.empty()) head.resize(rounded(head.size()));
    return head + data;
  }

 private:
  struct Entry {
    std::string name;
    std::vector<uint64_t> shape;
    uint32_t type;
    std::string data;
    std::optional<uint64_t> offset;
  };
  size_t rounded(size_t size) const { return (size + alignment - 1) / alignment * alignment; }

  std::string keys_;
  uint64_t written_keys_ = 0;
  std::vector<Entry> tensors_;
};

}  // namespace axon::weights
