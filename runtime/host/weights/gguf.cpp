// Reader for .gguf, versions 2 and 3: counts, metadata, a table of tensors, then their bytes, each from a
// multiple of the alignment on.
//
// Everything is read in order, once, and nothing is allocated for a count that the rest of the file does not
// justify: each entry takes bytes, so a count that is too large ends with the file. Shapes stand with the
// fastest axis first and are turned round. Tensors of a block format that is not read here are in the table
// by name, so that a file is good as long as nobody asks for them.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>

#include "host/weights/limits.h"
#include "host/weights/packed.h"
#include "host/weights/tensor_file.h"

namespace axon::weights {
namespace {

constexpr uint64_t window_bytes = 1u << 16;

Error bad_gguf(std::string what, const char* which = code::format) { return {which, std::move(what)}; }

/// The numbers that stand for types of metadata.
enum class ValueType : uint32_t { u8, i8, u16, i16, u32, i32, f32, truth, string, array, u64, i64, f64, end };

/// What the numbers of element types stand for. Those of block formats are only named.
struct TensorType {
  uint32_t number;
  const char* name;
  Elem dtype = Elem::f32;
  Packing packing = Packing::unreadable;
};
constexpr TensorType tensor_types[] = {
    {0, "f32", Elem::f32, Packing::none},
    {1, "f16", Elem::f16, Packing::none},
    {2, "q4_0"},
    {3, "q4_1"},
    {6, "q5_0"},
    {7, "q5_1"},
    {8, "q8_0", Elem::f32, Packing::q8_0},
    {9, "q8_1"},
    {10, "q2_K"},
    {11, "q3_K"},
    {12, "q4_K"},
    {13, "q5_K"},
    {14, "q6_K"},
    {15, "q8_K"},
    {16, "iq2_xxs"},
    {17, "iq2_xs"},
    {18, "iq3_xxs"},
    {19, "iq1_s"},
    {20, "iq4_nl"},
    {21, "iq3_s"},
    {22, "iq2_s"},
    {23, "iq4_xs"},
    {24, "i8", Elem::i8, Packing::none},
    {25, "i16", Elem::i16, Packing::none},
    {26, "i32", Elem::i32, Packing::none},
    {27, "i64", Elem::i64, Packing::none},
    {28, "f64", Elem::f64, Packing::none},
    {29, "iq1_m"},
    {30, "bf16", Elem::bf16, Packing::none},
    {34, "tq1_0"},
    {35, "tq2_0"},
    {39, "mxfp4"},
};

/// The bytes of a file in order, through a window.
class Cursor {
 public:
  explicit Cursor(const File& file) : file_(file) {}

  uint64_t position() const { return position_; }
  uint64_t left() const { return file_.size() - position_; }

  template <class T>
  Status take(T& out) {
    return copy(&out, sizeof out);
  }
  /// A length and so many bytes.
  Status take(std::string& out, uint64_t longest, const char* what) {
    uint64_t length = 0;
    if (auto error = take(length)) return error;
    if (length > left())
      return bad_gguf(text(what, " of ", length, " bytes is longer than the rest of the file"), code::range);
    if (length > longest)
      return bad_gguf(text(what, " of ", length, " bytes is over the limit of ", longest), code::limit);
    out.resize(length);
    return copy(out.data(), length);
  }
  Status skip(uint64_t count) {
    if (count > left()) return ended();
    position_ += count;
    return std::nullopt;
  }

 private:
  static Error ended() { return bad_gguf("the file ends within its header"); }

  Status copy(void* out, uint64_t count) {
    if (count > left()) return ended();
    if (count > window_bytes) {
      if (auto error = file_.read(position_, out, count)) return error;
      position_ += count;
      return std::nullopt;
    }
    if (position_ < begin_ || position_ + count > begin_ + window_.size()) {
      window_.resize(std::min(window_bytes, left()));
      begin_ = position_;
      if (auto error = file_.read(begin_, window_.data(), window_.size())) return error;
    }
    if (count > 0) std::memcpy(out, window_.data() + (position_ - begin_), count);
    position_ += count;
    return std::nullopt;
  }

  const File& file_;
  uint64_t position_ = 0, begin_ = 0;
  std::vector<uint8_t> window_;
};

class GgufReader {
 public:
  explicit GgufReader(const File& file) : file_(file), cursor_(file) {}

  Status run() {
    uint64_t tensors = 0, keys = 0;
    if (auto error = begin(tensors, keys)) return error;
    for (uint64_t i = 0; i < keys; ++i)
      if (auto error = entry()) return error;
    for (uint64_t i = 0; i < tensors; ++i)
      if (auto error = tensor()) return error;
    return place();
  }
  TensorTable table;

