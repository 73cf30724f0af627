// Files read and mapped (file.h).
#include "host/weights/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace axon::weights {

SystemCalls system_calls = {
    [](const char* path, int flags, mode_t mode) { return ::open(path, flags, mode); },
    [](int descriptor, struct stat* out) { return ::fstat(descriptor, out); },
    [](int descriptor, void* out, size_t count, off_t offset) {
      return ::pread(descriptor, out, count, offset);
    },
    [](size_t size, int descriptor) -> void* {
      void* const mapping = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
      return mapping == MAP_FAILED ? nullptr : mapping;
    },
    [](int descriptor, const void* data, size_t count) { return ::write(descriptor, data, count); },
    [](int descriptor) { return ::fsync(descriptor); },
    [](const char* from, const char* to) { return ::rename(from, to); },
};

namespace {}  // namespace

Error system_error(const std::string& name, const char* what) {
  const int number = errno;
  return {code::system, text("cannot ", what, " ", printable(name), ": ", std::strerror(number))};
}

Result<std::shared_ptr<File>> File::open(const std::string& path) {
  std::shared_ptr<File> file(new File);
  file->name_ = path;
  // Non-blocking, so that a FIFO in place of a file is refused instead of waited for.
  file->descriptor_ = system_calls.open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
  if (file->descriptor_ < 0) return system_error(path, "open");
  struct stat status {};
  if (system_calls.fstat(file->descriptor_, &status) != 0) return system_error(path, "inspect");
  if (!S_ISREG(status.st_mode)) return Error{code::system, text(printable(path), " is not a regular file")};
  file->size_ = static_cast<uint64_t>(status.st_size);
  if (file->size_ == 0) return file;
  file->mapping_ = system_calls.map(file->size_, file->descriptor_);
  if (!file->mapping_) return system_error(path, "map");
  return file;
}

std::shared_ptr<File> File::from_memory(std::string name, std::vector<uint8_t> bytes) {
  std::shared_ptr<File> file(new File);
  file->name_ = std::move(name);
  file->size_ = bytes.size();
  file->memory_ = std::move(bytes);
  return file;
}

File::~File() {
  if (mapping_) ::munmap(const_cast<void*>(mapping_), size_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status File::read(uint64_t offset, void* out, uint64_t count) const {
  const auto end = checked_add(offset, count);
  if (!end || *end > size_)
    return Error{code::range, text(printable(name_), " ends before byte ", offset, " + ", count)};
  if (count == 0) return std::nullopt;
  if (descriptor_ < 0) {
    std::memcpy(out, memory_.data() + offset, count);
    return std::nullopt;
  }
  auto* target = static_cast<uint8_t*>(out);
  while (count > 0) {
    const ssize_t got =
        system_calls.pread(descriptor_, target, std::min(count, io_chunk), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error(name_, "read");
    if (got == 0) return Error{code::system, text(printable(name_), " became shorter while it was read")};
    target += got;
    offset += static_cast<uint64_t>(got);
    count -= static_cast<uint64_t>(got);
  }
  return std::nullopt;
}

Result<Bytes> File::view() const {
  if (descriptor_ < 0) return Bytes(memory_);
  struct stat status {};
  if (system_calls.fstat(descriptor_, &status) != 0) return system_error(name_, "inspect");
  if (static_cast<uint64_t>(status.st_size) < size_)
    return Error{code::system, text(printable(name_), " became shorter after it was opened")};
  return Bytes(mapping_, size_);
}

/// By the Unicode Standard's table 3-7.
size_t printed_bytes(std::string_view text) {
  const auto byte = [&](size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const auto continues = [&](size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  if (first >= 0xc2 && first <= 0xdf) return continues(1, first == 0xc2 ? 0xa0 : 0x80) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef)
    return continues(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf) && continues(2) ? 3 : 0;
  if (first < 0xf0 || first > 0xf4) return 0;
  const bool is_character = continues(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf);
  return is_character && continues(2) && continues(3) ? 4 : 0;
}

std::string printable(std::string_view name) {
  constexpr size_t shown = 120;
  constexpr char digits[] = "0123456789abcdef";
  std::string out = "`";
  size_t at = 0;
  while (at < std::min(shown, name.size())) {
    const size_t bytes = name[at] == '`' ? 0 : printed_bytes(name.substr(at));
    if (bytes == 0) {
      const auto byte = static_cast<unsigned char>(name[at]);
      out += "\\x";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    }
    out += name.substr(at, bytes);
    at += std::max<size_t>(bytes, 1);
  }
  return out + (name.size() > at ? "...`" : "`");
}

}  // namespace axon::weights
