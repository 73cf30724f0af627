// Inputs of a call: setting them, and the checks on their memory and elements.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <map>

#include "host/call.h"
#include "host/limits.h"
#include "host/strided.h"
#include "host/weights/elements.h"

namespace axon::host {
namespace {

Elem elem_of(axon_elem elem) { return static_cast<Elem>(elem); }
std::string_view name(axon_elem elem) { return elem_name(elem_of(elem)); }
Failure bad_argument(const char* code, std::string what) {
  return {AXON_BAD_ARGUMENT, code, std::move(what)};
}

template <class Number>
Failure cannot_hold(const Port& port, Number value) {
  char digits[32];  // the shortest ones that say which number it is
  const std::to_chars_result end = std::to_chars(digits, digits + sizeof digits, value);
  return bad_argument(code::type, text(printable(port.path), " is ", name(port.elem), ", which cannot hold ",
                                       std::string(digits, end.ptr)));
}

std::string element_text(size_t element, const int64_t* shape, size_t rank) {
  std::vector<int64_t> at(rank);
  for (size_t axis = rank; axis-- > 0;) {
    at[axis] = static_cast<int64_t>(element % static_cast<uint64_t>(shape[axis]));
    element /= static_cast<uint64_t>(shape[axis]);
  }
  return rank == 0 ? "" : text("element ", shape_text(at.data(), rank), " of ");
}

}  // namespace

int32_t Call::find_input(std::string_view path) const {
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (inputs_[i].port->path == path) return static_cast<int32_t>(i);
  return -1;
}

Status Call::set_size(std::string_view name, int64_t value) {
  for (size_t i = 0; i < entry_->sizes.size(); ++i) {
    const Size& size = entry_->sizes[i];
    if (size.name != name) continue;
    if (size.from != AXON_FROM_PARAMETER)
      return misuse(
          text("size ", printable(name), " of ", printable(entry_->name), " follows from its arguments"));
    if (value < 0)
      return bad_argument(code::requirement,
                          text("size ", printable(name), " is ", value, ", but sizes are not negative"));
    given_sizes_[i] = value;
    given_ |= uint64_t{1} << i;
    dirty_ = true;
    return std::nullopt;
  }
  return misuse(text(printable(entry_->name), " has no size ", printable(name)));
}

void Call::clear() {
  for (Input& input : inputs_) input.set = input.port->kind == AXON_WEIGHT;
  dirty_ |= given_ != 0;
  given_ = 0;
  incomplete_ = true;
  ran_ = false;
}

/// Whether the tensor is one that the input may be, wherever it lies.
Status Call::check_view(size_t index, const axon_view& view) const {
  if (index >= inputs_.size()) return misuse(text(printable(entry_->name), " has no input number ", index));
  const Port& port = *inputs_[index].port;
  if (port.kind == AXON_WEIGHT) return misuse(text(printable(port.path), " is a weight, which binding sets"));
  if (view.elem != port.elem) {
    if (std::ranges::find(all_elems, elem_of(view.elem)) == std::end(all_elems))
      return misuse(text("the tensor for ", printable(port.path), " has no element type"));
    return bad_argument(code::type, text(printable(port.path), " is ", name(port.elem),
                                         ", the given tensor is ", name(view.elem)));
  }
  const auto rank = static_cast<int32_t>(port.shape.size());
  if (view.rank != rank)
    return bad_argument(code::type, text(printable(port.path), " has ", rank, rank == 1 ? " axis" : " axes",
                                         ", the given tensor has ", view.rank));
  if (rank > 0 && !view.shape) return misuse(text("the tensor for ", printable(port.path), " has no shape"));
  const auto bytes = dense_bytes(view);
  if (!bytes)
    return bad_argument(code::shape, text("the tensor for ", printable(port.path),
                                          " has the impossible shape ", shape_text(view.shape, rank)));
  if (!view.data && *bytes > 0) return misuse(text("the tensor for ", printable(port.path), " has no data"));
  const uint64_t element = elem_bytes(elem_of(port.elem));
  if (reinterpret_cast<uintptr_t>(view.data) % element != 0)
    return bad_argument(code::memory, text("the tensor for ", printable(port.path),
                                           " is not aligned to its elements of ", element, " bytes"));
  return std::nullopt;
}

Status Call::set(size_t index, const axon_view& view, const int64_t* strides) {
  if (auto failure = check_view(index, view)) return failure;
  Input& input = inputs_[index];
  if (input.port->kind == AXON_SIZE) {
    int64_t value;
    std::memcpy(&value, view.data, sizeof value);
    return set_integer(index, value);
  }
  if (auto failure = lie_at(input, view, strides)) return failure;
  input.copied = false;
  pointers_dirty_ |= input.data != view.data;
  input.data = view.data;
  return std::nullopt;
}

Status Call::scalar_input(size_t index, const char* what) {
  if (index >= inputs_.size()) return misuse(text(printable(entry_->name), " has no input number ", index));
  const Port& port = *inputs_[index].port;
  if (port.kind == AXON_WEIGHT) return misuse(text(printable(port.path), " is a weight, which binding sets"));
  if (port.kind == AXON_STATE)
    return misuse(text(printable(port.path), " is a state, which needs memory of its own"));
  if (!port.shape.empty())
    return bad_argument(code::type,
                        text(printable(port.path), " has ", port.shape.size(),
                             port.shape.size() == 1 ? " axis" : " axes", ", ", what, " has none"));
  return std::nullopt;
}

void Call::store_scalar(Input& input, const void* value, uint64_t bytes) {
  std::memcpy(input.scalar, value, bytes);
  pointers_dirty_ |= input.data != input.scalar;
  if (!input.shaped) input.dirty = dirty_ = true;
  input.data = input.scalar;
  input.bytes = bytes;
  input.low = 0;
  input.copied = false;
  input.set = input.shaped = true;
}

Status Call::store_integer(Input& input, int64_t value) {
  const uint64_t bytes = elem_bytes(elem_of(input.port->elem));
  const IntegerRange range = range_of_integers(elem_of(input.port->elem));
  if (value < range.least || value > range.greatest) return cannot_hold(*input.port, value);
  if (input.port->kind == AXON_SIZE &&
      (!input.shaped || std::memcmp(input.scalar, &value, sizeof value) != 0))
    input.dirty = dirty_ = true;
  store_scalar(input, &value, bytes);  // little-endian
  return std::nullopt;
}

Status Call::set_integer(size_t index, int64_t value) {
  if (auto failure = scalar_input(index, "a number")) return failure;
  Input& input = inputs_[index];
  if (!is_float(elem_of(input.port->elem))) return store_integer(input, value);
  if (static_cast<__int128>(static_cast<double>(value)) != value) return cannot_hold(*input.port, value);
  return set_real(index, static_cast<double>(value));
}

Status Call::set_real(size_t index, double value) {
  if (auto failure = scalar_input(index, "a number")) return failure;
  Input& input = inputs_[index];
  const axon_elem elem = input.port->elem;
  if (!is_float(elem_of(elem))) {
    if (std::nearbyint(value) != value || value < -0x1p63 || value >= 0x1p63)
      return cannot_hold(*input.port, value);
    return store_integer(input, static_cast<int64_t>(value));
  }
  uint8_t converted[8] = {};
  weights::store_float(elem_of(elem), value, converted);
  const double rounded = weights::load_float(elem_of(elem), converted);
  if (std::isfinite(value) ? !std::isfinite(rounded) : std::isinf(value) != std::isinf(rounded))
    return cannot_hold(*input.port, value);
  store_scalar(input, converted, elem_bytes(elem_of(elem)));
  return std::nullopt;
}

/// A structure of which nothing was set is named as a whole.
Status Call::check_missing() const {
  std::map<std::string, std::pair<size_t, size_t>>
      parts;  // by parameter: leaves, and those that were not set
  const auto parameter = [](const Input& input) {
    return input.port->path.substr(0, input.port->path.find('.'));
  };
  for (const Input& input : inputs_) {
    ++parts[parameter(input)].first;
    parts[parameter(input)].second += !input.set;
  }
  std::string missing, hint;
  for (const Input& input : inputs_) {
    if (input.set) continue;
    auto& [leaves, unset] = parts[parameter(input)];
    if (unset == 0) continue;  // named with another leaf
    missing += missing.empty() ? "" : ", ";
    if (unset < leaves || leaves == 1) {
      missing += printable(input.port->path);
      continue;
    }
    missing += text(printable(parameter(input)), " with its ", leaves, " tensors");
    if (input.port->kind == AXON_ARGUMENT)
      hint = text("; a parameter that is bound once is marked in the program: (", parameter(input),
                  " : weights ..)");
    unset = 0;
  }
  if (missing.empty()) return std::nullopt;
  return bad_argument(code::missing,
                      text(printable(entry_->name), " has inputs that were not set: ", missing, hint));
}

Status Call::check_overlaps() const {
  for (const Input& state : inputs_) {
    if (state.port->kind != AXON_STATE || state.bytes == 0) continue;
    const auto begin_of = [](const Input& input) {
      return reinterpret_cast<uintptr_t>(input.data) + static_cast<uintptr_t>(input.low);
    };
    const uintptr_t begin = begin_of(state);
    for (const Input& other : inputs_) {
      const uintptr_t start = begin_of(other);
      if (&other == &state || other.bytes == 0 || start >= begin + state.bytes ||
          begin >= start + other.bytes)
        continue;
      return bad_argument(
          code::memory, text("the memory of ", printable(state.port->path),
                             ", which is updated in place, overlaps that of ", printable(other.port->path)));
    }
  }
  return std::nullopt;
}

namespace {

/// Every element lies in 0 .. bound - 1.
template <class T>
Status check_range(const Port& port, const void* data, const int64_t* shape, const int64_t* strides,
                   const Check& check, int64_t bound) {
  const auto* const elements = static_cast<const T*>(data);
  std::optional<size_t> first;
  T found{};
  each_element(shape, strides, port.shape.size(), [&](size_t number, int64_t offset) {
    const T element = elements[offset];
    if (first || (element >= 0 && static_cast<int64_t>(element) < bound)) return;
    first = number;
    found = element;
  });
  if (!first) return std::nullopt;
  std::string words = check.message;
  fill_sides(words, static_cast<int64_t>(found), bound);
  const std::string wanted = bound < 1 ? std::string("the axis that it indexes has no elements")
                                       : text("must be at least 0 and less than ", bound);
  return bad_argument(code::index,
                      text(element_text(*first, shape, port.shape.size()), printable(port.path), " is ",
                           static_cast<int64_t>(found), ", but ", wanted, " (", words, ")"));
}

using RangeCheck = Status (*)(const Port&, const void*, const int64_t*, const int64_t*, const Check&,
                              int64_t);

RangeCheck range_check(Elem elem) {
  switch (elem) {
#define ELEM(name, number, text, stored, npy, safetensors) \
  case Elem::name:                                         \
    return nullptr;
#define INTEGER(name, number, stored, npy, safetensors) \
  case Elem::name:                                      \
    return check_range<stored>;
#include "host/elems.def"
  }
  return nullptr;
}

}  // namespace

Status Call::check_ranges() const {
  for (size_t i = 0; i < entry_->checks.size(); ++i) {
    const Check& check = entry_->checks[i];
    if (check.fact) continue;
    const Input& input = inputs_[check.input];
    Status status = range_check(elem_of(input.port->elem))(*input.port, input.data, input.shape,
                                                           input.strides, check, bounds_[i]);
    if (status) return status;
  }
  return std::nullopt;
}

}  // namespace axon::host
