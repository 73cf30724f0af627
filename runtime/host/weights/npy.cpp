// Reader and writer for .npy: a magic number, a version, a header length, a header, then the elements.
//
// The header is written as a Python literal, but nothing is evaluated: only the fixed form
//   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
// is read, with the keys in any order. Column-major arrays are refused. Those of a type that is not read,
// such as big-endian numbers and objects, are refused by name where they are the whole file; in an archive
// the table has their names.
#include "host/weights/npy.h"

#include <array>
#include <charconv>

#include "host/weights/limits.h"
#include "host/weights/output_file.h"

namespace axon::weights {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr uint64_t header_alignment = 64;

/// "" of a type that NumPy lacks.
constexpr std::pair<std::string_view, Elem> descriptions[] = {
#define ELEM(name, number, text, stored, npy, safetensors) {npy, Elem::name},
#include "host/elems.def"
};

/// The fixed grammar, by recursive descent without recursion.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  Status parse(Tensor& out) {
    if (!take('{')) return malformed("`{` expected");
    while (!take('}')) {
      const auto key = string();
      if (!key || !take(':')) return malformed("a key in quotes and `:` expected");
      if (auto error = value(*key, out)) return error;
      if (take(',')) continue;
      if (!take('}')) return malformed("`,` or `}` expected");
      break;
    }
    skip_spaces();
    if (rest_ != "\n" && !rest_.empty()) return malformed("text after `}`");
    if (!has_description_ || !has_order_ || !has_shape_)
      return malformed("descr, fortran_order or shape is missing");
    return std::nullopt;
  }

 private:
  static Error malformed(const char* what) { return {code::format, text("malformed npy header: ", what)}; }

  void skip_spaces() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }
  bool take(char c) {
    skip_spaces();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take_word(std::string_view word) {
    skip_spaces();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::optional<std::string_view> string() {
    const char quote = take('\'') ? '\'' : take('"') ? '"' : 0;
    const size_t end = quote ? rest_.find(quote) : rest_.npos;
    if (end == rest_.npos) return std::nullopt;
    const std::string_view content = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return content;
  }

  Status value(std::string_view key, Tensor& out) {
    bool* const seen = key == "descr"           ? &has_description_
                       : key == "fortran_order" ? &has_order_
                       : key == "shape"         ? &has_shape_
                                                : nullptr;
    if (!seen) return Error{code::format, text("unknown key ", printable(key), " in the npy header")};
    if (std::exchange(*seen, true)) return Error{code::format, text("key ", printable(key), " occurs twice")};
    if (seen == &has_description_) return description(out);
    if (seen == &has_shape_) return shape(out);
    if (take_word("False")) return std::nullopt;
    if (take_word("True"))
      return Error{code::format, "the array is in Fortran order; save it with numpy.ascontiguousarray"};
    return malformed("True or False expected");
  }

  Status description(Tensor& out) {
    const auto spelling = string();
    if (!spelling && !skip_list()) return malformed("a type in quotes expected");
    for (const auto& [known, type] : descriptions)
      if (spelling && !known.empty() && known == *spelling) {
        out.dtype = type;
        return std::nullopt;
      }
    out.packing = Packing::unreadable;
    out.packed_as = spelling ? foreign_type(*spelling) : "structured";
    return std::nullopt;
  }

  /// Goes past `[...]`, the fields of a structured type.
  bool skip_list() {
    skip_spaces();
    if (!rest_.starts_with('[')) return false;
    size_t depth = 0;
    for (char quote = 0; !rest_.empty();) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (quote != 0)
        quote = c == quote ? '\0' : quote;
      else if (c == '\'' || c == '"')
        quote = c;
      else if (c == '[')
        ++depth;
      else if (c == ']' && --depth == 0)
        return true;
    }
    return false;
  }

  Status shape(Tensor& out) {
    if (!take('(')) return malformed("`(` expected");
    while (!take(')')) {
      skip_spaces();
      uint64_t extent = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
      if (error != std::errc()) return malformed("an extent expected");
      if (out.shape.size() == limits::rank)
        return Error{code::limit, text("rank over the limit of ", limits::rank)};
      out.shape.push_back(extent);
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      if (take(',')) continue;
      if (out.shape.size() == 1) return malformed("`,` expected after a single extent");
      if (!take(')')) return malformed("`,` or `)` expected");
      break;
    }
    return std::nullopt;
  }

  std::string_view rest_;
  bool has_description_ = false, has_order_ = false, has_shape_ = false;
};

