// Binding: misfits in one list, sizes from metadata, panels, mapping without copies.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <numeric>
#include <utility>

#include "host/parameters.h"
#include "host/weights/tensor_file.h"
#include "support.h"

namespace axon::test {
namespace {

class Bound : public ::testing::Test {
 protected:
  void SetUp() override {
    const Bytes bytes = test_bundle();
    ASSERT_EQ(axon_open_memory(bytes.data(), bytes.size(), &h.bundle, h.error), AXON_OK) << h.text();
    path_ = ::testing::TempDir() + "axon_weights_" + std::to_string(getpid()) + ".safetensors";
  }
  void TearDown() override { std::remove(path_.c_str()); }

  void write(std::vector<uint64_t> w_shape, std::vector<uint64_t> v_shape,
             std::map<std::string, std::string> metadata) {
    const auto count = [](const auto& shape) {
      return std::accumulate(shape.begin(), shape.end(), uint64_t{1}, std::multiplies<>());
    };
    w_.resize(count(w_shape));
    v_.resize(count(v_shape));
    std::iota(w_.begin(), w_.end(), 1.0f);
    std::iota(v_.begin(), v_.end(), 500.0f);
    const auto bytes = [](const std::vector<float>& values) {
      return weights::Bytes(values.data(), values.size() * sizeof(float));
    };
    std::vector<weights::OutTensor> tensors;
    tensors.push_back(weights::out_tensor("w", Elem::f32, w_shape, bytes(w_)));
    tensors.push_back(weights::out_tensor("v", Elem::f32, v_shape, bytes(v_)));
    const auto error = weights::write_safetensors(path_, std::move(tensors), metadata);
    ASSERT_FALSE(error) << error->message;
  }
  axon_status bind(const char* map = nullptr) {
    const char* const files[] = {path_.c_str()};
    axon_parameters_destroy(h.parameters);
    h.parameters = nullptr;
    return axon_bind(h.bundle, files, 1, map, &h.parameters, h.error);
  }
  Handles h;
  std::string path_;
  std::vector<float> w_, v_;
};

TEST_F(Bound, PanelsArePaddedAndSmallOnesLieOnLines) {
  write({2, 3, 6}, {3}, {{"h", "2"}, {"note", "not a size"}});
  ASSERT_EQ(bind(), AXON_OK) << h.text();
  h.make_call("weights");
  constexpr int64_t prepared = 2 * 2 * 3 * 4 * 4;  // two layers, two panels, three rows, four columns
  ASSERT_EQ(axon_call_set_int(h.call, "bytes", prepared, h.error), AXON_OK);
  ASSERT_EQ(axon_call_run(h.call, h.error), AXON_OK) << h.text();
  axon_view result;
  ASSERT_EQ(axon_call_result(h.call, 0, &result, h.error), AXON_OK);
  const auto* const out = static_cast<const float*>(result.data);
  size_t at = 0;
  for (int layer = 0; layer < 2; ++layer)
    for (int panel = 0; panel < 2; ++panel)
      for (int row = 0; row < 3; ++row)
        for (int column = panel * 4; column < panel * 4 + 4; ++column, ++at)
          ASSERT_EQ(out[at], column < 6 ? w_[static_cast<size_t>((layer * 3 + row) * 6 + column)] : 0) << at;
  EXPECT_EQ(out[at], 500);
  EXPECT_EQ(out[at + 2], 502);
  EXPECT_EQ(axon_parameters_copied_bytes(h.parameters), host::round_up(prepared + 1, 64) + 64)
      << "`v` is small and begins inside of a line";
  int64_t g = 0;
  ASSERT_EQ(axon_call_size(h.call, "g", &g, h.error), AXON_OK);
  EXPECT_EQ(g, 3);
}

TEST_F(Bound, MisfitsAreListedTogether) {
  write({2, 3, 7}, {4}, {{"h", "2"}});
  EXPECT_EQ(bind(), AXON_BAD_WEIGHTS);
  EXPECT_EQ(h.text(),
            "the weights do not fit the program: "
            "parameter `w` is [2, 3, 7] in the file, expected [n, d, g*h] = [2, 4, ?] (h = 2 from the "
            "metadata of the "
            "weights; d = 4 from axis 0 of `p.v`; n = 2 from axis 0 of `p.w`): axis 2 of `p.w` is 7, which "
            "is not `g*h` "
            "(h = 2 from the metadata of the weights)");
  write({2, 3, 6}, {4}, {{"h", "2"}});
  EXPECT_EQ(bind(), AXON_BAD_WEIGHTS);
  EXPECT_NE(h.text().find("expected [n, d, g*h] = [2, 4, 6]"), std::string::npos) << h.text();
  write({2, 3, 6}, {4, 1}, {{"h", "2"}});
  EXPECT_EQ(bind("z <- w\nw <- x"), AXON_BAD_WEIGHTS);
  EXPECT_NE(h.text().find("`z`"), std::string::npos) << h.text();
  EXPECT_NE(h.text().find("no tensor `x`"), std::string::npos) << h.text();
  EXPECT_NE(h.text().find("`v` has 1 axis"), std::string::npos) << h.text();
}

TEST_F(Bound, SizesThatNobodyGives) {
  write({2, 3, 6}, {3}, {});
  ASSERT_EQ(bind(), AXON_OK) << h.text();
  h.make_call("weights");
  ASSERT_EQ(axon_call_set_int(h.call, "bytes", 4, h.error), AXON_OK);
  EXPECT_EQ(axon_call_run(h.call, h.error), AXON_BAD_ARGUMENT);
  EXPECT_EQ(h.text(),
            "size `h` of `weights` is not determined: set it, or state it in the metadata of the weights");
  for (const std::string stated : {"x", "", "2.0", "9223372036854775808"}) {
    write({2, 3, 6}, {3}, {{"h", stated}});
    ASSERT_EQ(bind(), AXON_OK) << h.text();
    h.make_call("weights");
    ASSERT_EQ(axon_call_set_int(h.call, "bytes", 4, h.error), AXON_OK);
    EXPECT_EQ(axon_call_run(h.call, h.error), AXON_BAD_ARGUMENT);
    EXPECT_EQ(h.text(), "size `h` of `weights` is not determined: the metadata of the weights states `" +
                            stated + "`, which is no size");
  }
  ASSERT_EQ(axon_call_set_size(h.call, "h", 4, h.error), AXON_OK);
  EXPECT_EQ(axon_call_run(h.call, h.error), AXON_BAD_ARGUMENT);
  EXPECT_EQ(h.text(), "axis 2 of `p.w` is 6, which is not `g*h` (h = 4 as given)");
  ASSERT_EQ(axon_call_set_size(h.call, "h", 3, h.error), AXON_OK);
  EXPECT_EQ(axon_call_run(h.call, h.error), AXON_OK) << h.text();
  EXPECT_EQ(axon_call_set_size(h.call, "g", 3, h.error), AXON_MISUSE);
  EXPECT_EQ(axon_call_set_size(h.call, "h", -3, h.error), AXON_BAD_ARGUMENT);
}

TEST_F(Bound, ShapesAndMetadataForMakingStates) {
  int64_t shape[AXON_MAX_RANK] = {};
  write({2, 3, 6}, {3}, {{"h", "2"}, {"note", "not a size"}});
  ASSERT_EQ(bind(), AXON_OK) << h.text();
  EXPECT_STREQ(axon_parameters_metadata(h.parameters, "note"), "not a size");
  EXPECT_EQ(axon_parameters_metadata(h.parameters, "g"), nullptr);
  ASSERT_EQ(axon_parameters_shape(h.parameters, "weights", "p.w", shape, h.error), AXON_OK) << h.text();
  EXPECT_EQ(std::vector<int64_t>(shape, shape + 3), (std::vector<int64_t>{2, 3, 6}));
  EXPECT_EQ(axon_parameters_shape(h.parameters, "weights", "bytes", shape, h.error), AXON_OK) << h.text();
  EXPECT_EQ(axon_parameters_shape(h.parameters, "weights", "p", shape, h.error), AXON_MISUSE);
  EXPECT_EQ(axon_parameters_shape(h.parameters, "nothing", "p.w", shape, h.error), AXON_MISUSE);
  write({2, 3, 6}, {3}, {});
  ASSERT_EQ(bind(), AXON_OK) << h.text();
  EXPECT_EQ(axon_parameters_shape(h.parameters, "weights", "p.w", shape, h.error), AXON_BAD_ARGUMENT);
  EXPECT_EQ(h.text(),
            "axis 2 of `p.w`, `g*h`, does not follow from the weights: their shapes and metadata give "
            "d = 3 from axis 0 of `p.v`; n = 2 from axis 0 of `p.w`");
}

TEST_F(Bound, LayoutsFromWeightsAndGivenSizes) {
  int64_t shape[AXON_MAX_RANK] = {}, strides[AXON_MAX_RANK] = {};
  write({2, 3, 6}, {3}, {});
  ASSERT_EQ(bind(), AXON_OK) << h.text();
  const axon_entry* const entry = axon_bundle_find(h.bundle, "weights");
  const auto layout = [&](std::vector<std::pair<const char*, int64_t>> given, axon_parameters* weights,
                          size_t input = 0) {
    std::vector<const char*> names;
    std::vector<int64_t> values;
    for (const auto& [name, value] : given) names.push_back(name), values.push_back(value);
    return axon_entry_input_layout(entry, input, weights, names.data(), values.data(), names.size(), shape,
                                   strides, h.error);
  };
  EXPECT_EQ(layout({}, h.parameters), AXON_BAD_ARGUMENT);
  EXPECT_EQ(
      h.text(),
      "axis 2 of `p.w`, `g*h`, does not follow from the weights and the given sizes: known is d = 3, n = 2");
  ASSERT_EQ(layout({{"g", 3}, {"h", 2}}, h.parameters), AXON_OK) << h.text();
  EXPECT_EQ(std::vector<int64_t>(shape, shape + 3), (std::vector<int64_t>{2, 3, 6}));
  EXPECT_EQ(std::vector<int64_t>(strides, strides + 3), (std::vector<int64_t>{18, 6, 1}));
  ASSERT_EQ(layout({{"n", 1}, {"d", 0}, {"g", 5}, {"h", 7}}, nullptr), AXON_OK) << h.text();
  EXPECT_EQ(std::vector<int64_t>(shape, shape + 3), (std::vector<int64_t>{1, 0, 35}));
  EXPECT_EQ(layout({{"n", 1}}, nullptr), AXON_BAD_ARGUMENT);
  EXPECT_EQ(h.text(), "axis 1 of `p.w`, `d`, does not follow from the given sizes: known is n = 1");
  EXPECT_EQ(layout({}, nullptr), AXON_BAD_ARGUMENT);
  EXPECT_EQ(layout({{"n", 4}, {"g", 1}, {"h", 1}}, h.parameters), AXON_BAD_ARGUMENT);
  EXPECT_EQ(h.text(), "`n` is 2 (from axis 0 of `p.w`), and not 4");
  EXPECT_EQ(layout({{"g", -1}, {"h", 1}}, h.parameters), AXON_BAD_ARGUMENT);
  EXPECT_EQ(layout({{"g", INT64_MAX}, {"h", 2}}, h.parameters), AXON_BAD_ARGUMENT);
  EXPECT_EQ(layout({{"q", 1}}, h.parameters), AXON_MISUSE);
  EXPECT_EQ(layout({{nullptr, 1}}, h.parameters), AXON_MISUSE);
  EXPECT_EQ(layout({}, h.parameters, 99), AXON_MISUSE);
  EXPECT_EQ(layout({}, h.parameters, 2), AXON_OK) << h.text();  // a number
  EXPECT_EQ(axon_entry_input_layout(entry, 0, nullptr, nullptr, nullptr, 0, shape, nullptr, h.error),
            AXON_MISUSE);
}

TEST_F(Bound, TransposedByAMap) {
  write({2, 6, 3}, {3}, {{"h", "1"}});
  ASSERT_EQ(bind("w <- w, transposed"), AXON_OK) << h.text();
  h.make_call("weights");
  ASSERT_EQ(axon_call_set_int(h.call, "bytes", 2 * 3 * 8 * 4, h.error), AXON_OK);
  ASSERT_EQ(axon_call_run(h.call, h.error), AXON_OK) << h.text();
  axon_view result;
  ASSERT_EQ(axon_call_result(h.call, 0, &result, h.error), AXON_OK);
  const auto* const out = static_cast<const float*>(result.data);
  EXPECT_EQ(out[0], 1);
  EXPECT_EQ(out[1], 4);
  EXPECT_EQ(out[4], 2);
}

TEST_F(Bound, FromArraysAndWithoutParameters) {
  Array<float> w{{1, 2, 2}, {1, 2, 3, 4}}, v{{2}, {5, 6}};
  const axon_view arrays[] = {w.view(), v.view()};
  const char* const names[] = {"p.w", "p.v"};
  ASSERT_EQ(axon_bind_arrays(h.bundle, names, arrays, 2, nullptr, &h.parameters, h.error), AXON_OK)
      << h.text();
  h.make_call("weights");
  EXPECT_EQ(axon_call_create(h.bundle, "weights", nullptr, nullptr, &h.call, h.error), AXON_MISUSE);
  EXPECT_EQ(h.text(), "`weights` has weights, and none are bound");
  EXPECT_EQ(axon_call_set(h.call, "p.w", &arrays[0], h.error), AXON_MISUSE);
}

TEST_F(Bound, ArraysThatAreNone) {
  float data[12] = {};
  const int64_t shape[] = {1, 3, 4}, impossible[] = {1, -3, 4};
  const char* name = "p.w";
  const auto refused = [&](axon_view array, axon_status status, const char* text) {
    axon_parameters* none = nullptr;
    EXPECT_EQ(axon_bind_arrays(h.bundle, &name, &array, 1, nullptr, &none, h.error), status);
    EXPECT_EQ(h.text(), text);
    EXPECT_EQ(none, nullptr);
  };
  refused({data, AXON_F32, 3, impossible}, AXON_BAD_WEIGHTS,
          "array `p.w`: [1, -3, 4] is no shape of a tensor");
  refused({data, AXON_F32, 17, shape}, AXON_MISUSE, "array `p.w` has 17 axes: there are 0 to 16");
  refused({data, AXON_F32, 3, nullptr}, AXON_MISUSE, "array `p.w` has no shape");
  refused({nullptr, AXON_F32, 3, shape}, AXON_MISUSE, "array `p.w` has no data");
  refused({data, static_cast<axon_elem>(99), 3, shape}, AXON_MISUSE, "array `p.w` has no element type");
  name = nullptr;
  refused({data, AXON_F32, 3, shape}, AXON_MISUSE, "array 0 has no name");
}

TEST_F(Bound, FilesThatAreNotThere) {
  EXPECT_EQ(bind(), AXON_BAD_WEIGHTS);
  EXPECT_NE(h.text().find(path_), std::string::npos) << h.text();
}

TEST_F(Bound, AProgramWithoutWeightsBindsNone) {
  const Bytes bytes =
      make_bundle(manifest_text(all_entries().substr(0, all_entries().find(",\n{ \"name\": \"chain\""))));
  axon_bundle_destroy(h.bundle);
  ASSERT_EQ(axon_open_memory(bytes.data(), bytes.size(), &h.bundle, h.error), AXON_OK) << h.text();
  EXPECT_EQ(axon_bind(h.bundle, nullptr, 0, nullptr, &h.parameters, h.error), AXON_OK) << h.text();
  axon_parameters_destroy(h.parameters);
  h.parameters = nullptr;
  write({2, 3, 6}, {3}, {});
  EXPECT_EQ(bind(), AXON_BAD_WEIGHTS);
  EXPECT_EQ(h.code(), "E0709");
  EXPECT_NE(h.text().find("`weights` before the type of a parameter"), std::string::npos) << h.text();
}

/// A program of two parameters: `a` has the fields u and w, `b` has w; and `c` is a tensor. The entry `pair`
/// takes all, `single` takes `b` alone.
class Names : public ::testing::Test {
 protected:
  void SetUp() override {
    const Bytes bytes = make_bundle(manifest_text(
        entry("pair", port("a.u", 0) + "," + port("a.w", 1) + "," + port("b.w", 2) + "," + port("c", 3), 1,
              2) +
            ",\n" + entry("single", port("b.w", 2), 0, 0),
        weight("a.u") + "," + weight("a.w") + "," + weight("b.w") + "," + weight("c")));
    ASSERT_EQ(axon_open_memory(bytes.data(), bytes.size(), &h.bundle, h.error), AXON_OK) << h.text();
  }
  void TearDown() override {
    for (const std::string& path : files_) std::remove(path.c_str());
  }
  static std::string weight(const std::string& path) {
    return host::text(R"({"path":")", path, R"(","elem":"f32","shape":["n"],"placement":[]})");
  }
  static std::string port(const std::string& path, int number) {
    return host::text(R"({"path":")", path, R"(","elem":"f32","shape":["n"],"kind":"weight","weight":)",
                      number, "}");
  }
  /// Its results are n and one numbers of these two inputs.
  static std::string entry(const char* name, const std::string& inputs, int first, int second) {
    return host::text(
        R"({"name":")", name,
        R"(","sizes":[{"name":"n","from":"axis","input":0,"axis":0,"equation":"n"}],"inputs":[)", inputs,
        R"(],"results":[{"path":"0","elem":"f32","shape":["n"]},{"path":"1","elem":"f32","shape":[]}],)"
        R"("variants":[{"symbol":"copy_4","guard":[],"slots":[],"event_offset":[],"event_words":"0",)"
        R"("scratch":"0","iterations":"1","work":"n","handoffs":"1","buffers":[{"kind":"weight","index":)",
        first, R"(},{"kind":"weight","index":)", second,
        R"(},{"kind":"result","index":0},{"kind":"result","index":1}]}]})");
  }
  /// Arrays of these names; each is twice the one before it.
  axon_status bind_arrays(const std::vector<const char*>& names) {
    std::vector<Array<float>> arrays;
    std::vector<axon_view> views;
    for (size_t i = 0; i < names.size(); ++i) arrays.push_back({{2}, {static_cast<float>(1 << i), 100}});
    for (Array<float>& array : arrays) views.push_back(array.view());
    axon_parameters_destroy(h.parameters);
    h.parameters = nullptr;
    return axon_bind_arrays(h.bundle, names.data(), views.data(), names.size(), nullptr, &h.parameters,
                            h.error);
  }
  /// a.w[0] and b.w[0] as bound.
  std::pair<float, float> bound() {
    h.make_call("pair");
    EXPECT_EQ(axon_call_run(h.call, h.error), AXON_OK) << h.text();
    axon_view a, b;
    EXPECT_EQ(axon_call_result(h.call, 0, &a, h.error), AXON_OK) << h.text();
    EXPECT_EQ(axon_call_result(h.call, 1, &b, h.error), AXON_OK) << h.text();
    return {*static_cast<const float*>(a.data), *static_cast<const float*>(b.data)};
  }
  std::string file(const char* extension, const std::vector<std::pair<const char*, float>>& tensors) {
    std::vector<float> values;
    for (const auto& tensor : tensors) values.insert(values.end(), {tensor.second, 100});
    std::vector<weights::OutTensor> out;
    for (size_t i = 0; i < tensors.size(); ++i)
      out.push_back(weights::out_tensor(tensors[i].first, Elem::f32, {2}, {&values[2 * i], 8}));
    files_.push_back(
        host::text(::testing::TempDir(), "axon_names_", getpid(), "_", files_.size(), extension));
    const auto error = std::string(extension) == ".npy" ? weights::write_npy(files_.back(), out[0])
                                                        : weights::write_npz(files_.back(), std::move(out));
    EXPECT_FALSE(error) << error->message;
    return files_.back();
  }
  axon_status bind_each(const std::vector<const char*>& parameters, const std::vector<std::string>& paths,
                        const char* map = nullptr) {
    std::vector<const char*> names;
    for (const std::string& path : paths) names.push_back(path.c_str());
    axon_parameters_destroy(h.parameters);
    h.parameters = nullptr;
    return axon_bind_each(h.bundle, parameters.data(), names.data(), names.size(), map, &h.parameters,
                          h.error);
  }
  Handles h;
  std::vector<std::string> files_;
};

TEST_F(Names, BeginWithTheParameter) {
  ASSERT_EQ(bind_arrays({"a.u", "a.w", "b.w", "c"}), AXON_OK) << h.text();
  EXPECT_EQ(bound(), std::pair(2.0f, 4.0f));
}

TEST_F(Names, WithoutTheParameterWhereOneFits) {
  ASSERT_EQ(bind_arrays({"u", "w", "b.w", "c"}), AXON_OK) << h.text();
  EXPECT_EQ(bound(), std::pair(2.0f, 4.0f));
  ASSERT_EQ(bind_arrays({"a.u", "a.w", "w", "c"}), AXON_OK) << h.text();
  EXPECT_EQ(bound(), std::pair(2.0f, 4.0f));
  ASSERT_EQ(bind_arrays({"a.u", "a.w", "b.w", "c", "u", "w"}), AXON_OK) << "whole names come first";
  EXPECT_EQ(bound(), std::pair(2.0f, 4.0f));
}

TEST_F(Names, WithoutTheParameterWhereSeveralFit) {
  EXPECT_EQ(bind_arrays({"u", "w", "c"}), AXON_BAD_WEIGHTS);
  EXPECT_NE(h.text().find("names without a parameter fit each of `a`, `b`"), std::string::npos) << h.text();
  EXPECT_EQ(bind_arrays({"u", "c"}), AXON_BAD_WEIGHTS) << "a part of `a` does not fit";
  EXPECT_NE(h.text().find("no tensor `a.w`"), std::string::npos) << h.text();
}

/// What is there for all weights of one entry is bound; others say what they lack when they are asked for.
TEST_F(Names, WeightsOfOneEntryAlone) {
  ASSERT_EQ(bind_arrays({"b.w"}), AXON_OK) << h.text();
  axon_call* call = nullptr;
  ASSERT_EQ(axon_call_create(h.bundle, "single", h.parameters, nullptr, &call, h.error), AXON_OK) << h.text();
  EXPECT_EQ(axon_call_run(call, h.error), AXON_OK) << h.text();
  axon_view result;
  ASSERT_EQ(axon_call_result(call, 0, &result, h.error), AXON_OK) << h.text();
  EXPECT_EQ(*static_cast<const float*>(result.data), 1);
  axon_call_destroy(std::exchange(call, nullptr));
  const std::string wanted =
      "`pair` has weights that were not bound:\n"
      "  parameter `a.u`: the weights have no tensor `a.u`\n"
      "  parameter `a.w`: the weights have no tensor `a.w`\n"
      "  parameter `c`: the weights have no tensor `c`";
  EXPECT_EQ(axon_call_create(h.bundle, "pair", h.parameters, nullptr, &call, h.error), AXON_BAD_WEIGHTS);
  EXPECT_EQ(h.code(), "E0709");
  EXPECT_EQ(h.text(), wanted);
  EXPECT_EQ(call, nullptr);
  int64_t shape[AXON_MAX_RANK], strides[AXON_MAX_RANK];
  EXPECT_EQ(axon_parameters_shape(h.parameters, "pair", "b.w", shape, h.error), AXON_BAD_WEIGHTS);
  EXPECT_EQ(axon_parameters_shape(h.parameters, "single", "b.w", shape, h.error), AXON_OK) << h.text();
  EXPECT_EQ(shape[0], 2);
  EXPECT_EQ(axon_entry_input_layout(axon_bundle_find(h.bundle, "pair"), 2, h.parameters, nullptr, nullptr, 0,
                                    shape, strides, h.error),
            AXON_BAD_WEIGHTS);
  EXPECT_EQ(h.text(), wanted);
}

TEST_F(Names, WeightsOfNoEntryOrThatDoNotFitAreRefusedAtOnce) {
  EXPECT_EQ(bind_arrays({"a.u", "a.w", "c"}), AXON_BAD_WEIGHTS) << "no entry has all of its weights";
  EXPECT_EQ(h.text(),
            "the weights do not fit the program: parameter `b.w`: the weights have no tensor `b.w`");
  EXPECT_EQ(bind_arrays({}), AXON_BAD_WEIGHTS);
  const double wrong[] = {1, 2};
  const float right[] = {1, 2};
  const int64_t two = 2;
  const char* const names[] = {"b.w", "c"};
  const axon_view arrays[] = {{const_cast<float*>(right), AXON_F32, 1, &two},
                              {const_cast<double*>(wrong), AXON_F64, 1, &two}};
  axon_parameters* none = nullptr;
  EXPECT_EQ(axon_bind_arrays(h.bundle, names, arrays, 2, nullptr, &none, h.error), AXON_BAD_WEIGHTS);
  EXPECT_NE(h.text().find("`c` is f64"), std::string::npos) << h.text();
  EXPECT_NE(h.text().find("no tensor `a.u`"), std::string::npos) << h.text();
  EXPECT_EQ(bind_each({nullptr}, {file(".npz", {{"b.w", 1}})}, "a.u, a.w <- ab, split rows"), AXON_OK)
      << h.text();
  axon_call* call = nullptr;
  EXPECT_EQ(axon_call_create(h.bundle, "pair", h.parameters, nullptr, &call, h.error), AXON_BAD_WEIGHTS);
  EXPECT_EQ(h.text(),
            "`pair` has weights that were not bound:\n"
            "  parameter `a.u`: the weights have no tensor `ab`\n"
            "  parameter `a.w`: the tensor that it is a part of is absent\n"
            "  parameter `c`: the weights have no tensor `c`");
}

TEST_F(Names, AFileForEachParameter) {
  const std::string a = file(".npz", {{"u", 1}, {"w", 2}}), b = file(".npz", {{"w", 3}}),
                    c = file(".npy", {{"c", 4}});
  ASSERT_EQ(bind_each({"a", "b", "c"}, {a, b, c}), AXON_OK) << h.text();
  EXPECT_EQ(bound(), std::pair(2.0f, 3.0f));
  ASSERT_EQ(bind_each({"a", "b", "c"}, {a, c, b}), AXON_BAD_WEIGHTS) << "no `b.w`";
  const std::string named = file(".npz", {{"a.u", 5}, {"a.w", 6}, {"c", 7}});
  ASSERT_EQ(bind_each({nullptr, "b"}, {named, b}), AXON_OK) << h.text();
  EXPECT_EQ(bound(), std::pair(6.0f, 3.0f));
  ASSERT_EQ(bind_each({"a", "a", "b", "c"}, {file(".npz", {{"u", 1}}), file(".npz", {{"a.w", 8}}), b, c}),
            AXON_OK)
      << h.text();
  EXPECT_EQ(bound(), std::pair(8.0f, 3.0f));
  ASSERT_EQ(bind_each({"a", "a", "b", "c"}, {a, a, b, c}), AXON_BAD_WEIGHTS);
  EXPECT_NE(h.text().find("`a.u` is in more than one of the files"), std::string::npos) << h.text();
  ASSERT_EQ(bind_each({"a", "b", "c"}, {a, b, c}, "b.w <- u"), AXON_OK) << h.text();
  EXPECT_EQ(bound(), std::pair(2.0f, 1.0f));
}

TEST_F(Names, PartsOfATensorThatLieInOnePieceAreMapped) {
  const std::string name = host::text("axon_parts_", getpid());
  files_.push_back(::testing::TempDir() + name + ".npy");
  const auto bind_parts = [&](size_t count) {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 1.0f);
    const auto error = weights::write_npy(
        files_[0], weights::out_tensor(name, Elem::f32, {count}, {values.data(), count * 4}));
    EXPECT_FALSE(error) << error->message;
    EXPECT_EQ(bind_each({nullptr}, {files_[0]}, ("a.u, a.w, b.w, c <- " + name + ", split rows").c_str()),
              AXON_OK)
        << h.text();
    return bound();
  };
  EXPECT_EQ(bind_parts(64), std::pair(17.0f, 33.0f));
  EXPECT_EQ(axon_parameters_copied_bytes(h.parameters), 0u) << "each is a line of the cache";
  constexpr size_t mebi = 1 << 20;  // more than so many bytes are not moved to where a line begins
  EXPECT_EQ(bind_parts(mebi + 4), std::pair(mebi / 4 + 2.0f, mebi / 2 + 3.0f));
  EXPECT_EQ(axon_parameters_copied_bytes(h.parameters), 0u) << "large ones stay where they are";
  EXPECT_EQ(bind_parts(8), std::pair(3.0f, 5.0f));
  EXPECT_EQ(axon_parameters_copied_bytes(h.parameters), 3 * 64u)
      << "all but the first begin inside of a line";
  EXPECT_EQ(bind_each({nullptr}, {files_[0]}, ("a.u, a.w, b.w <- " + name + ", split rows\nc <- z").c_str()),
            AXON_BAD_WEIGHTS);
  EXPECT_NE(h.text().find("no tensor `z`"), std::string::npos) << h.text();
}

}  // namespace
}  // namespace axon::test
