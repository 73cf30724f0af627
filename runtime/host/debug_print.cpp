// Values as text (debug_print.h).
#include "host/debug_print.h"

#include <charconv>
#include <cstdio>
#include <cstring>

#include "host/sizes.h"
#include "host/weights/elements.h"

namespace axon::host {
namespace {

constexpr int64_t shown_per_axis = 8;

template <class T>
T load(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T>
std::string number_text(T value) {
  if (value != value) return "nan";  // its sign says nothing
  char buffer[64];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, end);
}

std::string element(Elem type, const uint8_t* at) {
  switch (type) {
#define FLOAT(name, number, stored, ...) \
  case Elem::name:                       \
    return number_text(load<stored>(at));
#define NARROW(name, ...) \
  case Elem::name:        \
    return number_text(static_cast<float>(weights::load_float(type, at)));
#define INTEGER(name, number, stored, npy, safetensors) \
  case Elem::name:                                      \
    return number_text(int64_t{load<stored>(at)});
#define TRUTH(name, ...) \
  case Elem::name:       \
    return *at ? "true" : "false";
#include "host/elems.def"
  }
  return "?";
}

/// Appends the tensor from `axis` on; `at` moves past all of it. Depth is the rank, at most AXON_MAX_RANK.
void append(std::string& out, const axon_view& view, int32_t axis, const uint8_t*& at) {
  const auto type = static_cast<Elem>(view.elem);
  const auto bytes = static_cast<uint64_t>(elem_bytes(type));
  if (axis == view.rank) {
    out += element(type, at);
    at += bytes;
    return;
  }
  uint64_t stride = bytes;
  for (int32_t inner = axis + 1; inner < view.rank; ++inner)
    stride *= static_cast<uint64_t>(view.shape[inner]);
  out += "[";
  for (int64_t i = 0; i < view.shape[axis]; ++i) {
    out += i ? ", " : "";
    if (i == shown_per_axis && view.shape[axis] > shown_per_axis + 1) {
      out += "...";
      at += stride * static_cast<uint64_t>(view.shape[axis] - i);
      break;
    }
    append(out, view, axis + 1, at);
  }
  out += "]";
}

}  // namespace

std::string debug_text(const std::string& name, const axon_view& view) {
  std::string out = text(name, " = ", elem_name(static_cast<Elem>(view.elem)));
  if (view.rank > 0) out += shape_text(view.shape, static_cast<size_t>(view.rank));
  out += " ";
  const auto* at = static_cast<const uint8_t*>(view.data);
  append(out, view, 0, at);
  return out;
}

void debug_print(const std::string& name, const axon_view& view) {
  std::fprintf(stderr, "%s\n",
               debug_text(name, view).c_str());  // one call: lines of several workers stay whole
}

}  // namespace axon::host