/// Magic, version and length: {where the header text starts, its length}.
Result<std::pair<uint64_t, uint64_t>> read_preamble(const File& file, uint64_t offset, uint64_t size) {
  const Error short_file{code::format, "the file ends within the npy header"};
  std::array<uint8_t, 12> start{};
  if (size < start.size()) return short_file;
  if (auto error = file.read(offset, start.data(), start.size())) return *error;
  const Bytes bytes(start.data(), start.size());
  if (!bytes.text().starts_with(magic)) return Error{code::format, "not an npy array: wrong magic number"};
  const int major = start[6], minor = start[7];
  if (major < 1 || major > 3 || minor != 0)
    return Error{code::format, text("npy version ", major, ".", minor, " is not known")};
  const uint64_t begin = major == 1 ? 10 : 12;
  const uint64_t length = major == 1 ? *bytes.load<uint16_t>(8) : *bytes.load<uint32_t>(8);
  if (length > limits::npy_header)
    return Error{code::limit,
                 text("the npy header length ", length, " is over the limit of ", limits::npy_header)};
  if (begin + length > size) return short_file;
  return std::pair(begin, length);
}

Error not_read(const std::string& type) {
  if (type == "structured") return {code::dtype, "structured arrays are not tensors"};
  if (type.starts_with('>')) return {code::dtype, text("big-endian type ", printable(type))};
  if (type.find('O') != type.npos) return {code::dtype, "object arrays hold code and are not read"};
  return {code::dtype, text("unknown element type ", printable(type))};
}

std::string stem(const std::string& path) {
  const size_t slash = path.rfind('/');
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name.ends_with(".npy")) name.resize(name.size() - 4);
  return name;
}

}  // namespace

Result<Tensor> read_npy_array(const File& file, uint64_t offset, uint64_t size) {
  const auto preamble = read_preamble(file, offset, size);
  if (!preamble) return preamble.error();
  const auto [begin, length] = *preamble;
  std::string header(length, '\0');
  if (auto error = file.read(offset + begin, header.data(), length)) return *error;
  Tensor tensor;
  if (auto error = HeaderParser(header).parse(tensor)) return *error;
  tensor.begin = offset + begin + length;
  tensor.end = offset + size;
  if (tensor.packing == Packing::unreadable) {
    const auto count = element_count(tensor.shape);
    return count ? Result<Tensor>(tensor) : count.error();
  }
  const auto bytes = byte_count(tensor.shape, tensor.dtype);
  if (!bytes) return bytes.error();
  const uint64_t present = size - begin - length;
  if (*bytes != present)
    return Error{code::shape, text("type ", elem_name(tensor.dtype), " and shape ", shape_text(tensor.shape),
                                   " need ", *bytes, " bytes, the array has ", present)};
  return tensor;
}

Result<TensorFile> read_npy(std::shared_ptr<File> file) {
  auto tensor = read_npy_array(*file, 0, file->size());
  if (!tensor) return Error{tensor.error().code, text(printable(file->name()), ": ", tensor.error().message)};
  if (tensor->packing == Packing::unreadable) {
    const Error error = not_read(tensor->packed_as);
    return Error{error.code, text(printable(file->name()), ": ", error.message)};
  }
  tensor->name = stem(file->name());
  TensorFile out;
  out.table.tensors.push_back(std::move(*tensor));
  out.files.push_back(std::move(file));
  return out;
}

Result<std::string> npy_header(const OutTensor& tensor) {
  std::string_view description;
  for (const auto& [spelling, type] : descriptions)
    if (type == tensor.dtype) description = spelling;
  if (description.empty())
    return Error{code::dtype, text("npy has no type ", elem_name(tensor.dtype), "; convert ",
                                   printable(tensor.name), " or write safetensors")};
  std::string shape;
  for (const uint64_t extent : tensor.shape) shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
  if (tensor.shape.size() == 1) shape += ",";
  std::string header =
      text("{'descr': '", description, "', 'fortran_order': False, 'shape': (", shape, "), }");
  const size_t start = magic.size() + 4;  // two bytes of version, two of length
  const size_t total =
      (start + header.size() + 1 + header_alignment - 1) / header_alignment * header_alignment;
  header.resize(total - start - 1, ' ');
  header += '\n';
  const auto length = static_cast<uint16_t>(header.size());  // at most 16 extents of 20 digits
  std::string out(magic);
  out += '\x01';
  out += '\0';
  out.append(reinterpret_cast<const char*>(&length), sizeof length);
  return out + header;
}

Status write_npy(const std::string& path, const OutTensor& tensor) {
  const auto size = byte_count(tensor.shape, tensor.dtype);
  if (!size) return size.error();
  const auto header = npy_header(tensor);
  if (!header) return header.error();
  OutputFile file(path);
  if (auto error = file.write(Bytes(*header))) return error;
  if (auto error = for_each_part(tensor, [&file](Bytes part) { return file.write(part); })) return error;
  return file.commit();
}

}  // namespace axon::weights
