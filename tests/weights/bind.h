// What the tests of binding share: maps that must be good, and tensors that are bound and loaded.
#pragma once
#include <string>
#include <vector>

#include "host/weights/binding.h"
#include "support.h"

namespace axon::weights {

inline BindingMap good_map(const std::string& source) {
  const ParsedMap parsed = parse_binding_map(source);
  for (const Error& error : parsed.errors) ADD_FAILURE() << error.message;
  return parsed.map;
}
/// What is wrong with a map, a line each.
inline std::string errors_of(const std::string& source) {
  std::string out;
  for (const Error& error : parse_binding_map(source).errors) out += error.message + "\n";
  return out;
}

class Bind : public testing::Test {
 protected:
  void add(const std::string& name, Elem dtype, const std::vector<uint64_t>& shape,
           std::vector<double> values = {}) {
    const uint64_t count = *element_count(shape);
    for (size_t i = values.size(); i < count; ++i) values.push_back(static_cast<double>(i));
    data.emplace_back(count * elem_bytes(dtype));
    if (convertible(Elem::f64, dtype)) convert(Elem::f64, values.data(), dtype, data.back().data(), count);
    tensors.push_back(borrowed(name, dtype, shape, data.back()));
  }
  TensorFile file() {
    EXPECT_EQ(error_of(write_safetensors(folder / "w.safetensors", tensors)), "no error");
    auto out = open_tensors(folder / "w.safetensors");
    EXPECT_TRUE(out) << error_of(out);
    return *out;
  }
  std::string misfits(const std::string& map, const std::vector<Field>& fields) {
    std::string out;
    for (const Error& error : bind_parameters(file().table, good_map(map), fields).misfits) {
      EXPECT_EQ(error.code, code::binding);
      out += error.message + "\n";
    }
    return out;
  }
  /// The values of the only field, which must bind.
  std::vector<double> values(const std::string& map, const Field& field, std::vector<uint64_t> shape) {
    const TensorFile weights = file();
    const Binding binding = bind_parameters(weights.table, good_map(map), std::vector{field});
    for (const Error& error : binding.misfits) ADD_FAILURE() << error.message;
    if (!binding.sources[0]) return {};
    EXPECT_EQ(binding.sources[0]->shape, shape);
    return loaded(weights, *binding.sources[0]);
  }
  std::vector<double> loaded(const TensorFile& weights, const Source& source) {
    const uint64_t count = *element_count(source.shape);
    std::vector<uint8_t> out(count * elem_bytes(source.field.dtype));
    EXPECT_EQ(error_of(load(weights, source, out)), "no error");
    std::vector<double> wide(count);
    convert(source.field.dtype, out.data(), Elem::f64, wide.data(), count);
    return wide;
  }

  Folder folder;
  std::vector<OutTensor> tensors;
  std::vector<std::vector<uint8_t>> data;
};

}  // namespace axon::weights
