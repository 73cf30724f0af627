// .npy: files of NumPy are read, ours are of the same form, everything outside the fixed grammar is refused.
#include "support.h"

namespace axon::weights {
namespace {

Result<TensorFile> npy_of(const std::string& file) {
  return read_npy(File::from_memory("folder/x.npy", bytes_of(file)));
}
std::string npy_bytes(const std::string& header, const std::string& data, char major = 1) {
  const std::string length = major == 1 ? little<uint16_t>(static_cast<uint16_t>(header.size()))
                                        : little<uint32_t>(static_cast<uint32_t>(header.size()));
  return std::string("\x93NUMPY") + major + '\0' + length + header + data;
}
std::string header(const std::string& shape, const std::string& descr = "'<i4'",
                   const std::string& order = "False") {
  return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }     \n";
}
Result<TensorFile> npy_with(const std::string& text, const std::string& data = std::string(4, 'x')) {
  return npy_of(npy_bytes(text, data));
}

TEST(Npy, reads_a_file_of_numpy) {
  const auto file = open_tensors(TEST_DATA "/numpy.npy");
  ASSERT_TRUE(file) << error_of(file);
  EXPECT_EQ(file->table.tensors[0].shape, (std::vector<uint64_t>{3, 2}));
  EXPECT_EQ(content<int16_t>(*file, "numpy"), (std::vector<int16_t>{0, 1, 2, 3, 4, 5}));
}
TEST(Npy, scalars_vectors_and_all_versions) {
  for (const char major : {'\1', '\2', '\3'}) {
    EXPECT_TRUE(npy_of(npy_bytes(header("()"), "abcd", major)));
    EXPECT_TRUE(npy_of(npy_bytes(header("(1,)"), "abcd", major)));
    EXPECT_TRUE(npy_of(npy_bytes(header("(1, 1)"), "abcd", major)));
    EXPECT_TRUE(npy_of(npy_bytes(header("(0, 7)"), "", major)));
  }
  EXPECT_TRUE(npy_with("{\"shape\":(1,1),\"descr\":\"<f4\",\"fortran_order\":False}"));
}
TEST(Npy, round_trip) {
  Folder folder;
  const std::vector<uint8_t> data(64, 3);
  for (const Elem dtype : {Elem::f64, Elem::f32, Elem::f16, Elem::i64, Elem::i32, Elem::i16, Elem::i8,
                           Elem::u8, Elem::u32, Elem::boolean})
    for (const std::vector<uint64_t>& shape : std::vector<std::vector<uint64_t>>{{}, {3}, {2, 2}, {0, 4}}) {
      ASSERT_EQ(error_of(write_npy(folder / "w.npy", borrowed("w", dtype, shape, data))), "no error");
      const auto file = open_tensors(folder / "w.npy");
      ASSERT_TRUE(file) << error_of(file);
      EXPECT_EQ(file->table.tensors[0].dtype, dtype);
      EXPECT_EQ(file->table.tensors[0].shape, shape);
      EXPECT_EQ(file->table.tensors[0].begin % 64, 0u);
    }
  EXPECT_ERROR(write_npy(folder / "w.npy", borrowed("w", Elem::bf16, {1}, data)), code::dtype,
               "npy has no type bf16");
}

TEST(NpyHostile, too_short) {
  const std::string whole = npy_bytes(header("(1,)"), "abcd");
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(npy_of(whole.substr(0, size))) << size;
}
TEST(NpyHostile, wrong_magic) {
  EXPECT_ERROR(npy_of("\x93NUMPX" + std::string(20, ' ')), code::format, "magic");
}
TEST(NpyHostile, unknown_version) {
  EXPECT_ERROR(npy_of(npy_bytes(header("()"), "abcd", 4)), code::format, "version 4.0");
}
TEST(NpyHostile, header_longer_than_the_file) {
  EXPECT_ERROR(npy_of(std::string("\x93NUMPY\1\0", 8) + "\xff\xff{}"), code::format, "ends within");
}
TEST(NpyHostile, header_over_the_cap) {
  EXPECT_ERROR(npy_of(std::string("\x93NUMPY\2\0", 8) + "\xff\xff\xff\xff{}"), code::limit, "over the limit");
}
TEST(NpyHostile, object_arrays) {
  EXPECT_ERROR(npy_with(header("()", "'|O'")), code::dtype, "object arrays");
}
TEST(NpyHostile, structured_arrays) {
  EXPECT_ERROR(npy_with(header("()", "[('a', '<i4')]")), code::dtype, "structured");
}
TEST(NpyHostile, big_endian) { EXPECT_ERROR(npy_with(header("()", "'>i4'")), code::dtype, "big-endian"); }
TEST(NpyHostile, unknown_type) {
  for (const char* type : {"'<c8'", "'|V2'", "'<u2'", "'<U3'", "''"})
    EXPECT_ERROR(npy_with(header("()", type)), code::dtype, "unknown element type");
}
TEST(NpyHostile, fortran_order) {
  EXPECT_ERROR(npy_with(header("()", "'<i4'", "True")), code::format, "Fortran order");
}
TEST(NpyHostile, python_is_never_evaluated) {
  EXPECT_ERROR(npy_with(header("()", "'<i4'", "not True")), code::format, "True or False expected");
  EXPECT_ERROR(npy_with(header("(1+1,)")), code::format, "malformed");
  EXPECT_ERROR(npy_with(header("(__import__('os'),)")), code::format, "an extent expected");
  EXPECT_ERROR(npy_with("dict(descr='<i4')"), code::format, "malformed");
}
TEST(NpyHostile, malformed_shape) {
  for (const char* shape :
       {"[1]", "(1)", "(-1,)", "(,)", "(1,,)", "(1 1)", "(1", "(1.0,)", "(99999999999999999999,)"})
    EXPECT_ERROR(npy_with(header(shape)), code::format, "malformed");
}
TEST(NpyHostile, shape_that_overflows) {
  EXPECT_ERROR(npy_with(header("(4294967296, 4294967296, 1)")), code::shape, "too many elements");
  EXPECT_ERROR(npy_with(header("(18446744073709551615,)")), code::shape, "too many elements");
}
TEST(NpyHostile, rank_over_the_limit) {
  EXPECT_ERROR(npy_with(header("(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)")), code::limit, "rank");
}
TEST(NpyHostile, data_of_another_size) {
  EXPECT_ERROR(npy_with(header("(2,)")), code::shape, "need 8 bytes, the array has 4");
  EXPECT_ERROR(npy_with(header("(1,)"), "12345"), code::shape, "has 5");
}
TEST(NpyHostile, keys_missing_unknown_or_twice) {
  EXPECT_ERROR(npy_with("{}\n"), code::format, "missing");
  EXPECT_ERROR(npy_with("{'descr': '<i4', 'x': 1}\n"), code::format, "unknown key `x`");
  EXPECT_ERROR(npy_with("{'descr': '<i4', 'descr': '<i4'}\n"), code::format, "occurs twice");
  EXPECT_ERROR(npy_with("{'descr' '<i4'}\n"), code::format, "malformed");
  EXPECT_ERROR(npy_with("{'descr"), code::format, "malformed");
  EXPECT_ERROR(npy_with("{'descr': '<i4' 'shape': ()}"), code::format, "`,` or `}` expected");
}
TEST(NpyHostile, text_after_the_header) {
  EXPECT_ERROR(npy_with(header("(1,)") + "{}\n"), code::format, "text after");
}

}  // namespace
}  // namespace axon::weights
