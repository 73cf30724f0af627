// See arguments.h.
#include "tools/arguments.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "host/weights/dtype.h"
#include "host/weights/tensor_file.h"

namespace axon::tools {

namespace {

using weights::Dtype;

Dtype dtype_of(axon_elem e) { return static_cast<Dtype>(e); }

/// A recursive-descent reader of numbers and lists; depth is the rank, which is limited.
class Reader {
 public:
  explicit Reader(const std::string& text) : at_(text.data()), end_(text.data() + text.size()) {}

  bool read(std::vector<int64_t>& shape, std::vector<double>& values, std::string& error) {
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

  bool item(size_t depth, std::vector<int64_t>& shape, std::vector<double>& values) {
    skip();
    if (at_ != end_ && *at_ == '[') return list(depth, shape, values);
    if (depth < shape.size()) return fail("the list is ragged");
    double value = 0;
    std::string_view rest(at_, static_cast<size_t>(end_ - at_));
    for (const auto& [word, number] : {std::pair{"true", 1.0}, std::pair{"false", 0.0}})
      if (rest.starts_with(word)) {
        at_ += std::strlen(word);
        values.push_back(number);
        return true;
      }
    const auto [next, failed] = std::from_chars(at_, end_, value);
    if (failed != std::errc{}) return fail("expected a number");
    at_ = next;
    values.push_back(value);
    return true;
  }

  bool list(size_t depth, std::vector<int64_t>& shape, std::vector<double>& values) {
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

template <class T>
bool store(double value, uint8_t* out) {
  if constexpr (std::is_integral_v<T>)
    if (value != std::floor(value) || value < static_cast<double>(std::numeric_limits<T>::min()) ||
        value > static_cast<double>(std::numeric_limits<T>::max()))
      return false;
  const T typed = static_cast<T>(value);
  std::memcpy(out, &typed, sizeof typed);
  return true;
}

bool store_number(double value, axon_elem elem, uint8_t* out) {
  switch (elem) {
    case AXON_F64:
      return store<double>(value, out);
    case AXON_F32:
      return store<float>(value, out);
    case AXON_I64:
      return store<int64_t>(value, out);
    case AXON_I32:
      return store<int32_t>(value, out);
    case AXON_I16:
      return store<int16_t>(value, out);
    case AXON_I8:
      return store<int8_t>(value, out);
    case AXON_U8:
      return store<uint8_t>(value, out);
    case AXON_BOOL:
      return (value == 0 || value == 1) && store<uint8_t>(value, out);
    case AXON_F16:
    case AXON_BF16: {
      const float number = static_cast<float>(value);
      weights::convert(Dtype::f32, &number, dtype_of(elem), out, 1);
      return true;
    }
    case AXON_F8E4M3:
    case AXON_F8E5M2:
      return false;
  }
  return false;
}

std::string format_number(axon_elem elem, const uint8_t* at) {
  const auto as = [&](auto zero) {
    std::memcpy(&zero, at, sizeof zero);
    return zero;
  };
  switch (elem) {
    case AXON_F64:
      return fmt::format("{}", as(double{}));
    case AXON_F32:
      return fmt::format("{}", as(float{}));
    case AXON_I64:
      return fmt::format("{}", as(int64_t{}));
    case AXON_I32:
      return fmt::format("{}", as(int32_t{}));
    case AXON_I16:
      return fmt::format("{}", as(int16_t{}));
    case AXON_I8:
      return fmt::format("{}", as(int8_t{}));
    case AXON_U8:
      return fmt::format("{}", as(uint8_t{}));
    case AXON_BOOL:
      return *at ? "true" : "false";
    case AXON_F16:
    case AXON_BF16: {
      float number = 0;
      weights::convert(dtype_of(elem), at, Dtype::f32, &number, 1);
      return fmt::format("{}", number);
    }
    case AXON_F8E4M3:
    case AXON_F8E5M2:
      return fmt::format("0x{:02x}", *at);
  }
  return "?";
}

constexpr int64_t axis_shown = 16;  ///< longer axes show their ends only

void format_axis(const axon_view& v, int32_t axis, const uint8_t*& at, std::string& out) {
  const size_t bytes = axon_elem_bytes(v.elem);
  if (axis == v.rank) {
    out += format_number(v.elem, at);
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

}  // namespace

std::optional<Array> parse_array(const std::string& text, axon_elem elem, std::string& error) {
  Array array;
  array.elem = elem;
  std::vector<double> values;
  if (text.starts_with("zeros[")) {
    std::vector<int64_t> rank;
    std::vector<double> extents;
    if (!Reader(text.substr(5)).read(rank, extents, error)) return std::nullopt;
    size_t count = 1;
    for (double e : extents) {
      if (e < 0 || e != std::floor(e) || e > 1e12)
        return error = "a size must be a natural number", std::nullopt;
      array.shape.push_back(static_cast<int64_t>(e));
      count *= static_cast<size_t>(e);
    }
    array.bytes.resize(count * axon_elem_bytes(elem));
    return array;
  }
  if (!Reader(text).read(array.shape, values, error)) return std::nullopt;
  array.bytes.resize(values.size() * axon_elem_bytes(elem));
  for (size_t i = 0; i < values.size(); ++i)
    if (!store_number(values[i], elem, array.bytes.data() + i * axon_elem_bytes(elem)))
      return error = fmt::format("{} is no {}", values[i], axon_elem_name(elem)), std::nullopt;
  return array;
}

std::optional<Array> read_array(const std::string& path, const std::string& name, std::string& error) {
  auto file = weights::open_tensors(path);
  if (!file) return error = file.error().message, std::nullopt;
  const auto& tensors = file->table.tensors;
  const weights::Tensor* tensor =
      path.ends_with(".npy") && tensors.size() == 1 ? &tensors[0] : file->table.find(name);
  if (!tensor) return error = fmt::format("{} has no tensor `{}`", path, name), std::nullopt;
  Array array;
  array.elem = static_cast<axon_elem>(tensor->dtype);
  for (uint64_t extent : tensor->shape) array.shape.push_back(static_cast<int64_t>(extent));
  array.bytes.resize(tensor->end - tensor->begin);
  const auto status = file->read(*tensor, 0, array.bytes.data(), array.bytes.size());
  if (status) return error = status->message, std::nullopt;
  return array;
}

std::string format_array(const axon_view& view) {
  std::string out;
  const auto* at = static_cast<const uint8_t*>(view.data);
  format_axis(view, 0, at, out);
  return out;
}

bool write_arrays(const std::string& path, const std::vector<std::pair<std::string, axon_view>>& arrays,
                  std::string& error) {
  std::vector<weights::OutTensor> out;
  for (const auto& [name, view] : arrays) {
    std::vector<uint64_t> shape(view.shape, view.shape + view.rank);
    size_t bytes = axon_elem_bytes(view.elem);
    for (uint64_t extent : shape) bytes *= extent;
    out.push_back(weights::out_tensor(name, dtype_of(view.elem), shape,
                                      {static_cast<const uint8_t*>(view.data), bytes}));
  }
  const bool single = path.ends_with(".npy") && out.size() == 1;
  const auto status = single ? weights::write_npy(path, out[0]) : weights::write_npz(path, std::move(out));
  if (status) error = status->message;
  return !status;
}

}  // namespace axon::tools
