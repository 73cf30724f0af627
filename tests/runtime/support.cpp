// Bundles for the tests (support.h).
#include "support.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "host/elem.h"
#include "host/error.h"

namespace axon::test {
namespace {

void append(Bytes& out, const void* data, size_t size) {
  const auto* const bytes = static_cast<const uint8_t*>(data);
  out.insert(out.end(), bytes, bytes + size);
}

uint64_t hash(const Bytes& bytes) {
  uint64_t value = 14695981039346656037u;
  for (const uint8_t byte : bytes) {
    value ^= byte;
    value *= 1099511628211u;
  }
  return value;
}

/// `copy_f32 (x : f32[n]) (y : f32) = (x, y)`, and so for every element type.
std::string copy_entry(axon_elem elem) {
  const std::string name = axon_elem_name(elem);
  const auto port = [&](const char* path, const char* rest) {
    return host::text(R"({"path":")", path, R"(","elem":")", name, R"(",)", rest, "}");
  };
  const std::string x = port("x", R"("kind":"argument","shape":["n"])");
  const std::string y = port("y", R"("kind":"argument","shape":[])");
  const std::string results = host::text(port("0", R"("shape":["n"])"), ",", port("1", R"("shape":[])"));
  return host::text(
      R"({"name":"copy_)", name, R"(","inputs":[)", x, ",", y, R"(],"results":[)", results,
      R"(],"sizes":[{"name":"n","from":"axis","input":0,"axis":0,"equation":"n"}],"variants":[{)",
      R"("symbol":"copy_)", axon_elem_bytes(elem), R"(","guard":[],"slots":[],"event_offset":[],)",
      R"("event_words":"0","scratch":"0","iterations":"1","work":"n","handoffs":"1","buffers":[)",
      R"({"kind":"argument","index":0},{"kind":"argument","index":1},)",
      R"({"kind":"result","index":0},{"kind":"result","index":1}]}]})");
}

}  // namespace

Bytes make_container(const std::vector<std::pair<std::string, Bytes>>& sections) {
  uint64_t offset = 24 + 48 * sections.size();
  Bytes table, content;
  for (const auto& [name, bytes] : sections) {
    while (offset % 64 != 0) ++offset, content.push_back(0);
    char field[24] = {};
    std::memcpy(field, name.data(), name.size());
    append(table, field, sizeof field);
    for (const uint64_t number : {offset, uint64_t{bytes.size()}, hash(bytes)}) append(table, &number, 8);
    append(content, bytes.data(), bytes.size());
    offset += bytes.size();
  }
  Bytes out = to_bytes("AXONBNDL");
  const uint32_t numbers[] = {1, static_cast<uint32_t>(sections.size())};
  append(out, numbers, sizeof numbers);
  append(out, &offset, 8);
  append(out, table.data(), table.size());
  append(out, content.data(), content.size());
  return out;
}

Bytes to_bytes(const std::string& text) { return {text.begin(), text.end()}; }

std::string manifest_text(const std::string& entries_text, const std::string& weights) {
  return R"({"format":4,"abi":1,"compiler":"by hand","source":"test.axn",)"
         R"("levels":["x86-64-v2"],"weights":[)" +
         weights + R"(],"entries":[)" + entries_text + "]}";
}

Bytes kernel_image() {
  std::ifstream file(AXON_TEST_KERNELS, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Bytes make_bundle(const std::string& manifest) {
  return make_container({{"manifest", to_bytes(manifest)}, {"x86-64-v2", kernel_image()}});
}

std::string all_entries() {
  std::ifstream file(AXON_TEST_ENTRIES);
  const std::string list{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::string out = list.substr(2, list.size() - 4);  // without the brackets
  for (const Elem elem : all_elems) out += host::text(",", copy_entry(static_cast<axon_elem>(elem)));
  return out;
}
std::string test_weights() {
  return R"({"path":"p.w","elem":"f32","shape":["n","d","g*h"],"placement":[{"axis":0,"extent":0},{"axis":2,"extent":0},{"axis":1,"extent":0},{"axis":2,"extent":4}]},
            {"path":"p.v","elem":"f32","shape":["d"],"placement":[]})";
}
Bytes test_bundle() { return make_bundle(manifest_text(all_entries(), test_weights())); }

Handles::~Handles() {
  axon_call_destroy(call);
  axon_parameters_destroy(parameters);
  axon_runtime_destroy(runtime);
  axon_bundle_destroy(bundle);
  axon_error_destroy(error);
}

void Handles::make_call(const char* entry, uint32_t workers) {
  if (!bundle) {
    const Bytes bytes = test_bundle();
    ASSERT_EQ(axon_open_memory(bytes.data(), bytes.size(), &bundle, error), AXON_OK) << text();
  }
  axon_runtime_destroy(runtime);
  axon_call_destroy(call);
  runtime = nullptr;
  call = nullptr;
  ASSERT_EQ(axon_runtime_create(workers, &runtime, error), AXON_OK) << text();
  ASSERT_EQ(axon_call_create(bundle, entry, parameters, runtime, &call, error), AXON_OK) << text();
}

}  // namespace axon::test
