// Reader for the directory of a zip archive (zip.h), including the 64-bit records that NumPy and others
// write.
#include "host/weights/zip.h"

#include <algorithm>

#include "host/weights/limits.h"

namespace axon::weights {
namespace {

constexpr uint32_t local_signature = 0x04034b50, central_signature = 0x02014b50, end_signature = 0x06054b50;
constexpr uint32_t end64_signature = 0x06064b50, locator64_signature = 0x07064b50;
constexpr uint64_t local_size = 30, central_size = 46, end_size = 22, end64_size = 56, locator64_size = 20;
constexpr uint64_t longest_comment = 0xffff;

Error broken(const char* what) { return {code::format, text("damaged zip archive: ", what)}; }

Result<std::vector<uint8_t>> read_range(const File& file, uint64_t offset, uint64_t count) {
  if (offset > file.size() || count > file.size() - offset) return broken("a record leaves the file");
  std::vector<uint8_t> bytes(count);
  if (auto error = file.read(offset, bytes.data(), count)) return *error;
  return bytes;
}

/// Fields at fixed places of a record whose size was checked.
template <class T>
T field(const std::vector<uint8_t>& record, uint64_t offset) {
  return Bytes(record).load<T>(offset).value();
}

struct Directory {
  uint64_t offset = 0, size = 0, members = 0;
};

/// The 64-bit end record that the locator right before the end record points to.
Result<Directory> read_end64(const File& file, uint64_t end_offset) {
  if (end_offset < locator64_size) return broken("no 64-bit locator");
  const auto locator = read_range(file, end_offset - locator64_size, locator64_size);
  if (!locator) return locator.error();
  if (field<uint32_t>(*locator, 0) != locator64_signature) return broken("no 64-bit locator");
  const auto end = read_range(file, field<uint64_t>(*locator, 8), end64_size);
  if (!end) return end.error();
  if (field<uint32_t>(*end, 0) != end64_signature) return broken("no 64-bit end record");
  return Directory{field<uint64_t>(*end, 48), field<uint64_t>(*end, 40), field<uint64_t>(*end, 32)};
}

/// The last end record whose comment reaches exactly to the end of the file.
Result<Directory> find_directory(const File& file) {
  const uint64_t tail_size = std::min(file.size(), end_size + longest_comment);
  const uint64_t tail_offset = file.size() - tail_size;
  const auto tail = read_range(file, tail_offset, tail_size);
  if (!tail) return tail.error();
  for (uint64_t at = tail_size < end_size ? 0 : tail_size - end_size + 1; at-- > 0;) {
    if (field<uint32_t>(*tail, at) != end_signature) continue;
    if (at + end_size + field<uint16_t>(*tail, at + 20) != tail_size) continue;
    if (field<uint16_t>(*tail, at + 4) != 0 || field<uint16_t>(*tail, at + 6) != 0)
      return broken("several volumes");
    const Directory small{field<uint32_t>(*tail, at + 16), field<uint32_t>(*tail, at + 12),
                          field<uint16_t>(*tail, at + 10)};
    const bool is_64_bit = small.offset == 0xffffffff || small.size == 0xffffffff || small.members == 0xffff;
    return is_64_bit ? read_end64(file, tail_offset + at) : small;
  }
  return broken("no end record");
}

/// Replaces the fields that are all ones by those of the 64-bit extra field, which has them in this order.
Status apply_extra64(Bytes extra, ZipMember& member, uint64_t& local) {
  while (extra.size() >= 4) {
    const auto tag = *extra.load<uint16_t>(0);
    const auto content = extra.sub(4, *extra.load<uint16_t>(2));
    if (!content) return broken("an extra field leaves its record");
    if (tag == 1) {
      uint64_t at = 0;
      for (uint64_t* const value : {&member.unpacked, &member.packed, &local}) {
        if (*value != 0xffffffff) continue;
        const auto wide = content->load<uint64_t>(at);
        if (!wide) return broken("a 64-bit field is missing");
        *value = *wide;
        at += sizeof *wide;
      }
      return std::nullopt;
    }
    extra = *extra.from(4 + content->size());
  }
  return std::nullopt;
}

/// Finds the member's bytes: they follow its local header, which must be there and name the same member.
Status find_data(const File& file, uint64_t local, ZipMember& member) {
  const auto header = read_range(file, local, local_size);
  if (!header) return header.error();
  if (field<uint32_t>(*header, 0) != local_signature) return broken("a member has no local header");
  const uint64_t name_size = field<uint16_t>(*header, 26), extra_size = field<uint16_t>(*header, 28);
  const auto name = read_range(file, local + local_size, name_size);
  if (!name) return name.error();
  if (Bytes(*name).text() != member.name) return broken("a member has two names");
  member.begin = local + local_size + name_size + extra_size;
  if (member.begin > file.size() || member.packed > file.size() - member.begin)
    return broken("a member leaves the file");
  return std::nullopt;
}

/// Reads one central record and advances past it.
Result<ZipMember> read_member(const File& file, const std::vector<uint8_t>& directory, uint64_t& at) {
  const auto record = Bytes(directory).sub(at, central_size);
  if (!record || *record->load<uint32_t>(0) != central_signature)
    return broken("a directory record is missing");
  const uint64_t name_size = *record->load<uint16_t>(28), extra_size = *record->load<uint16_t>(30);
  const uint64_t comment_size = *record->load<uint16_t>(32);
  const auto name = Bytes(directory).sub(at + central_size, name_size);
  const auto extra = Bytes(directory).sub(at + central_size + name_size, extra_size);
  if (!name || !extra) return broken("a directory record is cut off");
  at += central_size + name_size + extra_size + comment_size;

  ZipMember member;
  member.name = name->text();
  if (*record->load<uint16_t>(8) & 1)
    return Error{code::format, text("member ", printable(member.name), " is encrypted")};
  const auto method = *record->load<uint16_t>(10);
  if (method != 0 && method != 8)
    return Error{code::format, text("member ", printable(member.name), " is packed by method ", method,
                                    "; only stored and deflate are read")};
  member.deflated = method == 8;
  member.crc = *record->load<uint32_t>(16);
  member.packed = *record->load<uint32_t>(20);
  member.unpacked = *record->load<uint32_t>(24);
  uint64_t local = *record->load<uint32_t>(42);
  if (auto error = apply_extra64(*extra, member, local)) return *error;
  if (auto error = find_data(file, local, member)) return *error;
  if (!member.deflated && member.packed != member.unpacked) return broken("a stored member has two sizes");
  return member;
}

Status check_disjoint(std::vector<ZipMember>& members) {
  std::sort(members.begin(), members.end(),
            [](const ZipMember& a, const ZipMember& b) { return a.begin < b.begin; });
  for (size_t i = 1; i < members.size(); ++i)
    if (members[i].begin < members[i - 1].begin + members[i - 1].packed ||
        members[i].begin == members[i - 1].begin)
      return Error{code::range, text("members ", printable(members[i - 1].name), " and ",
                                     printable(members[i].name), " overlap")};
  std::sort(members.begin(), members.end(),
            [](const ZipMember& a, const ZipMember& b) { return a.name < b.name; });
  for (size_t i = 1; i < members.size(); ++i)
    if (members[i].name == members[i - 1].name)
      return Error{code::format, text("member ", printable(members[i].name), " occurs twice")};
  return std::nullopt;
}

}  // namespace

Result<std::vector<ZipMember>> read_zip_directory(const File& file) {
  const auto directory = find_directory(file);
  if (!directory) return directory.error();
  if (directory->members > limits::zip_members)
    return Error{code::limit, text("more than ", limits::zip_members, " members in a zip archive")};
  const auto records = read_range(file, directory->offset, directory->size);
  if (!records) return records.error();
  std::vector<ZipMember> members;
  uint64_t at = 0;
  for (uint64_t i = 0; i < directory->members; ++i) {
    auto member = read_member(file, *records, at);
    if (!member) return member.error();
    members.push_back(std::move(*member));
  }
  if (auto error = check_disjoint(members)) return *error;
  return members;
}

}  // namespace axon::weights
