// See arguments.h.
#include "tools/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <new>

#include "host/weights/elements.h"
#include "host/weights/npy.h"
#include "host/weights/output_file.h"
#include "tools/elements.h"

namespace axon::tools {

namespace {

Elem dtype_of(axon_elem e) { return static_cast<Elem>(e); }

/// A recursive-descent reader of numbers and lists; depth is the rank, which is limited. Numbers stay as they
/// are written, so that the element type decides what they mean.
class Reader {
 public:
  explicit Reader(const std::string& text) : at_(text.data()), end_(text.data() + text.size()) {}

  bool read(std::vector<int64_t>& shape, std::vector<std::string_view>& values, std::string& error) {
    if (!item(0, shape, values)) return error = message_, false;
    skip();
    if (at_ != end_) return error = "unexpected text after the value", false;
    return true;
  }

 private:
  void skip() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t')) ++at_;
  }
  bool fail(std::string message) { return message_ = std::move(message), false; }

  bool item(size_t depth, std::vector<int64_t>& shape, std::vector<std::string_view>& values) {
    skip();
    if (at_ != end_ && *at_ == '[') return list(depth, shape, values);
    if (depth < shape.size()) return fail("the list is ragged");
    const std::string_view rest(at_, static_cast<size_t>(end_ - at_));
    double ignored = 0;
    size_t length = static_cast<size_t>(std::from_chars(at_, end_, ignored).ptr - at_);
    for (const std::string_view word : {"true", "false"})
      if (rest.starts_with(word)) length = word.size();
    if (length == 0) return fail("expected a number");
    values.push_back(rest.substr(0, length));
    at_ += length;
    return true;
  }

  bool list(size_t depth, std::vector<int64_t>& shape, std::vector<std::string_view>& values) {
    if (depth >= AXON_MAX_RANK) return fail("the list is nested too deeply");
    const bool first_at_depth = shape.size() == depth;
    if (first_at_depth) shape.push_back(-1);
    ++at_;
    int64_t count = 0;
    for (skip(); at_ != end_ && *at_ != ']'; skip()) {
      if (count > 0) {
        if (*at_ != ',') return fail("expected `,` or `]`");
        ++at_;
      }
      const size_t rank = shape.size();
      if (!item(depth + 1, shape, values)) return false;
      if (count > 0 && shape.size() != rank) return fail("the list is ragged");
      ++count;
    }
    if (at_ == end_) return fail("the list is not closed");
    ++at_;
    if (shape[depth] != -1 && shape[depth] != count) return fail("the list is ragged");
    shape[depth] = count;
    return true;
  }

  const char *at_, *end_;
  std::string message_;
};

constexpr int64_t axis_shown = 16;  ///< longer axes show their ends only

void format_axis(const axon_view& v, int32_t axis, const uint8_t*& at, std::string& out) {
  const size_t bytes = axon_elem_bytes(v.elem);
  if (axis == v.rank) {
    out += element_text(v.elem, at);
    at += bytes;
    return;
  }
  size_t below = bytes;
  for (int32_t a = axis + 1; a < v.rank; ++a) below *= static_cast<size_t>(v.shape[a]);
  out += '[';
  for (int64_t i = 0; i < v.shape[axis]; ++i) {
    if (i > 0) out += axis + 1 < v.rank ? ",\n" + std::string(static_cast<size_t>(axis) + 1, ' ') : ", ";
    if (v.shape[axis] > axis_shown && i == axis_shown / 2) {
      out += "...";
      const int64_t skipped = v.shape[axis] - axis_shown;
      at += below * static_cast<size_t>(skipped);
      i += skipped - 1;
      continue;
    }
    format_axis(v, axis + 1, at, out);
  }
  out += ']';
}

/// Bytes for the elements of a shape; false, with a message, when it is over a limit or there is not so much
/// memory.
bool allocate(Array& array, std::string& error) {
  const std::vector<uint64_t> shape(array.shape.begin(), array.shape.end());
  const auto bytes = weights::byte_count(shape, dtype_of(array.elem));
  if (!bytes) return error = bytes.error().message, false;
  try {
    array.bytes.resize(*bytes);
  } catch (const std::bad_alloc&) {
    return error = fmt::format("there is no memory for {} bytes", *bytes), false;
  }
  return true;
}

/// What stands behind `zeros`: a list of sizes.
std::optional<Array> parse_zeros(const std::string& text, axon_elem elem, std::string& error) {
  Array array;
  array.elem = elem;
  std::vector<int64_t> shape;
  std::vector<std::string_view> extents;
  if (!Reader(text).read(shape, extents, error)) return std::nullopt;
  for (const std::string_view written : extents) {
    int64_t extent = 0;
    if (!store_written(written, AXON_I64, reinterpret_cast<uint8_t*>(&extent)) || extent < 0)
      return error = fmt::format("{} is no size", written), std::nullopt;
    array.shape.push_back(extent);
  }
  if (!allocate(array, error)) return std::nullopt;
  return array;
}

}  // namespace

std::optional<Array> parse_array(const std::string& text, axon_elem elem, std::string& error) {
  if (text.starts_with("zeros[")) return parse_zeros(text.substr(5), elem, error);
  Array array;
  array.elem = elem;
  std::vector<std::string_view> values;
  if (!Reader(text).read(array.shape, values, error) || !allocate(array, error)) return std::nullopt;
  for (size_t i = 0; i < values.size(); ++i)
    if (!store_written(values[i], elem, array.bytes.data() + i * axon_elem_bytes(elem)))
      return error = fmt::format("{} is no {}", values[i], axon_elem_name(elem)), std::nullopt;
  return array;
}

