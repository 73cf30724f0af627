// See output_file.h.
#include "host/weights/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>

#include "host/weights/file.h"

namespace axon::weights {

namespace fs = std::filesystem;

namespace {

constexpr int longest_chain = 40;  // of symbolic links, as the kernel has it

/// What the path leads to behind symbolic links; it need not exist. The links of /proc are not followed: they
/// stand for what is open, whatever name they show. nullopt, with ELOOP, for links in a circle.
std::optional<fs::path> behind_links(fs::path path) {
  for (int links = 0; links < longest_chain; ++links) {
    std::error_code failed;
    const fs::path target = fs::read_symlink(path, failed);
    if (failed || fs::canonical(path.parent_path() / ".", failed).string().starts_with("/proc/")) return path;
    path = target.is_absolute() ? target : path.parent_path() / target;
  }
  errno = ELOOP;
  return std::nullopt;
}

/// The descriptor of this process that a name such as /proc/self/fd/1 stands for. It is duplicated, because
/// opening the name of a regular file would begin to write at its start.
std::optional<int> own_descriptor(const fs::path& path) {
  std::error_code failed;
  if (fs::canonical(path.parent_path() / ".", failed).string() != text("/proc/", ::getpid(), "/fd"))
    return std::nullopt;
  const std::string name = path.filename().string();
  int number = 0;
  const auto [end, unread] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (unread != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return number;
}

bool is_regular_or_new(const fs::path& path) {
  struct stat old {};
  return ::stat(path.c_str(), &old) != 0 || S_ISREG(old.st_mode);
}

}  // namespace

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Status OutputFile::fail(const char* what) const { return system_error(path_, what); }

Status OutputFile::open() {
  const auto target = behind_links(path_);
  if (!target) return fail("write");
  if (const auto number = own_descriptor(*target)) {
    descriptor_ = ::fcntl(*number, F_DUPFD_CLOEXEC, 3);
    return descriptor_ < 0 ? fail("write") : std::nullopt;
  }
  if (is_regular_or_new(*target)) return open_beside(target->string());
  descriptor_ = system_calls.open(target->c_str(), O_WRONLY | O_CLOEXEC, 0);
  return descriptor_ < 0 ? fail("write") : std::nullopt;
}

Status OutputFile::open_beside(const std::string& target) {
  struct stat old {};
  const bool exists = ::stat(target.c_str(), &old) == 0;
  // The superuser may write everything: for that user the permissions are what says that a file should stay.
  if (exists && ((old.st_mode & 0222) == 0 || ::access(target.c_str(), W_OK) != 0))
    return Error{code::system, text("cannot write ", printable(path_), ": it is read-only")};
  static std::atomic<uint32_t> counter{0};
  const std::string temporary = text(target, ".", ::getpid(), "-", counter++, ".tmp");
  descriptor_ = system_calls.open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) return fail("create");
  temporary_ = temporary;
  target_ = target;
  if (!exists) return std::nullopt;
  // The owner first: changing it takes away bits of the mode.
  if ((old.st_uid != ::geteuid() || old.st_gid != ::getegid()) &&
      ::fchown(descriptor_, old.st_uid, old.st_gid) != 0)
    errno = 0;  // allowed to few; the file is then ours, as after a copy
  if (::fchmod(descriptor_, old.st_mode & 07777) != 0) return fail("create");
  return std::nullopt;
}

Status OutputFile::write(Bytes bytes) {
  if (descriptor_ < 0)
    if (auto error = open()) return error;
  while (!bytes.empty()) {
    const ssize_t done =
        system_calls.write(descriptor_, bytes.data(), std::min<size_t>(bytes.size(), io_chunk));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return fail("write");
    bytes = *bytes.from(static_cast<uint64_t>(done));
  }
  return std::nullopt;
}

Status OutputFile::commit() {
  if (auto error = write({})) return error;  // an empty file is created too
  if (!target_.empty() && system_calls.fsync(descriptor_) != 0) return fail("write");
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) return fail("write");
  if (target_.empty()) return std::nullopt;
  if (system_calls.rename(temporary_.c_str(), target_.c_str()) != 0) return fail("replace");
  temporary_.clear();
  return std::nullopt;
}

bool becomes_a_file(const std::string& path) {
  const auto target = behind_links(path);
  return !target || (!own_descriptor(*target) && is_regular_or_new(*target));
}

Status write_file(const std::string& path, Bytes bytes) {
  OutputFile file(path);
  if (auto error = file.write(bytes)) return error;
  return file.commit();
}

}  // namespace axon::weights
