// Reader and writer for .npz: a zip archive of npy arrays.
//
// Stored members are used where they lie; deflated ones are unpacked into memory of the declared size, after
// the whole archive was checked not to unpack to more than limits.h allows for its size. Every member's
// checksum is verified. The writer stores, with all times zero, so equal tensors give equal archives.
#include <zlib.h>

#include <algorithm>

#include "host/weights/limits.h"
#include "host/weights/npy.h"
#include "host/weights/output_file.h"
#include "host/weights/zip.h"

namespace axon::weights {
namespace {

constexpr uint64_t inflated_bytes = 1u << 20;

Error member_error(const ZipMember& member, std::string message, const char* which = code::format) {
  return {which, text("member ", printable(member.name), ": ", message)};
}

Status check_total(const std::vector<ZipMember>& members, uint64_t archive_size) {
  uint64_t total = 0;
  for (const ZipMember& member : members) {
    if (!member.deflated) continue;
    const auto sum = checked_add(total, member.unpacked);
    if (!sum || (*sum > limits::zip_free && *sum / limits::zip_ratio > archive_size))
      return member_error(member,
                          text("the archive would unpack to more than ", limits::zip_ratio,
                               " times its size; save it uncompressed"),
                          code::limit);
    total = *sum;
  }
  return std::nullopt;
}

/// Calls `sink` with the packed bytes in order.
Status for_each_packed(const File& file, const ZipMember& member, const std::function<Status(Bytes)>& sink) {
  std::vector<uint8_t> part(std::min(member.packed, inflated_bytes));
  for (uint64_t at = 0; at < member.packed; at += inflated_bytes) {
    const uint64_t count = std::min(inflated_bytes, member.packed - at);
    if (auto error = file.read(member.begin + at, part.data(), count)) return error;
    if (auto error = sink(Bytes(part.data(), count))) return error;
  }
  return std::nullopt;
}

Status check_stored(const File& file, const ZipMember& member) {
  uLong crc = crc32(0, nullptr, 0);
  const auto add = [&crc](Bytes part) -> Status {
    crc = crc32(crc, part.data(), static_cast<uInt>(part.size()));
    return std::nullopt;
  };
  if (auto error = for_each_packed(file, member, add)) return error;
  if (crc != member.crc) return member_error(member, "wrong checksum");
  return std::nullopt;
}

/// A raw deflate stream into exactly `out`.
class Inflater {
 public:
  explicit Inflater(std::vector<uint8_t>& out) : out_(out) {
    ready_ = inflateInit2(&stream_, -MAX_WBITS) == Z_OK;
  }
  ~Inflater() {
    if (ready_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// False when the stream is damaged or yields more than `out` takes.
  bool feed(Bytes packed) {
    stream_.next_in = const_cast<Bytef*>(packed.data());
    stream_.avail_in = static_cast<uInt>(packed.size());
    while (ready_ && !ended_) {
      // One spare byte behind a full buffer shows a stream that is longer than declared.
      uint8_t spare;
      const bool full = done_ == out_.size();
      const auto room = full ? 1 : static_cast<uInt>(std::min<uint64_t>(out_.size() - done_, inflated_bytes));
      stream_.next_out = full ? &spare : out_.data() + done_;
      stream_.avail_out = room;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      const uInt made = room - stream_.avail_out;
      if (status == Z_BUF_ERROR) break;  // nothing to do without more input
      if ((status != Z_OK && status != Z_STREAM_END) || (full && made > 0)) return false;
      done_ += made;
      ended_ = status == Z_STREAM_END;
    }
    return ready_ && stream_.avail_in == 0;
  }
  bool complete() const { return ended_ && done_ == out_.size(); }

 private:
  std::vector<uint8_t>& out_;
  z_stream stream_{};
  uint64_t done_ = 0;
  bool ready_ = false, ended_ = false;
};

Result<std::shared_ptr<File>> unpack(const File& file, const ZipMember& member) {
  std::vector<uint8_t> out(member.unpacked);
  Inflater inflater(out);
  const auto feed = [&](Bytes part) -> Status {
    if (!inflater.feed(part)) return member_error(member, "damaged deflate stream");
    return std::nullopt;
  };
  if (auto error = for_each_packed(file, member, feed)) return *error;
  if (!inflater.complete()) return member_error(member, "the deflate stream has not the declared size");
  uLong crc = crc32(0, nullptr, 0);
  for (uint64_t at = 0; at < out.size(); at += inflated_bytes)
    crc = crc32(crc, out.data() + at, static_cast<uInt>(std::min<uint64_t>(inflated_bytes, out.size() - at)));
  if (crc != member.crc) return member_error(member, "wrong checksum");
  return File::from_memory(member.name, std::move(out));
}

Status add_member(TensorFile& out, const ZipMember& member) {
  constexpr std::string_view extension = ".npy";
  if (!member.name.ends_with(extension)) return member_error(member, "not an npy array");
  Result<Tensor> tensor = Error{};
  uint32_t position = 0;
  if (member.deflated) {
    auto memory = unpack(*out.files[0], member);
    if (!memory) return memory.error();
    position = static_cast<uint32_t>(out.files.size());
    out.files.push_back(*memory);
    tensor = read_npy_array(**memory, 0, member.unpacked);
  } else {
    if (auto error = check_stored(*out.files[0], member)) return error;
    tensor = read_npy_array(*out.files[0], member.begin, member.packed);
  }
  if (!tensor) return member_error(member, tensor.error().message, tensor.error().code.c_str());
  tensor->name = member.name.substr(0, member.name.size() - extension.size());
  tensor->file = position;
  out.table.tensors.push_back(std::move(*tensor));
  return std::nullopt;
}

/// A little-endian record under construction.
class Record {
 public:
  template <class T>
  Record& put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Record& put(const std::string& value) {
    bytes_ += value;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

struct Written {
  std::string name, header;
  uint32_t crc = 0, size = 0, offset = 0;
};

/// What local and central records have in common: version needed, flags, method, time, date, checksum,
/// sizes, lengths.
void put_common(Record& record, const Written& member) {
  constexpr uint16_t version = 20, utf8_names = 0x800, stored = 0, midnight = 0, first_of_january_1980 = 0x21;
  record.put(version).put(utf8_names).put(stored).put(midnight).put(first_of_january_1980);
  record.put(member.crc).put(member.size).put(member.size);
  record.put(static_cast<uint16_t>(member.name.size())).put(uint16_t{0});
}

/// Sizes and checksums have to be known before the local header, so the tensors are produced once for them.
Result<Written> measure(const OutTensor& tensor, uint64_t offset) {
  const auto header = npy_header(tensor);
  if (!header) return header.error();
  const uint64_t size = header->size() + *byte_count(tensor.shape, tensor.dtype);
  Written member{tensor.name + ".npy", *header, 0, static_cast<uint32_t>(size),
                 static_cast<uint32_t>(offset)};
  if (size >= 0xffffffff || offset >= 0xffffffff - size || member.name.size() > 0xffff)
    return Error{code::limit, text("tensor ", printable(tensor.name),
                                   " makes the archive larger than 4 GiB; "
                                   "write safetensors instead")};
  uLong crc = crc32(0, reinterpret_cast<const Bytef*>(header->data()), static_cast<uInt>(header->size()));
  const auto add = [&crc](Bytes part) -> Status {
    crc = crc32(crc, part.data(), static_cast<uInt>(part.size()));
    return std::nullopt;
  };
  if (auto error = for_each_part(tensor, add)) return *error;
  member.crc = static_cast<uint32_t>(crc);
  return member;
}

Status write_directory(OutputFile& file, const std::vector<Written>& members, uint64_t offset) {
  Record directory;
  for (const Written& member : members) {
    constexpr uint16_t made_by = 20;
    directory.put(uint32_t{0x02014b50}).put(made_by);
    put_common(directory, member);
    directory.put(uint16_t{0})
        .put(uint16_t{0})
        .put(uint16_t{0})
        .put(uint32_t{0});  // comment, disk, attributes
    directory.put(member.offset).put(member.name);
  }
  if (members.size() >= 0xffff || offset + directory.bytes().size() >= 0xffffffff)
    return Error{code::limit, "the archive to write is too large; write safetensors instead"};
  const auto count = static_cast<uint16_t>(members.size());
  Record end;
  end.put(uint32_t{0x06054b50}).put(uint16_t{0}).put(uint16_t{0}).put(count).put(count);
  end.put(static_cast<uint32_t>(directory.bytes().size()))
      .put(static_cast<uint32_t>(offset))
      .put(uint16_t{0});
  if (auto error = file.write(Bytes(directory.bytes()))) return error;
  return file.write(Bytes(end.bytes()));
}

}  // namespace

Result<TensorFile> read_npz(std::shared_ptr<File> file) {
  const auto named = [&file](const Error& error) {
    return Error{error.code, text(printable(file->name()), ": ", error.message)};
  };
  const auto members = read_zip_directory(*file);
  if (!members) return named(members.error());
  if (auto error = check_total(*members, file->size())) return named(*error);
  TensorFile out;
  out.files.push_back(file);
  for (const ZipMember& member : *members)
    if (auto error = add_member(out, member)) return named(*error);
  // Members were sorted with their extension, which orders `a.npy` and `a-b.npy` differently from `a` and
  // `a-b`.
  std::sort(out.table.tensors.begin(), out.table.tensors.end(),
            [](const Tensor& a, const Tensor& b) { return a.name < b.name; });
  return out;
}

Status write_npz(const std::string& path, std::vector<OutTensor> tensors) {
  if (auto error = prepare_for_writing(tensors)) return error;
  OutputFile file(path);
  std::vector<Written> members;
  uint64_t offset = 0;
  for (const OutTensor& tensor : tensors) {
    auto member = measure(tensor, offset);
    if (!member) return member.error();
    Record local;
    local.put(uint32_t{0x04034b50});
    put_common(local, *member);
    local.put(member->name).put(member->header);
    if (auto error = file.write(Bytes(local.bytes()))) return error;
    if (auto error = for_each_part(tensor, [&file](Bytes part) { return file.write(part); })) return error;
    offset += local.bytes().size() - member->header.size() + member->size;
    members.push_back(std::move(*member));
  }
  if (auto error = write_directory(file, members, offset)) return error;
  return file.commit();
}

}  // namespace axon::weights