FilePart file_part(const std::string& text) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::exists(text, ignored)) return {text, ""};
  for (size_t colon = text.find(':'); colon != std::string::npos; colon = text.find(':', colon + 1))
    if (fs::is_regular_file(text.substr(0, colon), ignored))
      return {text.substr(0, colon), text.substr(colon + 1)};
  // There is no such file: what looks like a name is what the message is about.
  const size_t colon = text.find(':');
  if (colon == std::string::npos || !fs::path(text.substr(0, colon)).has_extension()) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

const weights::TensorFile* ArrayFiles::open(const std::string& path, std::string& error) {
  const auto known = files_.find(path);
  if (known != files_.end()) return &known->second;
  auto file = weights::open_tensors(path);
  if (!file) return error = file.error().message, nullptr;
  return &files_.emplace(path, std::move(*file)).first->second;
}

std::optional<Array> ArrayFiles::read(const std::string& path, const std::vector<std::string>& names,
                                      std::string& error) {
  const weights::TensorFile* const file = open(path, error);
  if (!file) return std::nullopt;
  const auto& tensors = file->table.tensors;
  const weights::Tensor* tensor = path.ends_with(".npy") && tensors.size() == 1 ? &tensors[0] : nullptr;
  for (const std::string& name : names)
    if (!tensor) tensor = file->table.find(name);
  if (!tensor) return error = fmt::format("{} has no tensor `{}`", path, names[0]), std::nullopt;
  Array array;
  array.elem = static_cast<axon_elem>(tensor->dtype);
  for (uint64_t extent : tensor->shape) array.shape.push_back(static_cast<int64_t>(extent));
  array.bytes.resize(weights::read_bytes(*tensor));
  const auto status = file->read(*tensor, 0, array.bytes.data(), array.bytes.size());
  if (status) return error = status->message, std::nullopt;
  return array;
}

/// What lines of a map begin with that are no rules.
constexpr const char* map_lines[] = {"prefix ", "all ", "words ", "--"};

std::optional<std::string> read_map(const std::string& given, std::string& error) {
  const bool is_text = given.find("<-") != std::string::npos || given.find('\n') != std::string::npos ||
                       std::any_of(std::begin(map_lines), std::end(map_lines),
                                   [&](const char* line) { return given.starts_with(line); });
  if (given.empty() || is_text) return given;
  const auto file = weights::File::open(given);
  if (!file) return error = file.error().message, std::nullopt;
  const auto bytes = (*file)->view();
  if (!bytes) return error = bytes.error().message, std::nullopt;
  return std::string(bytes->text());
}

std::string format_array(const axon_view& view) {
  std::string out;
  const auto* at = static_cast<const uint8_t*>(view.data);
  format_axis(view, 0, at, out);
  return out;
}

std::optional<ArrayFile> array_file(const std::string& path, std::string& error) {
  if (path.ends_with(".npy")) return ArrayFile::npy;
  if (path.ends_with(".safetensors")) return ArrayFile::safetensors;
  if (path.ends_with(".npz") || !weights::becomes_a_file(path)) return ArrayFile::npz;
  error = fmt::format("{}: results are written as .npz, as .safetensors or, for one, as .npy", path);
  return std::nullopt;
}

std::string unfit(ArrayFile kind, const std::vector<NamedView>& arrays) {
  if (kind == ArrayFile::safetensors) return "";
  if (kind == ArrayFile::npy && arrays.size() != 1)
    return fmt::format("an .npy file holds one array, and there are {} results; write .npz or .safetensors",
                       arrays.size());
  for (const auto& [name, view] : arrays)
    if (const auto header = weights::npy_header({name, dtype_of(view.elem), {}, {}}); !header)
      return header.error().message;
  return "";
}

bool write_arrays(const std::string& path, ArrayFile kind, const std::vector<NamedView>& arrays,
                  std::string& error) {
  std::vector<weights::OutTensor> out;
  for (const auto& [name, view] : arrays) {
    std::vector<uint64_t> shape(view.shape, view.shape + view.rank);
    size_t bytes = axon_elem_bytes(view.elem);
    for (uint64_t extent : shape) bytes *= extent;
    out.push_back(weights::out_tensor(name, dtype_of(view.elem), shape,
                                      {static_cast<const uint8_t*>(view.data), bytes}));
  }
  const auto status = kind == ArrayFile::npy   ? weights::write_npy(path, out[0])
                      : kind == ArrayFile::npz ? weights::write_npz(path, std::move(out))
                                               : weights::write_safetensors(path, std::move(out));
  if (status) error = status->message;
  return !status;
}

bool sort_words(const std::vector<std::string>& words, std::vector<std::string>& others,
                std::map<std::string, int64_t>& sizes) {
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) {
      others.push_back(word);
      continue;
    }
    int64_t value = 0;
    const char* const end = word.data() + word.size();
    const auto [stopped, problem] = std::from_chars(word.data() + equals + 1, end, value);
    if (equals == 0 || problem != std::errc() || stopped != end || value < 0) {
      fmt::print(stderr, "etcc: `{}`: a size is written as n=12, a whole number from 0 on\n", word);
      return false;
    }
    if (!sizes.emplace(word.substr(0, equals), value).second) {
      fmt::print(stderr, "etcc: the size `{}` is given twice\n", word.substr(0, equals));
      return false;
    }
  }
  return true;
}

}  // namespace axon::tools