 private:
  Status begin(uint64_t& tensors, uint64_t& keys) {
    constexpr uint64_t least_tensor = 24, least_key = 13;  // bytes
    std::array<char, 4> magic{};
    uint32_t version = 0;
    if (auto error = cursor_.take(magic)) return error;
    if (std::string_view(magic.data(), magic.size()) != "GGUF")
      return bad_gguf("the file does not begin with `GGUF`");
    if (auto error = cursor_.take(version)) return error;
    if (version != 0 && (version & 0xffff) == 0) return bad_gguf("a big-endian file");
    if (version != 2 && version != 3) return bad_gguf(text("version ", version, "; 2 and 3 are read"));
    if (auto error = cursor_.take(tensors)) return error;
    if (auto error = cursor_.take(keys)) return error;
    if (tensors > cursor_.left() / least_tensor || keys > cursor_.left() / least_key)
      return bad_gguf(text(tensors, " tensors and ", keys, " keys are more than the file has room for"),
                      code::range);
    return std::nullopt;
  }

  // ---- metadata ----

  Status entry() {
    std::string key, value;
    ValueType type{};
    if (auto error = cursor_.take(key, limits::gguf_name, "a key")) return error;
    if (auto error = cursor_.take(type)) return error;
    if (type >= ValueType::end)
      return bad_gguf(text("key ", printable(key), " has the unknown type ", static_cast<uint32_t>(type)));
    if (type == ValueType::array) return array(key);
    if (auto error = scalar(type, value)) return error;
    if (key == "general.alignment") {
      if (auto error = set_alignment(type, value)) return error;
    }
    if (!table.metadata.emplace(key, value).second)
      return bad_gguf(text("key ", printable(key), " occurs twice"));
    return std::nullopt;
  }

  Status scalar(ValueType type, std::string& out) {
    switch (type) {
      case ValueType::u8:
        return number<uint8_t>(out);
      case ValueType::i8:
        return number<int8_t>(out);
      case ValueType::u16:
        return number<uint16_t>(out);
      case ValueType::i16:
        return number<int16_t>(out);
      case ValueType::u32:
        return number<uint32_t>(out);
      case ValueType::i32:
        return number<int32_t>(out);
      case ValueType::u64:
        return number<uint64_t>(out);
      case ValueType::i64:
        return number<int64_t>(out);
      case ValueType::f32:
        return number<float>(out);
      case ValueType::f64:
        return number<double>(out);
      case ValueType::truth: {
        uint8_t value = 0;
        if (auto error = cursor_.take(value)) return error;
        if (value > 1) return bad_gguf(text("a truth value of ", static_cast<uint32_t>(value)));
        out = value ? "true" : "false";
        return std::nullopt;
      }
      case ValueType::string:
        return cursor_.take(out, cursor_.left(), "a string");
      case ValueType::array:
      case ValueType::end:
        break;
    }
    return bad_gguf("an array within an array");
  }

  template <class T>
  Status number(std::string& out) {
    T value{};
    if (auto error = cursor_.take(value)) return error;
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    out.assign(digits.data(), end);
    return std::nullopt;
  }

  /// Goes past an array, which is not kept.
  Status array(const std::string& key) {
    constexpr std::array<uint8_t, 13> bytes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};  // by type
    ValueType type{};
    uint64_t count = 0;
    if (auto error = cursor_.take(type)) return error;
    if (auto error = cursor_.take(count)) return error;
    if (type >= ValueType::end || type == ValueType::array)
      return bad_gguf(text("key ", printable(key), " is an array of the type ", static_cast<uint32_t>(type),
                           ", which is not read"));
    const uint64_t each = type == ValueType::string ? sizeof(uint64_t) : bytes[static_cast<size_t>(type)];
    if (count > cursor_.left() / each)
      return bad_gguf(text("key ", printable(key), " has ", count, " items, more than the file has room for"),
                      code::range);
    if (type != ValueType::string) return cursor_.skip(count * each);
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t length = 0;
      if (auto error = cursor_.take(length)) return error;
      if (auto error = cursor_.skip(length)) return error;
    }
    return std::nullopt;
  }

