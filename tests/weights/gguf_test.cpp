// GGUF: what is read of a good file, and every way in which a file can be wrong. The files are written here,
// from the public description of the format.
#include "gguf.h"

#include "bind.h"
#include "host/weights/limits.h"

namespace axon::weights {
namespace {

using Bytes8 = std::vector<int8_t>;

Result<TensorFile> opened(const std::string& file) {
  return read_gguf(File::from_memory("x.gguf", bytes_of(file)));
}

Gguf good_file() {
  Gguf file;
  file.key("general.name", 8, gguf_text("a model")).key("a.u8", 0, little<uint8_t>(200));
  file.key("a.i8", 1, little<int8_t>(-3)).key("a.u16", 2, little<uint16_t>(65535));
  file.key("a.i16", 3, little<int16_t>(-300)).key("h", 4, little<uint32_t>(2));
  file.key("a.i32", 5, little<int32_t>(-70000)).key("eps", 6, little(1e-5f));
  file.key("a.true", 7, little<uint8_t>(1)).key("a.u64", 10, little(UINT64_MAX));
  file.key("a.i64", 11, little(INT64_MIN)).key("a.f64", 12, little(0.1));
  file.key("a.list", 9, little<uint32_t>(4) + little<uint64_t>(3) + std::string(12, 'x'));
  file.key("a.words", 9, little<uint32_t>(8) + little<uint64_t>(2) + gguf_text("one") + gguf_text(""));
  file.tensor("w", {3, 2}, 0,
              little(1.f) + little(2.f) + little(3.f) + little(4.f) + little(5.f) + little(6.f));
  file.tensor("half", {2}, 1, little<uint16_t>(0x3c00) + little<uint16_t>(0xc000));
  file.tensor("brain", {1}, 30, little<uint16_t>(0x3f80));
  file.tensor("scalar", {}, 28, little(2.5)).tensor("empty", {0, 7}, 0, "");
  file.tensor("bytes", {4}, 24, "\1\2\3\xff")
      .tensor("words", {1}, 25, "\1\2")
      .tensor("ints", {1}, 26, little(7));
  file.tensor("longs", {1}, 27, little<int64_t>(-9));
  return file;
}

/// Two rows of two blocks: value (row * 64 + i) % 256 - 128, scales 0.5, 1, 2, 4.
Gguf quantized() {
  std::string blocks;
  const uint16_t scales[] = {0x3800, 0x3c00, 0x4000, 0x4400};
  for (int block = 0; block < 4; ++block) {
    blocks += little(scales[block]);
    for (int i = 0; i < 32; ++i) blocks += little(static_cast<int8_t>(block * 32 + i - 64));
  }
  Gguf file;
  file.tensor("q", {64, 2}, 8, blocks).tensor("k", {256}, 12, std::string(144, 'k'));
  return file;
}
std::vector<float> dequantized() {
  std::vector<float> out;
  const float scales[] = {0.5f, 1, 2, 4};
  for (int i = 0; i < 128; ++i) out.push_back(scales[i / 32] * static_cast<float>(i - 64));
  return out;
}

TEST(GgufFile, of_every_type) {
  const auto file = opened(good_file().bytes());
  ASSERT_TRUE(file) << error_of(file);
  EXPECT_EQ(file->table.find("w")->shape, (std::vector<uint64_t>{2, 3})) << "the fastest axis stands first";
  EXPECT_EQ(content<float>(*file, "w"), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(file->table.find("half")->dtype, Elem::f16);
  EXPECT_EQ(content<uint16_t>(*file, "half"), (std::vector<uint16_t>{0x3c00, 0xc000}));
  EXPECT_EQ(file->table.find("brain")->dtype, Elem::bf16);
  EXPECT_EQ(content<double>(*file, "scalar"), std::vector<double>{2.5});
  EXPECT_EQ(content<float>(*file, "empty"), std::vector<float>());
  EXPECT_EQ(content<int8_t>(*file, "bytes"), (Bytes8{1, 2, 3, -1}));
  EXPECT_EQ(file->table.find("words")->dtype, Elem::i16);
  EXPECT_EQ(content<int32_t>(*file, "ints"), std::vector<int32_t>{7});
  EXPECT_EQ(content<int64_t>(*file, "longs"), std::vector<int64_t>{-9});
}
TEST(GgufFile, metadata_is_text) {
  const auto file = opened(good_file().bytes());
  ASSERT_TRUE(file) << error_of(file);
  EXPECT_EQ(file->table.metadata, (std::map<std::string, std::string>{{"general.name", "a model"},
                                                                      {"a.u8", "200"},
                                                                      {"a.i8", "-3"},
                                                                      {"a.u16", "65535"},
                                                                      {"a.i16", "-300"},
                                                                      {"h", "2"},
                                                                      {"a.i32", "-70000"},
                                                                      {"eps", "1e-05"},
                                                                      {"a.true", "true"},
                                                                      {"a.u64", "18446744073709551615"},
                                                                      {"a.i64", "-9223372036854775808"},
                                                                      {"a.f64", "0.1"}}));
}
TEST(GgufFile, versions_and_alignments) {
  for (const uint32_t version : {2u, 3u})
    for (const uint32_t alignment : {1u, 8u, 32u, 4096u}) {
      Gguf file = good_file();
      file.version = version;
      file.alignment = alignment;
      const auto read = opened(file.key("general.alignment", 4, little(alignment)).bytes());
      ASSERT_TRUE(read) << error_of(read);
      EXPECT_EQ(content<int64_t>(*read, "longs"), std::vector<int64_t>{-9});
    }
  EXPECT_TRUE(opened(Gguf().bytes())) << "neither keys nor tensors";
}
TEST(GgufFile, long_strings_go_past_the_window) {
  Gguf file = good_file();
  const std::string text(200'000, 't');
  const auto read = opened(file.key("text", 8, gguf_text(text)).bytes());
  ASSERT_TRUE(read) << error_of(read);
  EXPECT_EQ(read->table.metadata.at("text"), text);
  EXPECT_EQ(content<int64_t>(*read, "longs"), std::vector<int64_t>{-9});
}
TEST(GgufFile, is_opened_by_its_name) {
  Folder folder;
  EXPECT_TRUE(open_tensors(folder.write("m.gguf", good_file().bytes())));
}

TEST(GgufBlocks, are_read_as_what_they_stand_for) {
  const auto file = opened(quantized().bytes());
  ASSERT_TRUE(file) << error_of(file);
  const Tensor& q = *file->table.find("q");
  EXPECT_EQ(type_name(q), "q8_0");
  const std::vector<float> expected = dequantized();
  for (const auto& [first, count] :
       {std::pair(0, 128), std::pair(0, 1), std::pair(31, 2), std::pair(33, 64), std::pair(127, 1)}) {
    std::vector<float> out(static_cast<size_t>(count));
    EXPECT_EQ(error_of(file->read(q, 4 * static_cast<uint64_t>(first), out.data(), 4 * out.size())),
              "no error");
    EXPECT_EQ(out, std::vector<float>(expected.begin() + first, expected.begin() + first + count)) << first;
  }
}
TEST(GgufBlocks, in_two_parts) {
  const auto file = opened(quantized().bytes());
  ASSERT_TRUE(file) << error_of(file);
  const Tensor &values = *file->table.find("q.values"), &scales = *file->table.find("q.scales");
  EXPECT_EQ(values.shape, (std::vector<uint64_t>{2, 64}));
  EXPECT_EQ(scales.shape, (std::vector<uint64_t>{2, 2}));
  Bytes8 bytes(128);
  std::vector<uint16_t> halves(4);
  EXPECT_EQ(error_of(file->read(values, 0, bytes.data(), 128)), "no error");
  EXPECT_EQ(error_of(file->read(scales, 0, halves.data(), 8)), "no error");
  for (int i = 0; i < 128; ++i) EXPECT_EQ(bytes[static_cast<size_t>(i)], i - 64);
  EXPECT_EQ(halves, (std::vector<uint16_t>{0x3800, 0x3c00, 0x4000, 0x4400}));
  Gguf taken = quantized();
  const auto own = opened(taken.tensor("q.values", {1}, 24, "x").bytes());
  ASSERT_TRUE(own) << error_of(own);
  EXPECT_EQ(own->table.find("q.values")->shape, std::vector<uint64_t>{1}) << "the file's own tensor";
}
TEST(GgufBlocks, are_bound_when_a_map_allows_it) {
  const auto file = opened(quantized().bytes());
  ASSERT_TRUE(file) << error_of(file);
  const auto bound = [&](const char* map, const Field& field) {
    return bind_parameters(file->table, good_map(map), std::vector{field});
  };
  const Field wide{"q", Elem::f32, 2}, narrow{"q", Elem::bf16, 2}, k{"k", Elem::f32, 1};
  EXPECT_EQ(bound("", wide).misfits.at(0).message,
            "parameter `q` is f32, `q` is q8_0; write `, as f32` in a binding map to convert it");
  EXPECT_EQ(bound("all as f32", k).misfits.at(0).message,
            "parameter `k`: `k` is q4_K[256], an element type that is not read");
  const Binding transposed = bound("q <- q, transposed, as f32", wide);
  ASSERT_EQ(transposed.misfits.size(), 0u);
  EXPECT_EQ(transposed.sources[0]->mapped_offset(), std::nullopt);
  std::vector<float> out(128);
  const std::span bytes(reinterpret_cast<uint8_t*>(out.data()), 512);
  ASSERT_EQ(error_of(load(*file, *transposed.sources[0], bytes)), "no error");
  const std::vector<float> expected = dequantized();
  for (size_t i = 0; i < 128; ++i) EXPECT_EQ(out[i % 64 * 2 + i / 64], expected[i]);
  EXPECT_EQ(bound("all as bf16", narrow).misfits.size(), 0u);
  const Binding values = bound("q <- q.values", {"q", Elem::i8, 2});
  ASSERT_EQ(values.misfits.size(), 0u);
  std::vector<uint8_t> small(128);
  ASSERT_EQ(error_of(load(*file, *values.sources[0], small)), "no error");
  EXPECT_EQ(static_cast<int8_t>(small[127]), 63);
}
TEST(GgufBlocks, of_another_kind_are_errors_only_when_they_are_used) {
  const auto file = opened(quantized().bytes());
  ASSERT_TRUE(file) << error_of(file);
  char out[4];
  EXPECT_ERROR(file->read(*file->table.find("k"), 0, out, 4), code::dtype,
               "`k` is q4_K, an element type that is not read");
  Gguf unknown;
  const auto other = opened(unknown.tensor("z", {7}, 99, "").bytes());
  ASSERT_TRUE(other) << error_of(other);
  EXPECT_EQ(type_name(*other->table.find("z")), "type 99");
}

#define EXPECT_REFUSED(file, which, part) EXPECT_ERROR(opened((file).bytes()), which, part)

TEST(GgufHostile, every_beginning_of_a_file) {
  const std::string whole =
      quantized()
          .key("a.words", 9, little<uint32_t>(8) + little<uint64_t>(2) + gguf_text("one") + gguf_text(""))
          .bytes();
  for (size_t length = 0; length + 144 < whole.size(); ++length)
    EXPECT_FALSE(opened(whole.substr(0, length))) << length;
}
TEST(GgufHostile, magic_and_version) {
  std::string file = good_file().bytes();
  file[0] = 'g';
  EXPECT_ERROR(opened(file), code::format, "does not begin with `GGUF`");
  for (const auto& [version, part] : {std::pair(1u, "version 1"), std::pair(4u, "version 4"),
                                      std::pair(0u, "version 0"), std::pair(3u << 24, "big-endian")}) {
    Gguf other = good_file();
    other.version = version;
    EXPECT_REFUSED(other, code::format, part);
  }
}
TEST(GgufHostile, counts) {
  for (const uint64_t count : {UINT64_MAX, uint64_t{1} << 63, uint64_t{1} << 32, uint64_t{1000}}) {
    Gguf file = good_file();
    file.tensor_count = count;
    EXPECT_REFUSED(file, code::range, "more than the file has room for");
    file = good_file();
    file.key_count = count;
    EXPECT_REFUSED(file, code::range, "more than the file has room for");
  }
}
TEST(GgufHostile, keys) {
  EXPECT_REFUSED(good_file().key("k", 13, ""), code::format, "unknown type 13");
  EXPECT_REFUSED(good_file().key("h", 4, little<uint32_t>(2)), code::format, "`h` occurs twice");
  EXPECT_REFUSED(good_file().key("k", 7, little<uint8_t>(2)), code::format, "a truth value of 2");
  EXPECT_REFUSED(good_file().key("k", 8, little(UINT64_MAX)), code::range, "longer than the rest");
  EXPECT_REFUSED(good_file().key(std::string(70'000, 'k'), 0, "x"), code::limit, "over the limit of 65535");
  const auto list = [](uint32_t type, uint64_t count) { return little(type) + little(count); };
  EXPECT_REFUSED(good_file().key("k", 9, list(4, UINT64_MAX)), code::range,
                 "more than the file has room for");
  EXPECT_REFUSED(good_file().key("k", 9, list(8, uint64_t{1} << 61)), code::range,
                 "more than the file has room for");
  EXPECT_REFUSED(good_file().key("k", 9, list(9, 1) + list(9, 1) + list(4, 0)), code::format, "not read");
  EXPECT_REFUSED(good_file().key("k", 9, list(77, 1)), code::format, "array of the type 77");
  EXPECT_REFUSED(good_file().key("k", 9, list(8, 1) + little(UINT64_MAX)), code::format,
                 "ends within its header");
}
TEST(GgufHostile, alignments) {
  for (const uint32_t alignment : {0u, 3u, 1u << 21, UINT32_MAX})
    EXPECT_REFUSED(good_file().key("general.alignment", 4, little(alignment)), code::format,
                   "an alignment of");
  EXPECT_REFUSED(good_file().key("general.alignment", 8, gguf_text("32")), code::format, "an alignment of");
  EXPECT_REFUSED(good_file().key("general.alignment", 11, little<int64_t>(32)), code::format,
                 "an alignment of");
}
TEST(GgufHostile, shapes) {
  const uint64_t large = uint64_t{1} << 32;
  EXPECT_REFUSED(good_file().tensor("t", {large, large}, 0, ""), code::shape, "too many elements");
  EXPECT_REFUSED(good_file().tensor("t", {uint64_t{1} << 63, 2}, 0, ""), code::shape, "too many elements");
  EXPECT_REFUSED(good_file().tensor("t", {large, large, 0}, 8, ""), code::shape, "too many elements");
  EXPECT_REFUSED(good_file().tensor("t", std::vector<uint64_t>(17, 1), 0, "1234"), code::limit, "rank 17");
  EXPECT_REFUSED(good_file().tensor("t", {1000}, 0, ""), code::range, "not within the file");
  EXPECT_REFUSED(good_file().tensor("t", {33}, 8, std::string(34, 'x')), code::shape, "whole blocks of 32");
  EXPECT_REFUSED(good_file().tensor("t", {}, 8, std::string(34, 'x')), code::shape, "whole blocks of 32");
  EXPECT_REFUSED(good_file().tensor("w", {1}, 0, "1234"), code::format, "`w` occurs twice");
}
TEST(GgufHostile, offsets) {
  Gguf file = good_file();
  file.tensor("t", {1}, 0, "1234", 16);
  EXPECT_REFUSED(file, code::range, "no multiple of 32");
  for (const uint64_t offset : {UINT64_MAX - 31, uint64_t{1} << 62, uint64_t{1} << 20}) {
    file = good_file();
    EXPECT_REFUSED(file.tensor("t", {1}, 0, "1234", offset), code::range, "not within the file");
    file = good_file();
    EXPECT_REFUSED(file.tensor("t", {1}, 12, "1234", offset), code::range, "not within the file");
  }
  file = good_file();
  EXPECT_REFUSED(file.tensor("t", {1}, 0, "1234", 0), code::range, "overlap");
}
TEST(GgufHostile, a_million_strings_are_read_in_linear_time) {
  std::string list = little<uint32_t>(8) + little<uint64_t>(1'000'000);
  list.append(8'000'000, '\0');
  EXPECT_TRUE(opened(good_file().key("list", 9, list).bytes()));
}

}  // namespace
}  // namespace axon::weights
