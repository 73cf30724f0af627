// Bundles for the tests: the kernels of kernels.c with manifests by hand, put into a container by code of its
// own, so that the runtime's reader is not tested against itself.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "axon/axon.h"

namespace axon::test {

using Bytes = std::vector<uint8_t>;

Bytes make_container(const std::vector<std::pair<std::string, Bytes>>& sections);
/// The manifest's JSON with these entries and weights, one image of level x86-64-v2.
std::string manifest_text(const std::string& entries, const std::string& weights = "");
Bytes kernel_image();
Bytes make_bundle(const std::string& manifest);
/// An entry for each kernel of kernels.c; `copy_f32` and its like for every element type.
std::string all_entries();
std::string test_weights();
Bytes test_bundle();
Bytes to_bytes(const std::string&);

/// An error object, a bundle and so on, freed at the end of the test.
struct Handles {
  axon_error* error = axon_error_create();
  axon_bundle* bundle = nullptr;
  axon_runtime* runtime = nullptr;
  axon_parameters* parameters = nullptr;
  axon_call* call = nullptr;
  Handles() = default;
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
  ~Handles();

  /// Opens the test bundle (once) and creates a call of `entry` with so many workers; asserts that it worked.
  void make_call(const char* entry, uint32_t workers = 1);
  std::string text() const { return axon_error_text(error); }
  std::string code() const { return axon_error_code(error); }
};

template <class T>
struct ElemOf;
template <>
struct ElemOf<float> {
  static constexpr axon_elem value = AXON_F32;
};
template <>
struct ElemOf<int32_t> {
  static constexpr axon_elem value = AXON_I32;
};
template <>
struct ElemOf<int64_t> {
  static constexpr axon_elem value = AXON_I64;
};
template <>
struct ElemOf<uint8_t> {
  static constexpr axon_elem value = AXON_U8;
};

/// A tensor of a test: values and shape together.
template <class T>
struct Array {
  std::vector<int64_t> shape;
  std::vector<T> values;
  axon_view view() {
    return {values.data(), ElemOf<T>::value, static_cast<int32_t>(shape.size()), shape.data()};
  }
};

}  // namespace axon::test
