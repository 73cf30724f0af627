// Reader for .safetensors: 8 bytes of header length, a JSON header, then the tensors' bytes without gaps.
//
// The header is read once into the table and checked as a whole: names unique, types known, shape times type
// equal to the range, ranges in order covering the data exactly. Of a tensor of an unknown type the range is
// checked, and its name is in the table, so that a file is good as long as nobody asks for it.
#include <algorithm>
#include <array>

#include "host/weights/json_reader.h"
#include "host/weights/limits.h"
#include "host/weights/tensor_file.h"

namespace axon::weights {
namespace {

std::optional<Elem> dtype_from_header(std::string_view name) {
  constexpr std::pair<std::string_view, Elem> known[] = {
#define ELEM(name, number, text, stored, npy, safetensors) {safetensors, Elem::name},
#include "host/elems.def"
  };
  for (const auto& [spelling, type] : known)
    if (spelling == name) return type;
  return std::nullopt;
}

class HeaderReader : public JsonReader {
 public:
  TensorTable table;

  bool start_object(std::size_t) override {
    if (state_ == State::start)
      state_ = State::names;
    else if (state_ == State::tensor_value)
      state_ = State::fields;
    else if (state_ == State::metadata_value)
      state_ = State::metadata;
    else
      return unexpected("an object");
    return true;
  }

  bool key(string_t& name) override {
    if (state_ == State::names) {
      tensor_ = {};
      tensor_.name = name;
      has_dtype_ = has_shape_ = has_offsets_ = false;
      const bool metadata = name == "__metadata__";
      if (metadata && std::exchange(has_metadata_, true)) return fail("`__metadata__` occurs twice");
      state_ = metadata ? State::metadata_value : State::tensor_value;
      return true;
    }
    if (state_ == State::metadata) {
      metadata_key_ = name;
      state_ = State::metadata_text;
      return true;
    }
    bool* seen = nullptr;
    if (name == "dtype")
      seen = &has_dtype_, state_ = State::dtype;
    else if (name == "shape")
      seen = &has_shape_, state_ = State::shape_value;
    else if (name == "data_offsets")
      seen = &has_offsets_, state_ = State::offsets_value;
    else
      return fail(text("unknown key ", printable(name), where()));
    if (std::exchange(*seen, true)) return fail(text("key ", printable(name), " occurs twice", where()));
    return true;
  }

  bool string(string_t& value) override {
    if (state_ == State::metadata_text) {
      state_ = State::metadata;
      if (!table.metadata.emplace(metadata_key_, value).second)
        return fail(text("metadata key ", printable(metadata_key_), " occurs twice"));
      return true;
    }
    if (state_ != State::dtype) return unexpected("a string");
    const auto type = dtype_from_header(value);
    if (type)
      tensor_.dtype = *type;
    else
      tensor_.packing = Packing::unreadable, tensor_.packed_as = foreign_type(value);
    state_ = State::fields;
    return true;
  }

  bool start_array(std::size_t) override {
    if (state_ == State::shape_value)
      state_ = State::shape;
    else if (state_ == State::offsets_value)
      state_ = State::offsets, offset_count_ = 0;
    else
      return unexpected("an array");
    return true;
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (state_ == State::shape) {
      if (tensor_.shape.size() == limits::rank)
        return fail(text("rank over the limit of ", limits::rank, where()), code::limit);
      tensor_.shape.push_back(value);
      return true;
    }
    if (state_ != State::offsets) return unexpected("a number");
    if (offset_count_ == offsets_.size()) return fail(text("more than two data_offsets", where()));
    offsets_[offset_count_++] = value;
    return true;
  }

  bool end_array() override {
    if (state_ == State::offsets && offset_count_ != offsets_.size())
      return fail(text("fewer than two data_offsets", where()));
    state_ = State::fields;
    return true;
  }

  bool end_object() override {
    if (state_ == State::fields) return finish_tensor();
    state_ = state_ == State::metadata ? State::names : State::end;
    return true;
  }

 private:
  enum class State : uint8_t {
    start,
    names,
    end,
    metadata_value,
    metadata,
    metadata_text,
    tensor_value,
    fields,
    dtype,
    shape_value,
    shape,
    offsets_value,
    offsets,
  };

  std::string where() const override {
    return tensor_.name.empty() ? "" : " in tensor " + printable(tensor_.name);
  }

