// Writer for .safetensors. The header lists tensors by name; the data has the widest element types first and
// names in order within one width, so that with a header padded to 8 bytes every tensor is aligned in a
// mapped file.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "host/weights/limits.h"
#include "host/weights/output_file.h"
#include "host/weights/tensor_file.h"

namespace axon::weights {
namespace {

constexpr uint64_t alignment = 8;

std::string_view header_name(Elem type) {
  switch (type) {
#define ELEM(name, number, text, stored, npy, safetensors) \
  case Elem::name:                                         \
    return safetensors;
#include "host/elems.def"
  }
  return "";
}

/// A JSON string; nullopt when the text is not UTF-8, which JSON cannot carry.
std::optional<std::string> json_string(const std::string& value) {
  try {
    return nlohmann::json(value).dump();
  } catch (const nlohmann::json::type_error&) {
    return std::nullopt;
  }
}

/// Positions of the tensors, which are sorted by name, in the order of their data.
std::vector<size_t> data_order(const std::vector<OutTensor>& tensors) {
  std::vector<size_t> order(tensors.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return elem_bytes(tensors[a].dtype) > elem_bytes(tensors[b].dtype);
  });
  return order;
}

Result<std::string> header_text(const std::vector<OutTensor>& tensors, const std::vector<size_t>& order,
                                const std::map<std::string, std::string>& metadata) {
  std::vector<uint64_t> begins(tensors.size());
  uint64_t end = 0;
  for (const size_t i : order) {
    begins[i] = end;
    const auto next = checked_add(end, *byte_count(tensors[i].shape, tensors[i].dtype));
    if (!next) return Error{code::limit, "the tensors to write are larger than any file"};
    end = *next;
  }
  std::string header = "{";
  const auto add = [&header](const std::string& name, const std::string& value) {
    const auto key = json_string(name);
    if (!key) return false;
    if (header.size() > 1) header += ',';
    header += *key;
    header += ':';
    header += value;
    return true;
  };
  const auto not_text = [](const std::string& name) {
    return Error{code::format, text(printable(name), " cannot be written: it is not UTF-8")};
  };
  std::string entries;
  for (const auto& [name, value] : metadata) {
    const auto key = json_string(name), content = json_string(value);
    if (!key || !content) return not_text(name);
    entries += text(entries.empty() ? "" : ",", *key, ":", *content);
  }
  if (!metadata.empty()) add("__metadata__", text("{", entries, "}"));
  for (size_t i = 0; i < tensors.size(); ++i) {
    const OutTensor& tensor = tensors[i];
    if (tensor.name == "__metadata__") return Error{code::format, "a tensor cannot be named `__metadata__`"};
    std::string extents;
    for (const uint64_t extent : tensor.shape) extents += text(extents.empty() ? "" : ",", extent);
    const uint64_t size = *byte_count(tensor.shape, tensor.dtype);
    if (!add(tensor.name, text("{\"dtype\":\"", header_name(tensor.dtype), "\",\"shape\":[", extents,
                               "],\"data_offsets\":[", begins[i], ",", begins[i] + size, "]}")))
      return not_text(tensor.name);
  }
  header += "}";
  header.resize((header.size() + alignment - 1) / alignment * alignment, ' ');
  if (header.size() > limits::safetensors_header)
    return Error{code::limit,
                 text("the header to write is over the limit of ", limits::safetensors_header, " bytes")};
  return header;
}

}  // namespace

Status write_safetensors(const std::string& path, std::vector<OutTensor> tensors,
                         const std::map<std::string, std::string>& metadata) {
  if (auto error = prepare_for_writing(tensors)) return error;
  const std::vector<size_t> order = data_order(tensors);
  const auto header = header_text(tensors, order, metadata);
  if (!header) return header.error();

  OutputFile file(path);
  const uint64_t length = header->size();
  if (auto error = file.write(Bytes(&length, sizeof length))) return error;
  if (auto error = file.write(Bytes(*header))) return error;
  for (const size_t i : order)
    if (auto error = for_each_part(tensors[i], [&file](Bytes part) { return file.write(part); }))
      return error;
  return file.commit();
}

}  // namespace axon::weights