  Status set_alignment(ValueType type, const std::string& value) {
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), alignment_);
    const bool is_number =
        type == ValueType::u32 && error == std::errc() && end == value.data() + value.size();
    if (!is_number || !std::has_single_bit(alignment_) || alignment_ > limits::gguf_alignment)
      return bad_gguf(text("an alignment of ", printable(value), "; powers of 2 up to ",
                           limits::gguf_alignment, " are read, as u32"));
    return std::nullopt;
  }

  // ---- tensors ----

  Status tensor() {
    Tensor out;
    uint32_t rank = 0, type = 0;
    if (auto error = cursor_.take(out.name, limits::gguf_name, "a tensor's name")) return error;
    if (auto error = cursor_.take(rank)) return error;
    if (rank > limits::rank)
      return bad_gguf(
          text("tensor ", printable(out.name), ": rank ", rank, " is over the limit of ", limits::rank),
          code::limit);
    out.shape.resize(rank);
    for (uint64_t& extent : out.shape)
      if (auto error = cursor_.take(extent)) return error;
    std::reverse(out.shape.begin(), out.shape.end());
    if (auto error = cursor_.take(type)) return error;
    if (auto error = cursor_.take(out.begin)) return error;
    const auto* const known = std::find_if(std::begin(tensor_types), std::end(tensor_types),
                                           [&](const TensorType& one) { return one.number == type; });
    out.packing = Packing::unreadable;
    if (known != std::end(tensor_types)) out.dtype = known->dtype, out.packing = known->packing;
    if (out.packing == Packing::unreadable)
      out.packed_as = known != std::end(tensor_types) ? known->name : text("type ", type);
    table.tensors.push_back(std::move(out));
    return std::nullopt;
  }

  /// Turns offsets into ranges of the file and checks them, each alone and against each other.
  Status place() {
    const auto past = checked_add(cursor_.position(), alignment_ - 1);
    const uint64_t data = *past / alignment_ * alignment_;  // the position is in the file
    for (Tensor& tensor : table.tensors)
      if (auto error = place(tensor, data))
        return Error{error->code, text("tensor ", printable(tensor.name), ": ", error->message)};
    if (auto error = check_overlaps()) return error;
    add_parts();
    std::sort(table.tensors.begin(), table.tensors.end(),
              [](const Tensor& a, const Tensor& b) { return a.name < b.name; });
    for (size_t i = 1; i < table.tensors.size(); ++i)
      if (table.tensors[i].name == table.tensors[i - 1].name)
        return bad_gguf(text("tensor ", printable(table.tensors[i].name), " occurs twice"));
    return std::nullopt;
  }

  Status place(Tensor& tensor, uint64_t data) const {
    const auto begin = checked_add(data, tensor.begin);
    if (tensor.begin % alignment_ != 0)
      return bad_gguf(text("the offset ", tensor.begin, " is no multiple of ", alignment_), code::range);
    const auto count = element_count(tensor.shape);
    if (!count) return count.error();
    uint64_t size = 0;
    if (tensor.packing == Packing::q8_0) {
      if (tensor.shape.empty() || tensor.shape.back() % q8_0_elements != 0)
        return bad_gguf(
            text("q8_0", shape_text(tensor.shape), " has no rows of whole blocks of ", q8_0_elements),
            code::shape);
      size = *count / q8_0_elements * q8_0_bytes;
    } else if (tensor.packing == Packing::none) {
      size = *byte_count(tensor.shape, tensor.dtype);
    }
    const auto end = begin ? checked_add(*begin, size) : std::nullopt;
    // A file without bytes of tensors may end before the data would begin.
    if (!end || (*end > file_.size() && (size > 0 || tensor.begin > 0)))
      return bad_gguf(text("the ", size, " bytes from offset ", tensor.begin, " on are not within the file"),
                      code::range);
    tensor.begin = std::min(*begin, file_.size());
    tensor.end = tensor.begin + size;
    return std::nullopt;
  }

  Status check_overlaps() const {
    std::vector<const Tensor*> order;
    for (const Tensor& tensor : table.tensors)
      if (tensor.begin < tensor.end) order.push_back(&tensor);
    std::sort(order.begin(), order.end(),
              [](const Tensor* a, const Tensor* b) { return a->begin < b->begin; });
    for (size_t i = 1; i < order.size(); ++i)
      if (order[i]->begin < order[i - 1]->end)
        return bad_gguf(
            text("tensors ", printable(order[i - 1]->name), " and ", printable(order[i]->name), " overlap"),
            code::range);
    return std::nullopt;
  }

  /// The two parts of blocks as tensors of their own, unless the file has tensors of these names.
  void add_parts() {
    std::vector<std::string> names;
    for (const Tensor& tensor : table.tensors) names.push_back(tensor.name);
    std::sort(names.begin(), names.end());
    std::vector<Tensor> parts;
    for (const Tensor& tensor : table.tensors) {
      if (tensor.packing != Packing::q8_0) continue;
      Tensor values = tensor, scales = tensor;
      values.name += ".values";
      values.dtype = Elem::i8;
      values.packing = Packing::q8_0_values;
      scales.name += ".scales";
      scales.dtype = Elem::f16;
      scales.packing = Packing::q8_0_scales;
      scales.shape.back() /= q8_0_elements;
      for (Tensor& part : std::array{std::move(values), std::move(scales)})
        if (!std::binary_search(names.begin(), names.end(), part.name)) parts.push_back(part);
    }
    table.tensors.insert(table.tensors.end(), parts.begin(), parts.end());
  }

  const File& file_;
  Cursor cursor_;
  uint64_t alignment_ = 32;
};

}  // namespace

Result<TensorFile> read_gguf(std::shared_ptr<File> file) {
  GgufReader reader(*file);
  if (auto error = reader.run())
    return Error{error->code, text(printable(file->name()), ": ", error->message)};
  return TensorFile{std::move(reader.table), {std::move(file)}};
}

}  // namespace axon::weights
