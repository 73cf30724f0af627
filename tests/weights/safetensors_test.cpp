// .safetensors: what is written is read back, and every broken or hostile file is an error with a reason.
#include "../sanitized.h"
#include "host/weights/limits.h"
#include "support.h"

namespace axon::weights {
namespace {

Result<TensorFile> safetensors_of(const std::string& file) {
  return read_safetensors(File::from_memory("test", bytes_of(file)));
}

std::string safetensors_bytes(const std::string& header, const std::string& data = "") {
  return little<uint64_t>(header.size()) + header + data;
}
Result<TensorFile> safetensors_with(const std::string& header, const std::string& data = "") {
  return safetensors_of(safetensors_bytes(header, data));
}
/// A header with one U8 tensor `a` whose attributes are given.
std::string one(const std::string& attributes) { return "{\"a\":{" + attributes + "}}"; }
const std::string good_a = R"("dtype":"U8","shape":[4],"data_offsets":[0,4])";

TEST(Safetensors, reads_a_file_written_by_hand) {
  const auto file =
      safetensors_with(R"({"__metadata__":{"k":"v"},"b":{"dtype":"F32","shape":[],"data_offsets":[4,8]},)"
                       R"("a":{"dtype":"U8","shape":[2,2],"data_offsets":[0,4]}}   )",
                       "abcd" + little(1.5f));
  ASSERT_TRUE(file) << error_of(file);
  EXPECT_EQ(file->table.metadata.at("k"), "v");
  ASSERT_EQ(file->table.tensors.size(), 2u);
  EXPECT_EQ(file->table.tensors[0].shape, (std::vector<uint64_t>{2, 2}));
  EXPECT_EQ(content<char>(*file, "a"), (std::vector<char>{'a', 'b', 'c', 'd'}));
  EXPECT_EQ(content<float>(*file, "b"), std::vector<float>{1.5f});
  EXPECT_EQ(file->table.find("c"), nullptr);
}

TEST(Safetensors, round_trip_of_every_type_is_aligned_and_deterministic) {
  Folder folder;
  const std::vector<uint8_t> data(64, 7);
  std::vector<OutTensor> tensors;
  for (int type = 11; type >= 0; --type) {
    const auto dtype = static_cast<Elem>(type);
    tensors.push_back(borrowed("t." + std::string(elem_name(dtype)), dtype, {3, 1}, data));
  }
  const std::map<std::string, std::string> metadata = {{"note", "\"quoted\"\n\xc3\xa9"}};
  ASSERT_EQ(error_of(write_safetensors(folder / "a.safetensors", tensors, metadata)), "no error");
  std::reverse(tensors.begin(), tensors.end());
  ASSERT_EQ(error_of(write_safetensors(folder / "b.safetensors", tensors, metadata)), "no error");
  EXPECT_EQ(read_all(folder / "a.safetensors"), read_all(folder / "b.safetensors"));
  EXPECT_EQ(folder.entries(), 2u);

  const auto file = open_tensors(folder / "a.safetensors");
  ASSERT_TRUE(file) << error_of(file);
  EXPECT_EQ(file->table.metadata, metadata);
  ASSERT_EQ(file->table.tensors.size(), 12u);
  for (const Tensor& tensor : file->table.tensors) {
    EXPECT_EQ(tensor.name, "t." + std::string(elem_name(tensor.dtype)));
    const auto view = file->view(tensor);
    ASSERT_TRUE(view) << error_of(view);
    EXPECT_EQ(view->size(), 3 * elem_bytes(tensor.dtype));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(view->data()) % elem_bytes(tensor.dtype), 0u) << tensor.name;
    EXPECT_EQ(view->data()[0], 7);
  }
}

TEST(Safetensors, zero_sized_tensors_are_legal) {
  const auto file = safetensors_with(R"({"a":{"dtype":"F32","shape":[0,3],"data_offsets":[0,0]},)"
                                     R"("b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                                     R"("c":{"dtype":"F64","shape":[0],"data_offsets":[1,1]}})",
                                     "x");
  ASSERT_TRUE(file) << error_of(file);
  EXPECT_EQ(file->table.tensors.size(), 3u);
}
TEST(Safetensors, no_tensors_are_legal) {
  EXPECT_TRUE(safetensors_with("{}"));
  EXPECT_TRUE(safetensors_with(R"({"__metadata__":{}})"));
}
TEST(Safetensors, a_million_tensors_are_read) {
  constexpr int count = sampled(1'000'000);
  std::string header = "{";
  for (int i = 0; i < count; ++i)
    header += (i ? ",\"" : "\"") + std::to_string(i) + R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  const auto file = safetensors_with(header + "}");
  ASSERT_TRUE(file) << error_of(file);
  EXPECT_EQ(file->table.tensors.size(), static_cast<size_t>(count));
}

TEST(SafetensorsHostile, empty_file) { EXPECT_ERROR(safetensors_of(""), code::format, "too short"); }
TEST(SafetensorsHostile, seven_bytes) { EXPECT_ERROR(safetensors_of("1234567"), code::format, "too short"); }
TEST(SafetensorsHostile, header_length_0) {
  EXPECT_ERROR(safetensors_of(little<uint64_t>(0) + "{}"), code::format, "does not start with");
}
TEST(SafetensorsHostile, header_longer_than_the_file) {
  EXPECT_ERROR(safetensors_of(little<uint64_t>(3) + "{}"), code::range, "more than the file has");
}
TEST(SafetensorsHostile, header_over_the_cap) {
  EXPECT_ERROR(safetensors_of(little<uint64_t>(limits::safetensors_header + 1) + "{}"), code::limit,
               "over the limit");
}
TEST(SafetensorsHostile, header_length_that_wraps) {
  for (const uint64_t length : {UINT64_MAX, UINT64_MAX - 7, uint64_t{1} << 63})
    EXPECT_ERROR(safetensors_of(little(length) + "{}"), code::limit, "over the limit");
}
TEST(SafetensorsHostile, header_not_an_object) {
  for (const char* header : {"[]", " {}", "\"{}\"", "\xef\xbb\xbf{}"})
    EXPECT_ERROR(safetensors_with(header), code::format, "does not start with");
}
TEST(SafetensorsHostile, header_cut_off) {
  EXPECT_ERROR(safetensors_with("{\"a\":{"), code::format, "malformed");
}
TEST(SafetensorsHostile, text_after_the_header) {
  EXPECT_ERROR(safetensors_with("{}x"), code::format, "malformed");
}
TEST(SafetensorsHostile, text_hidden_behind_a_nul) {
  EXPECT_ERROR(safetensors_with(std::string("{}\0x", 4)), code::format, "NUL");
}
TEST(SafetensorsHostile, invalid_utf8) {
  EXPECT_ERROR(safetensors_with("{\"\xff\":{" + good_a + "}}", "1234"), code::format, "malformed");
}
TEST(SafetensorsHostile, deep_nesting) {
  EXPECT_ERROR(safetensors_with("{\"a\":" + std::string(1'000'000, '[')), code::format,
               "an array is not expected");
  EXPECT_ERROR(safetensors_with(one("\"shape\":[[1]]")), code::format, "an array is not expected");
  EXPECT_ERROR(safetensors_with(one("\"dtype\":{}")), code::format, "an object is not expected");
}
TEST(SafetensorsHostile, duplicate_tensor) {
  EXPECT_ERROR(safetensors_with("{\"a\":{" + good_a + "},\"a\":{" + good_a + "}}", "1234"), code::format,
               "`a` occurs twice");
}
TEST(SafetensorsHostile, duplicate_attribute) {
  for (const char* extra : {R"("dtype":"U8",)", R"("shape":[4],)", R"("data_offsets":[0,4],)"})
    EXPECT_ERROR(safetensors_with(one(extra + good_a), "1234"), code::format, "occurs twice");
}
TEST(SafetensorsHostile, duplicate_metadata) {
  EXPECT_ERROR(safetensors_with(R"({"__metadata__":{},"__metadata__":{}})"), code::format, "occurs twice");
  EXPECT_ERROR(safetensors_with(R"({"__metadata__":{"k":"1","k":"2"}})"), code::format, "occurs twice");
}
TEST(SafetensorsHostile, metadata_that_is_no_text) {
  EXPECT_ERROR(safetensors_with(R"({"__metadata__":{"k":1}})"), code::format, "a number is not expected");
  EXPECT_ERROR(safetensors_with(R"({"__metadata__":"k"})"), code::format, "a string is not expected");
  EXPECT_ERROR(safetensors_with(R"({"__metadata__":{"k":{}}})"), code::format, "an object is not expected");
}
TEST(SafetensorsHostile, unknown_dtype) {
  for (const std::string dtype : {"F4", "U64", "f32", "", "a\\nb"}) {
    const auto with_offsets = [&](const char* offsets) {
      return safetensors_with(one("\"dtype\":\"" + dtype + R"(","shape":[3],"data_offsets":)" + offsets),
                              "1234");
    };
    EXPECT_ERROR(with_offsets("[0,9999]"), code::range, "are not within the 4 bytes of data");
    EXPECT_ERROR(with_offsets("[0,3]"), code::range, "the last 1 bytes of the data belong to no tensor");
    const auto file = with_offsets("[0,4]");
    ASSERT_TRUE(file) << error_of(file);
    const Tensor& tensor = *file->table.find("a");
    EXPECT_EQ(tensor.packing, Packing::unreadable);
    EXPECT_EQ(type_name(tensor), dtype.empty() ? "``" : dtype[0] == 'a' ? "`a\\x0ab`" : dtype);
    char out[4];
    EXPECT_ERROR(file->read(tensor, 0, out, 0), code::dtype, "an element type that is not read");
  }
  EXPECT_ERROR(
      safetensors_with(one(R"("dtype":"F4","shape":[281474976710657],"data_offsets":[0,4])"), "1234"),
      code::shape, "too many elements");
}
TEST(SafetensorsHostile, missing_attribute) {
  EXPECT_ERROR(safetensors_with(one("")), code::format, "no dtype");
  EXPECT_ERROR(safetensors_with(one(R"("dtype":"U8")")), code::format, "no shape");
  EXPECT_ERROR(safetensors_with(one(R"("dtype":"U8","shape":[4])")), code::format, "no data_offsets");
}
TEST(SafetensorsHostile, unknown_attribute) {
  EXPECT_ERROR(safetensors_with(one(good_a + ",\"x\":1"), "1234"), code::format, "unknown key `x`");
}
TEST(SafetensorsHostile, tensor_that_is_no_object) {
  EXPECT_ERROR(safetensors_with("{\"a\":4}"), code::format, "a number is not expected");
  EXPECT_ERROR(safetensors_with("{\"a\":null}"), code::format, "null is not expected");
  EXPECT_ERROR(safetensors_with("{\"a\":true}"), code::format, "a boolean is not expected");
}
TEST(SafetensorsHostile, one_offset) {
  EXPECT_ERROR(safetensors_with(one(R"("dtype":"U8","shape":[4],"data_offsets":[0])")), code::format,
               "fewer than two");
  EXPECT_ERROR(safetensors_with(one(R"("dtype":"U8","shape":[4],"data_offsets":[])")), code::format,
               "fewer than two");
}
TEST(SafetensorsHostile, three_offsets) {
  EXPECT_ERROR(safetensors_with(one(R"("dtype":"U8","shape":[4],"data_offsets":[0,4,4])")), code::format,
               "more than two");
}
TEST(SafetensorsHostile, negative_offset) {
  EXPECT_ERROR(safetensors_with(one(R"("data_offsets":[-1,4])")), code::format, "negative");
}
TEST(SafetensorsHostile, float_offset) {
  EXPECT_ERROR(safetensors_with(one(R"("data_offsets":[0.0,4])")), code::format, "no integer");
  EXPECT_ERROR(safetensors_with(one(R"("data_offsets":[18446744073709551616,4])")), code::format,
               "no integer");
  EXPECT_ERROR(safetensors_with(one(R"("data_offsets":[1e999999,4])")), code::format, "malformed");
}
TEST(SafetensorsHostile, negative_extent) {
  EXPECT_ERROR(safetensors_with(one("\"shape\":[-4]")), code::format, "negative");
}
TEST(SafetensorsHostile, begin_after_end) {
  EXPECT_ERROR(safetensors_with(one(R"("dtype":"U8","shape":[4],"data_offsets":[4,0])"), "1234"), code::range,
               "not within");
}
TEST(SafetensorsHostile, end_after_the_data) {
  EXPECT_ERROR(safetensors_with(one(R"("dtype":"U8","shape":[5],"data_offsets":[0,5])"), "1234"), code::range,
               "not within");
}
TEST(SafetensorsHostile, end_that_wraps_with_the_base) {
  EXPECT_ERROR(
      safetensors_with(
          one(R"("dtype":"U8","shape":[4],"data_offsets":[18446744073709551611,18446744073709551615])"),
          "1234"),
      code::range, "not within");
}
TEST(SafetensorsHostile, overlapping_ranges) {
  EXPECT_ERROR(
      safetensors_with("{\"a\":{" + good_a + R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
                       "123456"),
      code::range, "overlaps");
}
TEST(SafetensorsHostile, zero_sized_tensor_inside_another) {
  EXPECT_ERROR(safetensors_with(
                   "{\"a\":{" + good_a + R"(},"b":{"dtype":"U8","shape":[0],"data_offsets":[2,2]}})", "1234"),
               code::range, "overlaps");
}
TEST(SafetensorsHostile, hole_between_ranges) {
  EXPECT_ERROR(
      safetensors_with("{\"a\":{" + good_a + R"(},"b":{"dtype":"U8","shape":[1],"data_offsets":[5,6]}})",
                       "123456"),
      code::range, "belong to no tensor");
}
TEST(SafetensorsHostile, hole_at_the_start) {
  EXPECT_ERROR(safetensors_with(one(R"("dtype":"U8","shape":[3],"data_offsets":[1,4])"), "1234"), code::range,
               "bytes 0 to 1");
}
TEST(SafetensorsHostile, trailing_bytes) {
  EXPECT_ERROR(safetensors_with(one(good_a), "1234x"), code::range, "the last 1 bytes");
  EXPECT_ERROR(safetensors_with("{}", "x"), code::range, "the last 1 bytes");
}
TEST(SafetensorsHostile, shape_product_that_overflows) {
  EXPECT_ERROR(
      safetensors_with(one(R"("dtype":"U8","shape":[4294967296,4294967296,4],"data_offsets":[0,4])"), "1234"),
      code::shape, "too many elements");
  EXPECT_ERROR(
      safetensors_with(one(R"("dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,4])"), "1234"),
      code::shape, "too many elements");
  EXPECT_ERROR(
      safetensors_with(one(R"("dtype":"U8","shape":[0,1099511627776,1099511627776],"data_offsets":[0,0])")),
      code::shape, "too many elements");
}
TEST(SafetensorsHostile, shape_times_type_is_not_the_range) {
  EXPECT_ERROR(safetensors_with(one(R"("dtype":"F32","shape":[4],"data_offsets":[0,4])"), "1234"),
               code::shape, "needs 16 bytes, has 4");
}
TEST(SafetensorsHostile, rank_over_the_limit) {
  std::string shape = "1";
  for (int i = 0; i < 16; ++i) shape += ",1";
  EXPECT_ERROR(safetensors_with(one(R"("dtype":"U8","data_offsets":[0,1],"shape":[)" + shape + "]"), "1"),
               code::limit, "rank");
}
TEST(SafetensorsHostile, names_are_printable_in_messages) {
  EXPECT_ERROR(safetensors_with(R"({"a\u001b[31m":{}})"), code::format, "`a\\x1b[31m`");
  EXPECT_ERROR(safetensors_with("{\"" + std::string(5000, 'n') + "\":{}}"), code::format, "n...`");
}
TEST(Printable, has_characters_of_utf8_and_nothing_else) {
  for (const char* const kept : {"caf\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xc2\xa0"})
    EXPECT_EQ(printable(kept), "`" + std::string(kept) + "`");
  EXPECT_EQ(printable("a\xff"), "`a\\xff`");
  EXPECT_EQ(printable("\xc3"), "`\\xc3`") << "cut short";
  EXPECT_EQ(printable("\xc2\x9b"), "`\\xc2\\x9b`") << "a control character";
  EXPECT_EQ(printable("\xc0\xaf"), "`\\xc0\\xaf`") << "longer than it need be";
  EXPECT_EQ(printable("\xed\xa0\x80"), "`\\xed\\xa0\\x80`") << "a surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "`\\xf4\\x90\\x80\\x80`") << "past the last character";
  EXPECT_EQ(printable(std::string(119, 'n') + "\xc3\xa9z"), "`" + std::string(119, 'n') + "\xc3\xa9...`");
}

TEST(SafetensorsWriter, refuses_what_cannot_be_read_back) {
  Folder folder;
  const std::vector<uint8_t> data(4);
  const std::string path = folder / "x.safetensors";
  const auto write = [&](std::vector<OutTensor> tensors) {
    return write_safetensors(path, std::move(tensors));
  };
  EXPECT_ERROR(write({borrowed("a", Elem::u8, {4}, data), borrowed("a", Elem::u8, {4}, data)}), code::format,
               "named");
  EXPECT_ERROR(write({borrowed("__metadata__", Elem::u8, {4}, data)}), code::format, "__metadata__");
  EXPECT_ERROR(write({borrowed("\xff", Elem::u8, {4}, data)}), code::format, "not UTF-8");
  EXPECT_ERROR(write_safetensors(path, {}, {{"k", "\xff"}}), code::format, "not UTF-8");
  EXPECT_ERROR(write({borrowed("a", Elem::u8, {5}, data)}), code::shape, "fewer bytes");
  EXPECT_ERROR(write({borrowed("a", Elem::u8, std::vector<uint64_t>(17, 1), data)}), code::limit, "rank");
  EXPECT_EQ(folder.entries(), 0u) << "nothing is left behind";
}

TEST(OpenTensors, unknown_extension_and_missing_file) {
  EXPECT_ERROR(open_tensors("weights.bin"), code::format, "not a kind of weight file");
  EXPECT_ERROR(open_tensors("/nowhere/a.safetensors"), code::system, "cannot open");
  EXPECT_ERROR(open_tensors("/tmp/.npy/../"), code::format, "not a kind");
}

}  // namespace
}  // namespace axon::weights
