// See files.h.
#include "tools/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace axon::tools {

namespace fs = std::filesystem;

namespace {

void find_below(const fs::path& folder, std::vector<std::string>& files) {
  std::vector<std::string> found;
  std::error_code ignored;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, ignored), end;
  for (; at != end; at.increment(ignored)) {
    const bool hidden = at->path().filename().string().starts_with('.');
    if (hidden && at->is_directory(ignored)) at.disable_recursion_pending();
    if (!hidden && at->path().extension() == ".axn" && at->is_regular_file(ignored))
      found.push_back(at->path().string());
  }
  std::sort(found.begin(), found.end());
  files.insert(files.end(), found.begin(), found.end());
}

bool write_all(int file, const std::string& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::write(file, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

/// Everything in the temporary file, on its way to the disk; else the reason is in errno.
bool write_new(const std::string& path, const std::string& bytes, mode_t mode) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (file < 0) return false;
  bool written = write_all(file, bytes) && ::fsync(file) == 0;
  const int reason = errno;
  written = ::close(file) == 0 && written;
  if (!written && reason != 0) errno = reason;
  return written;
}

}  // namespace

bool find_sources(const std::vector<std::string>& paths, std::vector<std::string>& files) {
  bool all_there = true;
  std::error_code ignored;
  for (const std::string& path : paths) {
    if (fs::is_directory(path, ignored)) {
      find_below(path, files);
    } else if (path == "-" || fs::exists(path, ignored)) {
      files.push_back(path);
    } else {
      fmt::print(stderr, "etcc: {}: there is no such file or directory\n", path);
      all_there = false;
    }
  }
  return all_there;
}

bool write_file(const std::string& path, const std::string& bytes) {
  if (path == "-")
    return std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size() && std::fflush(stdout) == 0;
  const auto failed = [&](const char* why) {
    fmt::print(stderr, "etcc: cannot write {}: {}\n", path, why);
    return false;
  };
  std::error_code unresolved;
  std::string target = fs::canonical(path, unresolved).string();
  if (unresolved) target = path;
  struct stat old {};
  const bool exists = ::stat(target.c_str(), &old) == 0;
  const mode_t mode = old.st_mode & 07777;
  if (exists && !S_ISREG(old.st_mode)) {  // a device or a pipe: there is nothing to replace
    const int file = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) return failed(std::strerror(errno));
    const bool written = write_all(file, bytes);
    return ::close(file) == 0 && written ? true : failed(std::strerror(errno));
  }
  if (exists && (mode & 0222) == 0) return failed("it is read-only");
  const std::string temporary = fmt::format("{}.tmp{}", target, getpid());
  if (!write_new(temporary, bytes, exists ? mode : 0666) ||
      (exists && ::chmod(temporary.c_str(), mode) != 0) ||
      std::rename(temporary.c_str(), target.c_str()) != 0) {
    const int reason = errno;
    std::remove(temporary.c_str());
    return failed(std::strerror(reason));
  }
  return true;
}

}  // namespace axon::tools
