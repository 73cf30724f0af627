// .npz: archives of NumPy are read, ours are deterministic, and no archive reaches outside itself or unpacks
// to a bomb.
#include <zlib.h>

#include "support.h"

namespace axon::weights {
namespace {

Result<TensorFile> npz_of(const std::string& file) {
  return read_npz(File::from_memory("x.npz", bytes_of(file)));
}

std::string npy(const std::string& data) {
  const std::string header =
      "{'descr': '|u1', 'fortran_order': False, 'shape': (" + std::to_string(data.size()) + ",), }\n";
  return std::string("\x93NUMPY\1\0", 8) + little(static_cast<uint16_t>(header.size())) + header + data;
}
std::string deflated(const std::string& data) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, data.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}
uint32_t checksum(const std::string& data) {
  return static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size())));
}

/// A member whose every field a test can bend.
struct Member {
  std::string name = "a.npy", plain = npy("data"), packed = plain;
  uint16_t method = 0, flags = 0;
  uint32_t crc = checksum(plain);
  uint32_t packed_size = static_cast<uint32_t>(packed.size()), size = static_cast<uint32_t>(plain.size());
  std::string local_name = name, extra = {}, local_signature = "PK\3\4";
  int64_t offset = -1;  ///< of the local header; -1: where it is
};
Member deflated_member(const std::string& name, const std::string& plain) {
  Member member{.name = name, .plain = plain, .packed = deflated(plain)};
  member.method = 8;
  return member;
}
struct Archive {
  std::vector<Member> members = {};
  int count = -1;
  int64_t directory_offset = -1, directory_size = -1;
  uint16_t disk = 0;
  std::string comment = {}, before_end = {};

  std::string bytes() const {
    std::string out, directory;
    for (const Member& m : members) {
      const auto offset = static_cast<uint32_t>(m.offset >= 0 ? m.offset : static_cast<int64_t>(out.size()));
      out += m.local_signature + std::string(10, '\0') + little(m.crc) + little(m.packed_size) +
             little(m.size) + little(static_cast<uint16_t>(m.local_name.size())) + little(uint16_t{0}) +
             m.local_name + m.packed;
      directory += "PK\1\2" + std::string(4, '\0') + little(m.flags) + little(m.method) +
                   std::string(4, '\0') + little(m.crc) + little(m.packed_size) + little(m.size) +
                   little(static_cast<uint16_t>(m.name.size())) +
                   little(static_cast<uint16_t>(m.extra.size())) + std::string(10, '\0') + little(offset) +
                   m.name + m.extra;
    }
    const auto number = static_cast<uint16_t>(count >= 0 ? count : static_cast<int>(members.size()));
    const auto size =
        static_cast<uint32_t>(directory_size >= 0 ? directory_size : static_cast<int64_t>(directory.size()));
    const auto begin =
        static_cast<uint32_t>(directory_offset >= 0 ? directory_offset : static_cast<int64_t>(out.size()));
    return out + directory + before_end + "PK\5\6" + little(disk) + little(disk) + little(number) +
           little(number) + little(size) + little(begin) + little(static_cast<uint16_t>(comment.size())) +
           comment;
  }
};
Result<TensorFile> npz_of(const Member& member) { return npz_of(Archive{.members = {member}}.bytes()); }

