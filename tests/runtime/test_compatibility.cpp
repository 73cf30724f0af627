// The rule of versions: the library reads and runs the bundles of every earlier version, ignores what later
// ones may add beside, and refuses later formats in words that say who has to change.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <fstream>
#include <iterator>

#include "host/bundle.h"
#include "host/versions.h"
#include "support.h"

namespace axon::test {
namespace {

Bytes stored_bundle() {
  std::ifstream file(AXON_SOURCE_DIR "/tests/runtime/data/axon-0.1.0.axb", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The stored bundle with the manifest that `change` makes of its own.
template <class Change>
Bytes with_manifest(Change change) {
  const Bytes whole = stored_bundle();
  const auto container = host::read_container(host::Bytes(whole.data(), whole.size()));
  std::vector<std::pair<std::string, Bytes>> sections;
  for (const host::Section& section : container->sections) {
    Bytes bytes(section.bytes.data(), section.bytes.data() + section.bytes.size());
    if (section.name == "manifest") bytes = to_bytes(change(std::string(bytes.begin(), bytes.end())));
    sections.emplace_back(section.name, std::move(bytes));
  }
  return make_container(sections);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  EXPECT_NE(text.find(from), std::string::npos) << from;
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// Calls entries of one bundle, with float arguments unless they say otherwise.
class Program {
 public:
  explicit Program(const Bytes& bytes) {
    EXPECT_EQ(axon_open_memory(bytes.data(), bytes.size(), &h.bundle, h.error), AXON_OK) << h.text();
  }
  void call(const char* entry) {
    axon_call_destroy(h.call);
    h.call = nullptr;
    EXPECT_EQ(axon_call_create(h.bundle, entry, h.parameters, nullptr, &h.call, h.error), AXON_OK)
        << h.text();
  }
  template <class T>
  void set(const char* path, Array<T>& value) {
    const axon_view view = value.view();
    EXPECT_EQ(axon_call_set(h.call, path, &view, h.error), AXON_OK) << h.text();
  }
  void run() { ASSERT_EQ(axon_call_run(h.call, h.error), AXON_OK) << h.text(); }
  template <class T>
  std::vector<T> result(size_t index, const std::vector<int64_t>& shape) {
    axon_view view{};
    EXPECT_EQ(axon_call_result(h.call, index, &view, h.error), AXON_OK) << h.text();
    EXPECT_EQ(view.elem, ElemOf<T>::value);
    EXPECT_EQ(std::vector<int64_t>(view.shape, view.shape + view.rank), shape);
    size_t count = 1;
    for (const int64_t extent : shape) count *= static_cast<size_t>(extent);
    std::vector<T> out(count);
    EXPECT_EQ(axon_call_copy_result(h.call, index, out.data(), h.error), AXON_OK) << h.text();
    return out;
  }
  Handles h;
};

using Floats = std::vector<float>;
using Integers = std::vector<int64_t>;

/// bf16 of a float that it can hold.
uint16_t bf16(float value) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16); }

void bind_network(Program& program) {
  Array<float> w{{2, 2, 2}, {1, 2, 3, 4, 1, 0, 0, 1}}, b{{2, 2}, {0, -1, 1, 0}};
  std::vector<uint16_t> head;
  for (const float value : {1.f, -1.f, 0.f, 0.f, 2.f, 2.f}) head.push_back(bf16(value));
  const std::vector<int64_t> head_shape{2, 3};
  const char* const names[] = {"net.layers.w", "net.layers.b", "net.head"};
  const axon_view arrays[] = {w.view(), b.view(), {head.data(), AXON_BF16, 2, head_shape.data()}};
  ASSERT_EQ(
      axon_bind_arrays(program.h.bundle, names, arrays, 3, nullptr, &program.h.parameters, program.h.error),
      AXON_OK)
      << program.h.text();
}

void run_network(Program& program) {
  bind_network(program);
  program.call("classify");
  Array<float> x{{3, 2}, {1, 1, 0, 1, -1, 0}};
  program.set("x", x);
  program.run();
  // Hidden: (4, 5), (3, 3), (0, 0), then (5, 5), (4, 3), (1, 0).
  EXPECT_EQ(program.result<float>(0, {3, 3}), (Floats{5, 5, 10, 4, 2, 6, 1, -1, 0}));
  EXPECT_EQ(program.result<int64_t>(1, {3}), (Integers{2, 2, 0}));
}

void run_state(Program& program) {
  program.call("count");
  Array<int64_t> state{{3}, {1, 2, 3}}, by{{3}, {10, 20, 30}};
  program.set("state", state);
  program.set("by", by);
  program.run();
  program.run();
  EXPECT_EQ(state.values, (Integers{21, 42, 63}));
  EXPECT_EQ(program.result<int64_t>(1, {}), Integers{60});
}

void run_sizes(Program& program) {
  Array<float> x{{6}, {1, -2, 3, -4, 5, 6}};
  program.call("positive");
  program.set("x", x);
  program.run();
  EXPECT_EQ(program.result<float>(0, {4}), (Floats{1, 3, 5, 6}));
  program.call("first");
  program.set("x", x);
  EXPECT_EQ(axon_call_set_int(program.h.call, "k", 2, program.h.error), AXON_OK);
  program.run();
  EXPECT_EQ(program.result<float>(0, {2}), (Floats{1, -2}));
  EXPECT_EQ(axon_call_set_int(program.h.call, "k", 7, program.h.error), AXON_OK);
  EXPECT_EQ(axon_call_run(program.h.call, program.h.error), AXON_BAD_ARGUMENT);
  program.call("heads");
  program.set("x", x);
  EXPECT_EQ(axon_call_set_size(program.h.call, "h", 2, program.h.error), AXON_OK);
  program.run();
  EXPECT_EQ(program.result<float>(0, {2, 3}), x.values);
}

void run_checks(Program& program) {
  Array<float> x{{3}, {1, 2, 3}};
  const auto check = [&](const char* entry, Integers good, Floats expected, Integers wrong,
                         const char* found) {
    program.call(entry);
    program.set("x", x);
    Array<int64_t> ids{{3}, std::move(good)}, bad{{3}, std::move(wrong)};
    program.set("ids", ids);
    program.run();
    EXPECT_EQ(program.result<float>(0, {3}), expected) << entry;
    program.set("ids", bad);
    EXPECT_NE(axon_call_run(program.h.call, program.h.error), AXON_OK) << entry;
    EXPECT_EQ(program.h.code(), found) << program.h.text();
  };
  check("picked", {2, 0, 1}, {3, 1, 2}, {2, 0, 3}, "E0825");
  check("doubled", {1, 0, 1}, {3, 1, 3}, {1, 0, 2}, "E0831");
}

void run_layouts(Program& program) {
  program.call("turned");
  Array<float> columns{{2, 3}, {1, 4, 2, 5, 3, 6}};
  const int64_t strides[] = {1, 2};
  const axon_view view = columns.view();
  EXPECT_EQ(axon_call_set_strided(program.h.call, "x", &view, strides, program.h.error), AXON_OK);
  program.run();
  EXPECT_EQ(program.result<float>(0, {2, 3}), (Floats{2, 4, 6, 8, 10, 12}));
  int64_t of_result[2];
  EXPECT_EQ(axon_call_result_strides(program.h.call, 0, of_result, program.h.error), AXON_OK);
  EXPECT_EQ(of_result[0], 5);
  EXPECT_EQ(of_result[1], 1);
}

void run_debug(Program& program) {
  program.call("shown");
  Array<float> x{{3}, {1, 2, 3}};
  program.set("x", x);
  std::string seen;
  const auto note = [](void* user, const char* name, const axon_view* value) {
    *static_cast<std::string*>(user) += std::string(name) + std::to_string(value->shape[0]);
  };
  axon_call_on_debug(program.h.call, note, &seen);
  program.run();
  EXPECT_EQ(seen, "doubled3");
  EXPECT_EQ(program.result<float>(0, {}), Floats{12});
}

void run_everything(const Bytes& bytes) {
  Program program(bytes);
  ASSERT_NE(program.h.bundle, nullptr);
  run_network(program);
  run_state(program);
  run_sizes(program);
  run_checks(program);
  run_layouts(program);
  run_debug(program);
}

std::string refusal(const Bytes& bytes) {
  Handles h;
  EXPECT_EQ(axon_open_memory(bytes.data(), bytes.size(), &h.bundle, h.error), AXON_BAD_BUNDLE);
  EXPECT_EQ(h.code(), "E0814");
  return h.text();
}

TEST(Compatibility, ABundleOfVersion_0_1_0_Runs) {
  const Bytes bytes = stored_bundle();
  Handles h;
  ASSERT_EQ(axon_open_memory(bytes.data(), bytes.size(), &h.bundle, h.error), AXON_OK) << h.text();
  EXPECT_STREQ(axon_bundle_compiler(h.bundle), "axon 0.1.0");
  EXPECT_EQ(axon_bundle_entry_count(h.bundle), 9u);
  run_everything(bytes);
}

TEST(Compatibility, WhatLaterVersionsAddBesideIsIgnored) {
  run_everything(with_manifest([](const std::string& manifest) {
    return replaced(manifest, "{\"", R"({"added later":{"more":[1,"two"]},")");
  }));
}

TEST(Compatibility, LaterFormatsAreRefused) {
  Bytes bytes = stored_bundle();
  bytes[8] = 2;
  const std::string needs = ": it needs the library of the etcc that built it, or a later one";
  EXPECT_EQ(refusal(bytes), "the bundle has format 2, this library reads 1" + needs);
  const auto manifest = [](const char* from, const char* to) {
    return refusal(with_manifest([&](const std::string& text) { return replaced(text, from, to); }));
  };
  EXPECT_EQ(manifest("{\"format\":4", "{\"format\":5"),
            "the bundle has a manifest of format 5, this library reads 4" + needs);
  EXPECT_EQ(manifest("\"abi\":1", "\"abi\":2"),
            "the bundle has kernels of interface 2, this library reads 1" + needs);
  EXPECT_EQ(manifest("{\"format\":4", "{\"format\":3"),
            "the bundle has a manifest of format 3, this library reads 4: build it again with the etcc of "
            "this library");
}

TEST(Compatibility, TheRangesBeginWhereTheFirstReleaseDid) {
  EXPECT_EQ(host::container_formats.oldest, 1u);
  EXPECT_EQ(host::manifest_formats.oldest, 4u);
  EXPECT_EQ(host::kernel_interfaces.oldest, 1u);
  axon_version version;
  axon_get_version(&version);
  EXPECT_EQ(version.major, static_cast<uint32_t>(AXON_VERSION_MAJOR));
  EXPECT_EQ(version.minor, static_cast<uint32_t>(AXON_VERSION_MINOR));
  EXPECT_EQ(version.patch, static_cast<uint32_t>(AXON_VERSION_PATCH));
  EXPECT_EQ(version.bundle_format, host::container_formats.newest);
  EXPECT_EQ(version.kernel_abi, host::kernel_interfaces.newest);
}

}  // namespace
}  // namespace axon::test