  bool finish_tensor() {
    if (!has_dtype_) return fail(text("no dtype", where()));
    if (!has_shape_) return fail(text("no shape", where()));
    if (!has_offsets_) return fail(text("no data_offsets", where()));
    tensor_.begin = offsets_[0];
    tensor_.end = offsets_[1];
    table.tensors.push_back(std::move(tensor_));
    tensor_ = {};
    state_ = State::names;
    return true;
  }

  State state_ = State::start;
  Tensor tensor_;
  bool has_metadata_ = false, has_dtype_ = false, has_shape_ = false, has_offsets_ = false;
  std::string metadata_key_;
  std::array<uint64_t, 2> offsets_{};
  size_t offset_count_ = 0;
};

/// Sorts by name and checks every tensor against itself: unique name, range of the size of its shape, inside
/// the data.
Status check_each(std::vector<Tensor>& tensors, uint64_t data_size) {
  std::sort(tensors.begin(), tensors.end(), [](const Tensor& a, const Tensor& b) { return a.name < b.name; });
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    if (i > 0 && tensors[i - 1].name == tensor.name)
      return Error{code::format, text("tensor ", printable(tensor.name), " occurs twice")};
    if (tensor.begin > tensor.end || tensor.end > data_size)
      return Error{code::range,
                   text("data_offsets [", tensor.begin, ", ", tensor.end, "] of tensor ",
                        printable(tensor.name), " are not within the ", data_size, " bytes of data")};
    const auto size = byte_count(tensor.shape, tensor.dtype);
    if (!size)
      return Error{size.error().code, text(size.error().message, " in tensor ", printable(tensor.name))};
    if (tensor.packing == Packing::unreadable) continue;
    if (*size != tensor.end - tensor.begin)
      return Error{code::shape, text("tensor ", printable(tensor.name), " of type ", elem_name(tensor.dtype),
                                     " and shape ", shape_text(tensor.shape), " needs ", *size,
                                     " bytes, has ", tensor.end - tensor.begin)};
  }
  return std::nullopt;
}

/// Ranges in order of position must meet end to begin and cover the data.
Status check_cover(const std::vector<Tensor>& tensors, uint64_t data_size) {
  std::vector<const Tensor*> order;
  order.reserve(tensors.size());
  for (const Tensor& tensor : tensors) order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](const Tensor* a, const Tensor* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  uint64_t covered = 0;
  for (const Tensor* tensor : order) {
    if (tensor->begin < covered)
      return Error{code::range, text("tensor ", printable(tensor->name), " overlaps the one before it")};
    if (tensor->begin > covered)
      return Error{code::range,
                   text("bytes ", covered, " to ", tensor->begin, " of the data belong to no tensor")};
    covered = tensor->end;
  }
  if (covered != data_size)
    return Error{code::range,
                 text("the last ", data_size - covered, " bytes of the data belong to no tensor")};
  return std::nullopt;
}

Result<TensorTable> read_table(const File& file) {
  uint64_t header_size = 0;
  if (file.size() < sizeof header_size)
    return Error{code::format, "the file is too short for a header length"};
  if (auto error = file.read(0, &header_size, sizeof header_size)) return *error;
  if (header_size > limits::safetensors_header)
    return Error{code::limit, text("the header length ", header_size, " is over the limit of ",
                                   limits::safetensors_header)};
  if (header_size > file.size() - sizeof header_size)
    return Error{code::range, text("the header length ", header_size, " is more than the file has")};
  std::vector<uint8_t> header(header_size);
  if (auto error = file.read(sizeof header_size, header.data(), header_size)) return *error;

  HeaderReader reader;
  if (auto error = reader.run(Bytes(header))) return *error;
  const uint64_t data_begin = sizeof header_size + header_size;
  const uint64_t data_size = file.size() - data_begin;
  if (auto error = check_each(reader.table.tensors, data_size)) return *error;
  if (auto error = check_cover(reader.table.tensors, data_size)) return *error;
  for (Tensor& tensor : reader.table.tensors) {
    tensor.begin += data_begin;  // at most the file size
    tensor.end += data_begin;
  }
  return std::move(reader.table);
}

}  // namespace

Result<TensorFile> read_safetensors(std::shared_ptr<File> file) {
  auto table = read_table(*file);
  if (!table) return Error{table.error().code, text(printable(file->name()), ": ", table.error().message)};
  return TensorFile{std::move(*table), {std::move(file)}};
}

}  // namespace axon::weights