TEST(Npz, reads_archives_of_numpy) {
  for (const char* path : {TEST_DATA "/numpy_stored.npz", TEST_DATA "/numpy_deflated.npz"}) {
    const auto file = open_tensors(path);
    ASSERT_TRUE(file) << error_of(file);
    EXPECT_EQ(file->table.tensors.size(), 5u);
    EXPECT_EQ(content<float>(*file, "ramp"), (std::vector<float>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(content<int64_t>(*file, "zeros"), std::vector<int64_t>(1000));
    EXPECT_EQ(content<double>(*file, "one"), std::vector<double>{1.5});
    EXPECT_EQ(content<char>(*file, "flags"), (std::vector<char>{1, 0}));
    EXPECT_EQ(file->table.find("none")->shape, (std::vector<uint64_t>{0, 3}));
  }
}
TEST(Npz, round_trip_is_deterministic) {
  Folder folder;
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const std::vector<uint8_t> many(3'000'000, 9);
  std::vector<OutTensor> tensors = {
      borrowed("a", Elem::f32, {2, 3}, values), borrowed("a-b", Elem::f32, {1}, values),
      borrowed("a b", Elem::u8, {3'000'000}, many), borrowed("z", Elem::f32, {0}, values)};
  ASSERT_EQ(error_of(write_npz(folder / "1.npz", tensors)), "no error");
  std::reverse(tensors.begin(), tensors.end());
  ASSERT_EQ(error_of(write_npz(folder / "2.npz", tensors)), "no error");
  EXPECT_EQ(read_all(folder / "1.npz"), read_all(folder / "2.npz"));
  const auto file = open_tensors(folder / "1.npz");
  ASSERT_TRUE(file) << error_of(file);
  EXPECT_EQ(content<float>(*file, "a"), values);
  EXPECT_EQ(content<float>(*file, "a-b"), std::vector<float>{1});
  EXPECT_EQ(content<uint8_t>(*file, "a b"), many);
  EXPECT_ERROR(write_npz(folder / "3.npz", {borrowed("a", Elem::bf16, {1}, values)}), code::dtype,
               "npy has no type");
  EXPECT_ERROR(write_npz(folder / "3.npz", {borrowed("a", Elem::f32, {7}, values)}), code::shape,
               "fewer bytes");
  EXPECT_ERROR(write_npz(folder / "3.npz", {borrowed(std::string(70'000, 'n'), Elem::f32, {1}, values)}),
               code::limit, "larger than");
  EXPECT_EQ(folder.entries(), 2u);
}
TEST(Npz, deflated_members_larger_than_any_buffer) {
  std::string data(5'000'000, '\0');
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * i >> 7);
  const auto file = npz_of(deflated_member("a.npy", npy(data)));
  ASSERT_TRUE(file) << error_of(file);
  EXPECT_EQ(content<uint8_t>(*file, "a"), bytes_of(data));
}
TEST(Npz, comments_and_empty_archives) {
  EXPECT_TRUE(npz_of(Archive{.members = {Member{}}, .comment = "PK\5\6 not the end"}.bytes()));
  EXPECT_TRUE(npz_of(Archive{}.bytes()));
}
TEST(Npz, sizes_in_64_bits) {
  Member member;
  const std::string other = little(uint16_t{7}) + little(uint16_t{2}) + "xx";
  member.extra = other + little(uint16_t{1}) + little(uint16_t{16}) + little(uint64_t{member.size}) +
                 little(uint64_t{member.packed_size});
  member.size = member.packed_size = 0xffffffff;
  EXPECT_TRUE(npz_of(member)) << error_of(npz_of(member));
  member.extra.resize(member.extra.size() - 1);
  EXPECT_ERROR(npz_of(member), code::format, "leaves its record");
  member.extra = other;
  EXPECT_FALSE(npz_of(member));
  member.extra = little(uint16_t{1}) + little(uint16_t{8}) + little(uint64_t{1});
  EXPECT_ERROR(npz_of(member), code::format, "64-bit field is missing");
}
TEST(Npz, directory_in_64_bits) {
  Archive archive{.members = {Member{}}};
  const std::string plain = archive.bytes();
  const size_t begin = plain.find("PK\1\2"), end = plain.find("PK\5\6");
  const std::string end64 = "PK\6\6" + std::string(20, '\0') + little(uint64_t{1}) + little(uint64_t{1}) +
                            little(uint64_t{end - begin}) + little(uint64_t{begin});
  const auto with_locator = [&](uint64_t where, const std::string& record) {
    Archive wide = archive;
    wide.before_end = record + "PK\6\7" + std::string(4, '\0') + little(where) + std::string(4, '\0');
    wide.directory_offset = 0xffffffff;
    return npz_of(wide.bytes());
  };
  EXPECT_TRUE(with_locator(end, end64)) << error_of(with_locator(end, end64));
  EXPECT_ERROR(with_locator(end + 1, end64), code::format, "64-bit end record");
  EXPECT_ERROR(with_locator(UINT64_MAX, end64), code::format, "leaves the file");
  std::string huge = end64;
  huge.replace(32, 8, little(uint64_t{1} << 63));
  EXPECT_ERROR(with_locator(end, huge), code::limit, "members");
  archive.count = 0xffff;
  EXPECT_ERROR(npz_of(archive.bytes()), code::format, "no 64-bit locator");
  EXPECT_ERROR(npz_of(Archive{.count = 0xffff}.bytes()), code::format, "no 64-bit locator");
}

TEST(NpzHostile, not_a_zip_archive) {
  EXPECT_ERROR(npz_of(""), code::format, "no end record");
  EXPECT_ERROR(npz_of(std::string(100'000, 'x')), code::format, "no end record");
}
TEST(NpzHostile, cut_off_anywhere) {
  const std::string whole = Archive{.members = {Member{}, deflated_member("b.npy", npy("more"))}}.bytes();
  ASSERT_TRUE(npz_of(whole));
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(npz_of(whole.substr(0, size))) << size;
  for (size_t from = 1; from < whole.size(); ++from) EXPECT_FALSE(npz_of(whole.substr(from))) << from;
}
TEST(NpzHostile, directory_outside_the_file) {
  EXPECT_ERROR(npz_of(Archive{.members = {Member{}}, .directory_offset = 0x7fffffff}.bytes()), code::format,
               "leaves");
  EXPECT_ERROR(npz_of(Archive{.members = {Member{}}, .directory_size = 0x7fffffff}.bytes()), code::format,
               "leaves");
  EXPECT_ERROR(npz_of(Archive{.members = {Member{}}, .directory_size = 10}.bytes()), code::format, "missing");
  EXPECT_ERROR(npz_of(Archive{.members = {Member{}}, .directory_size = 47}.bytes()), code::format, "cut off");
}
TEST(NpzHostile, more_members_than_records) {
  EXPECT_ERROR(npz_of(Archive{.members = {Member{}}, .count = 2}.bytes()), code::format, "record is missing");
}
TEST(NpzHostile, several_volumes) {
  EXPECT_ERROR(npz_of(Archive{.members = {Member{}}, .disk = 1}.bytes()), code::format, "several volumes");
}
TEST(NpzHostile, member_outside_the_file) {
  Member member;
  member.packed_size = member.size = 0x7fffffff;
  EXPECT_ERROR(npz_of(member), code::format, "leaves the file");
  EXPECT_ERROR(npz_of(Member{.offset = 0x7ffffff0}), code::format, "leaves the file");
}
TEST(NpzHostile, no_local_header) {
  EXPECT_ERROR(npz_of(Member{.local_signature = "PKxx"}), code::format, "no local header");
}
TEST(NpzHostile, two_names) {
  EXPECT_ERROR(npz_of(Member{.local_name = "b.npy"}), code::format, "two names");
}
TEST(NpzHostile, encrypted) { EXPECT_ERROR(npz_of(Member{.flags = 1}), code::format, "encrypted"); }
TEST(NpzHostile, unknown_method) { EXPECT_ERROR(npz_of(Member{.method = 14}), code::format, "method 14"); }
TEST(NpzHostile, stored_member_with_two_sizes) {
  Member member;
  member.size += 1;
  EXPECT_ERROR(npz_of(member), code::format, "two sizes");
}
TEST(NpzHostile, wrong_checksum) {
  EXPECT_ERROR(npz_of(Member{.crc = 1}), code::format, "wrong checksum");
  Member member = deflated_member("a.npy", npy("data"));
  member.crc ^= 1;
  EXPECT_ERROR(npz_of(member), code::format, "wrong checksum");
}
TEST(NpzHostile, members_that_share_bytes) {
  Member second{.name = "b.npy"};
  second.local_name = "a.npy";
  second.offset = 0;
  second.name = "a.npy";
  EXPECT_ERROR(npz_of(Archive{.members = {Member{}, second}}.bytes()), code::range, "overlap");
}
TEST(NpzHostile, duplicate_member) {
  EXPECT_ERROR(npz_of(Archive{.members = {Member{}, Member{}}}.bytes()), code::format, "occurs twice");
}
TEST(NpzHostile, path_names_are_only_names) {
  const auto file = npz_of(Member{.name = "../../etc/passwd.npy"});
  ASSERT_TRUE(file) << error_of(file);
  EXPECT_NE(file->table.find("../../etc/passwd"), nullptr);
}
TEST(NpzHostile, not_an_npy_member) {
  EXPECT_ERROR(npz_of(Member{.name = "a.txt"}), code::format, "not an npy array");
  EXPECT_ERROR(npz_of(Member{.plain = "hello, this is no array"}), code::format, "magic");
}
TEST(NpzHostile, declared_size_is_a_lie) {
  for (const int change : {-1, 1, 1000, -100}) {
    Member member = deflated_member("a.npy", npy(std::string(500, 'x')));
    member.size += static_cast<uint32_t>(change);
    EXPECT_ERROR(npz_of(member), code::format, "deflate");
  }
}
TEST(NpzHostile, damaged_stream) {
  Member member{.packed = std::string(50, '\xff')};
  member.method = 8;
  EXPECT_ERROR(npz_of(member), code::format, "damaged deflate stream");
  member = deflated_member("a.npy", npy("data"));
  member.packed += "tail";
  member.packed_size += 4;
  EXPECT_ERROR(npz_of(member), code::format, "damaged deflate stream");
}
TEST(NpzHostile, bomb) {
  Member member = deflated_member("a.npy", npy(std::string(1000, '\0')));
  member.size = 0xfffffffe;
  EXPECT_ERROR(npz_of(member), code::limit, "more than 100 times its size");
  EXPECT_ERROR(npz_of(deflated_member("a.npy", npy(std::string(80u << 20, '\0')))), code::limit,
               "more than 100 times");
}

}  // namespace
}  // namespace axon::weights
